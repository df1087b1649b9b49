//! The acts of people: in each situation one is done, or it is refused and nothing changes. Both
//! surfaces do the same.

use std::{collections::BTreeMap, sync::Arc};

use machine::{
    Id,
    contract::{Action, Applied, NoReceipt},
    observe::Observer,
    store::Operation,
    view::{self, Label},
};
use machine_tests::{
    actors::{ann, ecs_node, tool_node},
    cluster::accepted,
    samples::{answers, contradicted, mail},
};
use serde_json::{Value, json};

use super::{Call, Place, http::token_of, unknown};

/// Each act with its command, and with its route and body. `ID` is the machine, `GATE` a gate with
/// the digest of its question, and `MESSAGE` the message of the situation, if it has one.
const ACTS: &str = r#"
approve       | approve ID --yes                                    | api/approvals/approve {"gates":[GATE]}
decline       | decline ID --yes --reason later                     | api/approvals/decline {"gates":["ID"],"reason":"later"}
cancel        | cancel ID --reason late                             | api/machines/ID/cancel {"reason":"late"}
respond       | respond ID 8080                                     | ecs/respond {"execution_id":"ID","response":"8080"}
respond 9090  | respond ID 9090                                     | ecs/respond {"execution_id":"ID","response":"9090"}
resume        | respond ID                                          | ecs/continue {"execution_id":"ID"}
applied       | confirm ID applied --receipt seen --yes             | api/machines/ID/confirm {"applied":true,"receipt":"seen"}
not applied   | confirm ID not-applied --reason unsent --yes        | api/machines/ID/confirm {"applied":false,"reason":"unsent"}
override      | confirm ID not-applied --reason unsent --override --yes | api/machines/ID/confirm {"applied":false,"reason":"unsent","override":true}
acknowledge   | acknowledge ID                                      | api/machines/ID/acknowledge {}
retry         | retry ID --yes                                      | api/machines/ID/retry {}
fence         | fence ID --reason hangs --yes                       | api/machines/ID/fence {"reason":"hangs"}
requeue       | requeue ID --message MESSAGE                        | api/machines/ID/requeue {"messages":["MESSAGE"]}
requeue other | requeue ID --message form-18                        | api/machines/ID/requeue {"messages":["form-18"]}
requeue none  | requeue ID                                          | api/machines/ID/requeue {"messages":[]}
send          | send ID confirm --payload {"amount":3}              | api/machines/ID/send {"trigger":"confirm","payload":{"amount":3}}
send no       | send ID cancel --payload {"reason":"no"} --seen 0   | api/machines/ID/send {"trigger":"cancel","payload":{"reason":"no"},"seen":0}
send unseen   | send ID confirm --payload {"amount":3} --seen 99    | api/machines/ID/send {"trigger":"confirm","payload":{"amount":3},"seen":99}
send later    | send ID accept                                      | api/machines/ID/send {"trigger":"accept"}
send early    | send ID accept --early                              | api/machines/ID/send {"trigger":"accept","early":true}
send seen     | send ID accept --seen 1                             | api/machines/ID/send {"trigger":"accept","seen":1}
send stale    | send ID accept --seen 0                             | api/machines/ID/send {"trigger":"accept","seen":0}
send ship     | send ID ship                                        | api/machines/ID/send {"trigger":"ship"}
send audit    | send ID audit                                       | api/machines/ID/send {"trigger":"audit"}
send succeed  | send ID succeed                                     | api/machines/ID/send {"trigger":"succeed"}
send trigger  | send ID trigger --payload {"trigger":"confirm"}     | api/machines/ID/send {"trigger":"trigger","payload":{"trigger":"confirm"}}
send nothing  | send ID confirm                                     | api/machines/ID/send {"trigger":"confirm"}
send text     | send ID confirm --payload {"amount":"3"}            | api/machines/ID/send {"trigger":"confirm","payload":{"amount":"3"}}
send printed  | send ID confirm --payload {"amount":"<u32>"}        | api/machines/ID/send {"trigger":"confirm","payload":{"amount":"<u32>"}}
send more     | send ID confirm --payload {"amount":1,"to\u001bx":2} | api/machines/ID/send {"trigger":"confirm","payload":{"amount":1,"to\u001bx":2}}
"#;

/// A situation of a machine, the acts there, and what comes of the last one: the labels of the
/// machine and of the other one of the situation, or a refusal that contains this text. Ann does
/// all acts but the last one, which is that of bob.
const TABLE: &str = r"
gate         | approve              | SUCCESS NOT_STARTED
gate         | decline              | REJECTED CANCELLED
gate         | cancel               | CANCELLED CANCELLED
gate         | respond              | refused: it is a gate, which is approved or declined; instead: `approve {id} --as NAME`, `decline {id} --as NAME`
gate         | acknowledge          | refused: {id}: a gate makes no call
gate         | approve, approve     | refused: {id} was approved by ann
gate         | approve, decline     | refused: {id} was approved by ann
gate         | decline, approve     | refused: {id} was declined by ann
gate         | decline, cancel      | refused: so there is nothing to cancel
gate         | cancel, approve      | refused: it is CANCELLED (late)
expired      | approve              | refused: {id} has expired and can no longer be answered; ask again
expired      | decline              | refused: {id} has expired and can no longer be answered; ask again
expired      | cancel               | CANCELLED
expired      | acknowledge          | refused: a gate makes no call; instead: `cancel {id} --as NAME`
orphan       | approve              | refused: `cancel {id} --as NAME` ends it; ask again
orphan       | decline              | refused: {id} cannot be answered: no machine
orphan       | cancel               | CANCELLED
orphan       | acknowledge          | refused: a gate makes no call
stale        | approve              | refused: {id} can no longer be approved: {other} has already performed the same action
stale        | decline              | REJECTED SUCCESS
stale        | cancel               | CANCELLED SUCCESS
stale        | acknowledge          | refused: a gate makes no call
withdrawn    | approve              | refused: it is CANCELLED (late)
withdrawn    | decline              | refused: it is CANCELLED (late)
withdrawn    | acknowledge          | refused: a gate makes no call
behind       | approve              | refused: it is PENDING; `list` shows those that do; instead: `approve {other} --as NAME`
behind       | cancel               | CANCELLED CANCELLED
behind       | cancel, cancel       | refused: {id} is CANCELLED, so there is nothing to cancel
pending      | cancel               | CANCELLED
overtaken    | cancel               | CANCELLED SUCCESS
stale behind | cancel               | CANCELLED SUCCESS
pending      | fence                | refused: so there is no worker to fence; instead: `cancel {id} --as NAME`
pending      | send succeed         | refused: `succeed` is not for people
running      | cancel               | refused: {id} is running; wait until it ends, or `fence {id} --as NAME`
running      | fence                | IN_DOUBT
running      | fence, fence         | refused: so there is no worker to fence
running      | fence, applied       | SUCCESS
running      | fence, not applied   | refused: overrid
running      | fence, override      | FAILED
accepted     | cancel               | refused: has accepted the call and may carry it out, so it cannot be cancelled
accepted     | respond              | refused: the report of its service
accepted     | fence                | IN_DOUBT
accepted     | fence, applied       | SUCCESS
doubt        | cancel               | refused: {id} is in doubt, so it cannot be cancelled
doubt        | respond              | refused: in doubt
doubt        | applied              | SUCCESS
doubt        | not applied          | FAILED
doubt        | override             | FAILED
doubt        | applied, not applied | refused: {id} is not in doubt: ann has already confirmed that it took effect
doubt        | override, applied    | refused: ann has already confirmed that it did not take effect
doubt        | override, override   | refused: instead: `retry {id} --as NAME`
doubt        | override, retry      | FAILED
failed       | retry                | FAILED
failed       | retry, retry         | refused: is another attempt at the same action and has not ended
failed child | retry                | refused: {id} is a child of {other}, which would not see another attempt
repeated     | retry                | refused: {other} has already performed this action, so there is nothing to retry; see `show {other}`
contradicted | acknowledge          | CONTRADICTED
contradicted | acknowledge, acknowledge | refused: ann has already acknowledged
contradicted | applied              | refused: ann has already confirmed that it did not take effect; see `show {id}`
contradicted | not applied          | refused: instead: `acknowledge {id} --as NAME`
contradicted | override             | refused: ann has already confirmed that it did not take effect
contradicted | retry                | refused: {id} has already performed this action, so there is nothing to retry
question     | cancel               | CANCELLED
question     | respond              | SUCCESS
question     | resume               | refused: {id} has no answer yet; store one with `respond` first
question     | respond, respond     | refused: it is COMPLETED
question     | respond, resume      | refused: it is COMPLETED
question     | cancel, respond      | refused: it is CANCELLED
answered     | cancel               | CANCELLED
answered     | respond              | refused: answered
answered     | resume               | SUCCESS
order        | approve              | refused: instead: `send {id} confirm --as NAME --seen 0 --payload
order        | cancel               | ASKING
order        | send                 | ASKING
order        | send, send           | refused: ann has already answered {id} with `confirm`
order        | send, send no        | refused: ann has already answered {id} with `confirm`
order        | send unseen          | refused: {id} has not made 99 transitions yet, only 0; nothing was sent
order        | send later           | refused: it would answer a later question that you have not seen
order        | send early           | ASKING
order        | send ship            | refused: no state of `order` accepts `ship`; now a person can send `confirm`
order        | send audit           | refused: `audit` is not for people, only for `graph_runner`
order        | send trigger         | refused: no state of `order` accepts `trigger`
order        | send nothing         | refused: `confirm` needs `amount`; it takes amount: u32
order        | send text            | refused: `confirm` expects a different type for `amount`
order        | send printed         | refused: fill in the payload of `confirm`: `amount: u32`
order        | send more            | refused: does not take `to\u{1b}x`
parent       | approve              | refused: `approve {other} --as NAME`
parent       | cancel               | MAILING WAITING
parent       | send                 | MAILING WAITING
set aside    | approve              | refused: instead: `requeue {id} --as NAME --message=
set aside    | cancel               | ASKING
set aside    | requeue              | ASKING
set aside    | requeue, requeue     | refused: is queued, not set aside
set aside    | requeue none         | refused: name them: `requeue {id} --as NAME --message=
set aside    | send                 | ASKING
paying       | cancel               | PAYING
paying       | send                 | refused: PAYING does not accept `confirm`
paying       | send seen            | PAYING
paying       | send stale           | refused: {id} has moved on since you viewed it
ended        | cancel               | refused: {id} is CANCELLED, so it accepts no more messages
";

/// The situations, with what a person is offered there. Every act that is not in the table is
/// refused, because it does not apply.
pub(super) const OFFERED: &str = "
gate: approve decline
expired: cancel
orphan: cancel
stale: cancel
withdrawn:
behind: approve decline cancel
pending: cancel
overtaken: cancel
stale behind: cancel
running:
accepted:
doubt: confirm confirm
failed: retry
failed child: show
repeated:
sent:
contradicted: acknowledge
question: respond cancel
answered: respond cancel
order: send send
parent: send send
set aside: requeue send send
paying: send
ended:
";

pub(crate) fn situations() -> impl Iterator<Item = &'static str> {
    OFFERED.trim().lines().map(|row| row.split_once(':').unwrap().0)
}

/// The answer to an act that does not apply.
fn does_not_apply(situation: &str, act: &str) -> &'static str {
    let is_order = matches!(situation, "order" | "set aside" | "paying" | "ended");
    let has_ended = matches!(
        situation,
        "withdrawn" | "failed" | "failed child" | "repeated" | "sent" | "contradicted" | "ended"
    );
    match act {
        "requeue" | "requeue other" if has_ended => {
            "which is terminal, so workers retry nothing of it"
        }
        "send" if has_ended => "so it accepts no more messages",
        "requeue" => {
            "nothing of {id} was set aside, and it is not stuck, so there is nothing to requeue"
        }
        "requeue other" => "{id} has no message `form-18`; `show {id}` lists its messages",
        "send" => "people move an execution only by the commands that `show` lists",
        _ if is_order => "{id} is of the kind `order`, in ",
        _ if situation == "parent" => "{id} is of the kind `errand`, in ",
        "approve" | "decline" => "{id} is not a gate that waits for an answer: it is ",
        "cancel" => "so there is nothing to cancel",
        "respond" | "resume" => "{id} is not a question that waits for an answer",
        "applied" | "not applied" | "override" => {
            "{id} is not in doubt; there is nothing to confirm"
        }
        "acknowledge" => "there is nothing to acknowledge",
        "retry" => "not FAILED, so it cannot be retried",
        "fence" => "is not an irreversible call in flight, so there is no worker to fence",
        other => panic!("{other} applies to some machines only"),
    }
}

/// A machine in a situation.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) id: Id,
    other: Option<Id>,
    message: Option<String>,
}

impl Made {
    /// The words of an act about it.
    fn fill(&self, text: &str) -> String {
        let text = match &self.message {
            Some(message) => text.replace("MESSAGE", message),
            None => text.replace("--message MESSAGE", "").replace("\"MESSAGE\"", ""),
        };
        text.replace("ID", &self.id.to_string())
    }

    fn text(&self, text: &str) -> String {
        let text = text.replace("{id}", &self.id.to_string());
        self.other.map_or(text.clone(), |other| text.replace("{other}", &other.to_string()))
    }
}

impl From<Id> for Made {
    fn from(id: Id) -> Self {
        Self { id, other: None, message: None }
    }
}

impl From<(Id, Id)> for Made {
    fn from((id, other): (Id, Id)) -> Self {
        Self { other: Some(other), ..id.into() }
    }
}

impl Place {
    /// A machine in this situation; one of an equal number would have the same key.
    pub(crate) async fn make(&self, situation: &str, number: u32) -> Made {
        let to = &format!("{number}@example.com");
        let perform = async |planned, answer| {
            let service = answers(answer);
            drop(self.store.perform::<Action>(planned, service, tool_node()).await.unwrap());
        };
        match situation {
            // The other machine is the action behind it.
            "gate" => {
                let (gate, planned) = self.gate(to).await;
                (gate.id(), planned.id()).into()
            }
            "expired" => self.expired_gate(to).await.id().into(),
            // The action behind it is missing: an older program may have cancelled it alone.
            "orphan" => {
                let (mut gate, _) = mail(to).ask::<Action>(None, ecs_node()).unwrap();
                self.store.batch().create(gate.machine()).write().await.unwrap();
                gate.id().into()
            }
            // The other machine has performed the same action.
            "stale" => {
                let ((first, planned), (second, _)) = (self.gate(to).await, self.gate(to).await);
                let other = planned.id();
                drop(machine_tests::approve(&self.store, first, ann()).await.unwrap());
                perform(planned, Ok(Applied::new("250 OK"))).await;
                (second.id(), other).into()
            }
            // Ann has cancelled the action behind it.
            "withdrawn" => {
                let (gate, planned) = self.gate(to).await;
                let behind = planned.id().into();
                self.act(Via::Cli, "ann", &behind, "cancel").await.unwrap();
                (gate.id(), behind.id).into()
            }
            "behind" => {
                let (gate, planned) = self.gate(to).await;
                (planned.id(), gate.id()).into()
            }
            "pending" => self.pending(to).await.into(),
            "overtaken" => {
                let pending = self.pending(to).await;
                (pending, self.sent(mail(to)).await).into()
            }
            // It waits behind a stale gate.
            "stale behind" => {
                let ((first, planned), (_, behind)) = (self.gate(to).await, self.gate(to).await);
                let other = planned.id();
                drop(machine_tests::approve(&self.store, first, ann()).await.unwrap());
                perform(planned, Ok(Applied::new("250 OK"))).await;
                (behind.id(), other).into()
            }
            "running" => self.running(to).await.into(),
            "accepted" => accepted(&self.store, number).await.id.into(),
            "doubt" => self.doubt(to).await.into(),
            "failed" => self.failed(to).await.into(),
            "failed child" => {
                let (parent, gate, planned) = self.parent_of(to).await;
                let id = planned.id();
                drop(machine_tests::approve(&self.store, gate, ann()).await.unwrap());
                perform(planned, Err(NoReceipt::not_applied("mailbox full"))).await;
                (id, parent).into()
            }
            "repeated" => {
                let failed = self.failed(to).await;
                (failed, self.sent(mail(to)).await).into()
            }
            "sent" => self.sent(mail(to)).await.into(),
            "contradicted" => contradicted(&self.store, to).await.into(),
            "question" => self.question().await.into(),
            // Its answer of ann is stored.
            "answered" => {
                let id = self.question().await;
                let question = self.store.question(id).await.unwrap();
                drop(self.store.respond(question, "8080", ann()).await.unwrap());
                id.into()
            }
            "order" => self.order().await.into(),
            // The other machine is the gate of its child.
            "parent" => {
                let (id, gate, _) = self.parent_of(to).await;
                (id, gate.id()).into()
            }
            "set aside" => {
                let (id, message) = self.set_aside().await;
                Made { message: Some(message), ..id.into() }
            }
            "paying" | "ended" => {
                let id = self.order().await;
                let confirm = r#"{"trigger": "confirm", "amount": 3}"#;
                let cancel = r#"{"trigger": "cancel", "reason": "late"}"#;
                self.message(id, if situation == "paying" { confirm } else { cancel }).await;
                self.work().await;
                id.into()
            }
            "unknown" => unknown().into(),
            other => panic!("{other} is not a situation"),
        }
    }
}

/// The two surfaces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Via {
    Cli,
    Http,
}

/// Why nothing was done, and what the person reads.
#[derive(Debug)]
enum Why {
    Refused(String),
    /// No machine has the id.
    Missing(String),
}

impl Via {
    const ALL: [Self; 2] = [Self::Cli, Self::Http];

    /// The name in the operator log.
    fn name(self) -> &'static str {
        match self {
            Self::Cli => "cli",
            Self::Http => "http",
        }
    }
}

/// The cells of a row.
fn cells(line: &str) -> [&str; 3] {
    let mut cells = line.splitn(3, " | ").map(str::trim);
    [(); 3].map(|()| cells.next().unwrap_or_else(|| panic!("{line}")))
}

/// The row of an act.
fn found(act: &str) -> [&'static str; 3] {
    rows(ACTS).find(|[name, ..]| *name == act).unwrap_or_else(|| panic!("{act} is not an act"))
}

fn rows(table: &'static str) -> impl Iterator<Item = [&'static str; 3]> {
    table.trim().lines().map(cells)
}

impl Place {
    /// Does an act as a person.
    async fn act(&self, via: Via, by: &str, made: &Made, act: &str) -> Result<Value, Why> {
        let [_, command, _] = found(act);
        if via == Via::Cli {
            let command = made.fill(command);
            return self.command_as(by, &command.split_whitespace().collect::<Vec<_>>());
        }
        let call = self.request(made, act).await;
        let done = self.done(call.token(&token_of(by)), true).await?;
        // A person who answers in the page resumes the question with it.
        if act.starts_with("respond") {
            return Box::pin(self.act(via, by, made, "resume")).await;
        }
        Ok(done)
    }

    /// The request of an act, without a token.
    pub(crate) async fn request(&self, made: &Made, act: &str) -> Call {
        let [_, _, request] = found(act);
        let (path, body) = request.split_once(' ').unwrap();
        let body = made.fill(body).replace("GATE", &self.shown(made.id).await.to_string());
        Call::post(&format!("/{}", made.fill(path)), &serde_json::from_str(&body).unwrap())
    }

    fn command_as(&self, by: &str, words: &[&str]) -> Result<Value, Why> {
        let ran = self.run(&[words, &["--as", by, "--json"]].concat());
        match ran.code {
            0 => Ok(ran.json()),
            // Over HTTP, commands have no program.
            1 => Err(Why::Refused(ran.err.replace(&format!("`{} ", self.prefix()), "`"))),
            4 => Err(Why::Missing(ran.err)),
            _ => panic!("{ran:?}"),
        }
    }

    /// A refusal about one machine has its legal moves and next steps.
    async fn done(&self, call: Call, is_about_one: bool) -> Result<Value, Why> {
        let answer = self.ask(call).await;
        let problem = || answer.problem(answer.status, "");
        let detail = || problem()["detail"].as_str().unwrap().to_owned();
        match answer.status {
            200 | 202 => Ok(answer.json()),
            409 | 422 => {
                let more = ["legal_moves", "next"].map(|name| problem()[name].is_array());
                assert_eq!(more, [is_about_one; 2], "{answer:?}");
                Err(Why::Refused(detail()))
            }
            404 => Err(Why::Missing(detail())),
            _ => panic!("{answer:?}"),
        }
    }

    /// The refusals of the acts of the table, on the command line, by situation.
    pub(super) async fn refusals(&self) -> BTreeMap<&'static str, String> {
        let mut refusals: BTreeMap<_, String> = BTreeMap::new();
        for (number, [situation, acts, _]) in (0..).zip(rows(TABLE)) {
            let made = self.make(situation, number).await;
            for act in acts.split(", ") {
                let [_, command, _] = found(act);
                let command = made.fill(command);
                let words: Vec<_> = command.split_whitespace().chain(["--as", "ann"]).collect();
                let ran = self.run(&words);
                if ran.code != 0 {
                    refusals.entry(situation).or_default().push_str(&ran.err);
                }
            }
        }
        refusals
    }

    /// The gate with the digest of its question, as the page of a person has it.
    async fn shown(&self, id: Id) -> Value {
        let question = self.store.gate(id).await.ok().and_then(|gate| gate.whole_question());
        let digest = question.map_or(json!("0".repeat(64)), |question| json!(question.digest));
        json!({ "id": id, "digest": digest })
    }

    /// The labels of the machine and of the other one.
    async fn labels(&self, made: &Made) -> String {
        let observer = Observer::new(&self.store);
        let mut labels = Vec::new();
        for id in [Some(made.id), made.other].into_iter().flatten() {
            let Ok(detail) = observer.detail::<view::Human>(id).await else { continue };
            let label = detail.execution.as_ref().map(|it| it.label.to_string());
            labels.push(label.unwrap_or_else(|| detail.machine.label.clone()));
        }
        labels.join(" ")
    }

    async fn newest_operation(&self) -> Option<Operation> {
        self.store.operations(1, None).await.unwrap().items.pop().map(Result::unwrap)
    }

    /// Checks a row of the table, with the line of its last act in the operator log.
    async fn check(&self, via: Via, number: u32, [situation, acts, expected]: [&str; 3]) {
        let made = self.make(situation, number).await;
        let acts: Vec<_> = acts.split(", ").collect();
        let (last, before) = acts.split_last().unwrap();
        for act in before {
            self.act(via, "ann", &made, act).await.unwrap();
        }
        let (labels, log) = (self.labels(&made).await, self.newest_operation().await);
        let done = self.act(via, "bob", &made, last).await;
        let row = format!("{via:?}: {situation} | {acts:?} | {expected}: {done:?}");
        let now = self.labels(&made).await;
        let outcome = match (expected.strip_prefix("refused: "), &done) {
            (None, Ok(_)) => {
                assert_eq!(now, expected, "{row}");
                "done"
            }
            (Some(text), Err(Why::Refused(found))) => {
                assert!(found.contains(&made.text(text)), "{row}");
                assert_eq!(now, labels, "{row}");
                "refused: "
            }
            (_, Err(Why::Missing(found))) if situation == "unknown" => {
                assert!(found.contains(&made.text("no machine {id} in this store")), "{row}");
                // One that names no machine is not recorded.
                assert_eq!(self.newest_operation().await, log, "{row}");
                return;
            }
            _ => panic!("{row}"),
        };
        let operation = self.newest_operation().await.expect("it is recorded");
        let [_, command, _] = found(last);
        let verb = command.split(' ').next().unwrap();
        // A finding, and an answer that is applied, have a name of their own.
        let name = match *last {
            "resume" => "continue",
            "respond" | "respond 9090" if outcome == "done" => "continue",
            "applied" => "confirm applied",
            "not applied" => "confirm not applied",
            "override" => "override not applied",
            _ => verb,
        };
        assert_eq!(operation.operation, name, "{row}");
        let found = (&*operation.by, &*operation.via, &*operation.machines);
        assert_eq!(found, ("bob", via.name(), &[made.id][..]), "{row}");
        assert!(operation.outcome.is_some_and(|it| it.starts_with(outcome)), "{row}");
    }
}

/// Checks rows on both surfaces, or on the one that is given, and reports every row that is wrong.
async fn check_all(rows: impl Iterator<Item = (Option<Via>, [String; 3])>) {
    let (place, mut wrong) = (Arc::new(Place::served().await), 0);
    for (number, (via, row)) in (0..).zip(rows) {
        for (number, one) in (2 * number..).zip(Via::ALL) {
            if via.is_none_or(|via| via == one) {
                let (place, row) = (Arc::clone(&place), row.clone());
                let check = async move {
                    place.check(one, number, row.each_ref().map(String::as_str)).await;
                };
                wrong += usize::from(tokio::spawn(check).await.is_err());
            }
        }
    }
    assert_eq!(wrong, 0, "rows are wrong");
    place.run(&["verify"]).done();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_act_is_done_or_refused_as_the_table_says() {
    check_all(rows(TABLE).map(|row| (None, row.map(str::to_owned)))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_act_that_does_not_apply_is_refused() {
    let mut others = Vec::new();
    for situation in situations().chain(["unknown"]) {
        for [act, ..] in rows(ACTS).take_while(|[act, ..]| *act != "send no") {
            let own = rows(TABLE).any(|[other, acts, _]| (other, acts) == (situation, act));
            if own || matches!(act, "respond 9090" | "requeue none") {
                continue;
            }
            // A process for each would take long, and both surfaces have the same acts.
            let via = if others.len() % 5 == 0 { Via::Cli } else { Via::Http };
            let refused = format!("refused: {}", does_not_apply(situation, act));
            others.push((Some(via), [situation.to_owned(), act.to_owned(), refused]));
        }
    }
    check_all(others.into_iter()).await;
}

/// All of them, or none; named twice, a gate is decided once.
#[tokio::test(flavor = "multi_thread")]
async fn several_gates_are_decided_together_or_not_at_all() {
    let place = Place::served().await;
    for via in Via::ALL {
        let mut gates = Vec::new();
        for name in ["a", "b", "c"] {
            gates.push(place.gate(&format!("{name}-{via:?}@example.com")).await.0.id());
        }
        let declined = Made::from(gates.pop().unwrap());
        place.act(via, "ann", &declined, "decline").await.unwrap();
        for (wrong, text) in [
            (declined.id, "was declined by ann"),
            (place.question().await, "is not a gate"),
            (unknown(), "no machine"),
        ] {
            let refused = place.decide(via, &[gates[0], gates[1], wrong]).await.unwrap_err();
            assert!(refused.contains(text), "{via:?}: {refused}");
            for gate in &gates {
                assert_eq!(place.label(*gate).await, Label::Waiting, "{via:?}: {text}");
            }
        }
        let decided = place.decide(via, &[gates[0], gates[1], gates[0]]).await.unwrap();
        let decided = decided["decided"].as_array().unwrap();
        let of = |name: &str| decided.iter().map(|one| one[name].clone()).collect::<Vec<_>>();
        assert_eq!(of("gate"), [json!(gates[0]), json!(gates[1])], "{via:?}");
        assert_eq!(of("by"), ["ann", "ann"], "{via:?}");
        for gate in gates {
            assert_eq!(place.label(gate).await, Label::Success, "{via:?}");
        }
    }
}

impl Place {
    /// Approves several gates as ann.
    async fn decide(&self, via: Via, gates: &[Id]) -> Result<Value, String> {
        let done = if via == Via::Cli {
            let ids: Vec<_> = gates.iter().map(ToString::to_string).collect();
            let ids: Vec<_> = ids.iter().map(String::as_str).collect();
            self.command_as("ann", &[&["approve", "--yes"], &*ids].concat())
        } else {
            let mut shown = Vec::new();
            for gate in gates {
                shown.push(self.shown(*gate).await);
            }
            let call = Call::post("/api/approvals/approve", &json!({ "gates": shown }));
            self.done(call.token(&token_of("ann")), false).await
        };
        done.map_err(|(Why::Refused(text) | Why::Missing(text))| text)
    }
}

/// Of people who decide at once, one does, and each of the others learns who that was.
#[tokio::test(flavor = "multi_thread")]
async fn of_many_people_at_once_one_decides() {
    let place = Arc::new(Place::served().await);
    for (number, (situation, acts, told)) in [
        ("gate", ["approve", "decline"], "d by {winner}"),
        ("doubt", ["applied", "override"], "{winner} has already confirmed"),
        ("question", ["respond", "respond 9090"], ""),
        ("order", ["send", "send"], "{winner} has already answered {id} with `confirm`"),
    ]
    .into_iter()
    .enumerate()
    {
        let made = Arc::new(place.make(situation, u32::try_from(number).unwrap()).await);
        let all = (0..8).map(|at| {
            let (place, made) = (Arc::clone(&place), Arc::clone(&made));
            let (by, via, act) = (["ann", "bob"][at % 2], Via::ALL[at / 2 % 2], acts[at / 4]);
            tokio::spawn(async move { (by, place.act(via, by, &made, act).await) })
        });
        let all: Vec<_> = all.collect();
        let mut ended = Vec::new();
        for one in all {
            ended.push(one.await.unwrap());
        }
        // Two answers that cross are both stored; the second one is warned, and applies only if the
        // first is rejected.
        let is_warned = |document: &Value| document["warning"].is_string();
        let winners = ended.iter().filter(|(_, done)| done.as_ref().is_ok_and(|it| !is_warned(it)));
        let winners: Vec<_> = winners.map(|(by, _)| *by).collect();
        let [winner] = *winners else { panic!("{situation}: {ended:?}") };
        for (_, done) in &ended {
            let told = made.text(&told.replace("{winner}", winner));
            match done {
                Ok(document) if is_warned(document) => {
                    let warning = document["warning"].as_str().unwrap();
                    assert!(warning.contains(&format!("{winner} answered first")), "{ended:?}");
                }
                Ok(_) => {}
                Err(Why::Refused(text)) => assert!(text.contains(&told), "{told}: {text}"),
                Err(missing) => panic!("{missing:?}"),
            }
        }
    }
}

/// The words of a person are stored with the machine.
#[tokio::test(flavor = "multi_thread")]
async fn reasons_receipts_and_answers_are_kept() {
    let place = Place::served().await;
    let observer = Observer::new(&place.store);
    let mut number = 0;
    for via in Via::ALL {
        for (situation, act, at, kept) in [
            ("gate", "decline", "/error_message", "later"),
            ("pending", "cancel", "/error_message", "late"),
            ("doubt", "applied", "/result", "seen"),
            ("doubt", "not applied", "/error_message", "unsent"),
            ("question", "respond", "/result", "8080"),
            ("running", "fence", "/question", "hangs"),
        ] {
            number += 1;
            let made = place.make(situation, number).await;
            place.act(via, "ann", &made, act).await.unwrap();
            let shown = observer.execution::<view::Human>(made.id).await.unwrap();
            let shown = serde_json::to_value(&shown).unwrap();
            let found = shown.pointer(at).and_then(Value::as_str).unwrap_or_default();
            assert!(found.contains(kept), "{via:?} {act}: {kept} is not in {shown}");
        }
        let order = place.make("order", 0).await;
        place.act(via, "ann", &order, "cancel").await.unwrap();
        let message = place.store.inbox(order.id).await.unwrap().pop().unwrap().unwrap();
        assert_eq!(message.name.as_deref(), Some("ann"), "{via:?}");
        assert!(message.body.contains("late"), "{via:?}: {message:?}");
    }
}
