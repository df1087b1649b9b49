use super::Tables;
use crate::{
    id::Id,
    store::backend::{Record, Records},
};

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
        let place = |kind: &str, id: Id| self.record_places.get(&(kind.to_owned(), id)).copied();
        match which {
            Records::Of(ids) => {
                let places = ids.iter().map(|(kind, id)| place(kind, *id));
                places.filter_map(|place| self.records.get(place?).cloned()).collect()
            }
            Records::Listed { kind, list, after, limit } => {
                let is_listed = |it: &&Record| it.kind == *kind && it.list.as_ref() == Some(list);
                let before = after.and_then(|id| place(kind, id)).map_or(0, |place| place + 1);
                self.records.iter().skip(before).filter(is_listed).take(*limit).cloned().collect()
            }
            #[cfg(test)]
            Records::All => self.records.clone(),
            Records::Broken => Vec::new(),
        }
    }
}
