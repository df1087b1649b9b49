use std::collections::BTreeSet;

use coding_agent::{
    plan::{consent::Bounds, model::Risk, work::Work},
    workspace::{
        edits::Workspace,
        place::Place,
        refusal::{NO_CHECK, Refusal},
        set::{Change, Digest, EditSet, Found, Image},
    },
};
use similar::TextDiff;

/// Words of a request whose effect an undo would not take back.
const GRAVE: [&str; 6] = ["delete", "deploy", "publish", "push", "remove", "reset"];

/// The policy: the risk of a request.
pub fn rate(goal: &str) -> Risk {
    let mut words = goal.split(|letter: char| !letter.is_alphanumeric());
    let is_grave = words.any(|word| GRAVE.iter().any(|grave| grave.eq_ignore_ascii_case(word)));
    if is_grave { Risk::High } else { Risk::Low }
}

/// The changes of each file by the edits of a plan, without those of its repairs, and why `--yes`
/// does not confirm it; no reason if it does. It confirms a plan if the request is not of high
/// risk, the edits are of the files that it expects to change and keep most lines, and each
/// command only checks. What the code of the folder does in a check is not seen.
pub fn preview(workspace: &Workspace, work: &Work, bounds: &Bounds) -> (String, Vec<String>) {
    let mut objections = Vec::new();
    if work.risk == Risk::High {
        objections.push("the task names what an undo does not take back".to_owned());
    }
    for run in work.plan.runs() {
        // One that the plan itself makes is not there yet.
        let program = run.program(&workspace.folder.path).unwrap_or_default();
        let is_kept = |path: &Place| {
            let found = workspace.folder.look(path);
            matches!(found, Ok(Found::File(_))) && !bounds.paths.contains(path)
        };
        let danger = run.danger(&program);
        let why = danger.or_else(|| (!run.is_check(is_kept)).then_some(NO_CHECK));
        objections.extend(why.map(|(_, why)| format!("{:?}: {why}", run.argv)));
    }
    let (sets, refusal) = workspace.plan_each(&work.plan.edits());
    let changes = sets.iter().flat_map(|set| &set.changes);
    let paths: BTreeSet<_> = changes.map(|change| change.path.clone()).collect();
    if paths != bounds.paths {
        objections.push("it expects to change other files than it edits".to_owned());
    }
    if workspace.keeps_most(&sets).is_err() {
        objections.push("it removes most lines of a file".to_owned());
    }
    let is_as_made = |set: &EditSet| Digest::of_call(set).is_ok_and(|it| work.shown.contains(&it));
    if !sets.iter().all(is_as_made) {
        objections.push("a file has changed since the plan was made".to_owned());
    }
    let diff = difference(workspace, &sets);
    for refusal in refusal.iter().chain(diff.as_ref().err()) {
        objections.push(format!("its edits cannot be shown: {refusal}"));
    }
    (diff.unwrap_or_default(), objections)
}

fn difference(workspace: &Workspace, sets: &[EditSet]) -> Result<String, Refusal> {
    let mut diff = String::new();
    let text = |image: Option<Image>| {
        let bytes = image.map_or_else(|| Ok(Vec::new()), |it| workspace.store.get(it.digest))?;
        Ok::<_, Refusal>(String::from_utf8_lossy(&bytes).into_owned())
    };
    for Change { path, before, after, .. } in sets.iter().flat_map(|set| &set.changes) {
        let act = match (before, after) {
            (None, _) => "create",
            (_, None) => "delete",
            _ => "change",
        };
        let (old, new) = (text(*before)?, text(*after)?);
        let hunks = TextDiff::from_lines(old.as_str(), new.as_str()).unified_diff().to_string();
        diff.extend([act, " ", path.as_str(), "\n", hunks.as_str()]);
    }
    Ok(diff)
}
