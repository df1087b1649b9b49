use std::{any::TypeId, collections::BTreeMap};

use super::{
    Actor, Anyone, Call, Category, EcsNode, GraphRunner, Human, Library, ReasoningNode, ToolNode,
    is_genuine,
};

/// The actor who sent a message, when a worker makes the move for it. The message was sent with a
/// value of that actor's type, and its seal was checked.
#[derive(Debug)]
pub(crate) struct Sender {
    acts_as: (TypeId, &'static str),
    name: Option<String>,
}

impl Actor for Sender {
    const KIND: &'static str = "sender";
    const CATEGORY: Category = Category::System;
    const __LIBRARY: Option<Library<Self>> = Some(Library::acting(|sender| sender.acts_as));

    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }
}

/// The kinds of actors whose messages a worker applies.
#[derive(Debug, Clone)]
pub(crate) struct Senders(BTreeMap<&'static str, TypeId>);

impl Senders {
    /// The actors of this library.
    pub(crate) fn new() -> Self {
        let mut senders = Self(BTreeMap::new());
        senders.add::<Anyone>();
        senders.add::<Call>();
        senders.add::<EcsNode>();
        senders.add::<GraphRunner>();
        senders.add::<Human>();
        senders.add::<ReasoningNode>();
        senders.add::<ToolNode>();
        senders
    }

    /// Adds a kind. A type with the name of an existing one changes nothing.
    pub(crate) fn add<A: Actor>(&mut self) {
        if is_genuine::<A>() {
            self.0.entry(A::KIND).or_insert(TypeId::of::<A>());
        }
    }

    /// The sender of this kind and name.
    pub(crate) fn get(&self, kind: &str, name: Option<&str>) -> Option<Sender> {
        let (kind, type_id) = self.0.get_key_value(kind)?;
        Some(Sender { acts_as: (*type_id, kind), name: name.map(str::to_owned) })
    }
}
