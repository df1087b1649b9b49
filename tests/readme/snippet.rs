//! The README's program.

use machine::{
    actor::{EcsNode, GraphRunner, ReasoningNode, ToolNode},
    contract::{Answer, Applied, Contract, Permit, Settled, Tool, defer, execution::Waiting},
    store::Store,
};

async fn send_mail(permit: Permit) -> Answer {
    Ok(Applied::new(format!("sent as {}", permit.execution_id())))
}

#[tokio::test]
#[allow(clippy::print_stdout, reason = "as in the README")]
async fn runs() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    std::env::set_current_dir(folder.path())?;

    // [README
    let email = Tool::irreversible("email", "send")?;
    let mail = Contract::tool_call(&email, r#"{"to": "bob@example.com"}"#, &ReasoningNode)?;

    // The mail waits behind a question. Both are on disk, and the process may end.
    let (gate, mut mail) = defer(mail, "Send it to bob@example.com?", &ReasoningNode)?;
    let mut gate = gate.start(&EcsNode).suspend("Send it?".to_owned(), &EcsNode);
    let store = Store::sqlite("agent.db").await?;
    store.batch().create(&mut gate).create(&mut mail).write().await?;

    // The person said yes.
    let gate = store.resume::<Waiting>(gate.id()).await?;
    let mut gate = gate.resume(&GraphRunner).succeed("yes".to_owned(), &GraphRunner);
    store.commit(&mut gate).await?;

    // The permit exists once, and only after RUNNING and the hold on the key are on disk.
    let (running, permit) = store.begin(mail, &ToolNode).await?;
    let outcome = permit.call(send_mail).await;
    match store.settle(running, outcome, &ToolNode).await? {
        Settled::Completed(sent) => println!("{}", sent.state().result),
        Settled::Failed(failed) => println!("not sent: {}", failed.state().error),
        Settled::InDoubt(doubt) => println!("{}", doubt.question()),
    }
    // README]
    Ok(())
}
