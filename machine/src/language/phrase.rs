//! The texts that the library itself makes, in the languages that it knows: one table.

/// Makes the table: a name, the English text and the Chinese one. `{name}` stands for a value.
macro_rules! phrases {
    ($($name:ident: $english:literal, $chinese:literal;)*) => {
        /// A text of the library in a prompt, a question, a result or a reason. `{name}` in it
        /// stands for a value.
        ///
        /// ```
        /// use machine::view::{Language, Phrase};
        ///
        /// assert_eq!(Language::Chinese.text(Phrase::Approved), "已批准");
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Phrase {
            $(#[doc = concat!("`", $english, "`")] $name,)*
        }

        impl Phrase {
            #[cfg(test)]
            pub(super) const ALL: &'static [Self] = &[$(Self::$name),*];

            pub(crate) const fn english(self) -> &'static str {
                match self {
                    $(Self::$name => $english,)*
                }
            }

            /// The text in simplified Chinese.
            pub(super) const fn chinese(self) -> &'static str {
                match self {
                    $(Self::$name => $chinese,)*
                }
            }
        }
    };
}

phrases! {
    // The known outcome of an execution.
    Unknown: "unknown whether it took effect", "不确定该操作是否已经执行";
    TookPlace: "it took effect: {receipt}", "该操作已经执行：{receipt}";
    TookPlacePerhapsMore: "it took effect, perhaps more than once: {receipt}", "该操作已经执行，可能不止一次：{receipt}";
    ReceiptArrived: "a receipt arrived", "收到了回执";
    RecordedAsNotDone: "recorded earlier as not done: {reason}", "此前记录为未执行：{reason}";
    Overridden: "a person declared it not done without proof, so it may still take effect: {reason}",
        "有人在结果尚不可知时将其判定为未执行，它仍有可能发生：{reason}";
    WorkerDenies: "its worker or its service reports that it did not take effect: {reason}",
        "其执行者或服务方称该操作并未执行：{reason}";
    NotFound: "it was in doubt, and its service says that it did not take effect: {reason}",
        "结果曾不可知，服务方称该操作并未执行：{reason}";
    Unconfirmed: "no store has recorded this: {text}", "没有存储记录此结果：{text}";

    // The section of a prompt.
    ResultsHeading: "Tool results:", "【工具执行结果】";
    AnswersHeading: "Human answers:", "【人工答复】";
    OpenHeading: "Not ended yet; the outcome is open:", "【尚未结束，结果未定】";
    DoubtHeading: "It is unknown whether these calls took effect. Do not repeat them, not even in other words:",
        "【以下调用不确定是否已经生效，请勿重复，也不要换一种说法重复】";
    GoOn: "Continue with the user's request based on the results above.", "请根据以上执行结果继续处理用户的请求。";
    IrreversibleNote: "Note: actions marked ⚠️ IRREVERSIBLE have taken effect and cannot be undone.",
        "注意：标记 ⚠️ IRREVERSIBLE 的操作已在现实中生效，无法撤回。";
    Omitted: "({count} more executions are not shown)", "（另有 {count} 个执行未显示）";
    Unreadable: "(unreadable executions: {count}; it is unknown whether they took effect, so do not repeat their actions)",
        "（无法读取的执行：{count} 个；不确定是否已经生效，请勿重复其操作）";

    // The question of a gate.
    ApproveSummary: "approval of {summary}", "批准 {summary}";
    Allow: "Allow {name}?", "是否允许 {name}？";
    ForGood: " This cannot be undone.", " 此操作无法撤回。";
    Tool: "(tool) {name}", "（工具）{name}";
    Occurrence: "(occurrence) {name}", "（场次）{name}";
    NotShown: "NOT SHOWN HERE: {parts}", "此处未显示：{parts}";
    HiddenOfName: "{count} characters of a name", "某个名称中的 {count} 个字符";
    HiddenOf: "{count} characters of {name}", "{name} 中的 {count} 个字符";
    AndMore: ", and {count} more", "，以及另外 {count} 项";
    ActionDigest: "[action {digest}]", "[操作 {digest}]";
    DeclineQuestion: "Decline {name}? It will never run.", "是否拒绝 {name}？它将不会执行。";

    // The question of an execution in doubt.
    InDoubt: "Did this take effect: {summary}? It is in doubt: {reason}.", "该操作是否已经执行：{summary}？结果存疑：{reason}。";
    InDoubtReceipt: "It took effect: {receipt}. Confirm it. ({question})", "该操作已经执行：{receipt}。请确认。（{question}）";
    InDoubtAlive: "{question} When this was last checked, the call could still be running in {process}, so the action could still take effect.",
        "{question} 上次检查时，该调用可能仍在 {process} 中运行，操作仍可能发生。";
    InDoubtMayRun: "{question} The call may still be running.", "{question} 该调用可能仍在运行。";
    InDoubtCutOff: "{question} The call was cut off in {process}, which was still running then, so the action can still take effect: restart that process, then answer.",
        "{question} 该调用在 {process} 中被中断，当时该进程仍在运行，操作仍可能发生：请重启该进程，然后再答复。";
    InDoubtCutOffSomewhere: "{question} The call was cut off and may still be running.", "{question} 该调用被中断，可能仍在运行。";
    InDoubtUnknownWorker: "{question} It is unknown whether its worker is still alive.", "{question} 不确定其执行者是否仍在运行。";
    InDoubtReworded: "{id} called the same tool in the same session and is in doubt; if this is the same action in other words, it can take effect twice. Confirm that one first.",
        "同一会话中的 {id} 调用了同一个工具，结果存疑；如果此操作只是换一种说法的同一操作，它可能会生效两次。请先确认那一个。";
    Process: "process {pid} on {host}", "{host} 上的进程 {pid}";

    // Results and reasons as they are stored. `Language::stored` finds them again.
    Approved: "approved", "已批准";
    Declined: "declined", "已拒绝";
    NotNeeded: "no longer needed", "不再需要";
    NotApproved: "not approved: {reason}", "未获批准：{reason}";
    NobodyAnswered: "not answered in time", "无人在规定时间内答复";
    NoAnswerInTime: "no answer in time", "未在规定时间内得到答复";
    ServicePanicked: "the service panicked", "服务发生崩溃";
    AnsweredAfterCutOff: "the call answered after it was cut off", "调用在被中断后才给出答复";
    TimedOut: "the call exceeded its timeout without an answer", "调用超时且没有答复";
    CutOffBeforeAnswer: "the call was cut off before it answered", "调用在答复之前被中断";
    OutcomeDropped: "its permit or its outcome was dropped", "其许可或结果已被丢弃";
    ProcessEnded: "the process that made the call ended, or closed its store, before it recorded an answer",
        "发起调用的进程在记录答复之前已结束，或关闭了存储";
    LockMissing: "the lock file of its worker is missing, copied, or from another host",
        "其执行者的锁文件缺失、是副本，或属于另一台主机";

    // Calls that a service has accepted, or that a move has ended.
    AwaitsReport: "its service has accepted it but has not reported yet", "服务方已受理，尚未报告结果";
    NotReported: "its service accepted it but has not reported", "服务方已受理，尚未报告结果";
    EndedByMove: "a person moved the {machine} to `{state}` by `{trigger}` before the call began",
        "有人在调用开始前以 `{trigger}` 将 {machine} 转为 `{state}`";

    // The end of an execution that was never called. The words of people stay as they are.
    DeclinedBy: "declined by {by}: {reason}", "已被 {by} 拒绝：{reason}";
    DeclinedWithoutReason: "declined by {by}", "已被 {by} 拒绝";
    Expired: "expired: {reason}", "已过期：{reason}";
    CancelledBy: "cancelled by {by}: {reason}", "已被 {by} 取消：{reason}";
    Cancelled: "cancelled: {reason}", "已取消：{reason}";
}
