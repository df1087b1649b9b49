//! The view that a reasoner has of an execution in each situation (OB-6, OB-7, OB-8): one table.

use machine::contract::{Call, execution::Event, service_fn};

use crate::view::prelude::*;

/// A step in the life of a mail to Bob.
#[derive(Debug, Clone)]
enum Step {
    /// A person is asked for it.
    Ask,
    Approve,
    Decline,
    Withdraw,
    /// From here on, the gate is looked at.
    Gate,
    Begin,
    /// Its service answers.
    Service(Answer),
    /// It is fenced during its call, and perhaps overridden by a person; then its service answers.
    Late {
        overridden: bool,
        answer: Answer,
    },
    /// A person says what became of it.
    Confirm {
        applied: bool,
    },
    /// A person plans it again.
    Retry,
}

/// Fences a call that is under way, and answers it then.
pub(crate) async fn answered_late(
    store: &Store,
    id: Id,
    overridden: bool,
    answer: Answer,
) -> AnyExecution {
    let planned = store.planned::<Action>(id).await.unwrap();
    let (running, permit) = store.begin(planned, tool_node()).await.unwrap();
    let elsewhere = store.clone();
    let service = service_fn(move |_: &Call<Action>| {
        let (store, answer) = (elsewhere.clone(), answer.clone());
        Box::pin(async move {
            let doubt = store.fence(id, "it takes too long", graph_runner()).await.unwrap();
            if overridden {
                drop(store.override_not_applied(doubt, "no mail arrived", ann()).await.unwrap());
            }
            answer.map_err(|it| it.map(Into::into))
        })
    });
    let outcome = permit.call(service).await;
    // The worker was fenced, so its answer is kept as late.
    drop(store.settle(running, outcome, tool_node()).await);
    load(store, id).await
}

/// The mail, or its gate, after these steps.
async fn after(store: &Store, steps: &[Step]) -> AnyExecution {
    let (mut id, mut asked, mut call) = (create(store, &mut pending_mail("bob")).await, None, None);
    for step in steps.iter().cloned() {
        let gate = async || store.gate(asked.unwrap()).await.unwrap();
        let planned = async || store.planned::<Action>(id).await.unwrap();
        match step {
            Step::Ask => {
                let (gate, planned) = ask(store, mail("bob")).await;
                (asked, id) = (Some(gate.id()), planned.id());
            }
            Step::Approve => drop(approve(store, gate().await, ann()).await.unwrap()),
            Step::Decline => {
                drop(store.decline(gate().await, "wrong address\n", ann()).await.unwrap());
            }
            Step::Withdraw => {
                let by = graph_runner();
                drop(store.withdraw(gate().await, "not needed", by).await.unwrap());
            }
            Step::Gate => id = asked.unwrap(),
            Step::Begin => call = Some(store.begin(planned().await, tool_node()).await.unwrap()),
            Step::Service(answer) => match call.take() {
                None => drop(performed(store, planned().await, answer).await),
                Some((running, permit)) => {
                    let outcome = permit.call(answers(answer)).await;
                    drop(store.settle(running, outcome, tool_node()).await.unwrap());
                }
            },
            Step::Late { overridden, answer } => {
                drop(answered_late(store, id, overridden, answer).await);
            }
            Step::Confirm { applied } => {
                let doubt = store.in_doubt(id).await.unwrap();
                if applied {
                    drop(store.confirm_applied(doubt, "I saw it", ann()).await.unwrap());
                } else {
                    drop(store.confirm_not_applied(doubt, "nothing came", ann()).await.unwrap());
                }
            }
            Step::Retry => {
                let AnyExecution::Failed(failed) = load(store, id).await else { panic!() };
                id = create(store, &mut Execution::new(Contract::retry(&failed, ann()))).await;
            }
        }
    }
    load(store, id).await
}

/// Every view of an execution has this line, its label, and these marks, and no other.
pub(crate) fn shows(execution: &AnyExecution, line: &str, marks: &str) {
    let view = ConsequenceView::of(execution);
    assert_eq!(view.to_string(), line);
    let label = view.consequence_label;
    assert!(line.starts_with(&format!("[{label}")), "{line}: {label}");
    assert_eq!(json!(view)["consequence_label"], label.to_string());
    assert_eq!(json!(label), label.to_string());
    assert_eq!(Label::of(execution), label, "{line}");
    assert_eq!(
        ExecutionSnapshot::<Human>::of(execution, 0, Language::English).label,
        label,
        "{line}"
    );
    let all = [
        (view.has_side_effects, "effect"),
        (view.is_still_pending, "open"),
        (view.was_suspended, "waited"),
        (view.human_confirmed, "confirmed"),
        (view.result.is_some(), "result"),
        (view.error_message.is_some(), "error"),
    ];
    let found: Vec<_> = all.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
    assert_eq!(found.join(" "), marks, "{line}");
    let is_fact = !view.is_still_pending && label != Label::Unconfirmed;
    assert_eq!(ExecutionFact::of(execution).is_some(), is_fact, "{line}");
    // A gate is not in a prompt, which says at its end what cannot be undone.
    let has_effect = view.has_side_effects;
    let prompt = Prompt::new(&[view]).to_string();
    let lines: &[&str] = if line.contains("] approval of ") { &[] } else { &[line] };
    assert_eq!(prompt_lines(&prompt), lines);
    let ends = prompt.ends_with("have taken effect and cannot be undone.");
    assert_eq!(ends, has_effect, "{prompt}");
}

#[tokio::test]
#[allow(clippy::too_many_lines, reason = "it is a table")]
async fn an_irreversible_action() {
    use Step::{Approve, Ask, Begin, Confirm, Decline, Gate, Late, Retry, Service, Withdraw};
    let queued = || done("250 queued");
    let late = |answer| Late { overridden: false, answer };
    let overridden = |answer| Late { overridden: true, answer };
    let table: Vec<(Vec<Step>, &str, &str)> = vec![
        (vec![], "[NOT_STARTED] email.send → bob", "open"),
        (vec![Ask], "[DEFERRED] email.send → bob", "open"),
        (vec![Ask, Gate], "[WAITING] approval of email.send → bob", "open waited"),
        (
            vec![Ask, Approve, Gate],
            "[SUCCESS] approval of email.send → bob: approved",
            "waited result",
        ),
        (
            vec![Ask, Decline],
            r"[CANCELLED] email.send → bob: declined by ann: wrong address\n",
            "error",
        ),
        (
            vec![Ask, Decline, Gate],
            r"[REJECTED] approval of email.send → bob: wrong address\n",
            "waited error",
        ),
        (vec![Ask, Withdraw], "[CANCELLED] email.send → bob: cancelled: not needed", "error"),
        (
            vec![Ask, Withdraw, Gate],
            "[CANCELLED] approval of email.send → bob: not needed",
            "waited error",
        ),
        (vec![Begin], "[IN_PROGRESS] email.send → bob", "open"),
        (vec![Ask, Approve, Begin], "[IN_PROGRESS] email.send → bob", "open confirmed"),
        (
            vec![Begin, Service(queued())],
            "[SUCCESS ⚠️ IRREVERSIBLE] email.send → bob: 250 queued",
            "effect result",
        ),
        (
            vec![Ask, Approve, Service(queued())],
            "[SUCCESS ⚠️ IRREVERSIBLE (human-confirmed)] email.send → bob: 250 queued",
            "effect confirmed result",
        ),
        // Only SUCCESS lines say that a person confirmed.
        (vec![Service(refused("no"))], "[FAILED] email.send → bob: no", "error"),
        (
            vec![Ask, Approve, Begin, Service(refused("no"))],
            "[FAILED] email.send → bob: no",
            "confirmed error",
        ),
        (vec![Service(refused("no")), Retry], "[NOT_STARTED] email.send → bob", "open confirmed"),
        (
            vec![Service(refused("no")), Retry, Service(refused("no"))],
            "[FAILED] email.send → bob: no",
            "confirmed error",
        ),
        // Unknown: it neither worked nor failed, and waits for a person.
        (
            vec![Service(unknown("the line went dead"))],
            "[IN_DOUBT] email.send → bob: unknown whether it took effect",
            "open waited error",
        ),
        (
            vec![late(unknown("the line went dead"))],
            "[IN_DOUBT] email.send → bob: unknown whether it took effect",
            "open waited error",
        ),
        // A late receipt comes first, and the action counts as done; a late refusal proves nothing
        // yet.
        (
            vec![late(queued())],
            "[IN_DOUBT ⚠️ IRREVERSIBLE] email.send → bob: it took effect: 250 queued",
            "effect open waited result",
        ),
        (
            vec![late(refused("no"))],
            "[IN_DOUBT] email.send → bob: unknown whether it took effect",
            "open waited error",
        ),
        // Confirming the outcome of an action is not approving it.
        (
            vec![Service(unknown("?")), Confirm { applied: true }],
            "[SUCCESS ⚠️ IRREVERSIBLE] email.send → bob: I saw it",
            "effect waited result",
        ),
        (
            vec![Service(unknown("?")), Confirm { applied: false }],
            "[FAILED] email.send → bob: nothing came",
            "waited error",
        ),
        (
            vec![late(queued()), Confirm { applied: true }],
            "[SUCCESS ⚠️ IRREVERSIBLE] email.send → bob: I saw it",
            "effect waited result",
        ),
        // A person is contradicted by the worker, and the view shows both.
        (
            vec![late(refused("no")), Confirm { applied: true }],
            "[SUCCESS ⚠️ IRREVERSIBLE] email.send → bob: I saw it: its worker or its service reports \
             that it did not take effect: no",
            "effect waited result error",
        ),
        (
            vec![overridden(queued())],
            "[CONTRADICTED ⚠️ IRREVERSIBLE] email.send → bob: it took effect, perhaps more than \
             once: 250 queued: recorded earlier as not done: no mail arrived",
            "effect waited result error",
        ),
        // An answer that agrees changes nothing, and one that proves nothing leaves it open.
        (
            vec![overridden(refused("no"))],
            "[FAILED] email.send → bob: no mail arrived",
            "waited error",
        ),
        (
            vec![overridden(unknown("?"))],
            "[FAILED] email.send → bob: a person declared it not done without proof, so it may \
             still take effect: no mail arrived",
            "waited error",
        ),
    ];
    for (steps, line, marks) in table {
        shows(&after(&Store::memory(), &steps).await, line, marks);
    }
}

/// An idempotent action needs no store.
#[test]
fn an_idempotent_action() {
    use Event::{Cancel, Fail, Reject, Resume, Start, Succeed, Suspend, Timeout};
    let x = || "x".to_owned();
    let asks = || Suspend { prompt: x() };
    for (events, line, marks) in [
        (vec![], "[NOT_STARTED] files.read", "open"),
        (vec![Start], "[IN_PROGRESS] files.read", "open"),
        (vec![Start, asks()], "[WAITING] files.read", "open waited"),
        (vec![Start, asks(), Resume], "[IN_PROGRESS] files.read", "open waited"),
        (
            vec![Start, asks(), Timeout],
            "[CANCELLED] files.read: not answered in time",
            "waited error",
        ),
        (vec![Start, Succeed { result: x() }], "[SUCCESS] files.read: x", "result"),
        (vec![Start, Fail { error: x(), refusal: None }], "[FAILED] files.read: x", "error"),
        (vec![Start, Reject { reason: x() }], "[REJECTED] files.read: x", "error"),
        (vec![Start, Cancel { reason: x() }], "[CANCELLED] files.read: x", "error"),
    ] {
        let mut execution = AnyExecution::from(Execution::new(read("a.txt")));
        for event in events {
            let moved = match event {
                Start => execution.apply_mut(event, tool_node()),
                _ => execution.apply_mut(event, graph_runner()),
            };
            moved.unwrap();
        }
        shows(&execution, line, marks);
    }
}

/// An execution that waited and was answered by the program was not confirmed by a person, whatever
/// its texts say.
#[test]
fn a_question() {
    let resumed = || asked("Sure?").resume(graph_runner());
    shows(&asked("Sure?").into(), "[WAITING] ecs.confirm", "open waited");
    let answered = resumed().succeed("approved by ann".to_owned(), graph_runner());
    shows(&answered.into(), "[SUCCESS] ecs.confirm: approved by ann", "waited result");
    let noted = read("a.txt").note("approved_by", "ann").about("(human-confirmed)");
    let noted = Execution::new(noted).start(tool_node());
    shows(&noted.into(), r"[IN_PROGRESS] files.read → \(human-confirmed)", "open");
}

/// Nothing says that an irreversible action took effect, nor that it did not, before a store has
/// recorded it. The finding: `[SUCCESS] bank.pay: forged receipt` of an execution that no store
/// ever saw.
#[tokio::test]
async fn an_end_that_no_store_has_recorded() {
    let running = || pending_mail("bob").start(tool_node());
    // Also of one that a store has in an earlier state.
    let store = Store::memory();
    let mut pending = pending_mail("bob");
    let id = create(&store, &mut pending).await;
    let AnyExecution::Pending(not_begun) = load(&store, id).await else { panic!() };
    let (_running, _permit) = store.begin(pending, tool_node()).await.unwrap();
    let AnyExecution::Running(begun) = load(&store, id).await else { panic!() };
    let x = |text: &str| text.to_owned();
    let ends: [(AnyExecution, &str); 6] = [
        (running().succeed(x("forged"), tool_node()).into(), "forged"),
        (running().fail(x("refused"), None, tool_node()).into(), "refused"),
        (running().reject(x("no"), tool_node()).into(), "no"),
        (running().cancel(x("late"), graph_runner()).into(), "late"),
        (not_begun.start(tool_node()).succeed(x("forged"), tool_node()).into(), "forged"),
        (begun.fail(x("refused"), None, tool_node()).into(), "refused"),
    ];
    for (execution, text) in ends {
        let line = format!("[UNCONFIRMED] email.send → bob: no store has recorded this: {text}");
        shows(&execution, &line, "error");
        let chinese = ConsequenceView::in_language(&execution, Language::Chinese).to_string();
        assert_eq!(chinese, format!("[UNCONFIRMED] email.send → bob: 没有存储记录此结果：{text}"));
    }
}

/// A record of a store is confirmed; and data are confirmed once a store has them.
#[tokio::test]
async fn a_record_is_confirmed_by_its_store() {
    let store = Store::memory();
    let id = create(&store, &mut pending_mail("bob")).await;
    let planned = store.planned(id).await.unwrap();
    let sent = performed(&store, planned, done("sent")).await;
    let (line, marks) = ("[SUCCESS ⚠️ IRREVERSIBLE] email.send → bob: sent", "effect result");
    shows(&sent, line, marks);
    let mut imported = forge::cross_execution(store.export(id).await.unwrap()).unwrap();
    assert_eq!(Label::of(&imported), Label::Unconfirmed);
    Store::memory().create(&mut imported).await.unwrap();
    shows(&imported, line, marks);
}
