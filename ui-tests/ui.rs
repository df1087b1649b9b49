//! A file in `fail/` has one mistake and is named after it, or it has the mistakes of one topic:
//! each below a comment that says what is wrong, in an item that is named after it. The `.stderr`
//! file of the same name has the compiler's output. The page of an error has such a program and its
//! output, too. Programs that must compile are in `pass/`. Those in `plain/` are of a package that
//! depends on the library without its features.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use machine::contract::execution::DEFINITION;

/// Without `pass` cases, trybuild compiles all of them with one call of cargo. If it overwrites the
/// expected output, the pages get it, too.
#[test]
fn programs_with_mistakes_fail_as_expected() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    fs::create_dir_all(&folder)?;
    let tests = trybuild::TestCases::new();
    tests.compile_fail("fail/*/*.rs");
    let mut programs = Vec::new();
    for page in pages()?.into_iter().filter(Page::has_all_features) {
        let program = folder.join(format!("{}.rs", page.code));
        fs::write(&program, page.wrong())?;
        let said = page.said().replace(MAIN, &program.to_string_lossy());
        fs::write(program.with_extension("stderr"), said)?;
        tests.compile_fail(&program);
        programs.push((page, program));
    }
    // This runs them.
    drop(tests);
    for (page, program) in programs {
        let said = fs::read_to_string(program.with_extension("stderr"))?;
        let said = said.replace(&*program.to_string_lossy(), MAIN);
        if said != page.said() {
            fs::write(page.path(), page.text.replace(page.said(), &said))?;
        }
    }
    Ok(())
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

/// Every message has a page, with the program of a case and the compiler's output for it.
#[test]
fn every_message_has_a_page() -> io::Result<()> {
    let (pages, cases) = (pages()?, cases()?);
    assert_eq!(fs::read_dir(PAGES)?.count(), pages.len(), "a page has a message");
    let tested = fs::read_to_string("lib.rs")?;
    for page in pages {
        let code = page.code.as_str();
        assert!(page.text.starts_with(&format!("# {code}: ")), "{code}");
        assert!(!page.block("Fixed", "rust").is_empty(), "{code}");
        assert!(tested.split_whitespace().any(|word| word == code), "{code} is missing in lib.rs");
        assert!(page.said().contains(code), "{code}");
        let mut shown = cases.iter().filter(|case| case.body() == page.wrong());
        assert!(shown.any(|case| case.said == page.said()), "{code}: no case has this program");
    }
    Ok(())
}

const PAGES: &str = "../machine/src/docs/errors";

/// The program of a page, in the compiler's output.
const MAIN: &str = "src/main.rs";

/// The page of an error.
struct Page {
    code: String,
    text: String,
}

impl Page {
    fn path(&self) -> String {
        format!("{PAGES}/{}.md", self.code)
    }

    /// The program with the mistake.
    fn wrong(&self) -> &str {
        self.block("Wrong", "rust,ignore")
    }

    /// The compiler's output for it.
    fn said(&self) -> &str {
        self.block("What the compiler says", "text")
    }

    fn block(&self, heading: &str, fence: &str) -> &str {
        let start = format!("\n## {heading}\n\n```{fence}\n");
        let rest = self.text.split_once(&start).map(|(_, rest)| rest);
        let block = rest.and_then(|rest| rest.split_once("```\n"));
        block.unwrap_or_else(|| panic!("{}: {heading}", self.code)).0
    }

    /// Whether the program is of a package with all features; otherwise it is in `plain/`, too.
    fn has_all_features(&self) -> bool {
        self.said().contains(MAIN)
    }
}

fn pages() -> io::Result<Vec<Page>> {
    let page = |code: String| {
        let text = fs::read_to_string(format!("{PAGES}/{code}.md"));
        Page { text: text.unwrap_or_else(|error| panic!("{code}: {error}")), code }
    };
    Ok(codes()?.into_iter().map(page).collect())
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

/// A program of `fail/`, `plain/` or a page, and the compiler's output.
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
    for page in pages()?.into_iter().filter(Page::has_all_features) {
        cases.push(Case {
            path: MAIN.to_owned(),
            program: format!("// {}\n\n{}", page.code, page.wrong()),
            said: page.said().to_owned(),
        });
    }
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
        assert_eq!(errors.len(), mistakes.len(), "{}: {}", case.path, case.said);
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
