//! Every attempt at a key has a higher token than all before it, so that a service can refuse an
//! older one.

use super::prelude::*;

pub(super) async fn check(open: &Open<'_>) -> Result<(), String> {
    let store = Subject::open(open);
    let mut machines = [Machine::execution().with_key("k"), Machine::execution().with_key("k")];
    for machine in &mut machines {
        store.accepts(machine.create()).await?;
    }
    for round in [0, 1, 0, 0, 1] {
        let machine = &mut machines[round];
        let last = store.accepts(machine.update(2).takes("k")).await?.last[0];
        let mut attempts = store.attempts_at("k").await?;
        let token = attempts.pop().map(|newest| newest.token);
        ensure!(token == Some(last), "the token is {token:?}, its entry {last}");
        let highest = attempts.iter().map(|attempt| attempt.token).max();
        ensure!(token > highest, "token {token:?} follows {highest:?}");
        store.accepts(machine.update(1).turns("k", Hold::Free)).await?;
        let kept = store.attempts_at("k").await?.pop().map(|newest| newest.token);
        ensure!(kept == token, "the token {token:?} became {kept:?} when it was answered");
    }

    // In a batch, each token is the number of its own machine's last line.
    let mut first = Machine::execution().with_key("a");
    let mut second = Machine::execution().with_key("b");
    let writes = [first.create().takes("a"), second.create().takes("b")];
    let applied = store.accepts(writes).await?;
    for (key, last) in ["a", "b"].into_iter().zip(applied.last) {
        let tokens: Vec<_> = store.attempts_at(key).await?.iter().map(|it| it.token).collect();
        ensure!(tokens == [last], "the tokens of {key} are {tokens:?}, its entry {last}");
    }
    Ok(())
}
