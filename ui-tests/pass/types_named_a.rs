//! An actor or a state can be named `A`, typed and erased.

use machine::actor::{Actor, Actors, Category, ToolNode};
use machine::machine;

struct A;

impl Actor for A {
    const KIND: &'static str = "a";
    const CATEGORY: Category = Category::Human;
}

#[machine]
#[derive(Debug)]
enum Job {
    #[initial]
    #[on(allow => B, by = A)]
    Asked,

    #[terminal]
    B,
}

#[machine]
enum Step {
    #[initial]
    #[on(go => A, by = ToolNode)]
    S,

    #[on(stop => Done, by = ToolNode)]
    A,

    #[terminal]
    Done,
}

#[test]
fn runs() {
    let actors = Actors::issue("shop").unwrap();
    let _allowed: Job<job::B> = Job::new().allow(&A);
    let _done: Step<step::Done> = Step::new().go(&actors.tool_node).stop(&actors.tool_node);

    let refused =
        AnyJob::from(Job::new()).apply(job::Event::Allow, &actors.reasoning_node).unwrap_err();
    assert_eq!(refused.to_string(), "`reasoning` may not `allow` from ASKED; these may: a");
    let allowed = refused.machine.apply(job::Event::Allow, &A).unwrap();
    assert_eq!(allowed.status(), job::Status::B);
}
