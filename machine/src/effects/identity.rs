use std::{
    any::TypeId,
    collections::{HashMap, HashSet},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
};

#[cfg(feature = "worker")]
use crate::store::{backend::WriteBatch, error::Unavailable};
use crate::{
    contract::{Action, AnyExecution, Callable, Contract, IdempotencyKey, Maker, visible},
    effects::error::EffectError,
    id::{Id, shortened_to},
    store::{backend::Attempts, error::LoadError, handle::Store, write::prepare::Prepared},
    stored::Durable,
    telemetry,
};

/// The attempts at the keys of tools with which this program has compared its own keys.
#[derive(Debug, Default)]
pub(crate) struct Identities(Mutex<HashMap<(TypeId, String), Compared>>);

#[derive(Debug, Default)]
struct Compared {
    /// The token of the newest one.
    upto: u64,
    /// The tokens of later ones that this handle made itself.
    own: HashSet<u64>,
    /// One that was equal: the program may derive another key later.
    witness: Option<Arc<(Id, Contract)>>,
}

impl Identities {
    fn with<R>(&self, of: &(TypeId, String), act: impl FnOnce(&mut Compared) -> R) -> R {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        act(all.entry(of.clone()).or_default())
    }
}

impl Compared {
    fn testifies(&mut self, id: Id, contract: &Contract) {
        self.witness.get_or_insert_with(|| Arc::new((id, contract.clone())));
    }
}

impl Store {
    /// Makes these tools known as irreversible before their first use.
    #[cfg(feature = "worker")]
    pub(crate) async fn declare(&self, tools: &[String]) -> Result<(), Unavailable> {
        if tools.is_empty() {
            return Ok(());
        }
        let batch = WriteBatch { tools: tools.to_vec(), ..self.new_batch() };
        // Nothing in it can be rejected.
        self.inner.backend.apply(batch).await.map(drop)
    }

    /// Checks that this program derives the keys of a tool that are stored.
    #[cfg(feature = "worker")]
    pub(crate) async fn compare_keys<T: Callable>(&self) -> Result<(), EffectError> {
        match T::__tool().filter(|tool| tool.irreversible().is_some()) {
            Some(tool) => self.compare_attempts(&tool.keys(), Maker::of::<T>()).await,
            None => Ok(()),
        }
    }

    /// Compares the keys of a tool before an action that this program made is stored.
    pub(super) async fn trust_plan(
        &self,
        ready: &Prepared,
        maker: Option<Maker>,
    ) -> Result<(), EffectError> {
        let (row, index) = (&ready.write.row, &ready.index);
        match (&row.key, maker) {
            (Some(key), Some(maker)) if ready.write.expected.is_none() && index.exclusive => {
                self.compare_attempts(tool_of(key), maker).await
            }
            _ => Ok(()),
        }
    }

    /// Compares the keys of a tool before an attempt.
    pub(super) async fn trust_identity<T: Callable>(
        &self,
        contract: &Contract,
    ) -> Result<(), EffectError> {
        match made::<T>(contract) {
            Some((tool, maker)) => self.compare_attempts(tool, maker).await,
            None => Ok(()),
        }
    }

    /// This handle has made an attempt with this token.
    pub(super) fn made_attempt<T: Callable>(&self, id: Id, contract: &Contract, token: u64) {
        if let Some((tool, maker)) = made::<T>(contract) {
            let of = (maker.type_id, tool.to_owned());
            self.effects().identities.with(&of, |compared| {
                compared.testifies(id, contract);
                compared.own.insert(token);
            });
        }
    }

    /// Only those are compared that others have made since the last time: another program may have
    /// started with an empty file, like this one.
    async fn compare_attempts(&self, tool: &str, maker: Maker) -> Result<(), EffectError> {
        let identities = &self.effects().identities;
        let of = (maker.type_id, tool.to_owned());
        let (upto, witness) =
            identities.with(&of, |compared| (compared.upto, compared.witness.clone()));
        if let Some(witness) = witness {
            let (id, contract) = &*witness;
            compare(*id, contract, maker)?;
        }
        let attempts = self.inner.backend.attempts(Attempts::OfTool(of.1.clone(), upto)).await?;
        // A tampered attempt proves nothing, and must not keep others from the tool.
        let attempts: Vec<_> = attempts.into_iter().flatten().collect();
        let newest = attempts.last().map_or(upto, |newest| newest.token);
        let mut ids = Vec::new();
        identities.with(&of, |compared| {
            for attempt in &attempts {
                if !compared.own.contains(&attempt.token) && !ids.contains(&attempt.by) {
                    ids.push(attempt.by);
                }
            }
        });
        if !ids.is_empty() {
            let rows = self.inner.backend.rows(ids).await?;
            let rows: Vec<_> = (0..).zip(rows).collect();
            let definitions = LoadError::readable(self.definitions_of(&rows).await)?;
            let definitions = definitions.unwrap_or_default();
            for (_, found) in rows {
                match self.restore_safely::<AnyExecution>(found, &definitions) {
                    Ok(execution) => {
                        compare(execution.id(), execution.context(), maker)?;
                        identities.with(&of, |compared| {
                            compared.testifies(execution.id(), execution.context());
                        });
                    }
                    Err(error) => telemetry::Skipped { error: error.class() }.emit(),
                }
            }
        }
        identities.with(&of, |compared| {
            let upto = compared.upto.max(newest);
            compared.upto = upto;
            compared.own.retain(|token| *token > upto);
        });
        Ok(())
    }
}

/// The maker of the action of an execution, if this program made it.
pub(crate) fn maker_of(machine: &dyn Durable) -> Option<Maker> {
    machine.__rules().__any().downcast_ref().and_then(Contract::maker)
}

/// The prefix of the tool's keys, and how this program derives them, if it does.
fn made<T: Callable>(contract: &Contract) -> Option<(&str, Maker)> {
    let key = contract.idempotency_key().filter(|_| contract.is_irreversible())?;
    contract.action().tool_name()?;
    // An action of another program with an identity is taken as it is: only the type knows the
    // identity.
    let takes_all = || contract.action().identity().is_none().then(Maker::of::<T>);
    let maker = match T::__tool() {
        Some(_) => Some(Maker::of::<T>()),
        None => contract.maker().or_else(takes_all),
    };
    maker.map(|maker| (tool_of(key.as_str()), maker))
}

/// The tool of a key, such as `email:send`: all of it but the digest.
fn tool_of(key: &str) -> &str {
    key.rsplit_once(':').map_or(key, |(tool, _)| tool)
}

/// Compares the key of an earlier execution with the one that this program makes.
fn compare(id: Id, contract: &Contract, maker: Maker) -> Result<(), EffectError> {
    let (Some(tool), Some(key)) = (contract.action().tool_name(), contract.idempotency_key())
    else {
        return Ok(());
    };
    // Arguments that this program cannot read say nothing, nor do those with which its code panics.
    let remade =
        catch_unwind(AssertUnwindSafe(|| (maker.remake)(contract.action()))).unwrap_or(Ok(None));
    match remade.map_err(|source| EffectError::Contract { id, source })? {
        Some(made) if IdempotencyKey::of(&made) != *key => Err(EffectError::OtherIdentity {
            tool,
            by: id,
            stored: described(contract.action(), key),
            made: described(&made, &IdempotencyKey::of(&made)),
        }),
        _ => Ok(()),
    }
}

/// An identity and the key that it makes, for people.
fn described(action: &Action, key: &IdempotencyKey) -> String {
    if !action.secrets().is_empty() {
        return format!("an identity that may contain secrets, with the key {key}");
    }
    let identity = action.identity().map_or_else(
        || "no identity (all arguments)".to_owned(),
        |identity| format!("the identity {}", shortened_to(&visible(&identity), LONGEST)),
    );
    format!("{identity} with the key {key}")
}

/// The longest text of an identity in an error, in characters.
const LONGEST: usize = 200;
