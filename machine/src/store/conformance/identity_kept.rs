//! The keys of a tool are made from an identity, or from all arguments, and stay so.

use super::prelude::*;
use crate::store::backend::SAMPLE;

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    // An action with an identity counts from its plan on, one without when it begins.
    for (tool, identity) in [("bank.wire", true), ("bank.pay", false)] {
        let (mut first, mut planned) = (Machine::execution(), Machine::execution());
        store.accepts(planned.create().uses(tool, false, false)).await?;
        store.accepts(first.create().uses(tool, identity, !identity)).await?;
        for begins in [false, true] {
            let mut same = Machine::execution();
            store.accepts(same.create().uses(tool, identity, begins)).await?;
            is_refused(&store, tool, !identity, begins).await?;
        }
        if identity {
            store
                .rejects(
                    planned.clone().update(1).uses(tool, false, true),
                    changed(planned.id(), tool, true),
                )
                .await?;
        }
    }
    in_one_batch(&store).await?;
    declared(&store).await?;
    samples(&Subject::open(open)).await
}

fn changed(id: Id, tool: &str, identity: bool) -> Rejected {
    Rejected::IdentityChanged { id, tool: tool.to_owned(), identity }
}

async fn is_refused(
    store: &Subject,
    tool: &str,
    identity: bool,
    begins: bool,
) -> Result<(), String> {
    let mut machine = Machine::execution();
    store
        .rejects(
            machine.create().uses(tool, identity, begins),
            changed(machine.id(), tool, !identity),
        )
        .await
}

/// A write counts for the ones after it, and nothing of a refused batch is written.
async fn in_one_batch(store: &Subject) -> Result<(), String> {
    let tool = "mail.send";
    let (mut first, mut second) = (Machine::execution(), Machine::execution());
    let both = [
        first.clone().create().uses(tool, true, false),
        second.clone().create().uses(tool, false, true),
    ];
    store.rejects(both, changed(second.id(), tool, true)).await?;
    store.accepts(second.create().uses(tool, false, true)).await?;
    store.rejects(first.create().uses(tool, true, false), changed(first.id(), tool, false)).await
}

/// A tool is irreversible before anything uses it.
async fn declared(store: &Subject) -> Result<(), String> {
    let tools = || vec!["cluster.deploy".to_owned(), "bank.wire".to_owned()];
    for _ in 0..2 {
        store.accepts(WriteBatch { tools: tools(), ..batch([]) }).await?;
    }
    let mut lowered = Machine::execution();
    let what = "the tool `cluster.deploy`".to_owned();
    let rejected = Rejected::EffectLowered { id: lowered.id(), what };
    store.rejects(lowered.create().calls("cluster.deploy", false), rejected).await?;
    is_refused(store, "bank.wire", false, true).await?;
    let mut machine = Machine::execution();
    store.accepts(machine.create().uses("cluster.deploy", true, false)).await.map(drop)
}

/// The newest attempts of a tool, and of no other one.
async fn samples(store: &Subject) -> Result<(), String> {
    let key = |tool: &str, number: usize| format!("{tool}:{number:064}");
    let mut of_tool = Vec::new();
    for number in 0..SAMPLE + 2 {
        let all = ["bank:pay", "bank:pay:late", "bank:paid", "bank"].map(|tool| {
            let key = key(tool, number);
            let mut machine = Machine::execution().with_key(&key);
            machine.create().takes(&key)
        });
        of_tool.push(all[0].row.id);
        store.accepts(all).await?;
    }
    let all = store.attempts(Attempts::OfTool("bank:pay".to_owned(), 0)).await?;
    let found: Vec<_> = all.iter().map(|attempt| attempt.by).collect();
    ensure!(found == of_tool[2..], "the newest attempts of a tool are {found:?}");
    let last = all[SAMPLE - 3].token;
    let newer = store.attempts(Attempts::OfTool("bank:pay".to_owned(), last)).await?;
    ensure!(newer == all[SAMPLE - 2..], "the attempts after {last} are {newer:?}");
    Ok(())
}
