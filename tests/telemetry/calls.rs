//! Calls of tools: with every outcome, late, retried, closed and in doubt.

use std::time::Duration;

use machine::{
    contract::{
        Action, AnyExecution, Applied, Attempt, Call, InDoubt, NoReceipt, Perform, Report, Settled,
        ToolAnswer, execution::Waiting,
    },
    effects::Resume,
    store::Store,
};
use machine_tests::cluster::{Deploy, accepted};

use crate::{
    errand::Hold,
    world::{Service, World},
};

/// Every outcome of a call.
pub(crate) async fn outcomes(world: &World) {
    let (store, by) = (&world.store, &world.actors.tool_node);
    let done = Ok(Applied::new(world.text("receipt")));
    let refused = Err(NoReceipt::not_applied(world.text("refused")));
    let unknown = Err(NoReceipt::unknown(world.text("lost")));
    for (number, answer) in (0..).zip([done, refused.clone(), unknown]) {
        let mail = world.stored(world.mail(number)).await;
        let _ = store.perform::<Action>(mail, world.service(answer), by).await.unwrap();
    }
    // Not begun: it was done before.
    let again = machine::contract::Execution::new(world.mail(0));
    assert!(store.perform::<Action>(again, world.service(refused.clone()), by).await.is_err());
    let read = world.stored(world.read(0)).await;
    let delays = [200, 500, 1000].map(Duration::from_millis);
    let _ = store
        .perform_with_retries::<Action>(read, world.service(refused), delays, by)
        .await
        .unwrap();
    let closed = world.stored(world.mail(3)).await;
    let _ = store.cancel(closed, &world.text("reason"), by).await.unwrap();
    let call = accepted(store, 17).await;
    let report = Report::NotApplied(world.text("quota exceeded"));
    let _ = store.report::<Deploy>(call.id, report, &call.token).await.unwrap();
}

/// A call that continues after its timeout, and one that was fenced meanwhile.
pub(crate) async fn late(world: &World) {
    let (store, by) = (&world.store, &world.actors.tool_node);
    let hold = Hold::default();
    let slow = Service {
        hold: Some(hold.clone()),
        ..world.service(Ok(Applied::new(world.text("late receipt"))))
    };
    let limit = Duration::from_millis(20);
    let mail = world.stored(world.mail(10).timeout_after(limit)).await;
    match store.perform::<Action>(mail, slow.clone(), by).await.unwrap() {
        Settled::TimedOut(_, late) => {
            hold.let_go();
            let _ = late.await.unwrap();
        }
        other => panic!("{other:?}"),
    }
    // Its type is the error that `?` meets.
    assert!(matches!(NoReceipt::<std::fmt::Error>::from(std::fmt::Error), NoReceipt::Unknown(_)));
    hold.is_held().await;
    let mail = world.stored(world.mail(11)).await;
    let id = mail.id();
    let calls = store.perform::<Action>(mail, slow, by);
    let fences = async {
        hold.is_held().await;
        let reason = world.text("too slow");
        let _ = store.fence(id, &reason, &world.actors.graph_runner).await.unwrap();
        hold.let_go();
    };
    let (called, ()) = tokio::join!(calls, fences);
    assert!(called.is_err());
    store.recover().await.unwrap();
}

/// Executions in doubt, and what becomes of them.
pub(crate) async fn doubt(world: &World) {
    let (store, actors) = (&world.store, &world.actors);
    let reason = world.text("I asked them");
    let _ = store.confirm_applied(lost(world, 20).await, &reason, &world.ann).await.unwrap();
    let _ = store.confirm_not_applied(lost(world, 21).await, &reason, &world.ann).await.unwrap();
    let _ = store.override_not_applied(lost(world, 22).await, &reason, &world.ann).await.unwrap();
    let finds = Service {
        found: Ok(Applied::new(world.text("found"))),
        ..world.service(Err(NoReceipt::unknown(&reason)))
    };
    let doubt = lost(world, 23).await;
    let _ = store.ask_service::<Action>(doubt, &finds, &actors.tool_node).await.unwrap();

    // Fenced while its worker is alive, which then ends.
    let mail = world.stored(world.mail(24)).await;
    let (running, permit) = store.begin::<Action>(mail, &actors.tool_node).await.unwrap();
    let _ = store.fence(running.id(), &reason, &actors.graph_runner).await.unwrap();
    drop(permit);
    store.recover().await.unwrap();

    // Fenced while its call is in flight, which is then cut off.
    let hold = Hold::default();
    let slow =
        Service { hold: Some(hold.clone()), ..world.service(Err(NoReceipt::unknown(&reason))) };
    let mail = world.stored(world.mail(25)).await;
    let id = mail.id();
    let fences = async {
        hold.is_held().await;
        store.fence(id, &reason, &actors.graph_runner).await.unwrap()
    };
    tokio::select! {
        called = store.perform::<Action>(mail, slow, &actors.tool_node) => panic!("{called:?}"),
        _doubt = fences => {}
    }
    store.recover().await.unwrap();
}

/// An execution whose permit was dropped.
async fn lost(world: &World, number: u32) -> InDoubt {
    let mail = world.stored(world.mail(number)).await;
    let (running, permit) =
        world.store.begin::<Action>(mail, &world.actors.tool_node).await.unwrap();
    drop(permit);
    world.store.recover().await.unwrap();
    world.store.in_doubt(running.id()).await.unwrap()
}

/// A service that is asked for an outcome while a person settles it.
pub(crate) async fn contested(world: &World) {
    let doubt = lost(world, 30).await;
    let service =
        Contested { store: world.store.clone(), ann: world.ann.clone(), text: world.text("x") };
    let worker = world.worker(crate::errand::Does::Opens).other_tools(service);
    worker.run_until_idle().await.unwrap();
    let settled: AnyExecution = world.store.load(doubt.id()).await.unwrap();
    assert!(matches!(settled, AnyExecution::Failed(_)), "{settled:?}");
}

struct Contested {
    store: Store,
    ann: machine::actor::Human,
    text: String,
}

impl Perform<Action> for Contested {
    async fn perform(&self, _: &Call<Action>) -> ToolAnswer<Action> {
        Err(NoReceipt::unknown(&self.text))
    }

    async fn find(&self, attempt: &Attempt<Action>) -> ToolAnswer<Action> {
        let doubt = self.store.in_doubt(attempt.execution_id).await?;
        let settled = self.store.override_not_applied(doubt, &self.text, &self.ann).await;
        assert!(settled.is_ok());
        Ok(Applied::new(self.text.as_str()))
    }
}

/// A program resumes one question of two.
pub(crate) async fn resumed(world: &World) {
    let ask = || {
        let text = world.text("Deploy?");
        let question =
            machine::contract::Contract::ecs_request(&text, &world.actors.reasoning_node);
        let question = question.unwrap().session(world.text("session"));
        let question = machine::contract::Execution::new(question).start(&world.actors.ecs_node);
        question.suspend(text, &world.actors.ecs_node)
    };
    let (mut first, mut second) = (ask(), ask());
    world.store.batch().create(&mut first).create(&mut second).write().await.unwrap();
    let resume = Resume { resuming: Some(1), ..Resume::default() };
    let _ = world.store.resume_with::<Waiting>(first.id(), resume).await.unwrap();
}
