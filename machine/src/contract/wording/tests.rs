use super::visible;

#[test]
fn invisible_characters_are_escaped() {
    for (text, shown) in [
        ("bob@example.com", "bob@example.com"),
        ("会议 invitation", "会议 invitation"),
        ("会议v2", "会议v2"),
        ("привет мир", "привет мир"),
        ("p\u{430}ypal.com", r"p\u{430}ypal.com"),
        ("bob\u{202e}moc", r"bob\u{202e}moc"),
        ("a\u{200b}b", r"a\u{200b}b"),
        ("a\nb", r"a\u{a}b"),
        ("a\u{a0}b", r"a\u{a0}b"),
        ("a  b", "a  b"),
        ("\u{1b}[2J", r"\u{1b}[2J"),
    ] {
        assert_eq!(visible(text), shown, "{text:?}");
    }
}
