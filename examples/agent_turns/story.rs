//! The whole story in a temporary folder: turns are enqueued, workers run them, and the table of
//! the deliverables ends it.

use std::{
    fs,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use machine::{
    agent::{Agents, NewTurn, TurnId, TurnStatus},
    store::{LoadError, Store},
};
use tempfile::TempDir;

use crate::{
    crew::Crew,
    say, server,
    staff::{OTHERS, PLANNER, agent, task, turns_of},
    table::Table,
    tools::NOTES,
    work::database,
};

/// The time without a delivery after which the story fails, such as when all workers are frozen.
const STUCK: Duration = Duration::from_mins(1);

/// The interval between two looks.
const LOOK: Duration = Duration::from_millis(100);

pub async fn tell(turns: u32) -> anyhow::Result<()> {
    let folder = TempDir::with_prefix("agent_turns-").context("cannot create a folder")?;
    fs::write(folder.path().join(NOTES), "four words of notes\n")?;
    let store = Store::sqlite(database(folder.path())).await?;
    let planned = enqueue(&Agents::of(&store), turns).await?;
    say(format_args!(
        "The planner has {turns} turns, and delegates three in each. These processes run them; kill, freeze \
         or thaw any of them:"
    ));
    let mut crew = Crew::start(folder.path(), server::start()?)?;
    until_delivered(&Agents::of(&store), &planned, &mut crew).await?;
    drop(crew);

    let table = Table::read(&store, &planned).await?;
    say(format_args!("\n{table}"));
    let count = table.count().context("each turn should have one event and one deliverable")?;
    say(format_args!("{count} turns, each with one event and one deliverable"));
    Ok(())
}

/// Creates the agents, and enqueues turns of the planner. When it returns, they are on disk.
async fn enqueue(agents: &Agents, turns: u32) -> anyhow::Result<Vec<TurnId>> {
    for name in [PLANNER].into_iter().chain(OTHERS) {
        agents.create(&agent(name)).await?;
    }
    let (planner, mut planned) = (agent(PLANNER), Vec::new());
    for number in 1..=turns {
        // The file is new, so that no other turn has this id.
        let id = TurnId(format!("01890a5d-ac96-774b-8000-{number:012x}").parse()?);
        let task = task(&planner, id, None);
        agents.enqueue(NewTurn { id, agent: planner.clone(), task }).await?;
        planned.push(id);
    }
    Ok(planned)
}

/// Waits until these turns of the planner are delivered, and those that they have delegated.
async fn until_delivered(
    agents: &Agents,
    planned: &[TurnId],
    crew: &mut Crew,
) -> anyhow::Result<()> {
    let all: Vec<_> = planned.iter().flat_map(|turn| turns_of(*turn)).collect();
    let (mut known, mut news) = (0, Instant::now());
    while known < all.len() {
        tokio::time::sleep(LOOK).await;
        crew.fill()?;
        let mut delivered = 0;
        for (_, turn) in &all {
            delivered += usize::from(is_delivered(agents, *turn).await?);
        }
        if delivered > known {
            (known, news) = (delivered, Instant::now());
        }
        ensure!(
            news.elapsed() < STUCK,
            "{known} of {} turns are delivered, and no more",
            all.len()
        );
    }
    Ok(())
}

async fn is_delivered(agents: &Agents, turn: TurnId) -> Result<bool, LoadError> {
    let record = agents.turn(turn).await?;
    Ok(record.is_some_and(|record| matches!(record.status, TurnStatus::Delivered { .. })))
}
