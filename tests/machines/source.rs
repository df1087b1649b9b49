//! The table of a source, and how a definition is held against it.

use std::collections::BTreeSet;

use machine::definition::Definition;

/// A row of a source's table: from, trigger, to.
pub(crate) type Row = (&'static str, &'static str, &'static str);

/// What a source says of its machine.
pub(crate) struct Source<'a> {
    pub(crate) states: &'a [&'static str],
    pub(crate) initial: &'static str,
    pub(crate) terminal: &'a [&'static str],
    pub(crate) stable: &'a [&'static str],
    pub(crate) rows: &'a [Row],
}

impl Source<'_> {
    /// Holds a definition against the source, in both directions.
    #[track_caller]
    pub(crate) fn is_told_by(&self, definition: &Definition) {
        let names = definition.states.iter().map(|state| &*state.name);
        let marked = |mark: fn(&machine::definition::StateDef) -> bool| -> Vec<_> {
            definition.states.iter().filter(|state| mark(state)).map(|state| &*state.name).collect()
        };
        let rows = definition.edges.iter().map(|edge| {
            let name = |state: usize| &*definition.states[state].name;
            (name(edge.from), &*edge.trigger, name(edge.to))
        });
        same("states", self.states.iter().copied(), names);
        same("rows", self.rows.iter().copied(), rows);
        same("terminal", self.terminal.iter().copied(), marked(|state| state.terminal));
        same("stable", self.stable.iter().copied(), marked(|state| state.stable));
        assert_eq!(definition.states[definition.initial].name, self.initial);
        can_be_drawn(definition);
    }
}

/// Every label stands in the drawing, none covers another, the initial state is at the top, and it
/// is the same drawing each time.
#[track_caller]
fn can_be_drawn(definition: &Definition) {
    let labels = definition.diagram().labels();
    for (position, label) in labels.iter().enumerate() {
        let covered: Vec<_> =
            labels[..position].iter().filter(|other| label.overlaps(other)).collect();
        assert!(covered.is_empty(), "{label:?} covers {covered:?}");
    }
    let start = labels[definition.initial].y;
    assert!(labels.iter().all(|label| label.y >= start), "a new machine starts at the top");
    let svg = definition.svg();
    let texts = definition.states.iter().map(|state| state.label.to_string());
    for text in texts.chain(definition.edges.iter().map(|edge| edge.label().to_string())) {
        let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        assert!(svg.contains(&format!(">{escaped}</text>")), "the drawing lacks `{text}`");
    }
    for _ in 0..20 {
        assert_eq!(definition.svg(), svg, "the drawing changes from time to time");
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
    let too_many: Vec<_> = definition.difference(&source).collect();
    assert!(
        missing.is_empty() && too_many.is_empty(),
        "{what}: missing {missing:?}, too many {too_many:?}"
    );
}

/// The items as a set; none of them stands there twice.
#[track_caller]
fn set<T: Ord + Copy + std::fmt::Debug>(
    what: &str,
    items: impl IntoIterator<Item = T>,
) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    for item in items {
        assert!(set.insert(item), "{what}: {item:?} stands there twice");
    }
    set
}

mod itself {
    //! A comparison that finds nothing must be one that could.

    use machine_tests::samples::ticket;

    use super::{Row, Source};

    const ROWS: [Row; 3] =
        [("open", "park", "waiting"), ("open", "close", "closed"), ("waiting", "close", "closed")];

    fn told(rows: &[Row]) -> Source<'_> {
        let states = &["open", "waiting", "closed"];
        Source { states, initial: "open", terminal: &["closed"], stable: &["waiting"], rows }
    }

    #[test]
    fn the_same_is_the_same_in_any_order() {
        told(&[ROWS[2], ROWS[0], ROWS[1]]).is_told_by(ticket::DEFINITION);
    }

    #[test]
    #[should_panic(expected = r#"rows: missing [], too many [("waiting", "close", "closed")]"#)]
    fn a_row_too_many_is_found() {
        told(&ROWS[..2]).is_told_by(ticket::DEFINITION);
    }

    #[test]
    #[should_panic(expected = r#"rows: missing [("waiting", "close", "open")], too many [(""#)]
    fn a_row_with_another_target_is_found() {
        let rows = [ROWS[0], ROWS[1], ("waiting", "close", "open")];
        told(&rows).is_told_by(ticket::DEFINITION);
    }

    #[test]
    #[should_panic(expected = r#"stable: missing [], too many ["waiting"]"#)]
    fn a_mark_too_many_is_found() {
        Source { stable: &[], ..told(&ROWS) }.is_told_by(ticket::DEFINITION);
    }
}
