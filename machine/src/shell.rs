//! Words of commands, as a POSIX shell reads them.

use std::{ffi::OsStr, fmt::Write};

use unicode_script::{Script, UnicodeScript};

use crate::{actor::is_invisible, line::imitates};

/// A text, or the name of a file, as one word of a command that runs in `sh` and in `bash`. Letters
/// of every alphabet are shown. Characters that cannot be seen, that leave the line or that look
/// like a label, and bytes of names that are no text are written in octal, as `printf` reads them.
///
/// ```
/// use machine::text::shell_word;
///
/// assert_eq!(shell_word("agent.db"), "agent.db");
/// assert_eq!(shell_word("данные/agent 2.db"), "'данные/agent 2.db'");
/// assert_eq!(shell_word("it's.db"), r"'it'\''s.db'");
/// assert_eq!(shell_word("a\tb.db"), r#""$(printf 'a\011b.db')""#);
/// ```
#[must_use]
pub fn shell_word(word: impl AsRef<OsStr>) -> String {
    let bytes = word.as_ref().as_encoded_bytes();
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:@/".contains(byte);
    match str::from_utf8(bytes) {
        Ok(text) if !text.is_empty() && bytes.iter().all(is_plain) => text.to_owned(),
        Ok(text) if !hidden(text).any(|(_, is_hidden)| is_hidden) => {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
        _ => printed(bytes),
    }
}

/// A word with characters in octal.
fn printed(bytes: &[u8]) -> String {
    let mut format = String::new();
    for chunk in bytes.utf8_chunks() {
        for (one, is_hidden) in hidden(chunk.valid()) {
            // `printf`, the quotes around its text, or an interactive shell would read these.
            let is_read = matches!(one, '\'' | '\\' | '%' | '!');
            if is_hidden || is_read || one == '-' && format.is_empty() {
                write_octal(one.encode_utf8(&mut [0; 4]).as_bytes(), &mut format);
            } else {
                format.push(one);
            }
        }
        write_octal(chunk.invalid(), &mut format);
    }
    if bytes.ends_with(b"\n") {
        // A command substitution drops it. Of the shells in use, only `dash` does not read this
        // form.
        return format!("$'{format}'");
    }
    format!("\"$(printf '{format}')\"")
}

/// The characters of a text, and whether each is unfit to be printed in a command.
fn hidden(text: &str) -> impl Iterator<Item = (char, bool)> {
    text.char_indices().map(move |(at, one)| {
        let is_hidden = is_invisible(one)
            || one.is_whitespace() && one != ' '
            || one.script() == Script::Unknown
            // A border of a table.
            || matches!(one, '\u{2500}'..='\u{257f}')
            || imitates(one, &text[at + one.len_utf8()..]);
        (one, is_hidden)
    })
}

fn write_octal(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        // Writing into a string cannot fail.
        let _ = write!(out, "\\{byte:03o}");
    }
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::{os::unix::ffi::OsStrExt, process::Command};

    use super::*;

    #[test]
    fn a_shell_reads_the_word() {
        let texts = [
            "",
            "-x.db",
            "a b",
            "it's",
            "данные/agent.db",
            "αρχείο.db",
            "קובץ.db",
            "ملف.db",
            "का.db",
            "ไทย.db",
            "cafe\u{301}.db",
            "漢字.db",
            "½ a×b ﬁle Ωmega 😀",
            "\u{441}\u{43e}\u{440}\u{443}.db",
            "$HOME `id` $(id) \\n %s !! ;&|*?~#",
            "[SUCCESS].db",
            "Fi[WAITING",
            "⚠IRREVERSIBLE.db",
            "[human-confirmed].db",
            "x[1].db",
            "a\tb\nc\x1b[31m\u{a0}d\u{200b}e\u{202e}f\u{9b}1",
            "\t'$HOME' `id` \\n \\101 %s !! 7",
            "a\u{2502}b",
            "-n[SUCCESS]",
        ];
        let texts = texts.iter().map(|text| text.as_bytes());
        for word in texts.chain([&b"\xff\xfe1.db"[..], b"it's \xe9%.db"]) {
            let shown = shell_word(OsStr::from_bytes(word));
            assert!(!shown.chars().any(|one| one.is_control() || is_invisible(one)), "{shown:?}");
            let command = format!("printf %s {shown}");
            let read = Command::new("sh").arg("-c").arg(&command).output().unwrap();
            assert_eq!(read.stdout, word, "{command}");
        }
        assert_eq!(shell_word("a\n"), r"$'a\012'");
    }

    #[test]
    fn only_what_misleads_is_in_octal() {
        for text in ["данные.db", "cafe\u{301}.db", "сору.db", "קובץ.db", "x[1].db", "a\\b %"]
        {
            assert_eq!(shell_word(text), format!("'{text}'"));
        }
        assert_eq!(shell_word("[SUCCESS].db"), r#""$(printf '\133SUCCESS].db')""#);
        assert_eq!(shell_word("a\u{2066}b"), r#""$(printf 'a\342\201\246b')""#);
    }
}
