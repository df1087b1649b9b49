//! A loop with rounds: a model writes, a person sends the draft back with a remark, and the last
//! remark ends it. Each entry into WRITING is a new call, with all remarks so far.

use machine::prelude::*;
use serde::{Deserialize, Serialize};

/// The number of drafts.
const ROUNDS: usize = 3;

#[machine(durable)]
#[derive(Debug, Serialize, Deserialize)]
enum Review {
    #[initial]
    #[invoke(draft: Write = Write { topic, remarks }, done = written, failed = unwritten)]
    #[on(written(text) => Reading)]
    #[on(unwritten(why) => Failed)]
    Writing { topic: String, remarks: Vec<String> },
    /// Only a person leaves it, so it is a question: an answer is for the draft that the person has
    /// read.
    #[on(accept => Accepted, by = Human)]
    #[on(send_back(remark: String) => if remarks.len() + 1 < ROUNDS {
        Writing(remarks = and(remarks, remark))
    } else {
        Rejected(remarks = and(remarks, remark))
    }, by = Human)]
    Reading {
        topic: String,
        remarks: Vec<String>,
        #[audience(human)]
        text: String,
    },
    #[terminal]
    Accepted {
        #[audience(human)]
        text: String,
    },
    #[terminal]
    Rejected { remarks: Vec<String> },
    #[terminal]
    Failed {
        #[audience(human)]
        why: CallError,
    },
}

fn and(mut remarks: Vec<String>, remark: String) -> Vec<String> {
    remarks.push(remark);
    remarks
}

/// Can be repeated: a draft that is lost is written again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Tool)]
#[tool(model.write, idempotent)]
struct Write {
    topic: String,
    remarks: Vec<String>,
}

#[cfg(test)]
mod tests {
    use machine::testing::{Reply, TestEnvironment, TestTool};

    use super::*;

    /// A review whose first drafts are sent back, and the drafts that the model was asked for.
    async fn sent_back(count: usize) -> (AnyReview, Vec<Write>) {
        let model = TestTool::<Write>::new().otherwise(Reply::applied("a draft"));
        let service = model.clone();
        let desk =
            TestEnvironment::new(move |worker| worker.machine::<AnyReview>().tool(service.clone()));
        let ann = desk.person("ann");
        let id = desk.create(Review::new("whales".to_owned(), Vec::new())).await;
        desk.run_until_idle().await;
        for number in 1..=count {
            let remark = format!("remark {number}");
            desk.send(id, &review::Event::SendBack { remark }, &ann).await;
        }
        if count < ROUNDS {
            desk.send(id, &review::Event::Accept, &ann).await;
        }
        (desk.load(id).await, model.calls())
    }

    #[tokio::test(start_paused = true)]
    async fn a_draft_is_accepted() {
        let (review, drafts) = sent_back(1).await;
        assert_eq!(review.status(), review::Status::Accepted);
        let [_, last] = &drafts[..] else { panic!("{drafts:?}") };
        assert_eq!(last.remarks, ["remark 1"]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_remark_ends_it() {
        let (review, drafts) = sent_back(ROUNDS).await;
        let AnyReview::Rejected(review) = review else { panic!("{review:?}") };
        assert_eq!(review.state().remarks, ["remark 1", "remark 2", "remark 3"]);
        assert_eq!(drafts.len(), ROUNDS);
    }
}
