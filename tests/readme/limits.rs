//! Tests wait for a minute, so that a slow computer fails none.

mod check;
mod meaning;
mod names;
mod polling;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use self::{check::short_limits, meaning::Meaning, names::constants_of};
use super::rust_files;

/// The least limit, in seconds: [`STUCK`](machine_tests::STUCK).
const MINUTE: f64 = 60.0;

/// Lines that are right all the same: their file, their text, and the reason.
const ALLOWED: [(&str, &str, &str); 7] = [
    (
        "tests/contract/permit.rs",
        "tokio::time::timeout(limit, std::future::pending::<()>()).await?;",
        "the service never answers",
    ),
    (
        "tests/effects/cut_off.rs",
        "let begun = tokio::time::timeout(moment, self.client(call)).await;",
        "the client never answers",
    ),
    (
        "tests/effects/cut_off.rs",
        "(Ending::Elapsed, _) => tokio::time::timeout(moment, self.client(call)).await?,",
        "the client never answers",
    ),
    (
        "tests/durability/created.rs",
        "while Instant::now() < until {",
        "the moment at which a process is killed",
    ),
    (
        "tests/worker/killed.rs",
        "if Instant::now() >= disturbed_at && position != seen {",
        "the interval between two kills",
    ),
    (
        "tests/worker/killed/crew.rs",
        "for (mut member, _) in self.frozen.extract_if(.., |(_, at)| *at <= now) {",
        "the moment at which a frozen process is thawed",
    ),
    (
        "examples/workflow_engine/tests/crash.rs",
        "_ => start.elapsed() >= time,",
        "the moment at which an engine is killed",
    ),
];

/// The constants of all files. Of two with one name, the shorter counts.
fn constants<'a>(files: impl Iterator<Item = &'a syn::File>) -> BTreeMap<String, Meaning> {
    let mut all = BTreeMap::new();
    let length = |meaning: Meaning| meaning.seconds(1.0).unwrap_or(0.0);
    for (name, meaning) in files.flat_map(constants_of) {
        let shortest = all.entry(name).or_insert(meaning);
        if length(meaning) < length(*shortest) {
            *shortest = meaning;
        }
    }
    all
}

#[test]
fn no_test_has_a_short_limit() {
    let mut found = Vec::new();
    for folder in ["../tests", "../examples", "../machine"] {
        rust_files(Path::new(folder), &mut found);
    }
    // Those of tests, and those of the examples, whose stories run as tests.
    found.retain(|path| {
        let text = path.to_str().unwrap();
        text.contains("/test") || text.contains("/examples/")
    });
    assert!(found.len() > 300, "{} files", found.len());
    let files: Vec<_> = found
        .into_iter()
        .map(|path| {
            let source = fs::read_to_string(&path).unwrap();
            let file = syn::parse_file(&source);
            let file = file.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (path, source, file)
        })
        .collect();
    let constants = constants(files.iter().map(|(.., file)| file));
    let (mut short, mut allowed) = (Vec::new(), BTreeSet::new());
    for (path, source, file) in &files {
        for number in short_limits(file, &constants) {
            let line = source.lines().nth(number - 1).unwrap().trim();
            let is_it =
                |(file, text, _): &(&str, &str, &str)| path.ends_with(file) && line == *text;
            match ALLOWED.iter().position(is_it) {
                Some(at) => {
                    allowed.insert(at);
                }
                None => short.push(format!("{}:{number}: {line}", path.display())),
            }
        }
    }
    assert!(short.is_empty(), "use STUCK for these:\n{}", short.join("\n"));
    let unused = ALLOWED.iter().enumerate().filter(|(at, _)| !allowed.contains(at));
    let unused: Vec<_> = unused.map(|(_, it)| it).collect();
    assert!(unused.is_empty(), "no longer needed: {unused:#?}");
}

/// The lines of the body of a function that have a short limit, counted from 1.
fn lines_of(body: &str) -> Vec<usize> {
    let file = syn::parse_file(&format!("async fn test() {{\n{body}\n}}"));
    let file = file.unwrap_or_else(|error| panic!("{body}: {error}"));
    let constants = BTreeMap::from([("STUCK".to_owned(), Meaning::Duration(MINUTE))]);
    short_limits(&file, &constants).into_iter().map(|line| line - 1).collect()
}

#[test]
fn short_limits_are_seen() {
    for (line, short) in [
        // Comparisons of a measured time.
        (1, "assert!(start.elapsed() < LIMIT);"),
        (1, "assert!(start.elapsed() <= Duration::from_secs(59));"),
        (1, "assert!(LIMIT > start.elapsed());"),
        (1, "assert!(Duration::from_secs(5) >= start.elapsed(), \"late\");"),
        (1, "assert!(!(start.elapsed() > LIMIT));"),
        (1, "assert!(is_done() || start.elapsed() > LIMIT);"),
        (1, "assert!(start.elapsed().as_secs() < 10);"),
        (1, "assert!(start.elapsed().as_millis() < STUCK.as_secs());"),
        (1, "assert!(start.elapsed().lt(&LIMIT));"),
        (1, "assert!((Duration::ZERO..LIMIT).contains(&start.elapsed()));"),
        (1, "assert!(matches!(start.elapsed().as_secs(), 0..=5));"),
        (1, "assert!(LIMIT.checked_sub(start.elapsed()).is_some());"),
        (1, "assert_eq!(start.elapsed().as_secs(), 0);"),
        (1, "if start.elapsed() > STUCK / 2 {\n    panic!();\n}"),
        (1, "while start.elapsed() < LIMIT && !is_done() {\n    work();\n}\nassert!(is_done());"),
        (1, "match start.elapsed().as_secs() {\n    0 => {}\n    _ => panic!(),\n}"),
        (1, "assert!(Instant::elapsed(&start) < LIMIT);"),
        (2, "let took = start.elapsed();\nassert!(took < LIMIT);"),
        (2, "let took = start.elapsed().as_secs_f64();\nassert!(took <= 1.5);"),
        (2, "let (count, took) = (2, start.elapsed());\nassert!(took < LIMIT);"),
        (
            6,
            "let slow = move || {\n    work();\n    start.elapsed()\n};\nlet slow = spawn(slow);\n\
             assert!(slow.join().unwrap() < LIMIT);",
        ),
        (
            4,
            "fn measured(start: Instant) -> Duration {\n    start.elapsed()\n}\n\
             assert!(measured(start) < LIMIT);",
        ),
        (2, "const STUCK: Duration = Duration::from_secs(1);\nassert!(start.elapsed() < STUCK);"),
        (
            2,
            "fn waits(limit: Duration, start: Instant) {\n    assert!(start.elapsed() < limit);\n}",
        ),
        // Moments.
        (2, "let start = Instant::now();\nassert!(Instant::now() - start < LIMIT);"),
        (2, "let start = Instant::now();\nassert!(LIMIT > Instant::now().duration_since(start));"),
        (
            2,
            "let until = Instant::now() + Duration::from_secs(3);\nassert!(Instant::now() < until);",
        ),
        (
            3,
            "use std::time::Instant as Clock;\nlet until = Clock::now() + Duration::from_secs(3);\n\
             while Clock::now() < until {\n    work();\n}",
        ),
        // Calls that give up.
        (1, "let next = tokio::time::timeout(Duration::from_secs(20), next).await;"),
        (2, "use tokio::time::timeout;\ntimeout(Duration::from_millis(500), next).await.unwrap();"),
        (2, "use tokio::time::timeout as within;\nwithin(LIMIT, next).await.unwrap();"),
        (1, "assert!(timeout(LIMIT, next).await.is_ok());"),
        (1, "tokio::time::timeout_at(Instant::now() + LIMIT, next).await.unwrap();"),
        (1, "heard.recv_timeout(Duration::from_secs(3)).unwrap();"),
        (1, "if heard.recv_timeout(LIMIT).is_err() {\n    panic!();\n}"),
        (1, "let (state, _) = changed.wait_timeout(state, Duration::from_secs(3)).unwrap();"),
        (1, "changed.wait_timeout_while(state, LIMIT, |it| it.is_open()).unwrap();"),
        (1, "stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();"),
        (2, "let short = Duration::from_secs(2);\nlet next = timeout(4 * short, next).await;"),
        (
            3,
            "tokio::select! {\n    it = next => it,\n    () = tokio::time::sleep(LIMIT) => panic!(),\n}",
        ),
        (2, "tokio::select! {\n    it = timeout(LIMIT, next) => it.unwrap(),\n}"),
        (
            3,
            "tokio::select! {\n    it = first => {}\n    it = timeout(LIMIT, next) => it.unwrap(),\n}",
        ),
        // Loops that look a limited number of times.
        (
            1,
            "for _ in 0..50 {\n    if is_done() {\n        return;\n    }\n    sleep(PAUSE);\n}\npanic!();",
        ),
        (
            2,
            "const PAUSE: Duration = Duration::from_millis(100);\n\
             for _ in 0..=50 {\n    sleep(PAUSE).await;\n    if is_done() {\n        break;\n    }\n}",
        ),
        (
            1,
            "assert!((0..50).any(|_| {\n    sleep(Duration::from_millis(100));\n    is_done()\n}));",
        ),
        (
            2,
            "let mut tries = 0;\nwhile !is_done() && tries < 50 {\n    tries += 1;\n    sleep(PAUSE);\n}",
        ),
        (
            2,
            "let mut tries = 0;\nloop {\n    tries += 1;\n    assert!(tries < 50);\n    sleep(PAUSE);\n}",
        ),
    ] {
        assert_eq!(lines_of(short), [line], "{short}");
    }
}

#[test]
fn long_limits_are_not_refused() {
    for long in [
        "assert!(start.elapsed() < STUCK);",
        "assert!(start.elapsed() < 3 * machine_tests::STUCK, \"{:?}\", start.elapsed());",
        "assert!(STUCK * 2 > start.elapsed());",
        "assert!(start.elapsed().as_millis() < 60_000);",
        "assert!(start.elapsed().as_secs() < STUCK.as_secs());",
        "if start.elapsed() > Duration::from_mins(5) {\n    panic!();\n}",
        "let took = start.elapsed();\nassert!(took < STUCK);",
        "const LIMIT: Duration = Duration::from_secs(90);\nassert!(start.elapsed() < LIMIT);",
        // A slow computer breaks no lower bound.
        "let took = start.elapsed();\nassert!(took > LIMIT);",
        "assert!(start.elapsed() >= Duration::from_millis(20) && is_done());",
        "assert!(LIMIT < start.elapsed());",
        // Other values, also under the name of a time.
        "let (took, count) = (start.elapsed(), 2);\nassert!(count < 3);",
        "let took = start.elapsed();\nfn eats(took: usize) {\n    assert!(took < 3);\n}",
        "let took = start.elapsed();\nassert!(all.iter().all(|took| *took < 3));",
        "let now = UNIX_EPOCH.elapsed().unwrap();\nassert!(now < LIMIT);",
        "let tenth = start.elapsed().as_millis() * 10 / whole.as_millis();\nassert!(tenth < 10);",
        "let call = contract.timeout(Duration::from_secs(1));",
        // Calls that give up.
        "tokio::time::timeout(STUCK, next).await.unwrap();",
        "timeout(2 * STUCK, next).await.unwrap();",
        "timeout_at(Instant::now() + STUCK, next).await.unwrap();",
        "changed.wait_timeout_while(state, STUCK, |it| it.is_open()).unwrap();",
        "stream.set_read_timeout(Some(STUCK)).unwrap();",
        "let until = Instant::now() + STUCK;\nassert!(Instant::now() < until);",
        "let left = STUCK.saturating_sub(start.elapsed());\nheard.recv_timeout(left).unwrap();",
        // What a test waits for in vain may be short.
        "timeout(Duration::from_millis(100), next).await.unwrap_err();",
        "assert!(timeout(Duration::from_millis(100), next).await.is_err(), \"it came\");",
        "while heard.recv_timeout(Duration::from_millis(100)).is_ok() {}",
        // Loops without a limit, with a long one, or that look for nothing.
        "while !is_done() {\n    sleep(Duration::from_millis(5));\n}",
        "for _ in 0..6000 {\n    if is_done() {\n        break;\n    }\n    sleep(Duration::from_millis(100));\n}",
        "for _ in 0..3 {\n    work();\n    sleep(Duration::from_millis(100));\n}",
        "for _ in 0..50 {\n    if is_done() {\n        break;\n    }\n    work();\n}",
    ] {
        assert_eq!(lines_of(long), [0; 0], "{long}");
    }
}
