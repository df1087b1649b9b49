//! Sessions are listed by their newest machine, each once, with what its machines say.

use super::prelude::*;
use crate::store::read::sessions::{SessionCursor, SessionLine};

const SEED: u64 = 20_261_122;
const MACHINES: usize = 60;
const SESSIONS: [Option<&str>; 6] = [None, Some(""), Some("a"), Some("A"), Some("b"), Some("c'%_")];

pub(super) async fn check(open: &Open<'_>) -> Kept {
    let store = Subject::open(open);
    let mut random = Random::new(SEED);
    let mut model: Vec<SessionLine> = Vec::new();
    let mut machines: Vec<Machine> = Vec::new();
    pages(&store, &model).await?;
    for number in 0..MACHINES {
        let mut machine = Machine::job();
        machine.row.session = random.one_of(&SESSIONS).map(str::to_owned);
        let mut write = machine.create();
        // Times of the system clock may go back.
        machine.row.created_at = random.below(1000).cast_signed();
        machine.row.updated_at = random.below(1000).cast_signed();
        write.row.created_at = machine.row.created_at;
        write.row.updated_at = machine.row.updated_at;
        store.accepts(write).await?;
        add(&mut model, &machine);
        machines.push(machine);
        if number % 7 == 0 {
            pages(&store, &model).await?;
        }
    }
    pages(&store, &model).await?;
    // An update of a machine does not move its session.
    for machine in machines.iter_mut().filter(|it| it.row.session.is_some()).take(3) {
        machine.row.updated_at += 2000;
        store.accepts(machine.update(1)).await?;
        let is_its = |line: &&mut SessionLine| Some(&line.session) == machine.row.session.as_ref();
        let line = model.iter_mut().find(is_its).unwrap();
        line.updated_at = line.updated_at.max(machine.row.updated_at);
    }
    pages(&store, &model).await
}

/// Adds a machine to its session, which then is the first one.
fn add(model: &mut Vec<SessionLine>, machine: &Machine) {
    let row = &machine.row;
    let Some(session) = &row.session else { return };
    let known = model.iter().position(|line| line.session == *session);
    let mut line = known.map_or_else(
        || SessionLine {
            session: session.clone(),
            machines: 0,
            created_at: row.created_at,
            updated_at: row.updated_at,
        },
        |at| model.remove(at),
    );
    line.machines += 1;
    line.created_at = line.created_at.min(row.created_at);
    line.updated_at = line.updated_at.max(row.updated_at);
    model.insert(0, line);
}

/// Compares the list to the model, at several page sizes.
async fn pages(store: &Subject, model: &[SessionLine]) -> Kept {
    for limit in [1, 2, 5, usize::MAX] {
        let (mut found, mut after) = (Vec::new(), None::<SessionCursor>);
        for _ in 0..=model.len() {
            let page = store.0.sessions(after, limit).await?;
            ensure!(page.len() <= limit, "a page of {limit} sessions has {}", page.len());
            let (Some((first, _)), Some((last, _))) = (page.first(), page.last()) else { break };
            let upto = after.map_or(*first, |after| after.upto);
            after = Some(SessionCursor { upto, number: *last });
            found.extend(page.into_iter().map(|(_, line)| line));
        }
        same!(found, model, "the sessions, {limit} at a time");
    }
    // Numbers that no page ends with are places like any other.
    let all = model.len();
    for (upto, number, expected) in [(u64::MAX, 0, 0), (0, u64::MAX, 0), (u64::MAX, u64::MAX, all)]
    {
        let after = Some(SessionCursor { upto, number });
        let count = store.0.sessions(after, usize::MAX).await?.len();
        same!(count, expected, "the number of sessions after {after:?}");
    }
    Ok(())
}
