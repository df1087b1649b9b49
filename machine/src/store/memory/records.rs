use super::Tables;
use crate::store::backend::{Record, Records};

impl Tables {
    pub(super) fn write_record(&mut self, record: &Record) {
        let key = (record.kind.clone(), record.id);
        let new = self.records.len();
        let place = *self.record_places.entry(key).or_insert(new);
        match self.records.get_mut(place) {
            Some(known) => known.clone_from(record),
            None => self.records.push(record.clone()),
        }
    }

    pub(super) fn records(&self, which: &Records) -> Vec<Record> {
        match which {
            Records::Of(ids) => {
                let places =
                    ids.iter().map(|(kind, id)| self.record_places.get(&((*kind).to_owned(), *id)));
                places.filter_map(|place| self.records.get(*place?).cloned()).collect()
            }
            Records::Listed { kind, list, skip, limit } => {
                let is_listed = |it: &&Record| it.kind == *kind && it.list.as_ref() == Some(list);
                self.records.iter().filter(is_listed).skip(*skip).take(*limit).cloned().collect()
            }
            #[cfg(test)]
            Records::All => self.records.clone(),
            Records::Broken => Vec::new(),
        }
    }
}
