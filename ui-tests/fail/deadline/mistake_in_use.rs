// M0104: a program can use the deadlines, the choice and the upgrade as if the mistake were fixed.

use std::time::Duration;

use machine::actor::{Actors, GraphRunner};
use machine::machine;
use machine::stored::Unverified;
use question::{AfterTimeout, Status};
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize)]
struct Old {
    text: String,
}

fn upgrade(old: Old) -> Result<question::Answered, String> {
    Ok(question::Answered { text: Some(old.text) })
}

fn patient<S>(_: &S) -> Result<(), String> {
    Ok(())
}

#[machine(durable, version = 2, on(expire => Expird, from = Open, by = GraphRunner, after = limit))]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Question {
    #[initial]
    #[group(Open)]
    #[on(answer(text) => Answered, was = "reply")]
    #[on(
        timeout => if asked < 3 { Asked(asked = asked + 1) } else { Cancelled },
        by = GraphRunner,
        guard = patient -> String,
        after = limit,
    )]
    Asked { asked: u32, limit: Duration },

    #[terminal]
    #[upgrade(1 => upgrade)]
    Answered {
        #[was = "answer"]
        text: Option<String>,
    },

    #[terminal]
    Cancelled,

    #[terminal]
    Expired,
}

fn main() {
    let actors = Actors::issue("inbox").unwrap();
    let asked = Question::new(0, Duration::from_secs(30));
    for deadline in asked.deadlines() {
        assert_eq!(deadline.trigger, "timeout");
    }
    let asked = match asked.timeout(&actors.graph_runner) {
        Ok(AfterTimeout::Asked(asked)) => asked,
        Ok(AfterTimeout::Cancelled(_cancelled)) => return,
        Err(refused) => refused.machine,
    };
    let any = AnyQuestion::from(asked);
    assert_eq!(any.deadlines().count(), 2);
    let any = match any.fire_deadline("timeout", 7) {
        Ok(any) => any,
        Err(refused) => refused.machine,
    };
    assert_eq!(any.status(), Status::Asked);
    let _claim: Result<AnyQuestion, _> = Unverified::of(&any).unwrap().verify();
    let _old = upgrade(Old { text: String::new() });
}
