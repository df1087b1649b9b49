//! Drawings show each branch of a choice with its condition, and escape hostile text.

use machine::definition::Definition;
use proptest::prelude::*;
use serde_json::json;

use crate::definition::{order, xml};

/// A choice with two branches, one of which has this label and this condition.
fn choice(label: &str, when: &str) -> Definition {
    let value = json!({
        "name": "sorter",
        "states": [
            {"name": "open", "label": "OPEN"},
            {"name": "one", "label": label, "terminal": true},
            {"name": "two", "label": "TWO", "terminal": true}
        ],
        "edges": [
            {"from": 0, "trigger": "sort", "to": 1, "when": when},
            {"from": 0, "trigger": "sort", "to": 2, "when": "else"}
        ],
        "initial": 0
    });
    serde_json::from_value(value).unwrap()
}

const HOSTILE: [&str; 16] = [
    "a < b && c > d",
    "name == \"it's; a | b\"",
    "</text></svg><script>alert(1)</script>",
    "]]>",
    "<!-- x -->",
    "&amp; &#35; &quot;",
    "#35; #quot;",
    "path == \"C:\\\\temp\\\\\"",
    "ends with a backslash \\",
    "one\ntwo",
    "one\r\ntwo --> [*]",
    "\"] [label=\"x",
    "}\nstateDiagram-v2",
    "a: b :: c",
    "%% comment",
    "größer als 雪",
];

#[test]
fn the_svg_is_well_formed_and_shows_each_branch() {
    let shown = xml::texts(&order::DEFINITION.svg()).unwrap();
    for text in [
        "look [guests > *context]",
        "look [else]",
        r#"taste [note is Some(note) and note == "a;b|<c>\"d\"" && courses < 3] / stays"#,
        "taste [note is Some(_) | None and courses == 0]",
        "taste [else]",
        "burn",
        "close_kitchen",
        "COOKING",
    ] {
        assert!(shown.iter().any(|found| found == text), "the drawing lacks `{text}`: {shown:#?}");
    }
    assert_eq!(shown.len(), order::DEFINITION.states.len() + order::DEFINITION.edges.len());
}

#[test]
fn hostile_text_stays_text_in_the_svg() {
    for text in HOSTILE {
        for definition in [choice("ONE", text), choice(text, "fits")] {
            let shown = xml::texts(&definition.svg()).unwrap_or_else(|why| panic!("{text}: {why}"));
            assert_eq!(shown.len(), 5, "{text}: {shown:?}");
            // A drawing may replace white space.
            let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(shown.iter().any(|found| words(found).contains(&words(text))), "{shown:?}");
        }
    }
}

#[test]
fn characters_that_xml_forbids_are_not_in_the_svg() {
    for text in ["a\u{0}b", "\u{1b}[31m", "\u{fffe}"] {
        for definition in [choice("ONE", text), choice(text, "fits")] {
            xml::texts(&definition.svg()).unwrap_or_else(|why| panic!("{text:?}: {why}"));
        }
    }
}

/// The number of lines of a Mermaid diagram, each of which must have a known form.
fn mermaid_lines(text: &str) -> Result<usize, String> {
    let mut lines = text.lines();
    if lines.next() != Some("stateDiagram-v2") {
        return Err("it does not start as a state diagram".to_owned());
    }
    let mut count = 0;
    for line in lines {
        let rest = line.strip_prefix("    ").ok_or_else(|| format!("not indented: {line:?}"))?;
        let (from, rest) = rest.split_once(" --> ").ok_or_else(|| format!("no arrow: {line:?}"))?;
        let (to, label) = rest.split_once(": ").map_or((rest, ""), |(to, label)| (to, label));
        for end in [from, to] {
            let is_name = !end.is_empty()
                && end.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
            if end != "[*]" && !is_name {
                return Err(format!("{end:?} is no state"));
            }
        }
        // `#`, a number or a name and `;` are an entity; elsewhere both have a meaning.
        let mut rest = label;
        while let Some(place) = rest.find(['#', ';']) {
            let entity = rest[place..].strip_prefix('#').and_then(|entity| entity.split_once(';'));
            let Some((name, behind)) = entity else { return Err(format!("{label:?} ends early")) };
            if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric()) {
                return Err(format!("{name:?} is no entity"));
            }
            rest = behind;
        }
        count += 1;
    }
    Ok(count)
}

#[test]
fn mermaid_shows_each_branch() {
    let text = order::DEFINITION.mermaid();
    for line in [
        "    PLACED --> CANCELLED: look [guests > *context]\n",
        "    PLACED --> COOKING: look [else]\n",
        "    COOKING --> SERVED: taste [else]\n",
        "    COOKING --> CANCELLED: taste [note is Some(_) | None and courses == 0]\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    // The start, an arrow for each edge, and two ends.
    assert_eq!(mermaid_lines(&text), Ok(1 + order::DEFINITION.edges.len() + 2));
}

#[test]
fn hostile_conditions_do_not_end_a_line_of_mermaid() {
    for text in HOSTILE {
        assert_eq!(mermaid_lines(&choice("ONE", text).mermaid()), Ok(5), "{text}");
    }
    assert!(mermaid_lines("stateDiagram-v2\n    A --> B: a; b\n").is_err());
    assert!(mermaid_lines("stateDiagram-v2\n    A --> B: a\n    b\n").is_err());
    let shown = choice("ONE", "a; b # c").mermaid();
    assert!(shown.contains("OPEN --> ONE: sort [a#59; b #35; c]\n"), "{shown}");
}

proptest! {
    /// Any text can be a condition.
    #[test]
    fn any_condition_can_be_drawn(text: String) {
        let definition = choice("ONE", &text);
        prop_assert_eq!(xml::texts(&definition.svg()).map(|shown| shown.len()), Ok(5));
        prop_assert_eq!(mermaid_lines(&definition.mermaid()), Ok(5));
    }
}

/// Labels of a definition that was edited in its file cannot add lines.
#[test]
fn hostile_labels_stay_in_their_line() {
    let definition = choice("A\n  click A href \"javascript:alert(1)\"\r[*] --> A", "x");
    let lines = definition.edges.len() + definition.states.len();
    let mermaid = definition.mermaid();
    assert!(mermaid.lines().count() <= lines + 2, "{mermaid}");
    assert!(!mermaid.lines().any(|line| line.trim_start().starts_with("click")), "{mermaid}");
}
