//! What an entry of a journal says, in a few words for people.

use super::Language;
use crate::{
    contract::{CallFact, Evidence, Liveness},
    definition::Definition,
    journal::{Entry, Fact},
};

/// No names, no keys, no text from outside: those are fields of their own.
pub(super) fn note(entry: &Entry, written: Option<&Definition>, language: Language) -> String {
    let label = |name: &str| {
        let state = written.and_then(|known| Some(&known.states[known.state(name)?]));
        state.map_or_else(|| name.to_owned(), |state| state.label.to_string())
    };
    let (english, chinese) = match &entry.fact {
        Fact::Created { state, .. } => {
            return match language {
                Language::English => format!("created as {}", label(state)),
                Language::Chinese => format!("已创建：{}", label(state)),
            };
        }
        Fact::Moved { from, to, trigger, .. } => {
            return format!("{} → {} ({trigger})", label(from), label(to));
        }
        Fact::Fenced { .. } => ("its worker was fenced", "其执行者已被隔离"),
        Fact::Recorded { .. } => match CallFact::of(entry) {
            Some(fact) => call(&fact),
            None => ("a fact was recorded", "记录了一条事实"),
        },
    };
    match language {
        Language::English => english.to_owned(),
        Language::Chinese => chinese.to_owned(),
    }
}

fn call(fact: &CallFact) -> (&'static str, &'static str) {
    match fact {
        CallFact::Held { .. } => ("took its idempotency key", "已占用幂等键"),
        CallFact::Permitted { approved_by: Some(_), .. } => {
            ("permitted, approved by a person", "已许可，经人工批准")
        }
        CallFact::Permitted { .. } => ("permitted", "已许可"),
        CallFact::Accepted { .. } => {
            ("accepted by its service, which reports later", "其服务已受理，稍后报告结果")
        }
        CallFact::Evidence { evidence, late, .. } => match (evidence, late) {
            (Evidence::Applied(_), false) => ("evidence: it took place", "证据：已执行"),
            (Evidence::Applied(_), true) => ("late evidence: it took place", "迟到的证据：已执行"),
            (Evidence::NotApplied(_), false) => ("evidence: it did not take place", "证据：未执行"),
            (Evidence::NotApplied(_), true) => {
                ("late evidence: it did not take place", "迟到的证据：未执行")
            }
            (Evidence::Unknown(_), false) => {
                ("no evidence: nobody knows whether it took place", "无证据：不确定是否已执行")
            }
            (Evidence::Unknown(_), true) => {
                ("a late answer without evidence", "迟到的答复，无证据")
            }
        },
        CallFact::Parked { worker: Liveness::Alive, .. } => {
            ("put in doubt; its call may still be running", "结果存疑；其调用可能仍在运行")
        }
        CallFact::Parked { worker: Liveness::CutOff, .. } => (
            "put in doubt; its call was cut off, and its process is still running",
            "结果存疑；其调用被中断，但其进程仍在运行",
        ),
        CallFact::Parked { worker: Liveness::Ended, .. } => {
            ("put in doubt; its call has ended", "结果存疑；其调用已结束")
        }
        CallFact::Parked { .. } => (
            "put in doubt; it is unknown whether its worker is alive",
            "结果存疑；其执行者状态未知",
        ),
        CallFact::CutOff { .. } => (
            "its call was cut off, and its process is still running",
            "其调用被中断，但其进程仍在运行",
        ),
        CallFact::WorkerEnded { .. } => ("its call has ended", "其调用已结束"),
        CallFact::Confirmed { applied: true, .. } => ("confirmed: it took place", "已确认：已执行"),
        CallFact::Confirmed { overridden: true, .. } => {
            ("declared not done before that could be known", "在结果尚不可知时被判定为未执行")
        }
        CallFact::Confirmed { .. } => ("confirmed: it did not take place", "已确认：未执行"),
        CallFact::Decided { approved: true, .. } => ("approved", "已批准"),
        CallFact::Decided { .. } => ("declined", "已拒绝"),
        CallFact::Answered { .. } => ("answered by a person", "已由人工答复"),
        CallFact::Acknowledged { .. } => ("acknowledged by a person", "已由人工确认知悉"),
        CallFact::Closed { .. } => ("ends without being called", "未调用即结束"),
    }
}
