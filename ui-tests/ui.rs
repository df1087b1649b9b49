//! A file in `fail/` has one mistake and is named after it, or it has the mistakes of one topic: each below a
//! comment that says what is wrong, in an item that is named after it. The `.stderr` file of the same name has
//! the compiler's output. Programs that must compile are in `pass/`. Those in `plain/` are of a package that
//! depends on the library without its features.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use machine::contract::execution::DEFINITION;

/// Without `pass` cases, trybuild compiles all of them with one call of cargo.
#[test]
fn programs_with_mistakes_fail_as_expected() {
    trybuild::TestCases::new().compile_fail("fail/*/*.rs");
}

#[test]
fn programs_without_features_fail_as_expected() -> io::Result<()> {
    for case in cases()?.into_iter().filter(|case| case.path.starts_with("plain/")) {
        let name = Path::new(&case.path).file_stem().unwrap_or_default();
        let output = Command::new(env!("CARGO"))
            .args([
                "check",
                "--quiet",
                "--locked",
                "--color=never",
                "--manifest-path",
                "plain/Cargo.toml",
            ])
            .args(["--target-dir", concat!(env!("CARGO_TARGET_TMPDIR"), "/plain"), "--bin"])
            .arg(name)
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        // The compiler's paths are those in the package.
        let said = said.replace("--> ", "--> plain/");
        let (own, _) = said.split_once("\nerror: could not compile").unwrap_or((said.as_str(), ""));
        assert_eq!(own, case.said);
    }
    Ok(())
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
    let seals = ["fail/actor/forged.rs", "fail/effect/made_by_hand.rs", "fail/group/seals.rs"];
    for case in cases()? {
        if !seals.contains(&&*case.path) {
            let private = ["__private", "__machine", "sealed::", "groups::"];
            let named = private.iter().find(|name| case.said.contains(**name));
            assert_eq!(named, None, "{}", case.said);
        }
    }
    Ok(())
}

/// Every message of the macro has a case.
#[test]
fn every_message_has_a_case() -> io::Result<()> {
    let codes = codes()?;
    let said: String = cases()?.into_iter().map(|case| case.said).collect();
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
        assert!(tested.split_whitespace().any(|word| word == code), "{code} is missing in lib.rs");
        let shows = cases()?.into_iter().any(|case| {
            case.program.starts_with(&format!("// {code}"))
                && case.body() == wrong
                && case.said.starts_with(&said)
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

/// A program of `fail/` or `plain/`, and the compiler's output.
struct Case {
    path: String,
    program: String,
    said: String,
}

impl Case {
    /// The program without its first comment.
    fn body(&self) -> &str {
        self.program.split_once("\n\n").map_or(&self.program, |(_, body)| body)
    }

    /// The mistakes: the line and the text of each comment below the first one, or the first one if there
    /// are no others.
    fn mistakes(&self) -> Vec<(usize, &str)> {
        let head = self.program.lines().take_while(|line| !line.is_empty()).count();
        let mut mistakes = Vec::new();
        for (index, line) in self.program.lines().enumerate() {
            if (index == 0 || index >= head)
                && let Some(text) = line.trim_start().strip_prefix("// ")
            {
                mistakes.push((index + 1, text));
            }
        }
        if mistakes.len() > 1 { mistakes.split_off(1) } else { mistakes }
    }

    /// The errors: the line and the text of each.
    fn errors(&self) -> Vec<(usize, &str)> {
        let place = format!("--> {}:", self.path);
        let line = |error: &str| error.split_once(&place)?.1.split(':').next()?.parse().ok();
        let starts = self.said.match_indices("error").map(|(start, _)| start);
        let mut starts: Vec<usize> =
            starts.filter(|start| *start == 0 || self.said[..*start].ends_with('\n')).collect();
        starts.push(self.said.len());
        let errors = starts.windows(2).map(|range| &self.said[range[0]..range[1]]);
        errors.map(|error| (line(error).unwrap_or(0), error)).collect()
    }
}

fn cases() -> io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    let mut folders = vec![PathBuf::from("plain")];
    for folder in fs::read_dir("fail")? {
        folders.push(folder?.path());
    }
    for folder in folders {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "rs") {
                cases.push(Case {
                    program: fs::read_to_string(&path)?,
                    said: fs::read_to_string(path.with_extension("stderr"))?,
                    path: path.to_string_lossy().into_owned(),
                });
            }
        }
    }
    Ok(cases)
}

/// The code of a message of the macro.
fn code(text: &str) -> Option<&str> {
    text.split(['[', ']', ':', ' ', '\n']).find(|text| is_code(text))
}

/// The cases in which one mistake makes several errors.
const SEVERAL: [(&str, usize); 5] = [
    // A function for each illegal transition; see `every_illegal_move_has_a_case`.
    ("fail/execution/illegal_moves.rs", 47),
    // A derive reports each type that it is for: the state, and the events.
    ("fail/declaration/field_without_clone.rs", 2),
    // The compiler reports each mention of a type without its parameters, before it looks at traits.
    ("fail/worker/handler_of_the_typed_machine.rs", 3),
    // The compiler parses the enum before the macro does.
    ("fail/declaration/field_without_a_type.rs", 2),
    // The macro is not called.
    ("fail/declaration/without_import.rs", 5),
];

/// Each mistake makes one error, with the code that its comment names, between this comment and the next.
/// Consequences of a mistake are not reported.
#[test]
fn one_mistake_makes_one_error() -> io::Result<()> {
    for case in cases()? {
        let (mistakes, errors) = (case.mistakes(), case.errors());
        if let Some((_, expected)) = SEVERAL.iter().find(|(path, _)| case.path == *path) {
            assert_eq!(errors.len(), *expected, "{}", case.path);
            continue;
        }
        assert_eq!(errors.len(), mistakes.len(), "{}", case.path);
        let ends = mistakes.iter().skip(1).map(|(line, _)| *line).chain([usize::MAX]);
        for ((start, mistake), end) in mistakes.iter().zip(ends) {
            let mut own = errors.iter().filter(|(line, _)| (*start..end).contains(line));
            let (Some((_, error)), None) = (own.next(), own.next()) else {
                panic!("{}:{start}: not one error for: {mistake}", case.path);
            };
            assert_eq!(code(error), code(mistake), "{}:{start}", case.path);
        }
    }
    Ok(())
}
