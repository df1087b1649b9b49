use std::{
    collections::BTreeMap,
    fs::{File, Permissions},
    io,
    os::unix::fs::{MetadataExt, PermissionsExt, fchown},
};

use rustix::{
    buffer::spare_capacity,
    fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr},
    io::Errno,
};

/// The most bytes of all names, and of a value, in Linux.
const MOST_BYTES: usize = 64 << 10;

/// Modules of the kernel label a new file themselves, with digests or contexts. Only the
/// capabilities are of the person.
const LABELS: &[u8] = b"security.";
const CAPABILITIES: &[u8] = b"security.capability";

/// Gives a new file its permissions, and the owner, the group and the attributes of an old one.
pub fn keep(old: Option<&File>, new: &File, mode: u32) -> io::Result<()> {
    if let Some(old) = old {
        let about = old.metadata()?;
        fchown(new, Some(about.uid()), Some(about.gid()))?;
        let (old, made) = (attributes(old)?, attributes(new)?);
        // Its folder may have given it an access control list that the old one does not have.
        for name in made.keys().filter(|name| !old.contains_key(*name)) {
            fremovexattr(new, name)?;
        }
        for (name, value) in old.iter().filter(|(name, value)| made.get(*name) != Some(*value)) {
            fsetxattr(new, name, value, XattrFlags::empty())?;
        }
    }
    // At the end: the attributes of a file that is read-only cannot be set.
    new.set_permissions(Permissions::from_mode(mode))
}

/// The extended attributes of a file, with its access control list and its capabilities.
fn attributes(file: &File) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, Errno> {
    let mut names: Vec<u8> = Vec::with_capacity(MOST_BYTES);
    match flistxattr(file, spare_capacity(&mut names)) {
        Ok(_) | Err(Errno::OPNOTSUPP) => {}
        Err(error) => return Err(error),
    }
    let names = names.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let names = names.filter(|name| !name.starts_with(LABELS) || *name == CAPABILITIES);
    let attribute = |name: &[u8]| -> Result<_, Errno> {
        let mut value = Vec::with_capacity(MOST_BYTES);
        fgetxattr(file, name, spare_capacity(&mut value))?;
        Ok((name.to_vec(), value))
    };
    names.map(attribute).collect()
}
