use std::{fs, path::Path};

use crate::{definition::Definition, stored::Restore};

/// Checks that this program can read every machine that a released version of it has stored, so
/// that a release strands no work in flight.
///
/// The file is the definition of the released version, and is committed beside the code.
/// `machine topology claim --definition` prints it for a store of that version, and
/// `serde_json::to_string(claim::DEFINITION)` makes it at the release. A relative path starts in
/// the folder of the package, where cargo runs tests.
///
/// ```no_run
/// # use machine::contract::AnyExecution as AnyClaim;
/// use machine::testing::assert_upgrades;
///
/// assert_upgrades::<AnyClaim>("definitions/claim-1.4.json");
/// ```
///
/// [`Definition::compare`] says which changes pass. It does not see how serde attributes write a
/// field, nor the fields of a context: [`OpenOptions::check`](crate::store::OpenOptions::check)
/// rehearses on a real file.
///
/// # Panics
///
/// If a change is in the way, with the attribute or the function to add for each; and if the file
/// is not a definition.
#[track_caller]
pub fn assert_upgrades<M: Restore>(released: impl AsRef<Path>) {
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
    let comparison = older.compare(M::DEFINITION);
    let in_the_way = comparison.changes.iter().filter(|change| !change.compatible);
    let in_the_way: Vec<String> = in_the_way.map(|change| format!("\n- {change}")).collect();
    assert!(
        in_the_way.is_empty(),
        "`{machine}` does not read everything that {shown} has stored:{}",
        in_the_way.concat()
    );
}
