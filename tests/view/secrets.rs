//! No view shows an audience what is marked for another one (OB-14, EX-12, EX-13): every value of
//! every field is a unique secret, and is looked for in all views.

use std::fmt::Debug;

use machine::{
    actor::{Actors, Human as Person},
    view::{ExecutionTrace, Phrase},
};
use proptest::prelude::*;

use crate::view::{
    prelude::*,
    shop::{AnyShop, Packer, Purchase, Shop, shop},
};

/// Text that occurs nowhere by chance, for this place.
pub(crate) fn secret(seed: u64, place: &str) -> String {
    format!("{place}-{seed:016x}")
}

/// The content of the views of one audience: JSON, `Debug` and `Display`.
#[derive(Default)]
pub(crate) struct Shown {
    pub(crate) text: String,
    /// Also the questions.
    is_whole: bool,
}

impl Shown {
    fn add(&mut self, view: &(impl Serialize + Debug)) {
        let (json, debug) = (json!(view), format!("{view:?}"));
        let json = if self.is_whole { json } else { without_questions(json) };
        self.text += &json.to_string();
        let questions = [
            "Allow email.send?",
            "是否允许 email.send？",
            "Did this take effect",
            "该操作是否已经执行",
        ];
        if self.is_whole || !questions.iter().any(|question| debug.contains(question)) {
            self.text += &debug;
        }
    }

    /// Every view of a store for an audience.
    pub(crate) async fn of<A: Audience>(
        store: &Store,
        ids: &[Id],
        session: &str,
        is_whole: bool,
    ) -> Self {
        let mut shown = Self { is_whole, ..Self::default() };
        for language in Language::ALL {
            let observer = Observer::new(store).language(language);
            for id in ids {
                shown.add(&observer.snapshot::<A>(*id).await.unwrap());
                shown.add(&observer.timeline::<A>(*id).await.unwrap());
                if let Ok(snapshot) = observer.execution::<A>(*id).await {
                    shown.add(&snapshot);
                }
                let history = store.history(*id).await.unwrap();
                shown.add(&transitions::<A>(&history));
            }
            for line in observer.list::<A>(&Query::new()).await.unwrap().items {
                shown.add(&line.unwrap());
            }
            shown.add(&observer.session::<A>(session).await.unwrap());
            shown.add(&observer.attention::<A>(&Query::new()).await.unwrap());
            // Reasoners never see more than people.
            let found = observer.consequences(session).await.unwrap();
            shown.add(&found.executions);
            let prompt = Prompt { language, ..found.prompt() }.to_string();
            // What is in doubt is named with its arguments, like a question.
            match prompt.split_once(language.text(Phrase::DoubtHeading)) {
                Some((before, doubts)) if !is_whole => {
                    shown.text += before;
                    shown.text += doubts.splitn(3, "\n\n").nth(2).unwrap_or_default();
                }
                _ => shown.text += &prompt,
            }
        }
        shown
    }

    /// Where it is shown.
    fn around(&self, secret: &str) -> String {
        let at = self.text.find(secret).unwrap_or_default();
        let before: String = self.text[..at].chars().rev().take(200).collect();
        before.chars().rev().collect()
    }

    fn has(&self, secret: &str) -> bool {
        self.text.contains(secret)
    }
}

/// The question of a gate is for the one who decides, and has the arguments that it is about.
fn without_questions(mut json: Value) -> Value {
    match &mut json {
        Value::Object(members) => {
            members.retain(|name, _| name != "question" && name != "prompt");
            members.values_mut().for_each(|member| *member = without_questions(member.take()));
        }
        Value::Array(items) => {
            for item in items {
                *item = without_questions(item.take());
            }
        }
        _ => {}
    }
    json
}

/// A machine of the user's own in each of its states, with its secrets by audience.
async fn shop(store: &Store, seed: u64, path: u8) -> (Id, [Vec<String>; 3]) {
    let of = |place| secret(seed, place);
    let person = Person::new(&of("person")).unwrap();
    let actors = Actors::issue(&of("worker")).unwrap();
    let purchase = Purchase {
        item: of("item"),
        warehouse: of("warehouse"),
        card: of("card"),
        session: of("session"),
        limit_ms: 1,
    };
    let packed = |placed: Shop<shop::Placed>| {
        let boxes = u32::try_from(seed % 1_000_000).unwrap();
        placed.pack(boxes, of("shelf"), of("password"), of("remark"), of("noted"), &Packer)
    };
    let placed = Shop::new(purchase);
    let mut machine: AnyShop = match path {
        0 => placed.into(),
        1 => packed(placed).into(),
        2 => packed(placed).ship(of("carrier"), true, &actors.tool_node).into(),
        3 => packed(placed).ship(of("carrier"), false, &actors.tool_node).into(),
        _ => packed(placed).cancel(of("why"), of("code"), &person).into(),
    };
    store.create(&mut machine).await.unwrap();
    let (mut human, mut diagnostic) = (vec![of("item")], vec![of("warehouse")]);
    let mut internal = vec![of("card")];
    if path >= 1 {
        human.push(of("remark"));
        diagnostic.push(of("shelf"));
        internal.extend([of("password"), of("noted")]);
    }
    match path {
        // The payload of a choice has the strictest mark; the state says its own.
        2 => diagnostic.extend([of("carrier"), of("worker")]),
        3 => {
            human.push(of("carrier"));
            diagnostic.push(of("worker"));
        }
        4 => {
            human.push(of("why"));
            human.push(of("person"));
            internal.push(of("code"));
        }
        _ => {}
    }
    (machine.id(), [human, diagnostic, internal])
}

/// An execution with its secrets by audience.
async fn execution(store: &Store, seed: u64, path: u8) -> (Vec<Id>, [Vec<String>; 3]) {
    let of = |place| secret(seed, place);
    let person = Person::new(&of("person")).unwrap();
    let actors = Actors::issue(&of("worker")).unwrap();
    let tool = ToolSpec::irreversible("email", "send").unwrap();
    let arguments = json!({ "to": of("argument") }).to_string();
    let contract = Contract::tool_call(&tool, &arguments, &actors.reasoning_node).unwrap();
    let contract =
        contract.about(&of("subject")).session(of("session")).note(of("note_name"), of("note"));
    let (mut gate, mut planned) = contract.ask::<Action>(None, &actors.ecs_node).unwrap();
    store.ask(&mut gate, &mut planned).await.unwrap();
    let (gate_id, id) = (gate.id(), planned.id());
    let mut human = vec![of("subject"), of("session")];
    let mut diagnostic = vec![of("worker")];
    let internal = vec![of("argument"), of("note"), of("note_name")];
    let answer = match path {
        2 => Some(("receipt", done(&of("receipt")))),
        3 => Some(("refusal", refused(&of("refusal")))),
        4 => Some(("person", unknown(&of("unclear")))),
        _ => None,
    };
    if let Some((shown, answer)) = answer {
        approve(store, gate, &person).await.unwrap();
        drop(store.perform(planned, answers(answer), &actors.tool_node).await.unwrap());
        human.extend([of("person"), of(shown)]);
    } else if path == 1 {
        store.decline(gate, &of("reason"), &person).await.unwrap();
        human.extend([of("person"), of("reason")]);
    }
    let execution = load(store, id).await;
    diagnostic.push(execution.context().idempotency_key().unwrap().to_string());
    (vec![gate_id, id], [human, diagnostic, internal])
}

fn check(people: &Shown, developers: &Shown, program: &Shown, secrets: &[Vec<String>; 3]) {
    let [human, diagnostic, internal] = secrets;
    for secret in human {
        assert!(people.has(secret) && developers.has(secret) && program.has(secret), "{secret}");
    }
    for secret in diagnostic {
        assert!(!people.has(secret), "people see {secret}: {}", people.around(secret));
        assert!(developers.has(secret) && program.has(secret), "{secret}");
    }
    for secret in internal {
        assert!(!people.has(secret), "people see {secret}: {}", people.around(secret));
        assert!(!developers.has(secret), "developers see {secret}: {}", developers.around(secret));
        assert!(program.has(secret), "{secret} was lost");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn marked_fields_are_shown_only_to_their_audience(seed: u64, path in 0..5_u8) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let store = Store::memory();
            let (shop, of_shop) = shop(&store, seed, path).await;
            let (mut ids, of_execution) = execution(&store, seed.wrapping_add(1), path).await;
            ids.push(shop);
            let session = secret(seed.wrapping_add(1), "session");
            let people = Shown::of::<Human>(&store, &ids, &session, false).await;
            let developers = Shown::of::<Diagnostic>(&store, &ids, &session, false).await;
            let program = Shown::of::<Internal>(&store, &ids, &session, false).await;
            check(&people, &developers, &program, &of_shop);
            check(&people, &developers, &program, &of_execution);
            for kind in ["packer_kind", "tool_node", "graph_runner", "ecs_node", "reasoning\""] {
                assert!(!people.has(kind), "people see the kind {kind}: {}", people.around(kind));
            }
            // The trace is for diagnosis.
            let execution = load(&store, ids[1]).await;
            let history = store.history(ids[1]).await.unwrap();
            let mut trace = Shown::default();
            trace.add(&ExecutionTrace::of(&[(execution.context(), history)], 50));
            for secret in &of_execution[2] {
                assert!(!trace.has(secret), "the trace has {secret}");
            }
        });
    }
}
