//! Legible text from outside: an invisible or lookalike character is marked, so
//! that the code that shows the text escapes it.

use unicode_normalization::char::{canonical_combining_class, compose};
use unicode_script::{Script, UnicodeScript};
use unicode_security::{GeneralSecurityProfile, confusable_detection::skeleton};

use crate::actor::is_invisible;

/// The deceptive characters of a text. Marked are
///
/// - characters that cannot be seen, and every space but the plain one;
/// - characters of no alphabet, or of the Latin one, that look like ASCII, such as `∕` or `ɡ`;
///   those that ordinary text has, such as quotation marks, dashes and the Turkish `ı`, are not;
/// - in a word that mixes alphabets, such as a Cyrillic `а` in a Latin address, all but the Latin
///   letters;
/// - words of another alphabet that look like ASCII as a whole, such as `сосо`, unless the text has
///   other words of this alphabet, which look like themselves, and no Latin ones;
/// - marks that strike a letter through, that are hidden by it, or that pile up.
///
/// A text with quotes, such as JSON, is one text between each two of them. Chinese, Japanese and
/// Korean are commonly mixed with Latin, and do not look like it.
#[derive(Debug)]
pub(crate) struct Illegible(Option<Vec<bool>>);

impl Illegible {
    pub(crate) fn of(text: &str) -> Self {
        // Most text is ASCII, in which only control characters are marked.
        if text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') {
            return Self(None);
        }
        let characters: Vec<char> = text.chars().collect();
        let mut marks = vec![false; characters.len()];
        let mut from = 0;
        for part in characters.split_inclusive(|one| matches!(one, '"' | '\n')) {
            let upto = from + part.len();
            Segment::new(part).mark(&mut marks[from..upto]);
            from = upto;
        }
        Self(Some(marks))
    }

    /// Returns `true` if the character with this number is marked.
    pub(crate) fn has(&self, number: usize) -> bool {
        self.0.as_ref().is_some_and(|marks| marks.get(number).copied().unwrap_or(true))
    }
}

/// A part of a text that is read as a whole.
struct Segment<'a> {
    text: &'a [char],
    is_east_asian: bool,
    has_latin: bool,
    /// The alphabets of letters that look like themselves.
    clear: Vec<Script>,
}

impl<'a> Segment<'a> {
    fn new(text: &'a [char]) -> Self {
        let mut part = Self { text, is_east_asian: false, has_latin: false, clear: Vec::new() };
        for &one in text {
            part.is_east_asian |= is_east_asian(one.script());
            part.has_latin |= one.is_alphabetic() && one.script() == Script::Latin;
            if is_foreign(one) && !looks_like_ascii(one) && !part.clear.contains(&one.script()) {
                part.clear.push(one.script());
            }
        }
        part
    }

    fn mark(&self, marks: &mut [bool]) {
        let mut from = 0;
        for word in self.text.split(|one| one.is_whitespace()) {
            self.mark_word(word, &mut marks[from..from + word.len()]);
            from += word.len();
            if let (Some(space), Some(mark)) = (self.text.get(from), marks.get_mut(from)) {
                // The ideographic space belongs to the text around it.
                *mark = *space != ' ' && !(*space == '\u{3000}' && self.is_east_asian);
            }
            from += 1;
        }
    }

    fn mark_word(&self, word: &[char], marks: &mut [bool]) {
        let mixed = mixes_alphabets(word);
        let is_name = word.iter().any(|one| one.is_alphanumeric());
        let mut before = Before::default();
        for (at, (&one, mark)) in word.iter().zip(&mut *marks).enumerate() {
            *mark = is_invisible(one)
                || one.script() == Script::Unknown
                || mixed && is_foreign(one)
                || is_name && self.is_look_alike(word, at)
                || before.hides(one, word.get(at + 1).copied());
            before.sees(one, *mark);
        }
        let mut from = 0;
        for label in word.split(|one| !is_part_of_label(*one)) {
            if !mixed && self.is_disguised(label) {
                for (&one, mark) in label.iter().zip(&mut marks[from..]) {
                    *mark |= is_foreign(one);
                }
            }
            from += label.len() + 1;
        }
    }

    /// A letter, digit or sign that looks like ASCII, of no other alphabet.
    fn is_look_alike(&self, word: &[char], at: usize) -> bool {
        let one = word[at];
        let of_none = matches!(one.script(), Script::Latin | Script::Common | Script::Inherited);
        if one.is_ascii() || !of_none || !looks_like_ascii(one) {
            return false;
        }
        if one.is_alphanumeric() {
            return !one.identifier_allowed();
        }
        let near =
            |at: Option<usize>| at.and_then(|at| word.get(at)).is_some_and(|it| it.is_alphabetic());
        match one {
            '×' => near(at.checked_sub(1)) || near(at.checked_add(1)),
            _ => !is_typographic(one) && !self.is_east_asian,
        }
    }

    /// Returns `true` if letters of another alphabet look like an ASCII word.
    fn is_disguised(&self, label: &[char]) -> bool {
        let mut scripts = label.iter().filter(|one| is_foreign(**one)).map(UnicodeScript::script);
        let Some(script) = scripts.next() else { return false };
        if !label.iter().all(|one| one.is_ascii_digit() || looks_like_ascii(*one)) {
            return false;
        }
        // In a text of this alphabet it is an ordinary word, and so is any single letter.
        let is_at_home = self.clear.contains(&script) && (!self.has_latin || label.len() == 1);
        !is_at_home
    }
}

/// The context before a character of a word.
#[derive(Debug, Default)]
struct Before {
    last: Option<char>,
    is_marked: bool,
    /// The number of consecutive combining marks.
    pile: usize,
}

impl Before {
    fn sees(&mut self, one: char, is_marked: bool) {
        self.pile = if canonical_combining_class(one) == 0 { 0 } else { self.pile + 1 };
        (self.last, self.is_marked) = (Some(one), is_marked);
    }

    /// Returns `true` if a combining mark or a selector cannot be seen after this.
    fn hides(&self, one: char, next: Option<char>) -> bool {
        if one == SELECTOR {
            let is_kept = self.last.is_some_and(is_picture) && !self.is_marked;
            return !is_kept && next != Some(KEYCAP);
        }
        if canonical_combining_class(one) == 0 || one.script() != Script::Inherited {
            return false;
        }
        let Some(last) = self.last else { return true };
        canonical_combining_class(one) == OVERLAY
            || self.pile >= PILE
            || compose(last, one).is_some()
            || matches!((last, one), ('i' | 'j' | 'ı' | 'ȷ', '\u{307}'))
    }
}

/// Asks for a picture instead of a sign.
const SELECTOR: char = '\u{fe0f}';
const KEYCAP: char = '\u{20e3}';

/// The combining class of marks that strike a letter through.
const OVERLAY: u8 = 1;

/// More marks than this on one letter are marked.
const PILE: usize = 2;

/// A sign that may be shown as a picture.
fn is_picture(one: char) -> bool {
    matches!(one, '©' | '®' | '\u{2030}'..='\u{3299}' | '\u{1f000}'..='\u{1faff}')
}

/// Signs of ordinary text.
fn is_typographic(one: char) -> bool {
    "¡–‘’‚“”‹›…′″№।॥➕➖".contains(one)
}

fn looks_like_ascii(one: char) -> bool {
    let mut bytes = [0; 4];
    let mut looks = skeleton(one.encode_utf8(&mut bytes)).peekable();
    !one.is_ascii() && looks.peek().is_some() && looks.all(|like| like.is_ascii())
}

fn is_part_of_label(one: char) -> bool {
    one.is_alphanumeric() || canonical_combining_class(one) != 0
}

/// Returns `true` if a word mixes alphabets whose letters look alike.
fn mixes_alphabets(word: &[char]) -> bool {
    let mut first = None;
    word.iter().map(UnicodeScript::script).any(|script| {
        let is_letter = !matches!(script, Script::Common | Script::Inherited | Script::Unknown);
        is_letter && !is_east_asian(script) && *first.get_or_insert(script) != script
    })
}

/// Returns `true` if it is a letter of another alphabet than the Latin one, whose letters may look
/// alike.
fn is_foreign(one: char) -> bool {
    let script = one.script();
    !matches!(script, Script::Common | Script::Inherited | Script::Latin | Script::Unknown)
        && !is_east_asian(script)
}

pub(crate) fn is_east_asian(script: Script) -> bool {
    matches!(
        script,
        Script::Han | Script::Hiragana | Script::Katakana | Script::Hangul | Script::Bopomofo
    )
}

#[cfg(test)]
mod tests {
    use super::Illegible;

    fn shown(text: &str) -> String {
        let marks = Illegible::of(text);
        let mut shown = String::new();
        for (number, one) in text.chars().enumerate() {
            if marks.has(number) {
                shown.extend(one.escape_unicode());
            } else {
                shown.push(one);
            }
        }
        shown
    }

    #[test]
    fn lookalike_characters_are_marked() {
        for text in [
            "bob\u{fe0f}",
            "bob\u{fffc}",
            "bo\u{337}b",
            "https:\u{2215}\u{2215}evil",
            "bank\u{2024}com",
            "\u{261}oogle",
            "paypa\u{217c}",
            "wow\u{1c3}",
            "\u{ff42}ob",
            "\u{1d41b}ob",
            "\u{430}nn",
            "\u{251}nn",
            "a\u{2010}b",
            "e\u{d7}ample",
            "a\u{a0}b",
            "bi\u{307}ll",
            "u\u{308}ber",
            "a\u{301}\u{300}\u{302}",
            "\u{301}a",
            "\u{e000}",
            "\u{3c1}\u{3b1}\u{3c5}",
            "bob\u{2044}x",
        ] {
            let shown = shown(text);
            assert_ne!(shown, text, "{text:?}");
            let odd = |one: char| !one.is_ascii();
            let count = text.chars().filter(|one| odd(*one)).count();
            assert!(shown.matches("\\u{").count() <= count, "{shown}");
        }
    }

    #[test]
    fn only_what_looks_like_something_else_is_marked() {
        for (text, expected) in [
            ("to \u{441}\u{43e}\u{441}\u{43e}-7", r"to \u{441}\u{43e}\u{441}\u{43e}-7"),
            ("a\nb", r"a\u{a}b"),
            ("\u{1b}[2J", r"\u{1b}[2J"),
            (r#"{"a":"привет мир","b":"coco"}"#, r#"{"a":"привет мир","b":"coco"}"#),
            (
                "[\"привет\",\"\u{441}\u{43e}\u{441}\u{43e}\"]",
                r#"["привет","\u{441}\u{43e}\u{441}\u{43e}"]"#,
            ),
            ("a/∕b", r"a/\u{2215}b"),
            ("p\u{430}yp\u{430}l.com", r"p\u{430}yp\u{430}l.com"),
            ("bob@\u{43f}\u{440}и", r"bob@\u{43f}\u{440}\u{438}"),
            ("\u{430}\u{3bf}", r"\u{430}\u{3bf}"),
            ("\u{13a0}pple", r"\u{13a0}pple"),
        ] {
            assert_eq!(shown(text), expected, "{text:?}");
        }
    }

    #[test]
    fn ordinary_text_stays_readable() {
        for text in [
            "bob@example.com",
            "a  b",
            "привет мир",
            "Оплатите счёт с НДС и пени до 5 июня, а о сроках — позже",
            "Счёт от ACME с НДС",
            "рука, нос и ухо у нас",
            "καλημέρα κόσμε, το α και το ω",
            "Größe, Maße, „süß“ – ‚so‘ … Æther",
            "kapı ışık, þing, l’été, naïve café, Ærø, œuvre",
            "Tiếng Việt rất đẹp",
            "ọ̀rẹ́",
            "会议：明天（周二）！价格 5 元",
            "会议v2邀请",
            "東京タワーのTシャツ、３階へノート",
            "한국어 text",
            "नमस्ते दुनिया। १०",
            "السلام عليكم، السعر ١٥ ريال",
            "שלום עולם, סוס",
            "สวัสดี",
            "Հայերեն լեզու",
            "🦀 ok ❤️ ⚠️ 1️⃣ ➕",
            "3 × 4, 2×4, ∞, A ∪ B, 20 °C, µm, € 5, № 5, §1",
            "don’t – “quoted” ‹so› … 5′ 7″",
        ] {
            // Full-width digits look like ASCII ones.
            let text = text.replace('３', "3");
            assert_eq!(shown(&text), text);
        }
    }
}
