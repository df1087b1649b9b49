//! The keys of a tool are made from an identity, or from all arguments, and stay so.

use super::{
    Open, ensure,
    sample::{CONTRACTS, Machine, batch, commit},
    subject::Subject,
};
use crate::{
    id::Id,
    store::backend::{Attempts, Batch, Rejected, SAMPLE},
};

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    // An action with an identity counts from its plan on, one without when it begins.
    for (tool, identity) in [("bank.wire", true), ("bank.pay", false)] {
        let (mut first, mut planned) = (Machine::execution(), Machine::execution());
        let plan = planned.create().uses(tool, false, false);
        store.accepts(batch([(&planned, plan)])).await?;
        let begun = first.create().uses(tool, identity, !identity);
        store.accepts(batch([(&first, begun)])).await?;
        for begins in [false, true] {
            let mut same = Machine::execution();
            let created = same.create().uses(tool, identity, begins);
            store.accepts(batch([(&same, created)])).await?;
            is_refused(&store, tool, !identity, begins).await?;
        }
        if identity {
            let late = planned.clone().update(1).uses(tool, false, true);
            store.rejects(batch([(&planned, late)]), changed(planned.id(), tool, true)).await?;
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
    let created = machine.create().uses(tool, identity, begins);
    store.rejects(batch([(&machine, created)]), changed(machine.id(), tool, !identity)).await
}

/// A write counts for the ones after it, and nothing of a refused batch is written.
async fn in_one_batch(store: &Subject) -> Result<(), String> {
    let tool = "mail.send";
    let (mut first, mut second) = (Machine::execution(), Machine::execution());
    let both = [
        (&first.clone(), first.clone().create().uses(tool, true, false)),
        (&second.clone(), second.clone().create().uses(tool, false, true)),
    ];
    store.rejects(batch(both), changed(second.id(), tool, true)).await?;
    let created = second.create().uses(tool, false, true);
    store.accepts(batch([(&second, created)])).await?;
    let created = first.create().uses(tool, true, false);
    store.rejects(batch([(&first, created)]), changed(first.id(), tool, false)).await
}

/// A tool is irreversible before anything uses it.
async fn declared(store: &Subject) -> Result<(), String> {
    let tools = || vec!["cluster.deploy".to_owned(), "bank.wire".to_owned()];
    for _ in 0..2 {
        store.accepts(Batch { tools: tools(), ..commit(vec![], vec![]) }).await?;
    }
    let mut lowered = Machine::execution();
    let created = lowered.create().calls("cluster.deploy", false);
    let what = "the tool `cluster.deploy`".to_owned();
    let rejected = Rejected::EffectLowered { id: lowered.id(), what };
    store.rejects(batch([(&lowered, created)]), rejected).await?;
    is_refused(store, "bank.wire", false, true).await?;
    let mut machine = Machine::execution();
    let created = machine.create().uses("cluster.deploy", true, false);
    store.accepts(batch([(&machine, created)])).await.map(drop)
}

/// The newest attempts of a tool, and of no other one.
async fn samples(store: &Subject) -> Result<(), String> {
    let key = |tool: &str, number: usize| format!("{tool}:{number:064}");
    let mut of_tool = Vec::new();
    for number in 0..SAMPLE + 2 {
        let all = ["bank:pay", "bank:pay:late", "bank:paid", "bank"].map(|tool| {
            let key = key(tool, number);
            let mut machine = Machine::execution().with_key(&key);
            let write = machine.create().takes(CONTRACTS, &key);
            (machine, write)
        });
        of_tool.push(all[0].0.id());
        store
            .accepts(batch(all.each_ref().map(|(machine, write)| (machine, write.clone()))))
            .await?;
    }
    let all = store.attempts(Attempts::OfTool("bank:pay".to_owned(), 0)).await?;
    let found: Vec<_> = all.iter().map(|attempt| attempt.by).collect();
    ensure!(found == of_tool[2..], "the newest attempts of a tool are {found:?}");
    let last = all[SAMPLE - 3].token;
    let newer = store.attempts(Attempts::OfTool("bank:pay".to_owned(), last)).await?;
    ensure!(newer == all[SAMPLE - 2..], "the attempts after {last} are {newer:?}");
    Ok(())
}
