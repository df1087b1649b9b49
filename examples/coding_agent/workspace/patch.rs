use std::ops::Range;

use super::{
    place::Place,
    refusal::{self, Code, Refusal, Why},
};

/// How a hunk begins.
const HUNK: &str = "@@";

/// The most lines that are quoted of a file.
const MOST_QUOTED: usize = 12;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// A line of a hunk: a space, `-` or `+`, and its text.
type Marked<'a> = (char, &'a str);

/// Applies the hunks of a patch: each begins with a line `@@`, and its lines begin with a space,
/// `-` or `+`. What they keep and remove must be in the file exactly once. Bytes outside of them
/// stay, and new lines end like those that they replace.
pub fn patch(path: &Place, bytes: &[u8], diff: &str) -> Result<Vec<u8>, Refusal> {
    let refused = |why: Why| Refusal::new(path, why);
    let text = str::from_utf8(bytes).map_err(|_| refused(refusal::NOT_TEXT))?;
    let rest = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let (texts, ends): (Vec<&str>, Vec<&str>) = rest.split_inclusive('\n').map(split).unzip();
    let mut hunks = Vec::new();
    for hunk in hunks_of(diff).map_err(refused)? {
        let place = locate(&texts, &hunk);
        let place = place.map_err(|why| Refusal::new(path, (Code::E_CONFLICT, why)))?;
        hunks.push((place, hunk));
    }
    hunks.sort_by_key(|(place, _)| place.start);
    if hunks.windows(2).any(|pair| pair[0].0.end > pair[1].0.start) {
        return Err(refused((Code::E_INVALID_ARGS, "two hunks overlap")));
    }
    let mut patched = text[..text.len() - rest.len()].to_owned();
    let mut next = 0;
    for (place, hunk) in &hunks {
        patched.extend((next..place.start).flat_map(|line| [texts[line], ends[line]]));
        patched.push_str(&replacement(&ends, place, hunk));
        next = place.end;
    }
    patched.extend((next..texts.len()).flat_map(|line| [texts[line], ends[line]]));
    Ok(patched.into_bytes())
}

/// The text of a line, and its end, which is `\n`, `\r\n`, or nothing.
fn split(line: &str) -> (&str, &str) {
    let text = line.strip_suffix('\n').map_or(line, |it| it.strip_suffix('\r').unwrap_or(it));
    line.split_at(text.len())
}

fn hunks_of(diff: &str) -> Result<Vec<Vec<Marked<'_>>>, Why> {
    let mut hunks: Vec<Vec<Marked<'_>>> = Vec::new();
    for line in diff.lines() {
        if line.starts_with(HUNK) {
            hunks.push(Vec::new());
            continue;
        }
        let hunk =
            hunks.last_mut().ok_or((Code::E_INVALID_ARGS, "a hunk begins with a line `@@`"))?;
        // Some programs cut spaces at the end.
        let mark = line.chars().next().unwrap_or(' ');
        if !" -+".contains(mark) {
            return Err((Code::E_INVALID_ARGS, "its lines begin with a space, `-` or `+`"));
        }
        hunk.push((mark, line.get(1..).unwrap_or_default()));
    }
    if hunks.is_empty() || hunks.iter().any(|hunk| hunk.iter().all(|(mark, _)| *mark == ' ')) {
        return Err(refusal::NO_EFFECT);
    }
    Ok(hunks)
}

/// Finds the only place of a hunk. An error quotes the file.
fn locate(texts: &[&str], hunk: &[Marked<'_>]) -> Result<Range<usize>, String> {
    let without = |other: char| -> Vec<&str> {
        hunk.iter().filter(|(mark, _)| *mark != other).map(|(_, text)| *text).collect()
    };
    let (old, new) = (without('+'), without('-'));
    if old.is_empty() {
        if texts.is_empty() {
            return Ok(0..0);
        }
        let last = texts.len().saturating_sub(MOST_QUOTED);
        return Err(quote("a hunk has no context, so no place", texts, last, MOST_QUOTED));
    }
    let starts = starts_of(texts, &old);
    let start = *starts.first().ok_or_else(|| not_found(texts, &old))?;
    if let Some(second) = starts.get(1) {
        let why = "the context of a hunk is there more than once";
        return Err(quote(why, texts, *second, old.len()));
    }
    if hunk.iter().all(|(mark, _)| *mark != '-') && texts[start..].starts_with(&new) {
        return Err(quote("the lines of a hunk are there already", texts, start, new.len()));
    }
    Ok(start..start + old.len())
}

/// The first two places where these lines begin. Also if lines repeat, the time grows with the sum
/// of both lengths and not with their product, as that of the search in a string does.
fn starts_of(texts: &[&str], old: &[&str]) -> Vec<usize> {
    // Between two ends, so that only whole lines are found.
    let whole =
        |lines: &[&str]| lines.iter().fold("\n".to_owned(), |text, &line| text + line + "\n");
    let [text, old] = [texts, old].map(whole);
    let first = text.find(&old);
    let second = first.and_then(|first| Some(first + 1 + text[first + 1..].find(&old)?));
    let line = |at: usize| text[..at].matches('\n').count();
    first.into_iter().chain(second).map(line).collect()
}

/// The new lines of a hunk, with the ends that the file has there.
fn replacement(ends: &[&str], place: &Range<usize>, hunk: &[Marked<'_>]) -> String {
    let mut old = ends[place.clone()].iter().chain(ends).copied();
    let usual = old.clone().find(|end| !end.is_empty()).unwrap_or("\n");
    let (mut new, mut last) = (String::new(), "");
    for &(mark, text) in hunk {
        let end = if mark == '+' { "" } else { old.next().unwrap_or_default() };
        if mark != '-' {
            last = if end.is_empty() { usual } else { end };
            new.extend([text, last]);
        }
    }
    // Only the last line of a file may have no end, and then it still has none.
    if place.end == ends.len() && !new.is_empty() {
        new.truncate(new.len() - last.len());
        new.push_str(ends.last().copied().unwrap_or("\n"));
    }
    new
}

fn quote(why: &str, texts: &[&str], start: usize, count: usize) -> String {
    let end = texts.len().min(start + count.min(MOST_QUOTED));
    let quoted = texts[start..end].join("\n");
    format!("{why}; the nearest text begins in line {}:\n{quoted}", start + 1)
}

/// Quotes the lines that are most like the first of these: the first of the best.
fn not_found(texts: &[&str], old: &[&str]) -> String {
    let old = &old[..old.len().min(MOST_QUOTED)];
    let score = |start: &usize| -> usize {
        texts[*start..].iter().zip(old).map(|(text, old)| likeness(text, old)).sum()
    };
    let why = "the context of a hunk was not found";
    let best = (0..texts.len()).rev().max_by_key(score);
    best.map_or(why.to_owned(), |start| quote(why, texts, start, old.len()))
}

/// How like two lines are, from 0 to 100: what is the same at their start and at their end.
fn likeness(one: &str, other: &str) -> usize {
    let (one, other) = (one.trim().as_bytes(), other.trim().as_bytes());
    let start = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let ends = one[start..].iter().rev().zip(other[start..].iter().rev());
    let end = ends.take_while(|(one, other)| one == other).count();
    (100 * (start + end)).checked_div(one.len().max(other.len())).unwrap_or(100)
}
