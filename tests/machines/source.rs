//! The table of a source, and how a definition is compared with it.

use std::collections::{BTreeMap, BTreeSet};

use machine::definition::{Definition, Edge, StateDef};

/// A row of a source's table: from, trigger, to. A choice has one row for each branch.
pub(crate) type Row = (&'static str, &'static str, &'static str);

/// A source's account of its machine.
#[derive(Default)]
pub(crate) struct Source<'a> {
    pub(crate) states: &'a [&'static str],
    pub(crate) initial: &'static str,
    pub(crate) terminal: &'a [&'static str],
    pub(crate) stable: &'a [&'static str],
    pub(crate) rows: &'a [Row],
    /// The moves that a deadline makes: from, trigger, how long.
    pub(crate) deadlines: &'a [Row],
}

impl Source<'_> {
    /// Compares a definition with the source, in both directions.
    #[track_caller]
    pub(crate) fn matches(&self, definition: &Definition) {
        let name = |state: usize| &*definition.states[state].name;
        let names = definition.states.iter().map(|state| &*state.name);
        let marked = |mark: fn(&StateDef) -> bool| -> Vec<_> {
            definition.states.iter().filter(|state| mark(state)).map(|state| &*state.name).collect()
        };
        let rows =
            definition.edges.iter().map(|edge| (name(edge.from), &*edge.trigger, name(edge.to)));
        same("states", self.states.iter().copied(), names);
        same("rows", self.rows.iter().copied(), rows);
        same("terminal", self.terminal.iter().copied(), marked(|state| state.terminal));
        same("stable", self.stable.iter().copied(), marked(|state| state.stable));
        assert_eq!(definition.states[definition.initial].name, self.initial, "initial");
        self.moves_match(definition);
        self.deadlines_match(definition);
        can_be_drawn(definition);
    }

    /// The rows that share a source and a trigger are one move. Where there are several, it is a
    /// choice, and each of its edges has its own condition.
    #[track_caller]
    fn moves_match(&self, definition: &Definition) {
        let mut expected: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
        for (from, trigger, to) in self.rows {
            expected.entry((from, trigger)).or_default().insert(to);
        }
        let moves = (0..definition.states.len()).map(|state| definition.moves(state).count());
        assert_eq!(moves.sum::<usize>(), expected.len(), "moves");
        for ((from, trigger), targets) in expected {
            let state = definition.state(from).unwrap();
            let found = definition.find_move(state, trigger).unwrap();
            let reached = found.targets().map(|target| &*target.name).collect();
            assert_eq!(targets, reached, "targets of {from} {trigger}");
            let conditions: Vec<_> =
                found.edges().iter().filter_map(|edge| edge.when.as_deref()).collect();
            if found.edges().len() > 1 {
                let count = set("conditions", conditions.iter().copied()).len();
                assert_eq!(count, found.edges().len(), "{from} {trigger} lacks a condition");
            }
            assert_eq!(found.edge().when.is_some(), !conditions.is_empty(), "{from} {trigger}");
            let shared = |edge: &Edge| {
                (
                    edge.payload.clone(),
                    edge.actors.clone(),
                    edge.guard.clone(),
                    edge.deadline.clone(),
                )
            };
            let first = shared(&found.edges()[0]);
            assert!(found.edges().iter().all(|edge| shared(edge) == first), "{from} {trigger}");
        }
    }

    #[track_caller]
    fn deadlines_match(&self, definition: &Definition) {
        let mut found = BTreeSet::new();
        for edge in &*definition.edges {
            if let Some(deadline) = &edge.deadline {
                let from = &*definition.states[edge.from].name;
                found.insert((from, &*edge.trigger, &*deadline.after));
                assert!(edge.payload.is_empty(), "no caller brings {:?}", edge.payload);
                assert_eq!(edge.actors.len(), 1, "{from} {} fires as one actor", edge.trigger);
                if let Some(group) = deadline.group {
                    assert!(definition.groups[group].states.contains(&edge.from));
                }
            }
        }
        same("deadlines", self.deadlines.iter().copied(), found);
    }
}

/// The drawing has every label, no label covers another, the initial state is at the top, and it is
/// the same drawing each time.
#[track_caller]
fn can_be_drawn(definition: &Definition) {
    labels_are_apart(definition);
    let layout = definition.diagram().layout();
    let start = layout.nodes[definition.initial].y;
    let labels = layout.nodes.iter().chain(layout.arrows.iter().map(|arrow| &arrow.rect));
    assert!(labels.map(|label| label.y).all(|y| y >= start), "a new machine starts at the top");
    let svg = definition.svg();
    let texts = definition.states.iter().map(|state| state.label.to_string());
    for text in texts.chain(definition.edges.iter().map(|edge| edge.label().to_string())) {
        let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        assert!(svg.contains(&format!(">{escaped}</text>")), "the drawing lacks `{text}`");
    }
    for _ in 0..20 {
        assert_eq!(definition.svg(), svg, "the drawing differs from one call to the next");
    }
}

/// No two labels share more than an edge.
#[track_caller]
pub(crate) fn labels_are_apart(definition: &Definition) {
    let layout = definition.diagram().layout();
    let arrows = layout.arrows.iter().map(|arrow| &arrow.rect);
    let labels: Vec<_> = layout.nodes.iter().chain(arrows).collect();
    let near = |a: f64, b: f64, sizes: f64| (a - b).abs() < sizes / 2.0 - 0.01;
    for (position, one) in labels.iter().enumerate() {
        for other in &labels[..position] {
            let overlap = near(one.x, other.x, one.width + other.width)
                && near(one.y, other.y, one.height + other.height);
            assert!(!overlap, "{one:?} covers {other:?}");
        }
    }
}

#[track_caller]
fn same<T: Ord + Copy + std::fmt::Debug>(
    what: &str,
    source: impl IntoIterator<Item = T>,
    definition: impl IntoIterator<Item = T>,
) {
    let source = set(what, source);
    let definition = set(what, definition);
    let missing: Vec<_> = source.difference(&definition).collect();
    let unexpected: Vec<_> = definition.difference(&source).collect();
    assert!(
        missing.is_empty() && unexpected.is_empty(),
        "{what}: missing {missing:?}, unexpected {unexpected:?}"
    );
}

/// The items as a set; a duplicate is an error.
#[track_caller]
fn set<T: Ord + Copy + std::fmt::Debug>(
    what: &str,
    items: impl IntoIterator<Item = T>,
) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    for item in items {
        assert!(set.insert(item), "{what}: {item:?} is listed twice");
    }
    set
}

mod itself {
    //! The comparison must be able to fail.

    use std::{
        panic::{AssertUnwindSafe, catch_unwind},
        time::Duration,
    };

    use machine::{actor::GraphRunner, machine};

    use super::{Definition, Row, Source};

    /// A parcel locker.
    #[machine]
    #[derive(Debug)]
    enum Locker {
        #[initial]
        #[on(lock => Locked)]
        Open { failures: u8 },
        #[stable]
        #[on(try_code(correct: bool) => if correct {
            Open
        } else if failures < 2 {
            Self(failures = failures + 1)
        } else {
            Blocked
        })]
        #[on(release => Open, by = GraphRunner, after = Duration::from_secs(60))]
        Locked { failures: u8 },
        #[terminal]
        Blocked,
    }

    const ROWS: [Row; 5] = [
        ("open", "lock", "locked"),
        ("locked", "try_code", "open"),
        ("locked", "try_code", "locked"),
        ("locked", "try_code", "blocked"),
        ("locked", "release", "open"),
    ];

    fn source(rows: &[Row]) -> Source<'_> {
        Source {
            states: &["open", "locked", "blocked"],
            initial: "open",
            terminal: &["blocked"],
            stable: &["locked"],
            rows,
            deadlines: &[("locked", "release", "Duration::from_secs(60)")],
        }
    }

    fn difference(source: &Source<'_>, definition: &Definition) -> Option<String> {
        let found = catch_unwind(AssertUnwindSafe(|| source.matches(definition))).err()?;
        Some(found.downcast_ref::<String>().cloned().unwrap_or_default())
    }

    #[test]
    fn every_difference_is_found() {
        let [lock, open, stay, block, release] = ROWS;
        let definition = locker::DEFINITION;
        let reordered = [block, lock, release, stay, open];
        assert_eq!(difference(&source(&reordered), definition), None, "the order does not count");
        let (lacking, twice) = ([lock, open, stay, release], [lock, lock]);
        let renamed = [open, stay, block, release, ("open", "close", "locked")];
        let longer = [("locked", "release", "an hour")];
        let whole = || source(&ROWS);
        let cases = [
            (
                source(&lacking),
                r#"rows: missing [], unexpected [("locked", "try_code", "blocked")]"#,
            ),
            (source(&renamed), r#"rows: missing [("open", "close", "locked")], unexpected [("#),
            (source(&twice), r#"rows: ("open", "lock", "locked") is listed twice"#),
            (Source { stable: &[], ..whole() }, r#"stable: missing [], unexpected ["locked"]"#),
            (Source { initial: "locked", ..whole() }, "initial"),
            (Source { deadlines: &[], ..whole() }, "deadlines: missing [], unexpected [("),
            (Source { deadlines: &longer, ..whole() }, r#"an hour")], unexpected [("locked""#),
        ];
        for (source, expected) in cases {
            let found = difference(&source, definition).expect(expected);
            assert!(found.contains(expected), "{expected}: {found}");
        }
        // Two edges of a choice with one condition: no machine has them, a file can.
        let text = serde_json::to_string(definition).unwrap().replace("failures < 2", "correct");
        let found = difference(&whole(), &serde_json::from_str(&text).unwrap()).unwrap();
        assert!(found.contains(r#"conditions: "correct" is listed twice"#), "{found}");
    }

    #[test]
    fn typed_a_wrong_code_is_counted() {
        use locker::AfterTryCode;

        let AfterTryCode::Locked(locked) = Locker::new(0).lock().try_code(false) else { panic!() };
        let AfterTryCode::Locked(locked) = locked.try_code(false) else { panic!() };
        let AfterTryCode::Blocked(_) = locked.try_code(false) else { panic!() };
    }
}
