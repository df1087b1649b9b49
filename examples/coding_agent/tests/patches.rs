use crate::{
    desk::{Desk, patch},
    workspace::refusal::{Code, Code::E_CONFLICT, Code::E_INVALID_ARGS},
};

/// The file of most patches.
const FILE: &str = "fn one() {\n    1\n}\n\nfn two() {\n    2\n}\n";

/// A file, a patch, the code of its refusal, and a text that the refusal quotes.
const REFUSED: [(&str, &str, Code, &str); 41] = [
    // The file is another one.
    (FILE, "@@\n-fn three() {\n+fn four() {\n", E_CONFLICT, "fn one() {"),
    (FILE, "@@\n fn one() {\n-    2\n+    3\n", E_CONFLICT, "line 5"),
    (FILE, "@@\n-    1 \n+    3\n", E_CONFLICT, "    1"),
    (FILE, "@@\n-\t1\n+\t3\n", E_CONFLICT, "    1"),
    (FILE, "@@\n-  1\n+  3\n", E_CONFLICT, "    1"),
    (FILE, "@@\n-fn One() {\n+fn three() {\n", E_CONFLICT, "fn one() {"),
    (FILE, "@@\n fn one() {\n }\n+\n", E_CONFLICT, "line 1"),
    (FILE, "@@\n }\n-fn two() {\n+fn three() {\n", E_CONFLICT, "line 3"),
    (FILE, "@@\n fn two() {\n     2\n }\n }\n+\n", E_CONFLICT, "line 5"),
    (FILE, "@@\n \n-fn one() {\n+fn zero() {\n", E_CONFLICT, "nearest"),
    (FILE, "@@\n-fn two() {\n-    2\n-}\n-// end\n", E_CONFLICT, "line 5"),
    ("", "@@\n-one\n+two\n", E_CONFLICT, "not found"),
    ("one\n", "@@\n-one\n-\n+two\n", E_CONFLICT, "line 1"),
    ("one\r\n", "@@\n-one\\r\n+two\n", E_CONFLICT, "one"),
    ("café\n", "@@\n-cafe\n+tea\n", E_CONFLICT, "café"),
    ("caf\u{e9}\n", "@@\n-cafe\u{301}\n+tea\n", E_CONFLICT, "caf"),
    ("one\u{a0}two\n", "@@\n-one two\n+three\n", E_CONFLICT, "one"),
    ("\u{201c}one\u{201d}\n", "@@\n-\"one\"\n+two\n", E_CONFLICT, "one"),
    ("one\rtwo\r", "@@\n-one\n+two\n", E_CONFLICT, "line 1"),
    // Of a long hunk, its first lines.
    ("a\nb\n", "@@\n b\n \n \n \n \n \n \n \n \n \n \n \n-a\n", E_CONFLICT, "line 2"),
    // The context is there more than once.
    (FILE, "@@\n-}\n+};\n", E_CONFLICT, "line 7"),
    (FILE, "@@\n }\n+// end\n", E_CONFLICT, "more than once"),
    ("a\na\na\n", "@@\n-a\n-a\n+b\n", E_CONFLICT, "more than once"),
    ("\n\n", "@@\n \n+a\n", E_CONFLICT, "more than once"),
    // Only additions.
    (FILE, "@@\n+fn three() {}\n", E_CONFLICT, "fn two() {"),
    ("one", "@@\n+two\n", E_CONFLICT, "one"),
    (FILE, "@@\n fn two() {\n+    2\n", E_CONFLICT, "already"),
    ("use a;\nuse b;\n", "@@\n use a;\n+use b;\n", E_CONFLICT, "already"),
    ("use a;\n", "@@\n use c;\n+use b;\n", E_CONFLICT, "use a;"),
    // One good hunk and a bad one.
    (FILE, "@@\n-    1\n+    3\n@@\n-    9\n+    4\n", E_CONFLICT, "not found"),
    (FILE, "@@\n-    9\n+    4\n@@\n-    1\n+    3\n", E_CONFLICT, "not found"),
    (FILE, "@@\n-    1\n+    3\n@@\n-    3\n+    4\n", E_CONFLICT, "not found"),
    (FILE, "@@\n fn one() {\n-    1\n+    3\n@@\n-    1\n+    4\n", E_INVALID_ARGS, "overlap"),
    (FILE, "@@\n-    1\n+    3\n@@\n-    1\n+    3\n", E_INVALID_ARGS, "overlap"),
    // No patches.
    (FILE, "", E_INVALID_ARGS, "nothing"),
    (FILE, "@@\n", E_INVALID_ARGS, "nothing"),
    (FILE, "@@\n fn one() {\n", E_INVALID_ARGS, "nothing"),
    (FILE, "--- a\n+++ b\n@@\n-    1\n+    3\n", E_INVALID_ARGS, "begins with a line"),
    (FILE, "-    1\n+    3\n", E_INVALID_ARGS, "begins with a line"),
    (FILE, "@@\n-    1\n+    3\n\\ No newline at end of file\n", E_INVALID_ARGS, "space"),
    (FILE, "@@\n-    1\n+    1\n", E_INVALID_ARGS, "nothing would change"),
];

/// Each is refused together with a good patch of another file, and nothing is written.
#[test]
fn a_patch_that_does_not_fit_changes_nothing() {
    for (text, diff, code, quoted) in REFUSED {
        let desk = Desk::new(&[("a", "good\n"), ("b", text)]);
        let workspace = desk.open();
        let refusal = workspace.plan(&[patch("b", diff)]).unwrap_err();
        assert_eq!(refusal.code, code, "{text:?}, {diff:?}: {refusal}");
        assert!(refusal.to_string().contains(quoted), "{text:?}, {diff:?}: {refusal}");
        let is_near = code == E_CONFLICT && !text.is_empty();
        assert_eq!(refusal.why.contains("; the nearest text"), is_near, "{diff:?}: {refusal}");
        let both = workspace.plan(&[patch("a", "@@\n-good\n+better\n"), patch("b", diff)]);
        // A patch without effect is no error beside one that has one.
        assert!(both.is_err() || quoted == "nothing would change", "{diff:?}");
        assert_eq!(desk.file("a").unwrap(), "good\n");
        assert_eq!(desk.file("b").unwrap(), text);
    }
}

/// A file, a patch, and the file after it: outside of the hunk every byte is as it was.
const APPLIED: [(&str, &str, &str); 15] = [
    ("a\nb\nc\n", "@@\n-b\n+x\n", "a\nx\nc\n"),
    ("a\r\nb\r\nc\r\n", "@@\n a\n-b\n+x\n+y\n", "a\r\nx\r\ny\r\nc\r\n"),
    ("a\r\nb\nc\r\n", "@@\n-b\n+x\n", "a\r\nx\nc\r\n"),
    ("\u{feff}a\nb\n", "@@\n-a\n+x\n", "\u{feff}x\nb\n"),
    ("\u{feff}a\r\nb", "@@\n-b\n+x\n", "\u{feff}a\r\nx"),
    ("\ta \t\n\tb\n", "@@\n-\tb\n+    b\n", "\ta \t\n    b\n"),
    ("a\nb", "@@\n b\n+c\n", "a\nb\nc"),
    ("a\nb", "@@\n-b\n", "a\n"),
    ("a\nb\n", "@@ -1,2 +1,2 @@ fn\n-a\n+x\n@@\n-b\n+y\n", "x\ny\n"),
    ("a\nb\nc\n", "@@\n-c\n+z\n@@\n-a\n+x\n", "x\nb\nz\n"),
    ("a\nb\n", "@@\n-a\n-b\n", ""),
    ("", "@@\n+a\n", "a\n"),
    ("a\na\nb\na\na\na\nc\n", "@@\n a\n a\n-c\n+x\n", "a\na\nb\na\na\na\nx\n"),
    ("a\n\nb\n", "@@\n a\n\n-b\n+x\n", "a\n\nx\n"),
    ("a\u{b}b\u{c}\u{2028}\nc\rd\n", "@@\n-c\rd\n+x\n", "a\u{b}b\u{c}\u{2028}\nx\n"),
];

#[test]
fn a_patch_changes_its_lines_only() {
    for (text, diff, expected) in APPLIED {
        let desk = Desk::new(&[("a", text)]);
        let workspace = desk.open();
        let set = workspace.plan(&[patch("a", diff)]).unwrap();
        workspace.apply(&set, None).unwrap();
        assert_eq!(desk.file("a").unwrap(), expected, "{text:?}, {diff:?}");
    }
}

#[test]
fn a_file_that_is_not_text_is_not_patched() {
    let desk = Desk::new(&[]);
    std::fs::write(desk.path("a"), b"one\n\xff\n").unwrap();
    let refusal = desk.open().plan(&[patch("a", "@@\n-one\n+two\n")]).unwrap_err();
    assert_eq!(refusal.code, E_INVALID_ARGS);
}
