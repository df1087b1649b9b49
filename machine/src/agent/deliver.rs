//! The end of a turn.

use super::{
    BoxUse, CardId, CardKind, EdgePhase, Head, NewCard, NewDelivery, Phase, Primitive, TaskEvent,
    TurnEnd, TurnId, TurnRecord, TurnRefusal, TurnStatus, Why,
    decide::{Draft, Held},
};

impl Draft<'_> {
    pub(super) fn deliver(&mut self, new: &NewDelivery) -> Result<(), TurnRefusal> {
        let held = self.held(&new.by)?;
        if !matches!(held.turn.phase, Phase::Running { .. }) {
            return Err(held.other_phase());
        }
        self.close(&held, &new.results)?;
        if let Some(card) = &new.card {
            self.write(&held, card, (CardKind::Deliverable, 0))?;
        }
        self.check_deliverable(&held, new.deliverable)?;
        let end = held.turn.stop.map_or(new.end, TurnEnd::Stopped);
        if end == TurnEnd::Done {
            let required = held.turn.task.result_fields.iter();
            let missing = required.filter(|field| !new.fields.contains(field));
            let fields: Vec<String> = missing.cloned().collect();
            if !fields.is_empty() {
                return Err(TurnRefusal::MissingFields { fields });
            }
        }
        if let TurnEnd::Stopped(_) = end {
            self.stop_children(held.turn.id);
        }
        self.end(held, new, end)
    }

    /// Writes a result for each open call, so that no call is left without one.
    fn close(&mut self, held: &Held, results: &[(u32, NewCard)]) -> Result<(), TurnRefusal> {
        let mut open = held.turn.open.iter().map(|member| member.id).collect::<Vec<_>>();
        for (index, card) in results {
            let member = held.member(*index);
            let Some(at) = open.iter().position(|id| *id == member) else {
                return Err(held.not_open(member));
            };
            open.remove(at);
            self.write(held, card, (CardKind::ToolResult, *index))?;
        }
        match open.first() {
            Some(member) => Err(TurnRefusal::OpenCall { member: *member }),
            None => Ok(()),
        }
    }

    fn check_deliverable(&self, held: &Held, card: CardId) -> Result<(), TurnRefusal> {
        let is_deliverable = self.card(card).is_some_and(|it| {
            it.turn == held.turn.id
                && it.box_id == held.turn.task.output_box
                && it.kind == CardKind::Deliverable
        });
        if is_deliverable { Ok(()) } else { Err(TurnRefusal::NotADeliverable { card }) }
    }

    /// Stops the queued turns that the turn has delegated. Those that run go on.
    fn stop_children(&mut self, turn: TurnId) {
        for (child, record) in &self.rows.turns {
            let is_child = record.parent.is_some_and(|member| member.turn == turn);
            if is_child && record.status == TurnStatus::Queued && record.stop.is_none() {
                let record = TurnRecord { stop: Some(Why::Parent), ..record.clone() };
                self.batch.turns.insert(*child, record);
            }
        }
    }

    fn end(&mut self, held: Held, new: &NewDelivery, end: TurnEnd) -> Result<(), TurnRefusal> {
        let Held { agent, epoch, turn } = held;
        let (turn, output_box, deliverable) = (turn.id, turn.task.output_box, new.deliverable);
        let status = TurnStatus::Delivered { end, deliverable, at: new.now };
        let record = TurnRecord { status, ..self.known(turn)?.clone() };
        let used = self.used(output_box, &agent)?;
        let live = used.live.saturating_sub(1);
        let used = (live > 0).then_some(BoxUse { live, writer: None, ..used });
        self.batch.boxes.insert(output_box, used);
        let parent = record.parent;
        if parent.is_some() {
            self.edge((Primitive::Join, EdgePhase::Response), (turn, parent), &record, new.now);
        }
        self.batch.turns.insert(turn, record);
        self.batch.head = Some((agent.clone(), Head { epoch, active: None }));
        self.batch.event =
            Some(TaskEvent { agent, turn, epoch, end, output_box, deliverable, parent });
        Ok(())
    }
}
