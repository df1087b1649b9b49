use alloc::{collections::BTreeSet, format, string::String, vec::Vec};

use serde::{Deserialize, Deserializer, de};

use super::{ActorDef, Definition, Edge, Fingerprint, GroupDef, Mark, StateDef, Stays, Text};

/// A definition as parsed from JSON, before its indices are checked.
#[derive(Deserialize)]
struct UncheckedDefinition {
    name: Text,
    #[serde(default)]
    docs: Text,
    #[serde(default = "first")]
    version: u32,
    #[serde(default)]
    context: Text,
    #[serde(default)]
    marks: Vec<Mark>,
    #[serde(default)]
    upgrades: Vec<u32>,
    states: Vec<StateDef>,
    edges: Vec<Edge>,
    initial: usize,
    #[serde(default)]
    actors: Vec<ActorDef>,
    #[serde(default)]
    groups: Vec<GroupDef>,
}

fn first() -> u32 {
    1
}

impl<'de> Deserialize<'de> for Definition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = UncheckedDefinition::deserialize(deserializer)?;
        read.check().map_err(de::Error::custom)?;
        let (name, context) = (&read.name, (&*read.context, &*read.marks));
        let (states, edges) = (&read.states, &read.edges);
        let fingerprint = Fingerprint::of(name, read.version, context, states, edges, read.initial);
        Ok(Self {
            fingerprint,
            name: read.name,
            docs: read.docs,
            version: read.version,
            context: read.context,
            marks: read.marks.into(),
            upgrades: read.upgrades.into(),
            states: read.states.into(),
            edges: read.edges.into(),
            initial: read.initial,
            actors: read.actors.into(),
            groups: read.groups.into(),
        })
    }
}

impl UncheckedDefinition {
    /// Refuses an index out of range, a duplicate name, and moves that contradict each other.
    fn check(&self) -> Result<(), String> {
        let Self { name, states, edges, groups, .. } = self;
        let wrong = |reason: String| {
            // The error quotes at most 40 characters of what came from outside.
            let name: String = name.chars().take(40).collect();
            Err(format!("definition `{name}`: {reason}"))
        };
        let state = |index: usize, what: &str| {
            if index < states.len() {
                return Ok(());
            }
            wrong(format!("{what} is state {index}, but there are {} states", states.len()))
        };
        if self.version == 0 {
            return wrong(String::from("its version is 0, and versions start at 1"));
        }
        state(self.initial, "the initial state")?;
        let mut names = BTreeSet::new();
        for one in states {
            if !names.insert(&one.name) {
                return wrong(format!("two states are called `{}`", short(&one.name)));
            }
        }
        for (index, edge) in edges.iter().enumerate() {
            state(edge.from, &format!("the source of edge {index}"))?;
            state(edge.to, &format!("the target of edge {index}"))?;
            let group = edge.deadline.as_ref().and_then(|deadline| deadline.group);
            if let Some(group) = group
                && group >= groups.len()
            {
                return wrong(format!(
                    "the deadline of edge {index} belongs to group {group}, and there are {} groups",
                    groups.len()
                ));
            }
            let target = &states[edge.to];
            let unknown = |name: &&Text| !target.fields.iter().any(|field| field.name == **name);
            if let Some(name) = edge.computed.iter().find(unknown) {
                return wrong(format!(
                    "edge {index} computes `{}`, which is not a field of `{}`",
                    short(name),
                    short(&target.name)
                ));
            }
            if edge.stays != Stays::Never && edge.from != edge.to {
                return wrong(format!("edge {index} stays, but leads to another state"));
            }
            if states[edge.from].terminal {
                return wrong(format!("edge {index} leaves a terminal state"));
            }
        }
        for group in groups {
            for member in &*group.states {
                state(*member, &format!("a member of group `{}`", short(&group.name)))?;
            }
        }
        self.check_names().or_else(wrong)?;
        self.check_moves().or_else(wrong)
    }

    /// Within a state, a payload, the actors and the groups, names differ.
    fn check_names(&self) -> Result<(), String> {
        for state in &self.states {
            let fields = state.fields.iter().map(|field| &field.name);
            differ(fields, &format!("fields of state `{}`", short(&state.name)))?;
        }
        for edge in &self.edges {
            let items = edge.payload.iter().map(|item| &item.name);
            differ(items, &format!("payload items of `{}`", short(&edge.trigger)))?;
            for kind in &*edge.actors {
                if !self.actors.iter().any(|actor| actor.kind == *kind) {
                    return Err(format!(
                        "`{}` is for the actor `{}`, which is not listed",
                        short(&edge.trigger),
                        short(kind)
                    ));
                }
            }
        }
        differ(self.actors.iter().map(|actor| &actor.kind), "actors")?;
        differ(self.marks.iter().map(|mark| &mark.name), "marks of the context")?;
        differ(self.groups.iter().map(|group| &group.name), "groups")
    }

    /// The edges of one move are next to each other, agree, and lead to different states.
    fn check_moves(&self) -> Result<(), String> {
        let mut moves = BTreeSet::new();
        let same = |a: &Edge, b: &Edge| a.from == b.from && a.trigger == b.trigger;
        for (first, edges) in self.edges.chunk_by(same).map(|edges| (&edges[0], edges)) {
            let text = format!("`{}` from state {}", short(&first.trigger), first.from);
            if !moves.insert((first.from, &first.trigger)) {
                return Err(format!("the edges of {text} are not next to each other"));
            }
            let targets: BTreeSet<usize> = edges.iter().map(|edge| edge.to).collect();
            if targets.len() < edges.len() {
                return Err(format!("two edges of {text} lead to one state"));
            }
            let common = |edge: &Edge| {
                let Edge { payload, actors, guard, deadline, was, .. } = edge.clone();
                (payload, actors, guard, deadline, was)
            };
            if edges.iter().any(|edge| common(edge) != common(first)) {
                return Err(format!(
                    "the edges of {text} differ in more than target and condition"
                ));
            }
            if edges.len() > 1 && edges.iter().any(|edge| edge.when.is_none()) {
                return Err(format!("an edge of the choice {text} has no condition"));
            }
        }
        Ok(())
    }
}

fn differ<'a>(names: impl Iterator<Item = &'a Text>, what: &str) -> Result<(), String> {
    let mut known = BTreeSet::new();
    for name in names {
        if !known.insert(name) {
            return Err(format!("two {what} are called `{}`", short(name)));
        }
    }
    Ok(())
}

fn short(name: &Text) -> String {
    name.chars().take(40).collect()
}
