//! Where a graph is, against the state of the execution (OB-10).

use machine::contract::{
    GraphPosition::{
        self, AtEcsNode, Created, ResumeBegins, ResumeEnds, ToolReturned, ToolWorking,
    },
    execution::Status::{self, Cancelled, Completed, Failed, Pending, Rejected, Running, Waiting},
};

/// The table of OB-10: every other state is a mismatch, which names both.
#[test]
fn every_position_has_its_states() {
    let table: [(GraphPosition, &[Status]); 6] = [
        (Created, &[Pending]),
        (ToolWorking, &[Running]),
        (ToolReturned, &[Completed, Failed]),
        (AtEcsNode, &[Waiting]),
        (ResumeBegins, &[Waiting]),
        (ResumeEnds, &[Completed]),
    ];
    for (position, expected) in table {
        for found in [Pending, Running, Waiting, Completed, Failed, Rejected, Cancelled] {
            let checked = position.check(found);
            assert_eq!(checked.is_ok(), expected.contains(&found), "{position:?} {found:?}");
            if let Err(mismatch) = checked {
                assert_eq!((mismatch.position, mismatch.found), (position, found));
                let label = &*found.definition().label;
                assert!(mismatch.to_string().contains(&format!("is {label} instead of")));
            }
        }
    }
}
