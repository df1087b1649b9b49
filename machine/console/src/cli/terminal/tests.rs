use super::wrapped;

/// An argument cannot be padded until what follows stands at the beginning of a line.
#[test]
fn wide_text_wraps_with_an_indent() {
    for filler in [" ", "x", "会"] {
        for count in 0..200 {
            let text = format!("subject: \"Hi{}to: team@example.com\"", filler.repeat(count));
            let shown = wrapped(&text, 80);
            let lines: Vec<&str> = shown.lines().collect();
            assert!(lines[1..].iter().all(|line| line.starts_with("        ")), "{shown}");
            assert_eq!(shown.replace("\n        ", ""), text);
        }
    }
}
