use std::ops::Range;

use super::{
    place::Place,
    refusal::{self, Nearest, Refusal, Why},
};

/// The most lines that are quoted of a file.
const MOST_QUOTED: usize = 12;

/// What the first line of a hunk begins with.
const HUNK: &str = "@@";

const BYTE_ORDER_MARK: char = '\u{feff}';

/// A line of a hunk: of the file before it, after it, or both.
#[derive(Debug, Clone, Copy)]
struct Mark<'a> {
    is_old: bool,
    is_new: bool,
    text: &'a str,
}

/// A line of a file, and how it ends: `\n`, `\r\n`, or not at all.
#[derive(Debug, Clone, Copy)]
struct Line<'a> {
    text: &'a str,
    end: &'a str,
}

/// Applies the hunks of a patch: each begins with a line `@@`, and its lines begin with a space,
/// `-` or `+`. What they keep and remove must be in the file exactly once. Bytes outside of them
/// stay, and new lines end like those that they replace.
pub fn patch(path: &Place, bytes: &[u8], diff: &str) -> Result<Vec<u8>, Refusal> {
    let refused = |why| Refusal::new(path, why);
    let text = str::from_utf8(bytes).map_err(|_| refused(refusal::NOT_TEXT))?;
    let rest = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let lines: Vec<Line<'_>> = rest.split_inclusive('\n').map(line).collect();
    let mut hunks = Vec::new();
    for hunk in hunks_of(diff).map_err(refused)? {
        let located = locate(&lines, &hunk);
        let refused = |(why, nearest)| Refusal { nearest, ..refused(why) };
        hunks.push((located.map_err(refused)?, hunk));
    }
    hunks.sort_by_key(|(place, _)| place.start);
    if hunks.windows(2).any(|pair| pair[0].0.end > pair[1].0.start) {
        return Err(refused(refusal::OVERLAP));
    }
    let mut patched = text[..text.len() - rest.len()].to_owned();
    let mut push = |lines: &[Line<'_>]| {
        patched.extend(lines.iter().flat_map(|line| [line.text, line.end]));
    };
    let mut next = 0;
    for (place, hunk) in &hunks {
        push(&lines[next..place.start]);
        push(&replacement(&lines, place, hunk));
        next = place.end;
    }
    push(&lines[next..]);
    Ok(patched.into_bytes())
}

fn line(whole: &str) -> Line<'_> {
    let text = whole.strip_suffix('\n').map_or(whole, |it| it.strip_suffix('\r').unwrap_or(it));
    Line { text, end: &whole[text.len()..] }
}

fn hunks_of(diff: &str) -> Result<Vec<Vec<Mark<'_>>>, Why> {
    let mut hunks: Vec<Vec<Mark<'_>>> = Vec::new();
    for line in diff.lines() {
        if line.starts_with(HUNK) {
            hunks.push(Vec::new());
            continue;
        }
        let hunk = hunks.last_mut().ok_or(refusal::NO_HUNK)?;
        let mut rest = line.chars();
        let (is_old, is_new) = match rest.next() {
            // Some programs cut spaces at the end.
            Some(' ') | None => (true, true),
            Some('-') => (true, false),
            Some('+') => (false, true),
            Some(_) => return Err(refusal::NO_MARK),
        };
        hunk.push(Mark { is_old, is_new, text: rest.as_str() });
    }
    if hunks.is_empty() || hunks.iter().any(|it| it.iter().all(|it| it.is_old && it.is_new)) {
        return Err(refusal::NO_EFFECT);
    }
    Ok(hunks)
}

/// Finds the only place of a hunk.
fn locate(lines: &[Line<'_>], hunk: &[Mark<'_>]) -> Result<Range<usize>, (Why, Option<Nearest>)> {
    let texts = |is_of: fn(&Mark<'_>) -> bool| -> Vec<&str> {
        hunk.iter().filter(|it| is_of(it)).map(|it| it.text).collect()
    };
    let (old, new) = (texts(|it| it.is_old), texts(|it| it.is_new));
    if old.is_empty() {
        if lines.is_empty() {
            return Ok(0..0);
        }
        let last = lines.len().saturating_sub(MOST_QUOTED);
        return Err((refusal::NO_CONTEXT, Some(quote(lines, last, MOST_QUOTED))));
    }
    let mut starts = (0..lines.len()).filter(|start| are(&lines[*start..], &old));
    let start = starts.next().ok_or_else(|| (refusal::NOT_FOUND, nearest(lines, &old)))?;
    if let Some(second) = starts.next() {
        return Err((refusal::AMBIGUOUS, Some(quote(lines, second, old.len()))));
    }
    if hunk.iter().all(|it| it.is_new) && are(&lines[start..], &new) {
        return Err((refusal::PATCHED, Some(quote(lines, start, new.len()))));
    }
    Ok(start..start + old.len())
}

/// Returns `true` if lines begin with these texts.
fn are(lines: &[Line<'_>], texts: &[&str]) -> bool {
    lines.len() >= texts.len() && lines.iter().zip(texts).all(|(line, text)| line.text == *text)
}

/// The lines of a hunk, with the ends that the file has there.
fn replacement<'a>(lines: &[Line<'a>], place: &Range<usize>, hunk: &[Mark<'a>]) -> Vec<Line<'a>> {
    let mut old = lines[place.clone()].iter();
    let mut ends = old.clone().chain(lines).map(|line| line.end);
    let usual = ends.find(|end| !end.is_empty()).unwrap_or("\n");
    let mut new = Vec::new();
    for mark in hunk {
        let end = if mark.is_old { old.next().map_or("", |line| line.end) } else { "" };
        if mark.is_new {
            new.push(Line { text: mark.text, end: if end.is_empty() { usual } else { end } });
        }
    }
    // Only the last line of a file may have no end, and then it still has none.
    if let (true, Some(of_file), Some(last)) =
        (place.end == lines.len(), lines.last(), new.last_mut())
    {
        last.end = of_file.end;
    }
    new
}

fn quote(lines: &[Line<'_>], start: usize, count: usize) -> Nearest {
    let quoted = lines.iter().skip(start).take(count.min(MOST_QUOTED)).map(|line| line.text);
    Nearest { line: start + 1, text: quoted.collect::<Vec<_>>().join("\n") }
}

/// The lines that are most like these: the first of the best.
fn nearest(lines: &[Line<'_>], texts: &[&str]) -> Option<Nearest> {
    let score = |start: &usize| -> usize {
        let pairs = lines[*start..].iter().zip(texts);
        pairs.map(|(line, text)| likeness(line.text, text)).sum()
    };
    let start = (0..lines.len()).rev().max_by_key(score)?;
    Some(quote(lines, start, texts.len()))
}

/// How like two lines are, from 0 to 100: what is the same at their start and at their end.
fn likeness(one: &str, other: &str) -> usize {
    let (one, other) = (one.trim().as_bytes(), other.trim().as_bytes());
    let start = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let ends = one[start..].iter().rev().zip(other[start..].iter().rev());
    let end = ends.take_while(|(one, other)| one == other).count();
    (100 * (start + end)).checked_div(one.len().max(other.len())).unwrap_or(100)
}
