//! The warning of child machines that the move of a handler asks to cancel.

use machine::{
    actor::{Actors, GraphRunner, Human},
    machine,
    worker::{Handled, Handler, Next, Task, Worker},
};
use serde::{Deserialize, Serialize};

use crate::{
    capture::captured,
    errand::{AnyErrand, Does, Errand},
    world::World,
};

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Detour {
    #[initial]
    #[on(part => Away, by = GraphRunner, detach)]
    Out,
    #[stable]
    #[on(close => Closed, by = Human)]
    Away,
    #[terminal]
    Closed,
}

struct Parts;

impl Handler for Parts {
    type Machine = AnyDetour;

    async fn handle(&self, detour: AnyDetour, task: &mut Task) -> Handled<AnyDetour> {
        let AnyDetour::Out(out) = detour else { return Ok(Next::Wait) };
        Ok(Next::to(out.part(&task.actors().graph_runner)))
    }
}

/// A program that moves the machine itself may mean it.
#[test]
fn only_the_move_of_a_handler_is_warned_of() {
    for by_handler in [true, false] {
        let ((), reports) = captured(async {
            let world = World::new("visits").await;
            let (id, mut child) = (world.errand().await, Errand::new(world.text("note")));
            world.store.batch().create_child(id, &mut child).write().await.unwrap();
            if by_handler {
                world.worker(Does::Opens).run_until_idle().await.unwrap();
            } else {
                let AnyErrand::Placed(placed) = world.store.load(id).await.unwrap() else {
                    panic!("it is open")
                };
                let mut open = placed.open(&world.actors.graph_runner);
                world.store.commit(&mut open).await.unwrap();
            }
            assert_eq!(world.store.inbox(child.id()).await.unwrap().len(), 1);
        });
        let mut warnings = reports.iter().filter(|it| it.name == "machine.visit.cancelled");
        let told = warnings.next().map(|it| {
            ["machine.trigger", "machine.visit.children", "machine.visit.option"]
                .map(|field| it.get(field))
        });
        assert_eq!(told, by_handler.then_some(["open", "1", "detach"]));
        assert!(warnings.next().is_none());
    }
}

#[test]
fn a_move_that_detaches_is_not_warned_of() {
    let ((), reports) = captured(async {
        let world = World::new("detour").await;
        let (mut detour, mut child) = (Detour::new(), Errand::new(world.text("note")));
        world.store.create(&mut detour).await.unwrap();
        world.store.batch().create_child(detour.id(), &mut child).write().await.unwrap();
        let worker = Worker::new(&world.store, Actors::issue(&world.text("worker")).unwrap());
        worker.handler(Parts).run_until_idle().await.unwrap();
        let detour: AnyDetour = world.store.load(detour.id()).await.unwrap();
        assert!(matches!(detour, AnyDetour::Away(_)), "{detour:?}");
        assert_eq!(world.store.inbox(child.id()).await.unwrap().len(), 0);
    });
    assert!(reports.iter().all(|it| it.name != "machine.visit.cancelled"));
}
