//! The edge that a running deadline fires.

use super::{Definition, Edge};

impl Definition {
    /// The group that a running deadline belongs to. If no group has that name, it may have been
    /// renamed; then the trigger identifies it.
    pub(crate) fn group_of(&self, trigger: &str, group: Option<&str>) -> Option<usize> {
        let name = group?;
        let known = self.groups.iter().position(|group| group.name == name);
        let by_trigger = || self.edges_of(trigger).find_map(|edge| edge.deadline.as_ref()?.group);
        known.or_else(by_trigger)
    }

    /// Returns `true` if the running deadline of a trigger, and of a group if it has one, fires
    /// this edge.
    pub(crate) fn fires(&self, edge: &Edge, trigger: &str, group: Option<&str>) -> bool {
        let Some(deadline) = &edge.deadline else { return false };
        edge.is_called(trigger) && deadline.group == self.group_of(trigger, group)
    }
}
