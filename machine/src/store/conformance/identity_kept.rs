//! The keys of a tool are made from an identity, or from all arguments, and stay so.

use super::prelude::*;
use crate::store::backend::SAMPLE;

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    // An action with an identity counts from its plan on, one without when it begins.
    for (tool, identity) in [("bank.wire", true), ("bank.pay", false)] {
        let mut planned = Machine::execution();
        store.accepts(planned.create().uses(tool, false, false)).await?;
        store.accepts(Machine::execution().create().uses(tool, identity, !identity)).await?;
        for begins in [false, true] {
            store.accepts(Machine::execution().create().uses(tool, identity, begins)).await?;
            is_refused(&store, tool, !identity, begins).await?;
        }
        if identity {
            let begins = planned.clone().update(1).uses(tool, false, true);
            store.rejects(begins, changed(planned.id(), tool, true)).await?;
        }
    }
    in_one_batch(&store).await?;
    declared(&store).await?;
    samples(&Subject::open(open)).await
}

fn changed(id: Id, tool: &str, identity: bool) -> Rejected {
    Rejected::IdentityChanged { id, tool: tool.to_owned(), identity }
}

async fn is_refused(store: &Subject, tool: &str, identity: bool, begins: bool) -> Kept {
    let mut machine = Machine::execution();
    let write = machine.create().uses(tool, identity, begins);
    store.rejects(write, changed(machine.id(), tool, !identity)).await
}

/// A write counts for the ones after it, and nothing of a refused batch is written.
async fn in_one_batch(store: &Subject) -> Kept {
    let tool = "mail.send";
    let (mut first, mut second) = (Machine::execution(), Machine::execution());
    let with = first.create().uses(tool, true, false);
    let without = second.create().uses(tool, false, true);
    let refusal = changed(second.id(), tool, true);
    store.rejects([with.clone(), without.clone()], refusal).await?;
    store.accepts(without).await?;
    store.rejects(with, changed(first.id(), tool, false)).await
}

/// A tool is irreversible before anything uses it.
async fn declared(store: &Subject) -> Kept {
    for _ in 0..2 {
        let tools = owned(&["cluster.deploy", "bank.wire"]);
        store.accepts(WriteBatch { tools, ..batch([]) }).await?;
    }
    let mut lowered = Machine::execution();
    let what = "the tool `cluster.deploy`".to_owned();
    let rejected = Rejected::EffectLowered { id: lowered.id(), what };
    store.rejects(lowered.create().calls("cluster.deploy", false), rejected).await?;
    is_refused(store, "bank.wire", false, true).await?;
    store.accepts(Machine::execution().create().uses("cluster.deploy", true, false)).await.map(drop)
}

/// The newest attempts of a tool, and of no other one.
async fn samples(store: &Subject) -> Kept {
    let mut of_tool = Vec::new();
    for number in 0..SAMPLE + 2 {
        let all = ["bank:pay", "bank:pay:late", "bank:paid", "bank"].map(|tool| {
            let key = format!("{tool}:{number:064}");
            Machine::execution().with_key(&key).create().takes(&key)
        });
        of_tool.push(all[0].row.id);
        store.accepts(all).await?;
    }
    let all = store.attempts(Attempts::OfTool("bank:pay".to_owned(), 0)).await?;
    let found: Vec<_> = all.iter().map(|attempt| attempt.by).collect();
    same!(found, of_tool[2..], "the newest attempts of a tool");
    let last = all[SAMPLE - 3].token;
    let newer = store.attempts(Attempts::OfTool("bank:pay".to_owned(), last)).await?;
    same!(newer, all[SAMPLE - 2..], "the attempts after {last}");
    Ok(())
}
