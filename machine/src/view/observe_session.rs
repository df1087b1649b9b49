//! The timeline of a stored session.

use std::sync::Arc;

use futures_util::future::join;

use super::{
    Audience, ExecutionTimeline, Observer, TransitionRecord,
    audience::is_hidden,
    session::{WithKey, age, with_key},
};
use crate::{
    contract::{AnyExecution, execution},
    definition::{Definition, Fingerprint},
    store::{
        LoadError, Query,
        transitions::{Selected, Transitions},
    },
};

/// How many executions are read at once.
const PAGE: usize = 10_000;

/// Executions with their keys, and what is wrong with those that cannot be read.
type Snapshots<A> = (Vec<WithKey<A>>, Vec<String>);

/// Transitions, and the definitions that they were written under.
type Journals = (Transitions, Arc<Vec<Arc<Definition>>>);

impl Observer {
    /// The executions of a session, with their transitions. What cannot be read is named in it.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    pub async fn session<A: Audience>(
        &self,
        session: &str,
    ) -> Result<ExecutionTimeline<A>, LoadError> {
        let journals = || self.store.transitions(executions_of::<A>(session));
        let (snapshots, journals_read) = join(self.snapshots_of(session), journals()).await;
        let (snapshots, mut read) = (snapshots?, journals_read?);
        // Both were read at once. If a machine moved in between, its journal is read again.
        if !is_complete(&snapshots, &read) {
            read = journals().await?;
        }
        let session = session.to_owned();
        Ok(self.store.run(move || timeline(&session, snapshots, &read)).await?)
    }

    async fn snapshots_of<A: Audience>(&self, session: &str) -> Result<Snapshots<A>, LoadError> {
        let (now, language) = (self.store.now(), self.language);
        let project = move |execution: AnyExecution| with_key(&execution, now, language);
        let (mut snapshots, mut errors) = (Vec::new(), Vec::new());
        let mut query = Query::new().session(session).limit(PAGE);
        loop {
            let page = self.store.project_all(&query, project).await?;
            for execution in page.items {
                match execution {
                    Ok(execution) => snapshots.push(execution),
                    Err(error) => errors.push(error.to_string()),
                }
            }
            match page.next {
                Some(next) => query = query.after(next),
                None => return Ok((snapshots, errors)),
            }
        }
    }
}

/// All executions of a session.
fn executions_of<A: Audience>(session: &str) -> Selected {
    Selected {
        session: session.to_owned(),
        machine: execution::DEFINITION.name.to_string(),
        after: 0,
        last: u64::MAX,
        with_names: !is_hidden(&A::__diagnostic(|| ())),
    }
}

/// Whether each execution has all of its transitions, unless its journal cannot be read.
fn is_complete<A: Audience>(snapshots: &Snapshots<A>, (transitions, _): &Journals) -> bool {
    snapshots.0.iter().all(|(snapshot, _)| {
        let steps = transitions.of(snapshot.execution_id);
        steps.is_some_and(|steps| {
            steps.map_or(true, |it| it.len() as u64 >= snapshot.transition_count)
        })
    })
}

fn timeline<A: Audience>(
    session: &str,
    (mut snapshots, mut errors): Snapshots<A>,
    (transitions, known): &Journals,
) -> ExecutionTimeline<A> {
    snapshots.sort_by_key(|(snapshot, _)| age(snapshot));
    let mut records: Vec<TransitionRecord<A>> = Vec::with_capacity(transitions.len());
    snapshots.retain(|(snapshot, _)| {
        let id = snapshot.execution_id;
        let count = usize::try_from(snapshot.transition_count).unwrap_or(usize::MAX);
        let before = records.len();
        let steps = match transitions.of(id) {
            Some(Ok(steps)) => steps.get(..count).ok_or("the end of its journal is missing"),
            Some(Err(reason)) => Err(reason),
            // Pruned in between.
            None => return false,
        };
        let projected = steps.map_err(str::to_owned).and_then(|steps| {
            for (number, step) in steps.iter().enumerate() {
                let written = definition(step.definition, known).ok_or_else(|| {
                    format!("entry {}: it was written under an unknown definition", step.number)
                })?;
                records.push(TransitionRecord::of_step(id, number, step, written)?);
            }
            Ok(())
        });
        if let Err(reason) = &projected {
            records.truncate(before);
            errors.push(format!("{id}: {reason}"));
        }
        projected.is_ok()
    });
    ExecutionTimeline::of_sorted(session, snapshots, records, errors)
}

/// The program's own definition, whose names need no copies, or a stored one.
fn definition(wanted: Fingerprint, known: &[Arc<Definition>]) -> Option<&Definition> {
    if wanted == execution::DEFINITION.fingerprint {
        return Some(execution::DEFINITION);
    }
    known.iter().find(|known| known.fingerprint == wanted).map(|known| &**known)
}
