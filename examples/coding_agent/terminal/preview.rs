use std::collections::BTreeSet;

use coding_agent::{
    plan::{
        consent::Bounds,
        model::{Call, Risk},
        work::Work,
    },
    workspace::{
        edits::Workspace,
        refusal::Refusal,
        set::{Change, EditSet, Image},
        tools::Request,
    },
};
use similar::TextDiff;

/// Words of a request whose effect an undo would not take back.
const GRAVE: [&str; 6] = ["delete", "deploy", "publish", "push", "remove", "reset"];

/// What a plan would do.
pub struct Preview {
    /// The changes of each file by the edits of the plan, without those of its repairs.
    pub diff: String,
    /// What its confirmation allows, with these edits.
    pub bounds: Bounds,
    /// Why `--yes` does not confirm it; none if it does.
    pub objections: Vec<String>,
}

/// The policy: the risk of a request.
pub fn rate(goal: &str) -> Risk {
    let mut words = goal.split(|letter: char| !letter.is_alphanumeric());
    let is_grave = words.any(|word| GRAVE.iter().any(|grave| grave.eq_ignore_ascii_case(word)));
    if is_grave { Risk::High } else { Risk::Low }
}

impl Preview {
    /// The policy of `--yes` is here: it confirms a plan if the request is not of high risk, the
    /// edits are of the files that it expects to change and keep most lines, and no command is a
    /// shell, or git that throws work away. A shell that another program starts is not seen.
    pub fn of(workspace: &Workspace, work: &Work, mut bounds: Bounds) -> Self {
        let (mut diff, mut objections, mut edits) = (String::new(), Vec::new(), Vec::new());
        if work.risk == Risk::High {
            objections.push("the task names what an undo does not take back".to_owned());
        }
        for call in work.plan.calls() {
            match call {
                Call::Read(_) => {}
                Call::Edit { edits: more } => edits.push(more),
                Call::Run(run) => {
                    // One that the plan itself makes is not there yet.
                    let program = run.program(&workspace.folder.path).unwrap_or_default();
                    let danger = run.danger(&program);
                    objections.extend(danger.map(|(_, why)| format!("{:?}: {why}", run.argv)));
                }
            }
        }
        match shown(workspace, &edits) {
            Ok((sets, text)) => {
                diff = text;
                let changes = sets.iter().flat_map(|set| &set.changes);
                let paths: BTreeSet<_> = changes.map(|change| change.path.clone()).collect();
                if paths != bounds.paths {
                    objections.push("it expects to change other files than it edits".to_owned());
                }
                if sets.iter().any(|set| workspace.keeps_most(set).is_err()) {
                    objections.push("it removes most lines of a file".to_owned());
                }
                bounds.edits = sets.iter().filter_map(|set| set.digest().ok()).collect();
            }
            Err(refusal) => objections.push(format!("its edits cannot be shown: {refusal}")),
        }
        Self { diff, bounds, objections }
    }
}

/// The set of each edit of a plan, and the difference of each file.
fn shown(workspace: &Workspace, edits: &[Vec<Request>]) -> Result<(Vec<EditSet>, String), Refusal> {
    let (sets, mut diff) = (workspace.plan_each(edits)?, String::new());
    let text = |image: Option<Image>| {
        let bytes = image.map_or_else(|| Ok(Vec::new()), |it| workspace.store.get(it.digest))?;
        Ok::<_, Refusal>(String::from_utf8_lossy(&bytes).into_owned())
    };
    for Change { path, before, after } in sets.iter().flat_map(|set| &set.changes) {
        let act = match (before, after) {
            (None, _) => "create",
            (_, None) => "delete",
            _ => "change",
        };
        let (old, new) = (text(*before)?, text(*after)?);
        let hunks = TextDiff::from_lines(old.as_str(), new.as_str()).unified_diff().to_string();
        diff.extend([act, " ", path.as_str(), "\n", hunks.as_str()]);
    }
    Ok((sets, diff))
}
