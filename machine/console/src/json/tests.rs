use super::line;

#[test]
fn invisible_characters_are_escaped_and_read_back() -> serde_json::Result<()> {
    let text = "a\u{1b}[2J\u{9b}2J\u{202e}\u{e0041}\n\"会议";
    let written = line(&text)?;
    assert_eq!(written, r#""a\u001b[2J\u009b2J\u202e\udb40\udc41\n\"会议""#);
    assert_eq!(serde_json::from_str::<String>(&written)?, text);
    Ok(())
}
