//! The timeline of a stored session.

use super::Observer;
use crate::view::{
    Audience, ExecutionSnapshot, ExecutionTimeline, TransitionRecord, View,
    audience::is_hidden,
    session::{WithKey, age, with_key},
};
use crate::{
    contract::{AnyExecution, execution},
    store::{LoadError, Query, read::transitions::WithTransitions},
    stored::KnownDefinitions,
};

/// Executions with their keys, and their transitions.
type SessionPart<A> = WithTransitions<WithKey<A>>;

impl Observer {
    /// The executions of a session, with their transitions. What cannot be read is named in it.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unavailable`] if the storage cannot be read now.
    pub async fn session<A: Audience>(
        &self,
        session: &str,
    ) -> Result<View<ExecutionTimeline<A>>, LoadError> {
        let (now, language) = (self.store.now(), self.language);
        let project = move |execution: AnyExecution| with_key::<A>(&execution, now, language);
        let with_names = !is_hidden(&A::__diagnostic(|| ()));
        let all = Query::new().limit(usize::MAX);
        let page = self.store.with_transitions(session, &all, with_names, project).await?;
        let session = session.to_owned();
        Ok(self.store.run(move || timeline(&session, page.items)).await?)
    }
}

fn timeline<A: Audience>(
    session: &str,
    mut parts: Vec<SessionPart<A>>,
) -> View<ExecutionTimeline<A>> {
    let (mut executions, mut errors) = (Vec::new(), Vec::new());
    for (number, part) in parts.iter_mut().enumerate() {
        for machine in part.machines.drain(..) {
            match machine {
                Ok(execution) => executions.push((execution, number)),
                Err(error) => errors.push(error.to_string()),
            }
        }
    }
    executions.sort_by_key(|((snapshot, _), _)| age(snapshot));
    let mut transitions = Vec::with_capacity(parts.iter().map(WithTransitions::len).sum());
    let mut contracts = Vec::with_capacity(executions.len());
    for (execution, number) in executions {
        match add(&execution.0, &parts[number], &mut transitions) {
            Some(Ok(())) => contracts.push(execution),
            Some(Err(reason)) => errors.push(format!("{}: {reason}", execution.0.execution_id)),
            // Pruned in between.
            None => {}
        }
    }
    ExecutionTimeline::of_sorted(session, contracts, transitions, errors)
}

/// Adds the transitions of an execution, up to its snapshot, or the error in its journal.
fn add<A: Audience>(
    execution: &ExecutionSnapshot<A>,
    part: &SessionPart<A>,
    transitions: &mut Vec<TransitionRecord<A>>,
) -> Option<Result<(), String>> {
    let (id, before) = (execution.execution_id, transitions.len());
    let count = usize::try_from(execution.transition_count).unwrap_or(usize::MAX);
    let steps = part
        .of(id)?
        .and_then(|steps| steps.get(..count).ok_or("the end of its journal is missing"));
    // The names of the program's own definition need no copies.
    let known = KnownDefinitions { own: execution::DEFINITION, older: &part.definitions };
    let added = steps.map_err(str::to_owned).and_then(|steps| {
        for (number, step) in steps.iter().enumerate() {
            let written = known.get(step.definition).ok_or_else(|| {
                format!("entry {}: it was written under an unknown definition", step.number)
            })?;
            transitions.push(TransitionRecord::of_step(id, number, step, written)?);
        }
        Ok(())
    });
    if added.is_err() {
        transitions.truncate(before);
    }
    Some(added)
}
