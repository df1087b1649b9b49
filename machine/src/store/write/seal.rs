use crate::{
    id::Id,
    journal::{Digest, DigestKey},
    store::backend::Row,
};

/// The seal of a row: it covers every column, the context, the newest journal entry and, through
/// it, the whole journal, and which store this is.
pub(crate) fn seal(key: &DigestKey, store: Id, row: &Row, context: &str, head: &Digest) -> Digest {
    // One part of fixed length for all that has one.
    let mut fixed = [0; 142];
    let mut rest = &mut fixed[..];
    let mut put = |bytes: &[u8]| {
        let (these, others) = std::mem::take(&mut rest).split_at_mut(bytes.len());
        these.copy_from_slice(bytes);
        rest = others;
    };
    put(store.bytes());
    put(row.id.bytes());
    put(&row.definition.0.to_le_bytes());
    put(&row.version.to_le_bytes());
    put(&row.epoch.to_le_bytes());
    put(&row.created_at.to_le_bytes());
    put(&row.updated_at.to_le_bytes());
    put(&row.commit_id.to_le_bytes());
    put(&row.due_at.unwrap_or(0).to_le_bytes());
    put(row.behind.as_ref().map_or([0; 16].as_slice(), |id| id.bytes()));
    put(head.bytes());
    put(&[
        u8::from(row.due_at.is_some()),
        u8::from(row.behind.is_some()),
        u8::from(row.session.is_some()),
        u8::from(row.key.is_some()),
        u8::from(row.ended),
        u8::from(row.contradicted),
    ]);
    key.digest(&[
        &fixed,
        row.machine.as_bytes(),
        row.status.as_bytes(),
        row.session.as_deref().unwrap_or_default().as_bytes(),
        row.key.as_deref().unwrap_or_default().as_bytes(),
        row.state.as_bytes(),
        row.summary.as_bytes(),
        context.as_bytes(),
    ])
}
