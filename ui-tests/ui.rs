//! Each file in `fail/` has one mistake and is named after it; the `.stderr` file of the same name has
//! the compiler's output. Programs that must compile are in `pass/`.

use std::{collections::BTreeSet, fs, io};

use machine::contract::execution::DEFINITION;

/// Without `pass` cases, trybuild compiles all of them with one call of cargo.
#[test]
fn programs_with_mistakes_fail_as_expected() {
    trybuild::TestCases::new().compile_fail("fail/*/*.rs");
}

/// `illegal_moves.rs` has a function for each illegal transition of the definition, and no other, and the
/// compiler reports each of them.
#[test]
fn every_illegal_move_has_a_case() -> io::Result<()> {
    let triggers: BTreeSet<&str> = DEFINITION.edges.iter().map(|edge| &*edge.trigger).collect();
    let illegal: BTreeSet<String> = DEFINITION
        .states
        .iter()
        .enumerate()
        .flat_map(|(index, state)| triggers.iter().map(move |trigger| (index, state, trigger)))
        .filter(|(index, _, trigger)| DEFINITION.find_move(*index, trigger).is_none())
        .map(|(_, state, trigger)| format!("{}_{trigger}", state.name))
        .collect();
    assert_eq!(illegal.len(), 47, "7 states x 8 triggers - 9 legal moves");

    let path = "fail/execution/illegal_moves.rs";
    let program = fs::read_to_string(path)?;
    let lines: Vec<&str> = program.lines().collect();
    let said = fs::read_to_string("fail/execution/illegal_moves.stderr")?;
    // Each error is in the first line of a function, whose name says the state and the trigger.
    let place = format!("--> {path}:");
    let reported = said.lines().filter_map(|line| {
        let (number, _) = line.trim().strip_prefix(&place)?.split_once(':')?;
        let line = number.parse::<usize>().ok()?;
        let (call, function) = (lines[line - 1], lines[line - 2]);
        let (name, rest) = function.strip_prefix("fn ")?.split_once('(')?;
        let (state, trigger) = name.split_once('_')?;
        let calls = call.contains(&format!("{state}.{trigger}("));
        (calls && rest.starts_with(&format!("{state}: Execution<"))).then(|| name.to_owned())
    });
    assert_eq!(reported.collect::<BTreeSet<_>>(), illegal);
    assert_eq!(program.matches("\nfn ").count(), 47 + 1, "and `main`");
    assert_eq!(said.matches("error[E0277]: ").count(), 47, "one error for each");
    Ok(())
}

/// A message has the user's names and public ones only, except where a program tries to get around the
/// seals of the macro.
#[test]
fn messages_name_nothing_private() -> io::Result<()> {
    let seals = [
        "callable_by_hand",
        "copy_the_mark",
        "grant_oneself",
        "join_from_outside",
        "state_of_another_machine",
        "move_by_the_state",
    ];
    for (case, stderr) in cases()? {
        if seals.iter().all(|seal| !stderr.contains(seal)) {
            let private = ["__private", "__machine", "sealed::", "groups::"];
            let named = private.iter().find(|name| stderr.contains(**name));
            assert_eq!(named, None, "{case}{stderr}");
        }
    }
    Ok(())
}

/// Every message of the macro has a case.
#[test]
fn every_message_has_a_case() -> io::Result<()> {
    let codes = codes()?;
    let said: String = cases()?.into_iter().map(|(_, stderr)| stderr).collect();
    let shown = said.split(['[', ']']).filter(|text| is_code(text)).map(str::to_owned);
    assert_eq!(shown.collect::<BTreeSet<_>>(), codes);
    Ok(())
}

/// Every message has a page, with the program of a case and the compiler's output for it. A case begins
/// with the code of its message.
#[test]
fn every_message_has_a_page() -> io::Result<()> {
    let pages = "../machine/src/docs/errors";
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(pages)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        found.extend(name.strip_suffix(".md").map(str::to_owned));
    }
    let codes = codes()?;
    assert_eq!(found, codes);
    let tested = fs::read_to_string("lib.rs")?;

    for code in codes {
        let page = fs::read_to_string(format!("{pages}/{code}.md"))?;
        let block = |heading: &str, fence: &str| {
            let start = format!("\n## {heading}\n\n```{fence}\n");
            let (_, rest) = page.split_once(&start).unwrap_or_else(|| panic!("{code}: {heading}"));
            rest.split_once("```\n").map_or("", |(block, _)| block).to_owned()
        };
        let (wrong, said) =
            (block("Wrong", "rust,ignore"), block("What the compiler says", "text"));
        assert!(page.starts_with(&format!("# {code}: ")), "{code}");
        assert!(!block("Fixed", "rust").is_empty(), "{code}");
        assert!(tested.contains(&format!("errors/{code}.md")), "{code} is missing in lib.rs");
        let shows = cases()?.into_iter().any(|(case, stderr)| {
            case.starts_with(&format!("// {code}"))
                && program(&case) == wrong
                && stderr.starts_with(&said)
        });
        assert!(shows && said.contains(&code), "{code}: no case has this program and this text");
    }
    Ok(())
}

/// The codes of all messages of the macro.
fn codes() -> io::Result<BTreeSet<String>> {
    let mut codes = BTreeSet::new();
    for file in fs::read_dir("../machine-derive/src/message")? {
        let messages = fs::read_to_string(file?.path())?;
        codes.extend(messages.split_whitespace().filter(|text| is_code(text)).map(str::to_owned));
    }
    Ok(codes)
}

fn is_code(text: &str) -> bool {
    text.strip_prefix('M').is_some_and(|number| number.parse::<u16>().is_ok())
}

/// All cases: the program, and the compiler's output.
fn cases() -> io::Result<Vec<(String, String)>> {
    let mut cases = Vec::new();
    for folder in fs::read_dir("fail")? {
        for entry in fs::read_dir(folder?.path())? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "rs") {
                cases.push((
                    fs::read_to_string(&path)?,
                    fs::read_to_string(path.with_extension("stderr"))?,
                ));
            }
        }
    }
    Ok(cases)
}

/// The case without its first comment.
fn program(case: &str) -> &str {
    case.split_once("\n\n").map_or(case, |(_, program)| program)
}

/// The cases with more errors than one.
const SEVERAL: [(&str, usize); 5] = [
    ("illegal_moves.stderr", 47),
    ("three_mistakes.stderr", 3),
    // A derive reports each type that it is for: the state, and the events.
    ("field_without_clone.stderr", 2),
    // The compiler reports each mention of a type without its parameters, before it looks at traits.
    ("handler_of_the_typed_machine.stderr", 3),
    // The macro is not called.
    ("without_import.stderr", 5),
];

/// Consequences of a mistake are not reported.
#[test]
fn one_mistake_makes_one_error() -> io::Result<()> {
    let mut more = Vec::new();
    for folder in fs::read_dir("fail")? {
        for entry in fs::read_dir(folder?.path())? {
            let path = entry?.path();
            if path.extension().is_none_or(|extension| extension != "stderr") {
                continue;
            }
            let name = path.file_name().and_then(|name| name.to_str());
            let known = SEVERAL.iter().find(|(case, _)| name == Some(*case));
            let mistakes = known.map_or(1, |(_, errors)| *errors);
            let said = fs::read_to_string(&path)?;
            let errors = said.lines().filter(|line| line.starts_with("error")).count();
            if errors != mistakes {
                more.push((path, errors));
            }
        }
    }
    assert!(more.is_empty(), "{more:#?}");
    Ok(())
}
