use std::collections::HashSet;

use machine::{
    store::Query,
    view::{self, transitions},
};
use pollster::block_on;

use super::{Figures, GOALS, Round, TOO_LATE};
use crate::{office::WRITERS, record::AnyTaskRecord};

impl Round {
    /// Checks the conditions that must hold when all tasks have ended.
    pub(super) fn check(&self, round: u64, figures: &mut Figures) {
        let report = block_on(self.store.verify_all(|_| {})).unwrap();
        assert!(report.is_clean(), "round {round}: {report:?}");
        let set_aside = block_on(self.store.set_aside()).unwrap();
        assert!(set_aside.machines.is_empty(), "round {round}: {set_aside:?}");
        let mut effects = 0;
        for (_, _, file) in WRITERS {
            let text = self.site.file(file);
            let lines: Vec<&str> = text.lines().collect();
            let once: HashSet<&str> = lines.iter().copied().collect();
            assert_eq!(once.len(), lines.len(), "round {round}: {file} has a line twice:\n{text}");
            effects += lines.len();
        }
        let records = Query::new().machine("task_record");
        let records = block_on(self.store.load_all::<AnyTaskRecord>(&records)).unwrap();
        assert_eq!(records.items.len(), GOALS.len());
        self.check_answers(round);
        // The files have exactly the effects that the records report.
        let mut told = 0;
        for record in records.items {
            let record = record.unwrap();
            let (history, ended) = match &record {
                AnyTaskRecord::Open(_) => panic!("round {round}: {record:?}"),
                AnyTaskRecord::Completed(it) => (&it.state().history, &mut figures.completed),
                AnyTaskRecord::Failed(it) => (&it.state().history, &mut figures.failed),
                AnyTaskRecord::Terminated(it) => (&it.state().history, &mut figures.terminated),
            };
            *ended += 1;
            if let AnyTaskRecord::Terminated(it) = &record {
                assert!(!it.state().reason.contains(TOO_LATE), "round {round}: {record:?}");
            }
            let took_place = |line: &&String| line.ends_with(": done") || line.ends_with(": found");
            told += history.iter().filter(took_place).count();
        }
        assert_eq!(told, effects, "round {round}");
        figures.effects += effects;
    }

    /// Each intervention was answered once, by the answer that a person gave to it.
    fn check_answers(&self, round: u64) {
        let mut answered = HashSet::new();
        for engine in block_on(self.store.list(&Query::new().machine("workflow"))).unwrap().items {
            let id = engine.unwrap().id;
            let history = block_on(self.store.history(id)).unwrap();
            for (moves, it) in (0..).zip(transitions::<view::Human>(&history)) {
                if it.from_status == "manual_intervention" {
                    answered.insert((id, moves));
                }
            }
        }
        assert_eq!(answered, self.decided, "round {round}");
    }
}
