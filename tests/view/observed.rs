//! `Observer`, `Snapshot`, `Timeline` and `Topology` on a machine of the user's own (OB-5, OB-9).

use machine::{
    actor::Category,
    view::{LegalMove, Topology, TopologyEdge},
};

use crate::view::{
    prelude::*,
    shop::{AnyShop, Packer, Shop, purchase, shop},
};

fn packed() -> Shop<shop::Packed> {
    let (shelf, password) = ("B7".to_owned(), "hunter2".to_owned());
    let (remark, hidden) = ("fragile".to_owned(), "thief".to_owned());
    Shop::new(purchase("spring")).pack(3, shelf, password, remark, hidden, &Packer)
}

/// Exactly what the marks say, of a machine with a context, a group and a deadline.
#[tokio::test]
async fn a_snapshot_has_what_the_marks_say() {
    let place = still().await;
    let store = &place.store;
    let mut machine = packed();
    store.create(&mut machine).await.unwrap();
    let observer = Observer::new(store);
    let snapshot = observer.snapshot::<Human>(machine.id()).await.unwrap();
    let mut json = json!(snapshot);
    let times = ["created_at", "entered_at", "duration_in_state_ms"];
    for name in times {
        assert!(json.as_object_mut().unwrap().remove(name).is_some_and(|time| time.is_i64()));
    }
    let due = machine.journal().summary().deadlines[0].due_at.unwrap();
    let item = |name: &str, ty: &str| json!({ "name": name, "type": ty, "optional": false });
    let cancel = json!({
        "trigger": "cancel", "payload": [item("why", "String"), item("code", "String")], "targets": ["cancelled"],
        "categories": ["human"],
    });
    let ship = json!({
        "trigger": "ship", "payload": [item("carrier", "String"), item("fast", "bool")], "targets": ["flown", "shipped"],
        "categories": ["tool"],
    });
    let expire = json!({
        "trigger": "expire", "payload": [], "targets": ["cancelled"],
        "categories": ["system"],
    });
    assert_eq!(
        json,
        json!({
            "id": machine.id(),
            "machine": "shop",
            "status": "packed",
            "label": "PACKED",
            "session": "spring",
            "is_terminal": false,
            "is_stable": true,
            "is_resumable": true,
            "transition_count": 1,
            "last_trigger": "pack",
            "last_actor_category": "agent",
            // People do not see the exact limit.
            "due_at": due - due % 1000,
            "moves": [ship, cancel, expire],
            "state": { "boxes": 3 },
            "context": { "item": "lamp" },
        })
    );
    let snapshot = observer.snapshot::<Diagnostic>(machine.id()).await.unwrap();
    assert_eq!(json!(snapshot.state), json!({ "boxes": 3, "shelf": "B7" }));
    assert_eq!(json!(snapshot.context), json!({ "item": "lamp", "warehouse": "North" }));
    assert_eq!(snapshot.due_at, Some(due));
    assert_eq!(snapshot.last_actor.as_deref(), Some("packer_kind"));
    assert_eq!((snapshot.epoch, snapshot.version), (machine.journal().epoch(), 2));
    assert_eq!(snapshot.moves[0].actors, ["tool_node"]);
    let snapshot = observer.snapshot::<Internal>(machine.id()).await.unwrap();
    assert_eq!(json!(snapshot.state)["password"], "hunter2");
    assert_eq!(json!(snapshot.context), json!(purchase("spring")));
}

/// A machine in memory has the same views, in every state, before and after it is stored.
#[tokio::test]
async fn a_machine_in_memory_has_the_same_views() {
    let place = still().await;
    let store = &place.store;
    let machines: [AnyShop; 4] = [
        Shop::new(purchase("spring")).into(),
        packed().into(),
        packed().cancel("no".to_owned(), "secret".to_owned(), ann()).into(),
        packed().ship("rail".to_owned(), true, tool_node()).into(),
    ];
    for mut machine in machines {
        let mut never_stored = History::of(&machine).unwrap();
        store.create(&mut machine).await.unwrap();
        let observer = Observer::new(store).language(Language::Chinese);
        let history = store.history(machine.id()).await.unwrap();
        macro_rules! same {
            ($($audience:ty),*) => {$(
                let stored = observer.snapshot::<$audience>(machine.id()).await.unwrap();
                assert_eq!(stored, Snapshot::of(&machine, store.now()).unwrap());
                let stored = observer.timeline::<$audience>(machine.id()).await.unwrap();
                assert_eq!(stored, Timeline::of(&history));
            )*};
        }
        same!(Human, Diagnostic, Internal);
        // Deadlines become absolute with the commit, and only the program sees them there. It
        // sets the times.
        never_stored.entries.iter_mut().for_each(|entry| entry.at = store.now());
        let before = Timeline::<Diagnostic>::of(&never_stored);
        assert_eq!(before, Timeline::of(&history));
        let page = observer.list::<Human>(&Query::new().session("spring")).await.unwrap();
        assert!(page.items.iter().flatten().any(|line| line.id == machine.id()));
    }
}

/// The payload of each transition, under the marks of its fields and its own.
#[tokio::test]
async fn a_timeline_has_what_the_marks_say() {
    let store = Store::memory();
    let mut machine: AnyShop =
        packed().cancel("no money".to_owned(), "E-17".to_owned(), ann()).into();
    store.create(&mut machine).await.unwrap();
    let mut flown: AnyShop = packed().ship("air".to_owned(), true, tool_node()).into();
    store.create(&mut flown).await.unwrap();
    let observer = Observer::new(&store);

    let human = observer.timeline::<Human>(machine.id()).await.unwrap();
    let of: Vec<Value> = human.events.iter().map(|event| json!(event.payload)).collect();
    let expected = json!([{}, { "boxes": 3, "remark": "fragile" }, { "why": "no money" }]);
    assert_eq!(json!(of), expected);
    let categories: Vec<_> = human.events.iter().map(|event| event.actor_category).collect();
    assert_eq!(categories, [Category::System, Category::Agent, Category::Human]);

    let diagnostic = observer.timeline::<Diagnostic>(machine.id()).await.unwrap();
    let of: Vec<Value> = diagnostic.events.iter().map(|event| json!(event.payload)).collect();
    let packed = json!({ "boxes": 3, "remark": "fragile", "shelf": "B7" });
    assert_eq!(json!(of), json!([{}, packed, { "why": "no money" }]));
    assert_eq!(diagnostic.events[2].actor_name.as_deref(), Some("ann"));

    let internal = observer.timeline::<Internal>(machine.id()).await.unwrap();
    assert_eq!(internal.events[2].payload.get("code").unwrap(), "E-17");
    assert_eq!(internal.events[1].fact["moved"]["payload"]["password"], "hunter2");

    // Of a choice, the strictest mark counts.
    let human = observer.timeline::<Human>(flown.id()).await.unwrap();
    assert!(human.events[2].payload.is_empty());
    let diagnostic = observer.timeline::<Diagnostic>(flown.id()).await.unwrap();
    assert_eq!(json!(diagnostic.events[2].payload), json!({ "carrier": "air" }));
}

/// OB-5: nodes, edges, the moves that are missing, and the health check.
#[tokio::test]
async fn the_topology_is_that_of_the_definition() {
    let store = Store::memory();
    let observer = Observer::new(&store);
    assert_eq!(observer.topology("shop").await.unwrap(), None);
    store.create(&mut packed()).await.unwrap();
    let topology = observer.topology("shop").await.unwrap().unwrap();
    assert_eq!(topology, Topology::of(shop::DEFINITION));

    let nodes: Vec<_> = topology.nodes.iter().map(|node| &*node.status).collect();
    assert_eq!(nodes, ["placed", "packed", "shipped", "flown", "cancelled"]);
    assert_eq!(
        (&*topology.initial_status, &*topology.resumable_statuses),
        ("placed", &["packed".to_owned()][..])
    );
    assert_eq!(topology.terminal_statuses, ["shipped", "flown", "cancelled"]);
    let node = |name: &str| topology.nodes.iter().find(|node| node.status == name).unwrap();
    assert!(node("placed").is_initial && !node("placed").is_stable);
    assert!(node("packed").is_resumable && node("packed").is_stable && !node("packed").is_terminal);
    assert!(node("flown").is_terminal && node("flown").is_stable && !node("flown").is_resumable);

    let edges: Vec<_> = topology.edges.iter().map(edge).collect();
    assert_eq!(
        edges,
        [
            "placed pack packed [packer_kind] -",
            "placed cancel cancelled [human] -",
            "placed expire cancelled [graph_runner] -",
            "packed ship flown [tool_node] fast",
            "packed ship shipped [tool_node] else",
            "packed cancel cancelled [human] -",
            "packed expire cancelled [graph_runner] -",
        ]
    );
    let due =
        topology.edges.iter().filter_map(|edge| Some((&*edge.trigger, edge.after.as_deref()?)));
    let limit = "Duration::from_millis(context.limit_ms)";
    assert_eq!(due.collect::<Vec<_>>(), [("expire", limit), ("expire", limit)]);
    assert_eq!(topology.forbidden_transitions.len(), 5 * 5 - 5);
    let forbidden = |from: &str, to: &str| {
        let mut all = topology.forbidden_transitions.iter();
        all.find(|pair| pair.from_status == from && pair.to_status == to).map(|pair| &*pair.reason)
    };
    assert_eq!(forbidden("flown", "placed"), Some("FLOWN is terminal: nothing leaves it"));
    assert_eq!(forbidden("packed", "flown"), None);
    let reason = forbidden("placed", "shipped").unwrap();
    assert!(reason.starts_with("from PLACED you can: pack -> PACKED"), "{reason}");
    assert!(topology.problems.is_empty());
}

fn edge(edge: &TopologyEdge) -> String {
    let (from, trigger, to) = (&edge.from_status, &edge.trigger, &edge.to_status);
    let when = edge.when.as_deref().unwrap_or("-");
    format!("{from} {trigger} {to} [{}] {when}", edge.allowed_actors.join(" "))
}

/// The health check finds what the macro refuses, in a definition that comes from a file.
#[test]
fn the_topology_reports_dead_ends() {
    let mut json = json!(shop::DEFINITION);
    json["edges"].as_array_mut().unwrap().retain(|edge| edge["trigger"] != "pack");
    json["states"][4]["terminal"] = json!(false);
    let topology = Topology::of(&serde_json::from_value(json).unwrap());
    let expected = [
        "no path leads to PACKED",
        "no path leads to SHIPPED",
        "no path leads to FLOWN",
        "CANCELLED is not terminal, and nothing leaves it",
    ];
    assert_eq!(topology.problems, expected);
}

/// The table of executions has 9 moves over 8 pairs, so 41 of the 49 pairs are forbidden (EX-2).
#[test]
fn the_topology_of_executions() {
    let topology = Topology::of(machine::contract::execution::DEFINITION);
    assert_eq!((topology.nodes.len(), topology.edges.len()), (7, 9));
    assert_eq!(topology.forbidden_transitions.len(), 41);
    assert_eq!(topology.terminal_statuses, ["completed", "failed", "rejected", "cancelled"]);
    assert_eq!(
        (&*topology.initial_status, topology.resumable_statuses.clone()),
        ("pending", vec!["waiting".to_owned()])
    );
}

/// The moves of a snapshot are those that are legal in its state.
#[test]
fn a_terminal_state_has_no_moves() {
    let flown: AnyShop = packed().ship("air".to_owned(), true, tool_node()).into();
    let snapshot = Snapshot::<Human>::of(&flown, 0).unwrap();
    assert_eq!(snapshot.moves, Vec::<LegalMove>::new());
    // The clock of the reader is behind: no time has passed.
    assert_eq!(snapshot.duration_in_state_ms, 0);
}
