//! People see until when they can answer, and not the exact limit (EX-13).

use proptest::prelude::*;

use crate::view::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    /// The time for people is never later than the limit, at most a minute earlier, and the same
    /// whatever the limit is within that minute.
    #[test]
    fn people_do_not_see_the_exact_limit(limit_ms in 1_000..10_000_000_u64) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let store = Store::memory();
            let limit = Some(Duration::from_millis(limit_ms));
            let (mut gate, mut planned) = mail("bob").ask::<Action>(limit, ecs_node()).unwrap();
            store.ask(&mut gate, &mut planned).await.unwrap();
            let observer = Observer::new(&store);
            let exact: View<ExecutionSnapshot<Diagnostic>> = observer.execution(gate.id()).await.unwrap();
            let exact = exact.answer_by.unwrap();
            assert_eq!(Some(exact), gate.expires_at());
            let people: View<ExecutionSnapshot<Human>> = observer.execution(gate.id()).await.unwrap();
            let step = if exact - people.entered_at < 120_000 { 1000 } else { 60_000 };
            assert_eq!(people.answer_by, Some(exact - exact % step));
            let machine: View<Snapshot<Human>> = observer.snapshot(gate.id()).await.unwrap();
            assert_eq!(machine.due_at, people.answer_by);
            let list = observer.list::<Human>(&Query::new()).await.unwrap();
            let mut lines = list.items.into_iter().flatten();
            assert_eq!(lines.find(|line| line.id == gate.id()).unwrap().due_at, people.answer_by);
        });
    }
}
