use crate::{
    definition::Definition,
    store::read::observe::Observed,
    view::{marks::Marks, subject::Subject},
};

impl Observed {
    /// `own` are definitions of the program, whose marks count, too.
    pub(crate) fn subject<'a>(&'a self, own: &[&'a Definition]) -> Subject<'a> {
        let own = own.iter().copied().find(|own| own.name == self.definition.name);
        Subject {
            id: self.row.id,
            definition: &self.definition,
            marks: Marks::of(&self.newest).and(own),
            state: self.state,
            data: self.data.clone(),
            context: self.context.clone(),
            summary: self.summary.clone(),
            session: self.row.session.clone(),
            epoch: self.row.epoch,
            version: self.row.version,
        }
    }
}
