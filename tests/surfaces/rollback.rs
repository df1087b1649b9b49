//! Messages of people while programs with different moves have used the file.

use machine::stored::Durable;

use super::{Place, end};

mod older {
    use machine::{actor::Human, machine};
    use serde::{Deserialize, Serialize};

    #[machine(durable)]
    #[derive(Debug, Serialize, Deserialize)]
    pub(crate) enum Job {
        #[initial]
        #[stable]
        #[on(answer(text) => Done, by = Human)]
        #[on(give_up => Stopped, by = Human)]
        Asking,
        #[terminal]
        Done { text: String },
        #[terminal]
        Stopped,
    }
}

/// Without `give_up`, and with `skip`.
mod newer {
    use machine::{actor::Human, machine};
    use serde::{Deserialize, Serialize};

    #[machine(durable)]
    #[derive(Debug, Serialize, Deserialize)]
    pub(crate) enum Job {
        #[initial]
        #[stable]
        #[on(answer(text, note) => Done, by = Human)]
        #[on(skip => Skipped, by = Human)]
        Asking,
        #[terminal]
        Done { text: String, note: Option<String> },
        #[terminal]
        Skipped,
    }
}

/// A stored machine: the end of its id.
async fn stored(place: &Place, mut job: impl Durable) -> String {
    place.store.create(&mut job).await.unwrap();
    end(job.journal().id())
}

/// A newer program that ran for a while takes no move from anybody, and one that begins to run
/// brings its own.
#[tokio::test]
async fn people_have_the_moves_of_the_machine_and_of_the_newest_program() {
    let place = Place::new().await;
    let mut old = Vec::new();
    for _ in 0..4 {
        old.push(stored(&place, older::Job::new()).await);
    }
    let new = stored(&place, newer::Job::new()).await;
    let send = |id: &str, trigger: &str, payload: &str| {
        place.run(&["send", id, trigger, "--as", "ann", "--payload", payload])
    };

    assert!(place.run(&["show", &old[0]]).done().contains(" give_up --as NAME"));
    send(&old[0], "give_up", "{}").done();
    send(&old[1], "skip", "{}").done();
    send(&old[2], "answer", r#"{"text": "8080"}"#).done();
    send(&old[3], "answer", r#"{"text": "8080", "note": "tcp"}"#).done();
    send(&new, "give_up", "{}")
        .failed(1, "no state of `job` accepts `give_up`; now a person can send");
    send(&new, "answer", r#"{"port": 8080}"#).failed(1, "`answer` needs `text`");
}
