use std::{fs, path::Path};

use crate::{definition::Definition, stored::Restore};

/// Checks that a release strands no work in flight: that this program can read every machine that a
/// released version of it has stored, and that it takes the messages that are queued, the deadlines
/// that are running, and the outcomes of calls that have begun.
///
/// The file is the definition of the released version, and is committed beside the code: one for
/// each version whose machines a store still has.
/// `machine topology claim --definition` prints it for a store of that version, and
/// `serde_json::to_string(claim::DEFINITION)` makes it at the release. A relative path starts in
/// the folder of the package, where cargo runs tests.
///
/// ```no_run
/// # use machine::contract::AnyExecution as AnyClaim;
/// use machine::testing::assert_upgrades;
///
/// assert_upgrades::<AnyClaim>("definitions/claim-1.4.json", &[]);
/// ```
///
/// [`Definition::compare`] says which changes pass. Changes that strand work pass, too, if they are
/// meant: because nothing waits for it in any store, or because a person deals with what does. They
/// are listed as the assertion words them. A definition does not say which moves only the handler
/// of a machine makes: every actor can send messages. So another payload of such a move is
/// reported, and belongs in the list.
///
/// ```no_run
/// # use machine::contract::AnyExecution as AnyClaim;
/// # use machine::testing::assert_upgrades;
/// assert_upgrades::<AnyClaim>(
///     "definitions/claim-1.4.json",
///     &["move FILED -reopen-> DRAFT was removed; it stays legal where it was made"],
/// );
/// ```
///
/// A definition has the names of types, and not what is inside of them. So these are not compared:
///
/// - how serde attributes write a field, the members of a context, and those of any other type:
///   [`Worker::check`] reads the oldest and the newest machines of a store, and
///   [`OpenOptions::check`] all of a file;
/// - the arguments and the identity of a tool: [`Worker::check`] reads the calls that have not
///   ended, and finds tools that make other keys;
/// - receipts and refusals, and what is inside of the items of messages: they are read when a
///   machine takes them, so keep their older forms readable, as with `#[serde(default)]`;
/// - what a guard refuses, and what a handler does.
///
/// Two changes pass, because machines go on. Where a move leads elsewhere, a machine may end before
/// it is in the state that takes a message which was sent early: the message is set aside. And an
/// approval that is new is asked for with the next call: one that has not begun begins without it.
///
/// [`Worker::check`]: crate::worker::Worker::check
/// [`OpenOptions::check`]: crate::store::OpenOptions::check
///
/// # Panics
///
/// If a change is in the way, with the attribute or the function to add for each; if a listed
/// change strands nothing or was not made; and if the file is not a definition. Machines that
/// cannot be read are never meant.
#[track_caller]
pub fn assert_upgrades<M: Restore>(released: impl AsRef<Path>, meant: &[&str]) {
    let file = released.as_ref();
    let (machine, shown) = (&M::DEFINITION.name, file.display());
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => panic!(
            "{shown} cannot be read: {error}; write the definition of a released version into it, with `machine \
             topology {machine} --definition`"
        ),
    };
    let older: Definition = match serde_json::from_str(&text) {
        Ok(older) => older,
        Err(error) => panic!(
            "{shown} is not the definition of a machine: {error}; write it with `machine topology {machine} \
             --definition`"
        ),
    };
    let changes = older.compare(M::DEFINITION).differences;
    let unread = changes.iter().filter(|change| !change.compatible);
    let mut in_the_way: Vec<String> = unread.map(|change| format!("\n- {change}")).collect();
    let stranding = changes.iter().filter_map(|it| Some((it.to_string(), it.strands.as_ref()?)));
    let (listed, unlisted): (Vec<_>, Vec<_>) =
        stranding.partition(|(change, _)| meant.contains(&change.as_str()));
    in_the_way.extend(unlisted.iter().map(|(change, why)| format!("\n- {change}\n  {why}")));
    let is_idle = |text: &&&str| listed.iter().all(|(change, _)| change != **text);
    let idle = meant.iter().filter(is_idle);
    in_the_way.extend(idle.map(|text| format!("\n- listed, but strands nothing: {text}")));
    let advice = "\nif a change is meant, list its first line in `assert_upgrades`";
    assert!(
        in_the_way.is_empty(),
        "`{machine}` strands work of {shown}:{}{}",
        in_the_way.concat(),
        if unlisted.is_empty() { "" } else { advice }
    );
}
