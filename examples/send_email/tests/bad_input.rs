//! Bad external input gives a typed error with a next step, and changes nothing.

use machine::testing::TestTool;

use crate::{
    ask::Ask,
    desk::{Desk, parse},
};

#[tokio::test(start_paused = true)]
async fn malformed_arguments() {
    let desk = Desk::new(&TestTool::new());
    for (json, expected) in [
        (r#"{"to":"bob"#, "EOF while parsing"),
        ("[1,2]", "invalid type: integer"),
        ("\"text\"", "invalid type: string"),
        (r#"{"to":"bob@example.com"}"#, "missing field `subject`"),
        (r#"{"to":7,"subject":"s","body":"b"}"#, "invalid type: integer"),
        (r#"{"to":"","subject":"s","body":"b"}"#, "Missing domain or user"),
        (r#"{"to":"b@e.com","subject":"s","body":"b","bcc":"x"}"#, "unknown field `bcc`"),
    ] {
        let error = format!("{:#}", desk.ask(&format!("--json {json}")).await.unwrap_err());
        assert!(error.contains("this JSON is not a mail: "), "{json}: {error}");
        assert!(error.contains(expected), "{json}: {error}");
    }
    assert_eq!(desk.machines().await, 0);
}

#[test]
fn missing_and_invalid_options() {
    for (options, expected) in [
        ("--json {} --to bob@example.com", "cannot be used with"),
        ("", "--to <TO>"),
        ("--subject Hello", "--to <TO>"),
        ("--to bob", "'bob' for '--to <TO>'"),
    ] {
        let error = parse::<Ask>(options).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{options}: {error}");
        assert!(error.to_string().contains(expected), "{options}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn huge_arguments() {
    let desk = Desk::new(&TestTool::new());
    let with_body = |bytes| format!("--to bob@example.com --body {}", "x".repeat(bytes));
    desk.ask(&with_body(120 * 1024)).await.unwrap();
    let error = format!("{:#}", desk.ask(&with_body(1024 * 1024)).await.unwrap_err());
    assert!(error.contains("store the content elsewhere and pass a reference to it"), "{error}");
    assert_eq!(desk.machines().await, 2);
}
