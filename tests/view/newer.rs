//! The marks of a newer program count for machines that an older one wrote, also under old names.

use crate::view::prelude::*;

/// The older program, which showed everything.
mod older {
    use machine::{definition::Mark, machine, stored::Context};
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub(crate) struct Customer {
        pub(crate) name: String,
        pub(crate) city: String,
    }

    impl Context for Customer {
        type Summary = ();
        const MARKS: &'static [Mark] = &[Mark::human("name"), Mark::human("city")];
    }

    #[machine(durable, context = Customer)]
    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub(crate) enum Letter {
        #[initial]
        #[on(post(address, phone, stamp) => Posted)]
        #[on(lose(#[audience(human)] note: String) => Lost)]
        #[on(burn(ashes) => Burnt)]
        Written,
        #[terminal]
        Posted {
            #[audience(human)]
            address: String,
            #[audience(human)]
            phone: String,
            #[audience(human)]
            stamp: u32,
        },
        #[terminal]
        Lost,
        #[terminal]
        Burnt {
            #[audience(human)]
            ashes: String,
        },
    }
}

/// The newer one: stricter, with other names, without a move.
mod later {
    use machine::{definition::Mark, machine, stored::Context};
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub(crate) struct Customer {
        name: String,
        city: String,
    }

    impl Context for Customer {
        type Summary = ();
        const MARKS: &'static [Mark] = &[Mark::human("city")];
    }

    #[machine(durable, context = Customer)]
    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub(crate) enum Letter {
        #[initial]
        #[on(send(address, contact, stamp) => Sent, was = "post")]
        #[on(lose(#[was = "note"] #[audience(diagnostic)] remark: String) => Lost)]
        #[on(incinerate(ashes) => Burnt)]
        Written,
        #[terminal]
        #[was = "posted"]
        Sent {
            address: String,
            #[was = "phone"]
            #[audience(diagnostic)]
            contact: String,
            #[audience(human)]
            stamp: u32,
        },
        #[terminal]
        Lost,
        #[terminal]
        Burnt { ashes: String },
    }
}

fn customer() -> older::Customer {
    older::Customer { name: "Ann".to_owned(), city: "Oslo".to_owned() }
}

/// An old machine in each of its ends.
fn letters() -> [older::AnyLetter; 3] {
    let written = || older::Letter::new(customer());
    [
        written().post("5 Elm St".to_owned(), "555".to_owned(), 90).into(),
        written().lose("in the rain".to_owned()).into(),
        written().burn("grey".to_owned()).into(),
    ]
}

async fn letters_in(store: &Store) -> [Id; 3] {
    let mut letters = letters();
    for letter in &mut letters {
        store.create(letter).await.unwrap();
    }
    letters.map(|letter| letter.id())
}

/// The data of the state, the payload of the last transition, and the context.
async fn seen<A: Audience>(observer: &Observer, id: Id) -> [Value; 3] {
    let snapshot = observer.snapshot::<A>(id).await.unwrap();
    let timeline = observer.timeline::<A>(id).await.unwrap();
    let last = timeline.events.last().unwrap();
    [json!(snapshot.state), json!(last.payload), json!(snapshot.context)]
}

/// As long as only the old definition is known, its marks count.
#[tokio::test]
async fn old_marks_count_alone() {
    let store = Store::memory();
    let [posted, lost, _] = letters_in(&store).await;
    let observer = Observer::new(&store);
    let all = json!({ "address": "5 Elm St", "phone": "555", "stamp": 90 });
    let context = json!(customer());
    assert_eq!(seen::<Human>(&observer, posted).await, [all.clone(), all, context.clone()]);
    assert_eq!(
        seen::<Human>(&observer, lost).await,
        [json!({}), json!({ "note": "in the rain" }), context]
    );
}

async fn stricter(observer: &Observer, [posted, lost, burnt]: [Id; 3]) {
    let city = json!({ "city": "Oslo" });
    let stamp = json!({ "stamp": 90 });
    let people = seen::<Human>(observer, posted).await;
    assert_eq!(people, [stamp.clone(), stamp, city.clone()]);
    let phone = json!({ "phone": "555", "stamp": 90 });
    let developers = seen::<Diagnostic>(observer, posted).await;
    assert_eq!(developers, [phone.clone(), phone, city.clone()]);
    let all = json!({ "address": "5 Elm St", "phone": "555", "stamp": 90 });
    let program = seen::<Internal>(observer, posted).await;
    assert_eq!(program, [all.clone(), all, json!(customer())]);

    // An item has its own mark, under its old name.
    let none = json!({});
    assert_eq!(seen::<Human>(observer, lost).await, [none.clone(), none.clone(), city.clone()]);
    let developers = seen::<Diagnostic>(observer, lost).await;
    assert_eq!(developers, [none.clone(), json!({ "note": "in the rain" }), city.clone()]);

    // The move no longer exists; the field that it had set has a stricter mark.
    assert_eq!(seen::<Human>(observer, burnt).await, [none.clone(), none, city]);
}

/// Once the newer definition is in the store, its marks count for old machines.
#[tokio::test]
async fn newer_marks_count_for_old_machines() {
    let place = still().await;
    let store = &place.store;
    let ids = letters_in(store).await;
    let new_customer = serde_json::from_value(json!(customer())).unwrap();
    store.create(&mut later::Letter::new(new_customer)).await.unwrap();
    stricter(&Observer::new(store), ids).await;
    // The old program cannot show more by declaring its machine.
    stricter(&Observer::new(store).machine::<older::AnyLetter>(), ids).await;
}

/// A newer program that only reads says what it has; then its marks count without a definition in
/// the store.
#[tokio::test]
async fn a_program_that_only_reads_has_marks() {
    let place = still().await;
    let store = &place.store;
    let ids = letters_in(store).await;
    stricter(&Observer::new(store).machine::<later::AnyLetter>(), ids).await;
    assert_eq!(store.definitions().await.unwrap().len(), 1, "a view writes nothing");
}

/// The views of an old machine that the newer program has loaded are those of the newer program.
#[tokio::test]
async fn a_loaded_machine_has_the_marks_of_its_program() {
    let store = Store::memory();
    let [posted, ..] = letters_in(&store).await;
    let loaded: later::AnyLetter = store.load(posted).await.unwrap();
    let snapshot = Snapshot::<Human>::of(&loaded, 0).unwrap();
    assert_eq!((json!(snapshot.state), &*snapshot.status), (json!({ "stamp": 90 }), "sent"));
    let snapshot = Snapshot::<Diagnostic>::of(&loaded, 0).unwrap();
    assert_eq!(json!(snapshot.state), json!({ "contact": "555", "stamp": 90 }));
}
