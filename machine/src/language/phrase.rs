//! The texts that the library itself makes, in the languages that it knows: one table.

/// Makes the table: a name, the English text and the Chinese one. `{name}` stands for a value.
macro_rules! phrases {
    ($($name:ident: $english:literal, $chinese:literal;)*) => {
        /// A text that the library makes for people and for models. `{name}` in it stands for a value, which a
        /// translation has, too.
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
            /// Every text.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The text in English.
            #[must_use]
            pub const fn english(self) -> &'static str {
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
    ApproveSummary: "approve {summary}", "批准 {summary}";
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
    SignInForArguments: "The arguments are shown only to callers with a token: sign in or send one.",
        "参数仅对持有令牌的调用方显示：请登录或发送令牌。";

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
    Cancelled: "cancelled", "已取消";
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

    // The entries of a journal.
    CreatedAs: "created as {state}", "已创建：{state}";
    Fenced: "its worker was fenced", "其执行者已被隔离";
    FactRecorded: "a fact was recorded", "记录了一条事实";
    KeyHeld: "acquired its idempotency key", "已占用幂等键";
    PermittedByPerson: "permitted, approved by a person", "已许可，经人工批准";
    Permitted: "permitted", "已许可";
    EvidenceApplied: "evidence: it took effect", "证据：已执行";
    EvidenceAppliedLate: "late evidence: it took effect", "迟到的证据：已执行";
    EvidenceNotApplied: "evidence: it did not take effect", "证据：未执行";
    EvidenceNotAppliedLate: "late evidence: it did not take effect", "迟到的证据：未执行";
    NoEvidence: "no evidence: unknown whether it took effect", "无证据：不确定是否已执行";
    NoEvidenceLate: "a late answer without evidence", "迟到的答复，无证据";
    ParkedAlive: "put in doubt; its call may still be running", "结果存疑；其调用可能仍在运行";
    ParkedCutOff: "put in doubt; its call was cut off, and its process is still running", "结果存疑；其调用被中断，但其进程仍在运行";
    ParkedEnded: "put in doubt; its call has ended", "结果存疑；其调用已结束";
    ParkedUnknown: "put in doubt; it is unknown whether its worker is alive", "结果存疑；其执行者状态未知";
    CutOff: "its call was cut off, and its process is still running", "其调用被中断，但其进程仍在运行";
    WorkerEnded: "its call has ended", "其调用已结束";
    ConfirmedApplied: "confirmed: it took effect", "已确认：已执行";
    DeclaredNotDone: "declared not done without proof", "在结果尚不可知时被判定为未执行";
    ConfirmedNotApplied: "confirmed: it did not take effect", "已确认：未执行";
    AnsweredByPerson: "answered by a person", "已由人工答复";
    AcknowledgedByPerson: "acknowledged by a person", "已由人工确认知悉";
    ClosedUncalled: "ended without a call", "未调用即结束";

    // Why a machine needs attention.
    Contradicted: "contradicted", "结果矛盾";
    IsInDoubt: "in doubt", "结果存疑";
    IsUnreadable: "unreadable", "无法读取";
    SetAside: "set aside", "已搁置";
    NoWorker: "no worker", "无执行者";
    Overdue: "overdue", "已逾期";
    Failing: "failing", "持续失败";
    WaitsForPerson: "waits for a person", "等待人工处理";
    RanTooLong: "its call has exceeded its time limit", "其调用运行时间过长";
    DeadlinePassed: "a deadline has passed", "已过期限";
    CauseFailed: "the program returned an error", "程序返回错误";
    CausePanicked: "the program panicked", "程序崩溃";
    CauseTimedOut: "the handler took too long", "处理时间过长";
    CauseNoAnswer: "the attempts ended without an answer, for example in a crash", "多次尝试均无答复，例如因为崩溃";
    CauseNotWritten: "the transition cannot be written", "无法写入状态迁移";
    CauseUnreadable: "the machine cannot be read", "无法读取该状态机";
    CauseSelfSends: "the handler only sends messages to its own machine", "处理程序只向自身的状态机发送消息";
    CauseNotTaken: "the machine does not take it yet", "状态机暂时不接受它";
    CauseNotValid: "it can never be accepted", "它永远不会被接受";
    CauseEnded: "the machine has ended", "状态机已结束";
    NeedsHandler: "no live worker drives `{machine}`: start the program that does",
        "没有运行中的执行者驱动 `{machine}`：请启动相应的程序";
    NeedsTool: "no live worker has the tool `{tool}`: start the program that has it",
        "没有运行中的执行者拥有工具 `{tool}`：请启动拥有它的程序";
    NotAnEvent: "it is not an event", "它不是事件";
    NoSuchEvent: "no state of the machine accepts such an event", "该状态机没有任何状态接受此类事件";
    MisfitType: "`{trigger}` expects a different type for `{item}`", "`{trigger}` 的 `{item}` 需要另一种类型";
    MisfitNeeds: "`{trigger}` needs {items}", "`{trigger}` 需要 {items}";
    MisfitNotTaken: "`{trigger}` does not take {what}", "`{trigger}` 不接受 {what}";
    MisfitBoth: "`{trigger}` needs {items}, and does not take {what}", "`{trigger}` 需要 {items}，且不接受 {what}";
    AllThatWasSent: "everything that was sent", "发送内容中的全部项";
    TakesNothing: "it takes nothing", "它不接受任何内容";
    Takes: "it takes {items}", "它接受 {items}";

    // The calls of a state.
    CallAsked: "asked", "等待批准";
    CallPending: "not begun", "尚未开始";
    CallRunning: "running", "进行中";
    CallEnded: "outcome not taken", "结果未处理";
    CallTaken: "taken", "结果已接收";
    CallNamed: "`{call}` ({stage})", "`{call}`（{stage}）";
    WaitsForCalls: "it waits for {calls}", "等待 {calls}";
    DeadlineWaits: "a deadline has passed, and waits for {calls}", "已过期限，等待 {calls}";
    TookEffectNotTaken: "`{call}` took effect after its state was left, and its receipt is kept until the state is entered again",
        "`{call}` 在其状态退出后生效，其回执将保留到再次进入该状态";

    // Lists and pages of the command line.
    CannotBeTakenBack: "it cannot be undone", "无法撤回";
    Calls: "Calls", "调用";
    ColumnTool: "Tool", "工具";
    ColumnApproval: "Approval", "审批";
    Detaches: "detaches its calls", "不等待其调用";
    Stays: "stays", "停留在原状态";
    MayStay: "may stay", "可能停留在原状态";
    Unattended: "unattended", "无需人工";
    ColumnCall: "Call", "调用";
    CallLeft: "of a state that was left", "属于已退出的状态";
    UntilTime: "until {time}", "截至 {time}";
    WaitsForKey: "waits until {execution}, which has its key, has ended", "等待占用其幂等键的 {execution} 结束";
    MachineWaitsUntil: "the machine waits for it until {time}", "状态机最多等待到 {time}";
    MovesWait: "moves out of the state wait for it", "退出该状态的迁移在等待它";
    ColumnId: "Id", "编号";
    ColumnReason: "Reason", "原因";
    ColumnSince: "Since", "自从";
    ColumnNext: "Next", "下一步";
    ColumnAbout: "About", "内容";
    ColumnKind: "Kind", "种类";
    ColumnWaitsFor: "Waits for", "等待";
    ColumnState: "State", "状态";
    ColumnSession: "Session", "会话";
    ColumnTook: "Took", "耗时";
    ColumnOutcome: "Outcome", "结果";
    ColumnAt: "At", "时间";
    ColumnExecution: "Execution", "执行";
    ColumnTransition: "Transition", "迁移";
    ColumnBy: "By", "执行方";
    ColumnWhat: "What", "事项";
    ColumnWith: "With", "附带";
    ColumnStatus: "Status", "状态";
    ColumnSent: "Sent", "发送时间";
    ColumnAttempts: "Attempts", "尝试次数";
    ColumnTrigger: "Trigger", "触发";
    ColumnCorrelation: "Correlation", "关联编号";
    ColumnMore: "More", "其他";
    ColumnVersion: "Version", "版本";
    ColumnStates: "States", "状态数";
    ColumnMoves: "Moves", "迁移数";
    ColumnNumber: "No.", "序号";
    ColumnVia: "Via", "途径";
    ColumnMachines: "Machines", "状态机";
    ColumnDetail: "Detail", "详情";
    ColumnFrom: "From", "起始";
    ColumnTo: "To", "目标";
    ColumnFor: "For", "允许者";
    ColumnWhen: "When", "条件";
    NeedsAttention: "Needs attention", "需要处理";
    NothingNeedsAttention: "Nothing needs attention.", "没有需要处理的事项。";
    MoreConcerns: "There are more; raise --limit to see them.", "还有更多；请用更大的 `--limit` 查看。";
    NextPage: "There are more; for the next page, pass {options}", "还有更多；下一页以 {options} 开始";
    NoMachine: "No machine matches.", "没有匹配的状态机。";
    StillRuns: "running or interrupted", "正在执行，或已被中断";
    NoOperations: "No operations yet from the command line or over HTTP.", "尚无通过命令行或网络接口进行的操作。";
    NoMoreOperations: "No operations after this one.", "此操作之后没有其他操作。";
    NoMachineStored: "No machine has been stored in this file.", "此文件中从未存储过状态机。";
    Machines: "Machines", "状态机";
    Transitions: "Transitions", "迁移";
    Question: "Question", "问题";
    Context: "Context", "上下文";
    State: "State", "状态";
    Messages: "Messages", "消息";
    Children: "Children", "子状态机";
    NextSteps: "Next", "下一步";
    FieldId: "id", "编号";
    FieldKind: "kind", "种类";
    FieldState: "state", "状态";
    FieldAbout: "about", "内容";
    FieldCreated: "created", "创建于";
    FieldSince: "since", "进入于";
    FieldDue: "due", "期限";
    FieldSession: "session", "会话";
    FieldIrreversible: "irreversible", "不可逆";
    FieldApproved: "approved", "批准";
    FieldAnswered: "answered", "答复";
    FieldAcknowledged: "acknowledged", "已知悉";
    FieldResult: "result", "结果";
    FieldError: "error", "错误";
    FieldRefusal: "refusal", "拒绝内容";
    FieldFailed: "failed", "失败";
    FieldLate: "late", "延迟";
    FieldWaitsFor: "waits for", "等待";
    FieldLastActor: "last_actor", "最近的参与者";
    FieldReference: "reference", "服务方编号";
    FieldStale: "stale", "已失效";
    FieldCaution: "caution", "注意";
    FieldParent: "parent", "上级";
    FieldKey: "idempotency_key", "幂等键";
    FieldTimeout: "timeout_seconds", "超时秒数";
    FieldAction: "action_detail", "操作详情";
    FieldMetadata: "metadata", "元数据";
    FieldEpoch: "epoch", "隔离纪元";
    FieldVersion: "version", "版本";
    FieldInitial: "initial", "初始";
    FieldTerminal: "terminal", "终止";
    FieldWaitsIn: "waits in", "等待于";
    FieldProblem: "problem", "问题";
    FieldUnreadable: "unreadable: {error}", "无法读取：{error}";
    By: "by {name}", "由 {name}";
    APerson: "a person", "人工";
    Acknowledged: "a person acknowledged the contradiction", "矛盾已由人工处理";
    AwaitsReport: "its service has accepted it but has not reported yet", "服务方已受理，尚未报告结果";
    AcceptedByService: "accepted by its service, which reports later", "服务方已受理，稍后报告结果";
    ReportedTooLate: "its service has not reported in time", "服务方未在规定时间内报告结果";
    WaitsForService: "the report of its service, which has accepted it", "等待服务方报告结果，服务方已受理";
    WaitsForServiceUntil: "the report of its service, which has accepted it; due {time}",
        "等待服务方报告结果，服务方已受理；期限 {time}";
    NotReported: "its service accepted it but has not reported", "服务方已受理，尚未报告结果";
    Accepted: "Its service has accepted it: {summary}.", "服务方已受理：{summary}。";
    EndedByMove: "a person moved the {machine} to `{state}` by `{trigger}` before the call began",
        "有人在调用开始前以 `{trigger}` 将 {machine} 转为 `{state}`";
    WaitsForChild: "its child {child}: {about}", "其子状态机 {child}：{about}";
    WaitsForGate: "a person, who answers its gate {gate}", "人工答复其审批 {gate}";
    AnsweredWith: "with `{trigger}`, which its program has not applied yet", "以 `{trigger}` 答复，其程序尚未应用";
    AnsweredWithNote: "{about} (answered with `{trigger}`, which is not applied yet)", "{about}（已以 `{trigger}` 答复，尚未应用）";
    InternalShowsError: "--audience internal shows the error", "用 `--audience internal` 查看错误";
    MovedOn: "the machine had moved on", "状态机当时已进入其他状态";
    MessageNotApplied: "not applied", "未应用";
    Queued: "queued", "排队中";
    Handled: "handled", "已处理";
    OneAttempt: "1 attempt", "尝试 1 次";
    Attempts: "{count} attempts", "尝试 {count} 次";
    TheLast: "last {time}", "最近一次在 {time}";
    TriedAgain: "retries {time}", "{time}重试";
    DueSince: "next attempt due since {time}", "下次尝试自 {time} 起待进行";
    CutOffIn: "cut off {time} in {process}: restart it, then answer; or override", "{time}在 {process} 中被中断：请重启它，然后再答复；或强制判定";
    MayRunIn: "may still be running in {process}: wait, or restart it, then answer; or override", "可能仍在 {process} 中运行：请等待，或重启它，然后再答复；或强制判定";
    SessionLine: "{session}: {total} executions, {ended} ended, {open} not ended", "{session}：{total} 个执行，{ended} 个已结束，{open} 个未结束";
    NewestMayBeMissing: "the machine cannot be read, so newer entries may be missing; `verify` reports the reason",
        "无法读取该状态机，因此可能缺少较新的条目；`verify` 会报告原因";
    MoreUnreadable: "{count} more cannot be read; `list --session` lists them", "另有 {count} 个无法读取；`list --session` 会列出它们";
    SameAction: "attempts at the same action: {ids}", "对同一操作的尝试：{ids}";
    ByAnyone: "anyone", "任何人";
    Nothing: "none", "无";
    Ago: "{length} ago", "{length}前";
    In: "in {length}", "{length}后";
    Seconds: "{count} s", "{count} 秒";
    Minutes: "{count} min", "{count} 分钟";
    Hours: "{count} h", "{count} 小时";
    Days: "{count} d", "{count} 天";
    Agent: "agent", "智能体";
    ToolCategory: "tool", "工具";
    Human: "human", "人工";
    System: "system", "系统";
}
