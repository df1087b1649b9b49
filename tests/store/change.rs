//! Definitions that change while machines are stored: what opens, what is refused, and the errors.

mod programs;

use machine::{
    Id,
    actor::Anyone,
    definition::Definition,
    journal::Fact,
    store::{LoadError, OpenError, OpenOptions},
    stored::{History, Restore, VerifyError},
};
use machine_tests::assert_err;

use self::programs::{additions, first, removals, renames, upgraded};
use crate::store::support::{Place, content, on_file};

on_file! {
    an_added_move_state_and_optional_field_open,
    an_older_program_continues_where_it_can,
    everything_can_be_renamed,
    a_removed_move_stays_legal_history,
    a_changed_type_is_upgraded_from_version_to_version,
    a_machine_in_json_explains_itself,
}

/// Stores an order of the first version that was lost, found and packed.
async fn packed(place: &Place, boxes: u32) -> Id {
    let lost = first::Order::new("Ann".to_owned()).lose("in the van".to_owned());
    place.created(lost.find().pack(boxes, &first::Clerk)).await.id()
}

async fn lost(place: &Place) -> Id {
    place.created(first::Order::new("Bob".to_owned()).lose("somewhere".to_owned())).await.id()
}

async fn load<M: Restore>(place: &Place, id: Id) -> Result<M, LoadError> {
    // A new store, like another program: it has no cached definitions.
    place.open_again().await.load(id).await
}

async fn an_added_move_state_and_optional_field_open(place: Place) {
    let id = packed(&place, 2).await;
    let loaded: additions::AnyOrder = load(&place, id).await.unwrap();
    let additions::AnyOrder::Packed(packed) = loaded else { panic!("{loaded:?}") };
    assert_eq!((packed.state().weight, packed.state().fragile), (None, false));

    // It continues under the new definition, and each journal entry has its own definition.
    let _ = place.committed(packed.cancel()).await;
    let again: additions::AnyOrder = load(&place, id).await.unwrap();
    assert_eq!(again.journal().version(), 5);
    let entries = place.entries(id).await;
    let written: Vec<_> = entries.iter().map(|entry| entry.definition).collect();
    let (old, new) =
        (first::order::DEFINITION.fingerprint, additions::order::DEFINITION.fingerprint);
    assert_eq!(written, [old, old, old, old, new]);

    // The older program finds a state that it does not have.
    let refused = load::<first::AnyOrder>(&place, id).await;
    assert_err!(refused, LoadError::Unreadable(VerifyError::Incompatible { state, .. })
        if state == "cancelled");
}

/// Old and new programs can take turns while the machine is in a state that both have.
async fn an_older_program_continues_where_it_can(place: Place) {
    let id = packed(&place, 2).await;
    for _ in 0..3 {
        let new: additions::AnyOrder = load(&place, id).await.unwrap();
        let additions::AnyOrder::Packed(packed) = new else { panic!("{new:?}") };
        let _ = place.committed(packed.unpack()).await;
        let old: first::AnyOrder = load(&place, id).await.unwrap();
        let first::AnyOrder::Placed(placed) = old else { panic!("{old:?}") };
        let _ = place.committed(placed.pack(1, &first::Clerk)).await;
    }
    let any: first::AnyOrder = load(&place, id).await.unwrap();
    assert_eq!(any.journal().version(), 4 + 6);
    place.store.verify::<first::AnyOrder>(id).await.unwrap();
    place.store.verify::<additions::AnyOrder>(id).await.unwrap();
}

async fn everything_can_be_renamed(place: Place) {
    let id = packed(&place, 2).await;
    let loaded: renames::AnyOrder = load(&place, id).await.unwrap();
    let renames::AnyOrder::Wrapped(wrapped) = loaded else { panic!("{loaded:?}") };
    assert_eq!((wrapped.state().buyer.as_str(), wrapped.state().parcels), ("Ann", 2));
    let _ = place.committed(wrapped.unpack().wrap(3, &renames::Packer)).await;
    let again: renames::AnyOrder = load(&place, id).await.unwrap();
    assert_eq!(again.journal().version(), 6);
    place.store.verify::<renames::AnyOrder>(id).await.unwrap();

    // An event written under the old names is read under the new ones.
    let event = r#"{"trigger": "lose", "note": "in the van"}"#;
    let renames::order::Event::Lose { remark } = serde_json::from_str(event).unwrap() else {
        panic!("{event}")
    };
    assert_eq!(remark, "in the van");
}

/// Lost and found: the moves and the state of this history were removed, and it stays legal.
async fn a_removed_move_stays_legal_history(place: Place) {
    let id = packed(&place, 2).await;
    let loaded: removals::AnyOrder = load(&place, id).await.unwrap();
    let removals::AnyOrder::Packed(packed) = loaded else { panic!("{loaded:?}") };
    let _ = place.committed(packed.ship()).await;
    place.store.verify::<removals::AnyOrder>(id).await.unwrap();

    // The same history is not legal under the new definition alone.
    let mut claim = place.store.export(id).await.unwrap();
    for entry in &mut claim.journal {
        entry.definition = removals::order::DEFINITION.fingerprint;
    }
    let refused = machine_tests::forge::cross::<removals::AnyOrder>(claim);
    assert_err!(refused, VerifyError::History { reason, .. } if reason.contains("not a legal move"));
}

#[tokio::test]
async fn a_removed_state_is_refused_with_the_machines_in_it() {
    let place = Place::new().await;
    let (fine, stuck) = (packed(&place, 2).await, lost(&place).await);
    let before = place.dump();
    let refused = load::<removals::AnyOrder>(&place, stuck).await.unwrap_err().to_string();
    assert!(
        refused.contains("state `lost` was removed: keep it until no machine is in it"),
        "{refused}"
    );

    let refused = OpenOptions::new().machine::<removals::AnyOrder>().sqlite(place.file()).await;
    let Err(OpenError::Incompatible { check, .. }) = &refused else { panic!("{refused:?}") };
    let [of_order] = check.machines.as_slice() else { panic!("{check:?}") };
    let [blocked] = of_order.blocked.as_slice() else { panic!("{check:?}") };
    assert_eq!((blocked.id, blocked.state.as_str()), (stuck, "lost"));
    let text = refused.unwrap_err().to_string();
    assert!(text.contains(&stuck.to_string()) && !text.contains(&fine.to_string()), "{text}");
    assert_eq!(place.dump(), before, "a refusal changes nothing");

    // Once no machine is in `lost`, the same program opens the file.
    let any: first::AnyOrder = load(&place, stuck).await.unwrap();
    let _ = place.committed(any.apply(first::order::Event::Find, &Anyone).unwrap()).await;
    OpenOptions::new().machine::<removals::AnyOrder>().sqlite(place.file()).await.unwrap();
}

async fn a_changed_type_is_upgraded_from_version_to_version(place: Place) {
    let (id, too_many) = (packed(&place, 2).await, packed(&place, 2000).await);
    let loaded: upgraded::AnyOrder = load(&place, id).await.unwrap();
    let upgraded::AnyOrder::Packed(packed) = &loaded else { panic!("{loaded:?}") };
    assert_eq!((packed.state().boxes, packed.state().weight), (2, 0));

    // Loading does not write: only a commit stores the new format.
    load::<first::AnyOrder>(&place, id).await.unwrap();
    let upgraded::AnyOrder::Packed(packed) = loaded else { panic!() };
    let _ = place.committed(packed.unpack().pack(7, 3, &first::Clerk)).await;
    let again: upgraded::AnyOrder = load(&place, id).await.unwrap();
    let upgraded::AnyOrder::Packed(packed) = again else { panic!("{again:?}") };
    assert_eq!((packed.state().boxes, packed.state().weight), (3, 7));

    // An error of the upgrade function affects only that machine.
    let refused = load::<upgraded::AnyOrder>(&place, too_many).await;
    assert_err!(refused, LoadError::Unreadable(VerifyError::Data { source, .. })
        if source.to_string() == "2000 boxes are too many");
}

/// A check runs the upgrades, names the machines that would fail, and writes nothing.
#[tokio::test]
async fn a_rehearsal_changes_nothing() {
    let place = Place::new().await;
    let (fine, too_many) = (packed(&place, 2).await, packed(&place, 2000).await);
    let stuck = lost(&place).await;
    let file = place.file();
    place.store.close().await.unwrap();
    let before = content(place.folder());

    let check = OpenOptions::new().machine::<upgraded::AnyOrder>().check(&file).await.unwrap();
    let [of_order] = check.machines.as_slice() else { panic!("{check:?}") };
    assert_eq!(of_order.checked, 3);
    let blocked: Vec<_> = of_order.blocked.iter().map(|blocked| blocked.id).collect();
    assert_eq!(blocked, [too_many], "{check}");

    let check = OpenOptions::new().machine::<removals::AnyOrder>().check(&file).await.unwrap();
    let blocked: Vec<_> = check.machines[0].blocked.iter().map(|blocked| blocked.id).collect();
    assert_eq!(blocked, [stuck], "{check}");
    let text = check.to_string();
    assert!(text.contains("ok: move PLACED -lose-> LOST was removed"), "{text}");
    assert!(text.contains("incompatible: state `lost` was removed"), "{text}");
    assert!(!text.contains(&fine.to_string()), "{text}");

    let check = OpenOptions::new().machine::<first::AnyOrder>().check(&file).await.unwrap();
    assert!(check.is_clean(), "{check}");
    assert!(content(place.folder()) == before, "a rehearsal changed the file or its folder");
}

/// An edited definition in the file is not used; the machines that need it fail to load.
#[tokio::test]
async fn an_edited_definition_is_not_used() {
    for edit in [
        "UPDATE definition SET body = replace(body, '\"find\"', '\"ship\"')",
        "UPDATE definition SET body = replace(body, '\"from\":0', '\"from\":99')",
        "UPDATE definition SET body = 'no json'",
        // Edits of parts that the fingerprint leaves out.
        "UPDATE definition SET body = replace(body, '\"label\":\"LOST\"', '\"label\":\"SHIPPED\"')",
    ] {
        let place = Place::new().await;
        let id = packed(&place, 2).await;
        assert_eq!(place.edit(edit, id), 1, "{edit}");
        let refused = load::<additions::AnyOrder>(&place, id).await;
        assert_err!(
            refused,
            LoadError::Unreadable(VerifyError::UnknownDefinition { machine: "order", .. })
        );
        let observer = OpenOptions::new().read_only(place.file()).await.unwrap();
        let refused = observer.load::<additions::AnyOrder>(id).await;
        assert_err!(refused, LoadError::Unreadable(VerifyError::UnknownDefinition { .. }));
        assert!(!observer.verify_all(|_| {}).await.unwrap().is_clean(), "{edit}");
        // The program that wrote the machine does not need the stored definition.
        load::<first::AnyOrder>(&place, id).await.unwrap();
    }
}

/// A row that refers to another definition than the one that it was written under does not match
/// its seal.
#[tokio::test]
async fn another_definition_does_not_match_the_seal() {
    let place = Place::new().await;
    let id = packed(&place, 2).await;
    let other = place.created(additions::Order::new("Eve".to_owned())).await;
    assert_eq!(place.edit("UPDATE instance SET definition = 2 WHERE id = ?1", id), 1);
    let refused = load::<additions::AnyOrder>(&place, id).await;
    assert_err!(refused, LoadError::Unreadable(VerifyError::History { id: of, reason })
        if *of == id && reason.contains("seal"));
    load::<additions::AnyOrder>(&place, other.id()).await.unwrap();
}

/// An exported machine in JSON includes the definitions that it was written under.
async fn a_machine_in_json_explains_itself(place: Place) {
    let id = packed(&place, 2).await;
    let loaded: additions::AnyOrder = load(&place, id).await.unwrap();
    let refused = serde_json::to_string(&loaded).unwrap_err().to_string();
    assert!(refused.contains("`Store::export`"), "{refused}");

    let text = serde_json::to_string(&place.store.export(id).await.unwrap()).unwrap();
    let claim: machine::stored::Unverified = serde_json::from_str(&text).unwrap();
    let again: additions::AnyOrder = claim.verify().unwrap();
    let entries = place.entries(id).await;
    assert_eq!(again.journal().uncommitted(), entries);
    let Fact::Moved { trigger, .. } = &entries[1].fact else { panic!() };
    assert_eq!(trigger, "lose");
    let history = History::of(&again).unwrap();
    assert_eq!(history.definition(&entries[1]), Some(first::order::DEFINITION));
}

/// The file is self-describing: its definitions can be read without the program.
#[tokio::test]
async fn the_file_has_the_definitions() {
    let place = Place::new().await;
    packed(&place, 2).await;
    let body: String = place
        .raw()
        .query_row("SELECT body FROM definition WHERE machine = 'order'", [], |row| row.get(0))
        .unwrap();
    let stored: Definition = serde_json::from_str(&body).unwrap();
    assert_eq!(&stored, first::order::DEFINITION);
}
