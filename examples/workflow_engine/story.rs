//! The whole story in a temporary folder: each command is a separate process, and so is the engine,
//! which is killed once in the middle.

use std::{io, net::SocketAddr, thread, time::Duration};

use anyhow::ensure;
use machine::{observe::Observer, view::Human};
use pollster::block_on;

use crate::{
    run::stopped,
    show::{self, say},
    stage::Stage,
    workflow::workflow::Status,
};

pub fn tell() -> anyhow::Result<()> {
    let mut stage = begin()?;

    chapter(
        "Ann has the invoice paid. When the bank has the money, the engine is killed (SIGKILL).",
    );
    stage.answer("pay the invoice", "user_resume", None)?;
    stage.until("the bank has the money", |stage| Ok(stage.payments() == 1))?;
    stage.kill()?;
    chapter("A new engine finds the payment at the bank, and does not pay again.");
    stage.start()?;
    stage.until_ended("pay the invoice")?;

    chapter("Ann gives two tasks new instructions, lets one continue, and ends one.");
    stage.answer("invite the team", "user_modify", Some(("instruction", "only the team")))?;
    stage.answer("publish the report", "user_modify", Some(("instruction", "the final one")))?;
    stage.answer("greet bob", "user_resume", None)?;
    stage.answer("clean up", "user_terminate", Some(("why", "leave my secrets alone")))?;
    for goal in ["invite the team", "greet bob", "clean up"] {
        stage.until_ended(goal)?;
    }

    chapter("The site was down, three times in a row. It is up again.");
    stage.until_engines(1, Status::ManualIntervention)?;
    stage.answer("publish the report", "user_resume", None)?;
    stage.until_ended("publish the report")?;
    stage.until_engines(5, Status::Idle)?;
    stage.kill()?;

    chapter("The outcome of each task.");
    for (_, task) in &stage.tasks {
        let observer = Observer::new(&stage.store);
        show::ended(&*block_on(observer.snapshot::<Human>(task.record))?);
    }
    say(format_args!("  (payments that the bank has: {})", stage.payments()));
    ensure!(stage.payments() == 1, "it should have 1");
    Ok(())
}

/// The beginning of the story, and the rest is up to a person: in the page at this address, or with
/// the commands. Ends with Ctrl-C or SIGTERM.
pub fn serve(address: SocketAddr) -> anyhow::Result<()> {
    let stop = thread::spawn(wait_for_stop);
    let mut stage = begin()?;
    chapter("The rest is up to you: in the page, or with the commands.");
    say(format_args!("  (the database is {})", stage.db().display()));
    stage.serve(address, "ann")?;
    while !stop.is_finished() {
        stage.tell()?;
        ensure!(stage.is_running()? || stop.is_finished(), "a process has ended");
        thread::sleep(LOOK);
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn wait_for_stop() -> io::Result<()> {
    stopped()?.await;
    Ok(())
}

/// The interval at which `serve` checks for output.
const LOOK: Duration = Duration::from_millis(100);

/// Five tasks that wait for a person.
fn begin() -> anyhow::Result<Stage> {
    let mut stage = Stage::begin()?;
    chapter("Five tasks. Ann wants to see one of them before anything happens.");
    for goal in
        ["greet bob", "pay the invoice", "invite the team", "publish the report", "clean up"]
    {
        stage.submit(goal)?;
    }
    stage.pause("greet bob", "wait for me")?;
    chapter("An engine works on all of them, until each needs a person.");
    stage.start()?;
    stage.until_engines(5, Status::ManualIntervention)?;
    Ok(stage)
}

fn chapter(title: &str) {
    say(format_args!("\n{title}"));
}
