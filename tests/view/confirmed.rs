//! "Human-confirmed" comes from the record of an approval, and from nothing else (DESIGN 5).

use machine::{
    contract::{
        Action, AnyExecution, Contract, Execution, Gate, Planned, Policy, Settled, decision,
    },
    store::Store,
    view::ConsequenceView,
};
use machine_tests::{
    actors::{ann, ecs_node, graph_runner, tool_node},
    samples::{asked, mail, read, receipt},
};

fn confirmed(execution: impl Into<AnyExecution>) -> bool {
    ConsequenceView::of(&execution.into()).human_confirmed
}

async fn loaded(store: &Store, id: machine::Id) -> ConsequenceView {
    ConsequenceView::of(&store.load::<AnyExecution>(id).await.unwrap())
}

async fn ask(store: &Store, contract: Contract) -> (Gate, Planned<Action>) {
    let (mut gate, mut planned) = contract.ask::<Action>(None, ecs_node()).unwrap();
    store.ask(&mut gate, &mut planned).await.unwrap();
    (gate, planned)
}

/// An approved action is confirmed once it runs, and stays so; the gate says who approved it.
#[tokio::test]
async fn an_approval_confirms_the_action() {
    let store = Store::memory();
    for contract in [mail("bob"), read("a.txt")] {
        let (gate, planned) = ask(&store, contract).await;
        let id = planned.id();
        assert!(
            !loaded(&store, id).await.human_confirmed
                && !loaded(&store, gate.id()).await.human_confirmed
        );
        let asked = gate.id();
        let answer = machine_tests::approve(&store, gate, ann()).await.unwrap();
        assert_eq!((answer.approved, answer.by.as_str()), (true, "ann"));
        assert_eq!(decision(&stored(&store, asked).await), Some(answer));
        let (running, permit) = store.begin(planned, tool_node()).await.unwrap();
        assert!(confirmed(stored(&store, id).await));
        let outcome = permit.call(receipt("done")).await;
        let settled = store.settle(running, outcome, tool_node()).await.unwrap();
        let Settled::Completed(done) = settled else { panic!("{settled:?}") };
        assert!(confirmed(done));
        assert!(loaded(&store, id).await.human_confirmed);
    }
}

async fn stored(store: &Store, id: machine::Id) -> AnyExecution {
    store.load(id).await.unwrap()
}

/// So does an approval in the batch that begins the action.
#[tokio::test]
async fn an_approval_in_the_same_batch_counts() {
    let store = Store::memory();
    let (gate, planned) = ask(&store, mail("bob")).await;
    let mut decide = machine_tests::approval(gate, ann());
    let mut begin = machine::effects::Begin::new(planned, tool_node());
    store.batch().decide(&mut decide).begin(&mut begin).write().await.unwrap();
    assert!(decide.finish().is_ok_and(|answer| answer.approved));
    let (running, permit) = begin.finish().unwrap();
    drop(permit);
    assert!(confirmed(running));
}

/// A gate that was asked for, declined or withdrawn confirms nothing.
#[tokio::test]
async fn no_answer_and_no_confirm_nothing() {
    let store = Store::memory();
    let (gate, declined) = ask(&store, mail("bob")).await;
    let asked = gate.id();
    store.decline(gate, "wrong address", ann()).await.unwrap();
    for id in [asked, declined.id()] {
        assert!(!loaded(&store, id).await.human_confirmed);
    }
    assert!(!loaded(&store, declined.id()).await.is_still_pending);

    let (gate, withdrawn) = ask(&store, mail("eve")).await;
    let gate = store.withdraw(gate, "not needed", graph_runner()).await.unwrap();
    assert!(!confirmed(gate) && !loaded(&store, withdrawn.id()).await.human_confirmed);
}

/// An execution that waited and was answered by the program was not confirmed by a person, whatever its
/// texts say.
#[test]
fn waiting_confirms_nothing() {
    let resumed = asked("Sure?").resume(graph_runner());
    assert!(!confirmed(resumed.succeed("approved by ann".to_owned(), graph_runner())));
    let direct = Execution::new(
        Contract::ecs_request("Sure?", machine_tests::actors::reasoning_node()).unwrap(),
    );
    assert!(!confirmed(direct.start(ecs_node()).succeed("yes".to_owned(), ecs_node())));
    let noted = read("a.txt").note("approved_by", "ann").about("(human-confirmed)");
    assert!(!confirmed(Execution::new(noted).start(tool_node())));
}

/// Confirming the outcome of an action is not approving it.
#[tokio::test]
async fn a_finding_is_no_approval() {
    let store = Store::memory();
    for applied in [true, false] {
        let mut pending = Execution::new(mail(if applied { "bob" } else { "eve" }));
        let id = pending.id();
        store.create(&mut pending).await.unwrap();
        let (running, permit) = store.begin(pending, tool_node()).await.unwrap();
        drop((running, permit));
        let doubt = store.recover().await.unwrap().in_doubt.pop().unwrap();
        if applied {
            drop(store.confirm_applied(doubt, "I saw it", ann()).await.unwrap());
        } else {
            drop(store.confirm_not_applied(doubt, "nothing came", ann()).await.unwrap());
        }
        assert!(!loaded(&store, id).await.human_confirmed);
    }
}

/// A retry is confirmed if a person decided it; a policy and a copy are not persons.
#[tokio::test]
async fn a_persons_retry_is_confirmed() {
    let store = Store::memory();
    let policy = Policy::new("refused by the server", graph_runner()).unwrap();
    let failed =
        || Execution::new(mail("bob")).start(tool_node()).fail("x".to_owned(), tool_node());
    for (contract, by_person) in
        [(Contract::retry(&failed(), &policy), false), (Contract::retry(&failed(), ann()), true)]
    {
        let mut planned: Planned<Action> = Planned::new(contract).unwrap();
        let id = planned.id();
        store.batch().create(planned.machine()).write().await.unwrap();
        assert_eq!(loaded(&store, id).await.human_confirmed, by_person);
        let refused =
            machine_tests::samples::answers(Err(machine::contract::NotDone::not_applied("no")));
        drop(store.perform(planned, refused, tool_node()).await.unwrap());
        assert_eq!(loaded(&store, id).await.human_confirmed, by_person);
    }
}

/// A retry does not inherit the approval of the attempt that it repeats.
#[tokio::test]
async fn an_approval_is_not_inherited() {
    let store = Store::memory();
    let (gate, planned) = ask(&store, mail("bob")).await;
    machine_tests::approve(&store, gate, ann()).await.unwrap();
    let refused =
        machine_tests::samples::answers(Err(machine::contract::NotDone::not_applied("no")));
    let Settled::Failed(failed) = store.perform(planned, refused, tool_node()).await.unwrap()
    else {
        panic!("it was refused")
    };
    assert!(loaded(&store, failed.id()).await.human_confirmed);
    let policy = Policy::new("refused by the server", graph_runner()).unwrap();
    assert!(!confirmed(Execution::new(Contract::retry(&failed, &policy))));
}
