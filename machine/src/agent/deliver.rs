//! The end of a turn.

use super::{
    BoxUse, CardKind, EdgePhase, Head, NewCard, NewDelivery, Phase, Primitive, TaskEvent, TurnEdge,
    TurnEnd, TurnRecord, TurnRefusal, TurnStatus,
    decide::{Draft, Held},
};

impl Draft<'_> {
    pub(super) fn deliver(&mut self, new: &NewDelivery) -> Result<(), TurnRefusal> {
        let held = self.held(&new.by)?;
        if !matches!(held.turn.phase, Phase::Running { .. }) {
            return Err(held.wrong_phase());
        }
        self.close(&held, &new.results)?;
        self.write(&held, &new.deliverable, (CardKind::Deliverable, 0))?;
        let end = match held.turn.stop {
            Some(why) => TurnEnd::Stopped(why),
            None if new.is_failure => TurnEnd::Failed,
            None => TurnEnd::Done,
        };
        if end == TurnEnd::Done {
            let required = held.turn.task.terms.result_fields.iter();
            let missing = required.filter(|field| !new.fields.contains(field));
            let fields: Vec<String> = missing.cloned().collect();
            if !fields.is_empty() {
                return Err(TurnRefusal::MissingFields { fields });
            }
        }
        // The deadline of a head stops the turn alone.
        if held.turn.stop.is_some() {
            self.stop_children(held.turn.id);
        }
        self.end(held, new, end)
    }

    /// Writes a result for each call that has none, so that no call is left without one.
    fn close(&mut self, held: &Held, results: &[(u32, NewCard)]) -> Result<(), TurnRefusal> {
        let mut unanswered = held.turn.unanswered();
        for (index, card) in results {
            let Some(at) = unanswered.iter().position(|it| it == index) else {
                return Err(held.not_open(held.member(*index)));
            };
            unanswered.remove(at);
            self.write(held, card, (CardKind::ToolResult, *index))?;
        }
        match unanswered.first() {
            Some(index) => Err(TurnRefusal::OpenCall { member: held.member(*index) }),
            None => Ok(()),
        }
    }

    fn end(&mut self, held: Held, new: &NewDelivery, end: TurnEnd) -> Result<(), TurnRefusal> {
        let Held { agent, epoch, turn } = held;
        let (turn, output_box, deliverable) = (turn.id, turn.task.output_box, new.deliverable.id);
        let status = TurnStatus::Delivered { end, deliverable, at: new.now };
        let record = TurnRecord { status, ..self.known(turn)?.clone() };
        let used = self.used(output_box, &agent)?;
        let live = used.live.saturating_sub(1);
        self.batch.boxes.insert(output_box, BoxUse { live, ..used });
        let (parent, trace) = (record.parent, record.task.trace);
        let (primitive, phase) = (Primitive::Join, EdgePhase::Response);
        let edge = |_| TurnEdge { primitive, phase, turn, member: parent, trace, at: new.now };
        self.batch.edges.extend(parent.map(edge));
        self.batch.turns.insert(turn, record);
        self.batch.head = Some((agent.clone(), Head { epoch, active: None }));
        self.batch.event =
            Some(TaskEvent { agent, turn, epoch, end, output_box, deliverable, parent });
        Ok(())
    }
}
