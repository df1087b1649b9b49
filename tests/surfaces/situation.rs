//! Machines in the situations of the table of acts.

use machine::{
    Id,
    contract::{Action, Applied, NoReceipt},
};
use machine_tests::{
    actors::{ann, ecs_node, tool_node},
    cluster::accepted,
    samples::{answers, contradicted, mail},
};

use super::{Place, acts::Via, unknown};

/// A machine in a situation.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) id: Id,
    pub(super) other: Option<Id>,
    message: Option<String>,
}

impl Made {
    /// The words of an act about it.
    pub(super) fn fill(&self, text: &str) -> String {
        let text = match &self.message {
            Some(message) => text.replace("MESSAGE", message),
            None => text.replace("--message MESSAGE", "").replace("\"MESSAGE\"", ""),
        };
        text.replace("ID", &self.id.to_string())
    }

    pub(super) fn text(&self, text: &str) -> String {
        let text = text.replace("{id}", &self.id.to_string());
        self.other.map_or(text.clone(), |other| text.replace("{other}", &other.to_string()))
    }
}

impl From<Id> for Made {
    fn from(id: Id) -> Self {
        Self { id, other: None, message: None }
    }
}

impl From<(Id, Id)> for Made {
    fn from((id, other): (Id, Id)) -> Self {
        Self { other: Some(other), ..id.into() }
    }
}

impl Place {
    /// A machine in this situation; one of an equal number would have the same key.
    pub(crate) async fn make(&self, situation: &str, number: u32) -> Made {
        let to = &format!("{number}@example.com");
        let perform = async |planned, answer| {
            let service = answers(answer);
            drop(self.store.perform::<Action>(planned, service, tool_node()).await.unwrap());
        };
        match situation {
            // The other machine is the action behind it.
            "gate" => {
                let (gate, planned) = self.gate(to).await;
                (gate.id(), planned.id()).into()
            }
            "expired" => self.expired_gate(mail(to)).await.id().into(),
            // The action behind it is missing: an older program may have cancelled it alone.
            "orphan" => {
                let (mut gate, _) = mail(to).ask::<Action>(None, ecs_node()).unwrap();
                self.store.batch().create(gate.machine()).write().await.unwrap();
                gate.id().into()
            }
            // The other machine has performed the same action. Of the second pair it is the gate,
            // or what waits behind it.
            "stale" | "stale behind" => {
                let ((first, planned), (second, behind)) =
                    (self.gate(to).await, self.gate(to).await);
                let other = planned.id();
                drop(machine_tests::approve(&self.store, first, ann()).await.unwrap());
                perform(planned, Ok(Applied::new("250 OK"))).await;
                (if situation == "stale" { second.id() } else { behind.id() }, other).into()
            }
            // Ann has cancelled the action behind it.
            "withdrawn" => {
                let (gate, planned) = self.gate(to).await;
                let behind = planned.id().into();
                self.act(Via::Cli, "ann", &behind, "cancel").await.unwrap();
                (gate.id(), behind.id).into()
            }
            "behind" => {
                let (gate, planned) = self.gate(to).await;
                (planned.id(), gate.id()).into()
            }
            "pending" => self.pending(to).await.into(),
            "overtaken" => {
                let pending = self.pending(to).await;
                (pending, self.sent(mail(to)).await).into()
            }
            "running" => self.running(to).await.into(),
            "accepted" => accepted(&self.store, number).await.id.into(),
            "doubt" => self.doubt(to).await.into(),
            "failed" => self.failed(to).await.into(),
            "failed child" => {
                let (parent, gate, planned) = self.parent_of(to).await;
                let id = planned.id();
                drop(machine_tests::approve(&self.store, gate, ann()).await.unwrap());
                perform(planned, Err(NoReceipt::not_applied("mailbox full"))).await;
                (id, parent).into()
            }
            "repeated" => {
                let failed = self.failed(to).await;
                (failed, self.sent(mail(to)).await).into()
            }
            "sent" => self.sent(mail(to)).await.into(),
            "contradicted" => contradicted(&self.store, to).await.into(),
            "question" => self.question().await.into(),
            // Its answer of ann is stored.
            "answered" => {
                let id = self.question().await;
                let question = self.store.question(id).await.unwrap();
                drop(self.store.respond(question, "8080", ann()).await.unwrap());
                id.into()
            }
            "order" => self.order().await.into(),
            // The other machine is the gate of its child.
            "parent" => {
                let (id, gate, _) = self.parent_of(to).await;
                (id, gate.id()).into()
            }
            "set aside" => {
                let (id, message) = self.set_aside().await;
                Made { message: Some(message), ..id.into() }
            }
            "paying" | "ended" => {
                let id = self.order().await;
                let confirm = r#"{"trigger": "confirm", "amount": 3}"#;
                let cancel = r#"{"trigger": "cancel", "reason": "late"}"#;
                self.message(id, if situation == "paying" { confirm } else { cancel }).await;
                self.work().await;
                id.into()
            }
            "unknown" => unknown().into(),
            other => panic!("{other} is not a situation"),
        }
    }
}
