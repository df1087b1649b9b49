//! The reports of a store about an edited file.

use machine_tests::{STUCK, actors::tool_node};
use std::{collections::BTreeMap, fmt::Write};

use machine::{
    Id,
    contract::{
        AnyExecution, Execution,
        execution::{Pending, Waiting},
    },
    effects::EffectError,
    store::{CommitError, LoadError, Query, Store},
    stored::{Restore, VerifyError},
};
use machine_tests::samples::AnyTicket;

use super::sample::{ALL, AnyLamp, Copied, Sample, Who};
use crate::store::support::dump;

/// The report of each operation, if it differs from that for an untouched file.
pub(super) type Seen = BTreeMap<&'static str, String>;

/// The operations that are tried.
pub(super) const OPERATIONS: [&str; 8] = [
    "open", "load", "verify", "all", "list", "recover",
    // Begins another execution of the same action.
    "again", // Names the other machines that do not load or verify.
    "others",
];

impl Copied<'_> {
    /// Tries everything on the edited file.
    pub(super) async fn seen(&self, subject: Who) -> Seen {
        let mut seen = Seen::new();
        let store = match self.open().await {
            Ok(store) => store,
            Err(error) => {
                seen.insert("open", error.to_string());
                return seen;
            }
        };
        let sample = self.sample;
        let raw = self.raw();
        let before = dump(&raw);
        let id = sample.ids[subject as usize];
        let load = said(within("load", load(&store, sample, subject)).await);
        let verify = said(within("verify", verify(&store, sample, subject)).await);
        let all = within("verify_all", verify_all(&store, sample)).await;
        let list = within("list", list(&store, sample)).await;
        let others = within("others", others(&store, sample, subject)).await;
        // The results of these are checked elsewhere, but they do not panic.
        let _ = (store.json(id).await, store.export(id).await, store.history(id).await);
        if subject == Who::Question && load.is_some() {
            let resumed = store.resume::<Waiting>(id).await;
            assert!(resumed.is_err(), "it does not load, but resumes: {resumed:?}");
        }
        assert_eq!(dump(&raw), before, "reading changed the file");
        let recover = within("recover", recover(&store, sample)).await;
        let again = match subject.same_action().map(Execution::new) {
            Some(twin) => within("again", again(&store, sample, subject, twin)).await,
            None => None,
        };
        store.close().await.unwrap();

        let answers = [None, load, verify, all, list, recover, again, others];
        for (operation, answer) in OPERATIONS.into_iter().zip(answers) {
            if let Some(mut text) = answer {
                for who in ALL {
                    text = text.replace(&sample.ids[who as usize].to_string(), who.name());
                }
                seen.insert(operation, text);
            }
        }
        seen
    }
}

/// Every check ends.
async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    let result = tokio::time::timeout(STUCK, future).await;
    result.unwrap_or_else(|_| panic!("`{what}` does not end"))
}

fn said(result: Result<(), LoadError>) -> Option<String> {
    match result {
        Ok(()) => None,
        Err(
            error @ (LoadError::NotFound { .. }
            | LoadError::Unreadable(
                VerifyError::History { .. }
                | VerifyError::Data { .. }
                | VerifyError::Rules { .. }
                | VerifyError::OtherMachine { .. }
                | VerifyError::UnknownDefinition { .. },
            )),
        ) => Some(error.to_string()),
        Err(other) => panic!("{other:?}"),
    }
}

async fn load(store: &Store, sample: &Sample, who: Who) -> Result<(), LoadError> {
    async fn of<M: Restore>(store: &Store, id: Id) -> Result<(), LoadError> {
        let machine = store.load::<M>(id).await?;
        assert_eq!(machine.journal().id(), id);
        Ok(())
    }
    let id = sample.ids[who as usize];
    match who {
        Who::Lamp => of::<AnyLamp>(store, id).await,
        Who::Ticket => of::<AnyTicket>(store, id).await,
        _ => of::<AnyExecution>(store, id).await,
    }
}

async fn verify(store: &Store, sample: &Sample, who: Who) -> Result<(), LoadError> {
    let id = sample.ids[who as usize];
    match who {
        Who::Lamp => store.verify::<AnyLamp>(id).await,
        Who::Ticket => store.verify::<AnyTicket>(id).await,
        _ => store.verify::<AnyExecution>(id).await,
    }
}

fn name(sample: &Sample, id: Option<Id>) -> &'static str {
    match id.map(|id| sample.ids.iter().position(|known| *known == id)) {
        None => "?",
        Some(None) => "unknown",
        Some(Some(at)) => ALL[at].name(),
    }
}

async fn verify_all(store: &Store, sample: &Sample) -> Option<String> {
    let report = store.verify_all(|_| {}).await.unwrap();
    let mut text = String::new();
    for problem in &report.problems {
        writeln!(text, "{}: {}", name(sample, problem.id), problem.reason).unwrap();
    }
    (!report.is_clean()).then_some(text)
}

async fn list(store: &Store, sample: &Sample) -> Option<String> {
    let page = store.list(&Query::new()).await.unwrap();
    let mut text = String::new();
    let mut ids = Vec::new();
    for item in &page.items {
        match item {
            Ok(line) => ids.push(line.id),
            Err(error) => writeln!(text, "{error}").unwrap(),
        }
    }
    if text.is_empty() && ids == sample.ids {
        return None;
    }
    let names: Vec<_> = ids.iter().map(|id| name(sample, Some(*id))).collect();
    Some(text + &names.join(" "))
}

/// Only Bob is in doubt.
async fn recover(store: &Store, sample: &Sample) -> Option<String> {
    let recovered = match store.recover().await {
        Ok(recovered) => recovered,
        Err(error) => return Some(format!("error: {error}")),
    };
    let doubts: Vec<_> = recovered.in_doubt.iter().map(|doubt| doubt.id()).collect();
    if doubts == [sample.ids[Who::Bob as usize]] && recovered.failed.is_empty() {
        return None;
    }
    let names: Vec<_> = doubts.iter().map(|id| name(sample, Some(*id))).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(" ") };
    let mut text = format!("in doubt: {names}");
    for (id, error) in recovered.failed {
        let error = error.to_string();
        let error =
            error.strip_prefix(&format!("{}: ", name(sample, id))).unwrap_or(&error).to_owned();
        write!(text, ", {}: {error}", name(sample, id)).unwrap();
    }
    Some(text)
}

/// Creates and begins another execution of the same action.
async fn again(
    store: &Store,
    sample: &Sample,
    subject: Who,
    mut twin: Execution<Pending>,
) -> Option<String> {
    let refused = match store.create(&mut twin).await {
        Ok(()) => store.begin(twin, tool_node()).await.map(drop).map_err(|refused| refused.reason),
        Err(error) => Err(error),
    };
    let by = |id| name(sample, Some(id));
    let text = match refused {
        Ok(()) => "it runs".to_owned(),
        Err(EffectError::Commit(CommitError::AlreadyDone { by: of, .. })) => {
            format!("done by {}", by(of))
        }
        Err(EffectError::Commit(CommitError::KeyHeld { by: of, .. })) => {
            format!("held by {}", by(of))
        }
        Err(EffectError::Commit(CommitError::KeyReused { by: of, .. })) => {
            format!("reused by {}", by(of))
        }
        Err(EffectError::Commit(CommitError::BrokenAttempt { reason, .. })) => {
            format!("not trusted: {reason}")
        }
        Err(other) => panic!("{other:?}"),
    };
    let untouched = match subject {
        Who::Ann => "done by ann",
        Who::Bob => "held by bob",
        Who::Eve => "done by eve",
        _ => "it runs",
    };
    (text != untouched).then_some(text)
}

async fn others(store: &Store, sample: &Sample, subject: Who) -> Option<String> {
    let mut names = Vec::new();
    for who in ALL.into_iter().filter(|who| *who != subject) {
        let loads = load(store, sample, who).await.is_ok();
        if !loads || verify(store, sample, who).await.is_err() {
            names.push(who.name());
        }
    }
    (!names.is_empty()).then(|| names.join(" "))
}
