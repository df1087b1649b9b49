//! Approved in one process, begun in others, at the same time.

use machine_tests::actors::{ann, ecs_node};

use crate::effects::{
    bank::{Bank, Dedup},
    support::{assert_intact, new_store},
    tool::{Pay, Step, Teller, pay},
    worker::{self, Report},
};
use crate::process::Process;

#[tokio::test]
async fn one_of_several_workers_begins_what_is_approved() {
    let (_folder, file, store) = new_store().await;
    let bank = Bank::open(Dedup::Nothing);
    for round in 0..3 {
        let contract = pay(&format!("bob {round}"));
        let (mut gate, mut planned) = contract.ask::<Pay>(None, ecs_node()).unwrap();
        store.ask(&mut gate, &mut planned).await.unwrap();
        let mut waits = Teller::new(&bank, &[Step::Pay]);
        waits.waits_for_approval = true;
        let mut workers: Vec<Process> =
            (0..3).map(|_| worker::start("pays", &file, planned.id(), waits.clone())).collect();
        for worker in &mut workers {
            assert_eq!(worker.hear::<String>(), "deferred");
        }
        let _ = machine_tests::approve(&store, gate, ann()).await.unwrap();

        let mut completed = 0;
        for mut worker in workers {
            match worker.hear() {
                Report::Completed(_) => completed += 1,
                Report::NotPending => {}
                Report::NotBegun(error) => assert_eq!(error, "Conflict"),
                other => panic!("{other:?}"),
            }
            worker.join();
        }
        assert_eq!((completed, bank.count()), (1, round + 1));
    }
    assert_intact(&store).await;
}
