//! The programs that people copy decide by types: literals in them are texts for people, names and
//! data. Nothing is compared with one, and none is the name of a machine, a state, a trigger or a
//! tool of the program.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use super::{README, blocks, rust_files};

/// Their subject is text: tools that are known at run time only, a model that follows a script, the
/// output of programs, and requests over HTTP.
const ABOUT_TEXT: [&str; 4] = [
    "workflow_engine/office.rs",
    "workflow_engine/script.rs",
    "send_email/story.rs",
    "otlp/collector.rs",
];

/// Of the others, a story whose persons type triggers.
const TYPES_TRIGGERS: &str = "workflow_engine/story.rs";

/// A program with no machines of its own, and no tools that are types.
const WITHOUT_MACHINES: &str = "agent_turns";

/// A comparison with a literal, or a pattern.
const DECIDES: [&str; 9] = [
    "== \"",
    "!= \"",
    "\" =>",
    "\" |",
    "\" if ",
    "contains(\"",
    "starts_with(\"",
    "ends_with(\"",
    "matches!(\"",
];

/// The lines of a program without its comments.
fn code(source: &str) -> impl Iterator<Item = &str> {
    source.lines().filter(|line| !line.trim_start().starts_with("//"))
}

/// The lines of a program that decide something by comparing text.
fn decisions(source: &str) -> Vec<&str> {
    code(source).filter(|line| DECIDES.iter().any(|it| line.contains(it))).collect()
}

/// The name that the library has for a type.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

/// The names of the machines of a program, and of their states and triggers, and of its tools.
fn names(source: &str) -> BTreeSet<String> {
    let word = |text: &str| {
        let is_of_word = |letter: char| letter.is_alphanumeric() || "_.".contains(letter);
        text.split(|letter| !is_of_word(letter)).next().unwrap_or_default().to_owned()
    };
    let (mut names, mut is_machine, mut is_inside) = (BTreeSet::new(), false, false);
    for line in code(source) {
        // Some lines of a page are hidden.
        let line = line.strip_prefix("# ").unwrap_or(line);
        let trimmed = line.trim();
        is_machine |= trimmed.starts_with("#[machine");
        let machine = trimmed.split_once("enum ").filter(|_| is_machine).map(|(_, name)| name);
        let state = Some(trimmed).filter(|it| is_inside && it.starts_with(char::is_uppercase));
        names.extend([machine, state].into_iter().flatten().map(|name| snake_case(&word(name))));
        let triggers = trimmed.split("on(").skip(1).filter(|_| trimmed.contains("=>"));
        let tool = trimmed.strip_prefix("#[tool(");
        names.extend(triggers.chain(tool).map(word));
        is_inside = machine.is_some() || is_inside && !line.starts_with('}');
        is_machine &= machine.is_none();
    }
    names.remove("");
    names
}

/// The lines of a program with one of these names as a literal, apart from attributes, such as
/// `#[was = "old"]`.
fn named<'a>(source: &'a str, names: &BTreeSet<String>) -> Vec<&'a str> {
    let literals: Vec<_> = names.iter().map(|name| format!("\"{name}\"")).collect();
    let lines = code(source).filter(|line| !line.trim_start().starts_with("#["));
    lines.filter(|line| literals.iter().any(|it| line.contains(it))).collect()
}

/// The programs of the examples whose subject is not text, without their tests.
fn typed_programs() -> Vec<PathBuf> {
    let mut found = Vec::new();
    rust_files(Path::new("../examples"), &mut found);
    found.retain(|path| !path.to_str().unwrap().contains("/test"));
    assert!(found.len() > 20, "{found:?}");
    found.retain(|path| !ABOUT_TEXT.iter().any(|it| path.ends_with(it)));
    found
}

#[test]
fn no_program_decides_by_comparing_text() {
    for path in typed_programs() {
        let source = fs::read_to_string(&path).unwrap();
        assert_eq!(decisions(&source), [""; 0], "{}", path.display());
    }
    assert_eq!(decisions(include_str!("guide.rs")), [""; 0]);
    for block in blocks(README, "rust") {
        assert_eq!(decisions(block), [""; 0]);
    }
}

#[test]
fn no_program_writes_a_name_of_its_machines_as_text() {
    // The files of a folder of the examples are one program, or have machines that differ.
    let mut folders: BTreeMap<PathBuf, (BTreeSet<String>, Vec<String>)> = BTreeMap::new();
    for path in typed_programs().into_iter().filter(|path| !path.ends_with(TYPES_TRIGGERS)) {
        let source = fs::read_to_string(&path).unwrap();
        let program = path.components().take(3).collect();
        let (found, sources) = folders.entry(program).or_default();
        found.extend(names(&source));
        sources.push(source);
    }
    for (folder, (names, sources)) in folders {
        assert_eq!(names.is_empty(), folder.ends_with(WITHOUT_MACHINES), "{}", folder.display());
        for source in sources {
            assert_eq!(named(&source, &names), [""; 0], "{}", folder.display());
        }
    }
    let pages = [README, include_str!("../../machine/src/docs/guide.md")];
    for page in pages {
        let programs = page.split("```").skip(1).step_by(2).filter(|it| it.starts_with("rust"));
        for program in programs {
            assert_eq!(named(program, &names(program)), [""; 0]);
        }
    }
}

#[test]
fn names_as_text_are_seen() {
    let machine = "#[machine(durable)]\n# enum BigOrder {\n#     #[on(pay => FullyPaid)]\n    Placed,\n}\n\
                   #[tool(bank.charge, irreversible)]\nenum Other {\n    Closed,\n}";
    let all = ["bank.charge", "big_order", "pay", "placed"].map(str::to_owned);
    assert_eq!(names(machine), BTreeSet::from(all));
    let line = "let query = Query::new().status(\"placed\");";
    assert_eq!(named(line, &names(machine)), [line]);
    assert_eq!(named("let text = \"it is placed\"; // \"closed\"", &names(machine)), [""; 0]);
}

#[test]
fn decisions_by_text_are_seen() {
    for line in [
        "Some([payment]) if payment.status == \"completed\" => pay(),",
        "if status != \"completed\" {",
        "\"completed\" => Next::to(order.pay(runner)),",
        "\"completed\" | \"waiting\" => Next::Wait,",
        "if error.contains(\"refused\") {",
    ] {
        assert_eq!(decisions(line), [line]);
    }
    let harmless = "// status == \"completed\"\nlet receipt = Applied::new(\"paid\");";
    assert_eq!(decisions(harmless), [""; 0]);
}
