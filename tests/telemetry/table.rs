//! Everything that is documented happens as it is documented, and nothing else does.

use std::{collections::BTreeSet, sync::LazyLock};

use machine_tests::random::Random;

use crate::{
    calls,
    capture::{Report, captured},
    people, storage, work,
    world::{World, secret},
};

const PAGE: &str = include_str!("../../machine/src/docs/tracing.md");

/// A span or an event, as the page describes it.
struct Signal {
    name: &'static str,
    is_span: bool,
    level: &'static str,
    target: &'static str,
    fields: Vec<&'static str>,
}

static SIGNALS: LazyLock<Vec<Signal>> = LazyLock::new(|| {
    let (_, page) = PAGE.split_once("\n# Spans\n").unwrap();
    let (spans, page) = page.split_once("\n# Events\n").unwrap();
    let (events, _) = page.split_once("\n# Fields\n").unwrap();
    let rows = |table: &'static str| table.lines().filter(|line| line.starts_with("| `"));
    let spans = rows(spans).map(|row| Signal::of(row, true));
    spans.chain(rows(events).map(|row| Signal::of(row, false))).collect()
});

impl Signal {
    fn of(row: &'static str, is_span: bool) -> Self {
        let cells: Vec<_> =
            row.split(" | ").map(|cell| cell.trim_matches(['|', ' ', '`'])).collect();
        let [name, level, target, _, fields] = cells[..] else { panic!("not five cells: {row}") };
        Self { name, is_span, level, target, fields: fields.split("` `").collect() }
    }
}

/// Signals that these tests cannot cause.
const NOT_CAUSED: &[&str] = &[
    // The file was edited by hand.
    "machine.skipped",
];

/// The reports of one run of everything, with this secret.
pub(crate) static REPORTS: LazyLock<Vec<Report>> = LazyLock::new(|| everything(&SECRET));
pub(crate) static SECRET: LazyLock<String> = LazyLock::new(|| secret(&mut Random::of("secret")));

/// Everything, with a secret in every text.
pub(crate) fn everything(secret: &str) -> Vec<Report> {
    let ((), reports) = captured(async {
        let world = World::new(secret).await;
        calls::outcomes(&world).await;
        calls::late(&world).await;
        calls::doubt(&world).await;
        calls::resumed(&world).await;
        people::messages(&World::new(secret).await).await;
        people::gates(&World::new(secret).await).await;
        calls::contested(&World::new(secret).await).await;
        work::failures(&World::new(secret).await).await;
        work::cancelled(&World::new(secret).await).await;
        work::undriven(&World::new(secret).await).await;
        work::stuck(&World::new(secret).await).await;
        work::not_started(&World::new(secret).await).await;
        work::stopped(&World::new(secret).await).await;
        work::cut_short(&World::new(secret).await).await;
        work::lost_lease(&World::new(secret).await).await;
        storage::indeterminate(&World::new(secret).await).await;
        storage::full(&World::new(secret).await).await;
        storage::in_use(&World::new(secret).await).await;
        world.store.close().await.unwrap();
        assert!(world.store.recover().await.is_err());
    });
    reports
}

#[test]
fn everything_happens_as_documented() {
    let own = REPORTS.iter().filter(|report| report.target.starts_with("machine:"));
    let mut seen = BTreeSet::new();
    for report in own {
        let mut known = SIGNALS.iter();
        let signal = known.find(|signal| signal.name == report.name);
        let signal = signal.unwrap_or_else(|| panic!("it is not documented: {report:?}"));
        assert_eq!(report.is_span, signal.is_span, "{report:?}");
        assert_eq!(report.level, signal.level, "{report:?}");
        assert_eq!(report.target, signal.target, "{report:?}");
        assert_eq!(report.fields, signal.fields, "{report:?}");
        if !report.is_span {
            assert_eq!(report.get("message"), signal.name, "{report:?}");
        }
        seen.insert(report.name);
    }
    let missing: Vec<_> = SIGNALS
        .iter()
        .map(|signal| signal.name)
        .filter(|name| !seen.contains(name) && !NOT_CAUSED.contains(name))
        .collect();
    assert!(missing.is_empty(), "never seen: {missing:?}");
    assert!(NOT_CAUSED.iter().all(|name| !seen.contains(name)), "{seen:?}");
}

/// Every documented field has a value at some time.
#[test]
fn every_field_is_recorded() {
    let mut missing = Vec::new();
    for signal in SIGNALS.iter().filter(|signal| !NOT_CAUSED.contains(&signal.name)) {
        let recorded: BTreeSet<_> = REPORTS
            .iter()
            .filter(|report| report.name == signal.name)
            .flat_map(|report| report.values.keys().copied())
            .collect();
        let fields = signal.fields.iter().filter(|field| !recorded.contains(*field));
        missing.extend(fields.map(|field| (signal.name, *field)));
    }
    assert!(missing.is_empty(), "never recorded: {missing:?}");
}
