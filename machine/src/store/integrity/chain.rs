use std::collections::BTreeSet;

use crate::{
    id::Id,
    journal::Digest,
    store::{
        backend::Sequenced, error::LoadError, handle::Store, integrity::verify::VerifyReport,
        upkeep::pruning::Link,
    },
};

/// The number of links read at once.
const PAGE: usize = 1000;

impl Store {
    /// Verifies the chain over the whole journal: every line, and the remains of pruned ones.
    /// Returns the numbers of pruned lines that opened attempts.
    pub(super) async fn verify_chain(
        &self,
        report: &mut VerifyReport,
    ) -> Result<BTreeSet<u64>, LoadError> {
        let mut chain = Digest::ZERO;
        let mut digests: Vec<Digest> = Vec::new();
        let (mut opened, mut missing) = (BTreeSet::new(), BTreeSet::new());
        let mut after = 0;
        loop {
            let links = self.inner.backend.links(after, PAGE).await?;
            let Some(last) = links.last() else { break };
            after = last.seq();
            for link in links {
                let (seq, id) = (link.seq(), id_of(&link));
                let stored = match link {
                    Link::Line(found) => {
                        digests.extend(entry(&found, &mut missing, report));
                        found.chain
                    }
                    Link::Pruned(_, Ok(line)) => {
                        report.pruned += 1;
                        opened.extend(line.opened.then_some(seq));
                        digests.push(line.digest);
                        line.chain
                    }
                    Link::Pruned(_, Err(broken)) => {
                        report.add(broken.id, broken.reason);
                        None
                    }
                };
                let Some(stored) = stored else { continue };
                let mut parts: Vec<&[u8]> = vec![chain.bytes()];
                parts.extend(digests.iter().map(|digest| digest.bytes().as_slice()));
                if stored != self.inner.key.digest(&parts) {
                    report.add(id, format!("the journal was changed before entry {seq}"));
                }
                // Each break is reported once.
                chain = stored;
                digests.clear();
            }
        }
        if !digests.is_empty() {
            report.add(None, "the journal ends in the middle of a commit");
        }
        Ok(opened)
    }
}

/// Counts a line; returns its digest. A machine of which only the journal is left is reported once;
/// it is in `missing` then.
fn entry(
    found: &Sequenced,
    missing: &mut BTreeSet<String>,
    report: &mut VerifyReport,
) -> Option<Digest> {
    report.entries += 1;
    match &found.line {
        Ok(line) => {
            if found.id.is_none() {
                report.add(None, format!("entry {} belongs to no machine", found.seq));
            }
            Some(line.digest)
        }
        Err(broken) => {
            if broken.id.is_some() || missing.insert(broken.reason.clone()) {
                report.add(broken.id, broken.reason.clone());
            }
            None
        }
    }
}

fn id_of(link: &Link) -> Option<Id> {
    match link {
        Link::Line(line) => line.id,
        Link::Pruned(..) => None,
    }
}
