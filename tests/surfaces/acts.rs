//! The acts of people: in each situation one is done, or it is refused and nothing changes. Both
//! surfaces do the same.

use std::{collections::BTreeMap, sync::Arc};

use machine::{
    Id,
    observe::Observer,
    store::Operation,
    view::{self, Label},
};
use serde_json::{Value, json};

use super::{
    Call, Place,
    act_table::{ACTS, TABLE, does_not_apply, found, rows, situations},
    http::token_of,
    situation::Made,
    unknown,
};

/// The two surfaces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Via {
    Cli,
    Http,
}

/// Why nothing was done, and what the person reads.
#[derive(Debug)]
pub(super) enum Why {
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

impl Place {
    /// Does an act as a person.
    pub(super) async fn act(
        &self,
        via: Via,
        by: &str,
        made: &Made,
        act: &str,
    ) -> Result<Value, Why> {
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
