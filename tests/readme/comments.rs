//! Comments are as wide as code, which rustfmt does not check.

use std::{fs, path::Path};

use super::rust_files;

/// The most columns of a line.
const COLUMNS: usize = 100;

/// The numbers of the lines of comments that are too long, except for tables and for code in the
/// documentation, which cannot be wrapped.
fn long_lines(source: &str) -> Vec<usize> {
    let (mut is_code, mut found) = (false, Vec::new());
    for (number, line) in (1..).zip(source.lines()) {
        let Some(comment) = line.trim_start().strip_prefix("//") else {
            is_code = false;
            continue;
        };
        let text = comment.trim_start_matches(['/', '!']).trim_start();
        is_code ^= text.starts_with("```");
        if line.chars().count() > COLUMNS && !is_code && !text.starts_with('|') {
            found.push(number);
        }
    }
    found
}

#[test]
fn long_lines_are_seen() {
    let words = "word ".repeat(20);
    let fits = &words[..COLUMNS - 4];
    for (source, expected) in [
        (format!("/// {fits}\n//! {fits}\n//  {fits}\n"), vec![]),
        (format!("/// {words}\n    // {words}\nlet x = 1;\n//! {words}\n"), vec![1, 2, 4]),
        (format!("/// | {words} |\n/// ```\n/// {words}\n/// ```\n/// {words}\n"), vec![5]),
        (format!("/// ```\nfn open() {{}}\n// {words}\nlet text = \"{words}\";\n"), vec![3]),
    ] {
        assert_eq!(long_lines(&source), expected, "{source}");
    }
}

/// The programs of `ui-tests` are not among the folders: the compiler quotes their lines.
#[test]
fn no_comment_is_wider_than_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for folder in ["machine", "machine-derive", "examples", "tests"] {
        rust_files(&root.join(folder), &mut files);
    }
    // What a build of the benchmarks has generated.
    files.retain(|path| !path.components().any(|it| it.as_os_str() == "target"));
    assert!(files.len() > 1000, "{} files", files.len());
    let mut long = Vec::new();
    for path in files {
        let numbers = long_lines(&fs::read_to_string(&path).unwrap());
        long.extend(numbers.iter().map(|number| format!("{}:{number}", path.display())));
    }
    assert!(long.is_empty(), "wrap these at {COLUMNS} columns:\n{}", long.join("\n"));
}
