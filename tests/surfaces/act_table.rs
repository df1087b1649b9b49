//! The table of acts: what each does in each situation.

/// Each act with its command, and with its route and body. `ID` is the machine, `GATE` a gate with
/// the digest of its question, and `MESSAGE` the message of the situation, if it has one.
pub(super) const ACTS: &str = r#"
approve       | approve ID --yes                                    | api/approvals/approve {"gates":[GATE]}
decline       | decline ID --yes --reason later                     | api/approvals/decline {"gates":["ID"],"reason":"later"}
cancel        | cancel ID --reason late                             | api/machines/ID/cancel {"reason":"late"}
respond       | respond ID 8080                                     | ecs/respond {"execution_id":"ID","response":"8080"}
respond 9090  | respond ID 9090                                     | ecs/respond {"execution_id":"ID","response":"9090"}
resume        | respond ID                                          | ecs/continue {"execution_id":"ID"}
applied       | confirm ID applied --receipt seen --yes             | api/machines/ID/confirm {"applied":true,"receipt":"seen"}
not applied   | confirm ID not-applied --reason unsent --yes        | api/machines/ID/confirm {"applied":false,"reason":"unsent"}
override      | confirm ID not-applied --reason unsent --override --yes | api/machines/ID/confirm {"applied":false,"reason":"unsent","override":true}
acknowledge   | acknowledge ID                                      | api/machines/ID/acknowledge {}
retry         | retry ID --yes                                      | api/machines/ID/retry {}
fence         | fence ID --reason hangs --yes                       | api/machines/ID/fence {"reason":"hangs"}
requeue       | requeue ID --message MESSAGE                        | api/machines/ID/requeue {"messages":["MESSAGE"]}
requeue other | requeue ID --message form-18                        | api/machines/ID/requeue {"messages":["form-18"]}
requeue none  | requeue ID                                          | api/machines/ID/requeue {"messages":[]}
send          | send ID confirm --payload {"amount":3}              | api/machines/ID/send {"trigger":"confirm","payload":{"amount":3}}
send no       | send ID cancel --payload {"reason":"no"} --seen 0   | api/machines/ID/send {"trigger":"cancel","payload":{"reason":"no"},"seen":0}
send unseen   | send ID confirm --payload {"amount":3} --seen 99    | api/machines/ID/send {"trigger":"confirm","payload":{"amount":3},"seen":99}
send later    | send ID accept                                      | api/machines/ID/send {"trigger":"accept"}
send early    | send ID accept --early                              | api/machines/ID/send {"trigger":"accept","early":true}
send seen     | send ID accept --seen 1                             | api/machines/ID/send {"trigger":"accept","seen":1}
send stale    | send ID accept --seen 0                             | api/machines/ID/send {"trigger":"accept","seen":0}
send ship     | send ID ship                                        | api/machines/ID/send {"trigger":"ship"}
send audit    | send ID audit                                       | api/machines/ID/send {"trigger":"audit"}
send succeed  | send ID succeed                                     | api/machines/ID/send {"trigger":"succeed"}
send trigger  | send ID trigger --payload {"trigger":"confirm"}     | api/machines/ID/send {"trigger":"trigger","payload":{"trigger":"confirm"}}
send nothing  | send ID confirm                                     | api/machines/ID/send {"trigger":"confirm"}
send text     | send ID confirm --payload {"amount":"3"}            | api/machines/ID/send {"trigger":"confirm","payload":{"amount":"3"}}
send printed  | send ID confirm --payload {"amount":"<u32>"}        | api/machines/ID/send {"trigger":"confirm","payload":{"amount":"<u32>"}}
send more     | send ID confirm --payload {"amount":1,"to\u001bx":2} | api/machines/ID/send {"trigger":"confirm","payload":{"amount":1,"to\u001bx":2}}
"#;

/// A situation of a machine, the acts there, and what comes of the last one: the labels of the
/// machine and of the other one of the situation, or a refusal that contains this text. Ann does
/// all acts but the last one, which is that of bob.
pub(super) const TABLE: &str = r"
gate         | approve              | SUCCESS NOT_STARTED
gate         | decline              | REJECTED CANCELLED
gate         | cancel               | CANCELLED CANCELLED
gate         | respond              | refused: it is a gate, which is approved or declined; instead: `approve {id} --as NAME`, `decline {id} --as NAME`
gate         | acknowledge          | refused: {id}: a gate makes no call
gate         | approve, approve     | refused: {id} was approved by ann
gate         | approve, decline     | refused: {id} was approved by ann
gate         | decline, approve     | refused: {id} was declined by ann
gate         | decline, cancel      | refused: so there is nothing to cancel
gate         | cancel, approve      | refused: it is CANCELLED (late)
expired      | approve              | refused: {id} has expired and can no longer be answered; ask again
expired      | decline              | refused: {id} has expired and can no longer be answered; ask again
expired      | cancel               | CANCELLED
expired      | acknowledge          | refused: a gate makes no call; instead: `cancel {id} --as NAME`
orphan       | approve              | refused: `cancel {id} --as NAME` ends it; ask again
orphan       | decline              | refused: {id} cannot be answered: no machine
orphan       | cancel               | CANCELLED
orphan       | acknowledge          | refused: a gate makes no call
stale        | approve              | refused: {id} can no longer be approved: {other} has already performed the same action
stale        | decline              | REJECTED SUCCESS
stale        | cancel               | CANCELLED SUCCESS
stale        | acknowledge          | refused: a gate makes no call
withdrawn    | approve              | refused: it is CANCELLED (late)
withdrawn    | decline              | refused: it is CANCELLED (late)
withdrawn    | acknowledge          | refused: a gate makes no call
behind       | approve              | refused: it is PENDING; `list` shows those that do; instead: `approve {other} --as NAME`
behind       | cancel               | CANCELLED CANCELLED
behind       | cancel, cancel       | refused: {id} is CANCELLED, so there is nothing to cancel
pending      | cancel               | CANCELLED
overtaken    | cancel               | CANCELLED SUCCESS
stale behind | cancel               | CANCELLED SUCCESS
pending      | fence                | refused: so there is no worker to fence; instead: `cancel {id} --as NAME`
pending      | send succeed         | refused: `succeed` is not for people
running      | cancel               | refused: {id} is running; wait until it ends, or `fence {id} --as NAME`
running      | fence                | IN_DOUBT
running      | fence, fence         | refused: so there is no worker to fence
running      | fence, applied       | SUCCESS
running      | fence, not applied   | refused: overrid
running      | fence, override      | FAILED
accepted     | cancel               | refused: has accepted the call and may carry it out, so it cannot be cancelled
accepted     | respond              | refused: the report of its service
accepted     | fence                | IN_DOUBT
accepted     | fence, applied       | SUCCESS
doubt        | cancel               | refused: {id} is in doubt, so it cannot be cancelled
doubt        | respond              | refused: in doubt
doubt        | applied              | SUCCESS
doubt        | not applied          | FAILED
doubt        | override             | FAILED
doubt        | applied, not applied | refused: {id} is not in doubt: ann has already confirmed that it took effect
doubt        | override, applied    | refused: ann has already confirmed that it did not take effect
doubt        | override, override   | refused: instead: `retry {id} --as NAME`
doubt        | override, retry      | FAILED
failed       | retry                | FAILED
failed       | retry, retry         | refused: is another attempt at the same action and has not ended
failed child | retry                | refused: {id} is a child of {other}, which would not see another attempt
repeated     | retry                | refused: {other} has already performed this action, so there is nothing to retry; see `show {other}`
contradicted | acknowledge          | CONTRADICTED
contradicted | acknowledge, acknowledge | refused: ann has already acknowledged
contradicted | applied              | refused: ann has already confirmed that it did not take effect; see `show {id}`
contradicted | not applied          | refused: instead: `acknowledge {id} --as NAME`
contradicted | override             | refused: ann has already confirmed that it did not take effect
contradicted | retry                | refused: {id} has already performed this action, so there is nothing to retry
question     | cancel               | CANCELLED
question     | respond              | SUCCESS
question     | resume               | refused: {id} has no answer yet; store one with `respond` first
question     | respond, respond     | refused: it is COMPLETED
question     | respond, resume      | refused: it is COMPLETED
question     | cancel, respond      | refused: it is CANCELLED
answered     | cancel               | CANCELLED
answered     | respond              | refused: answered
answered     | resume               | SUCCESS
order        | approve              | refused: instead: `send {id} confirm --as NAME --seen 0 --payload
order        | cancel               | ASKING
order        | send                 | ASKING
order        | send, send           | refused: ann has already answered {id} with `confirm`
order        | send, send no        | refused: ann has already answered {id} with `confirm`
order        | send unseen          | refused: {id} has not made 99 transitions yet, only 0; nothing was sent
order        | send later           | refused: it would answer a later question that you have not seen
order        | send early           | ASKING
order        | send ship            | refused: no state of `order` accepts `ship`; now a person can send `confirm`
order        | send audit           | refused: `audit` is not for people, only for `graph_runner`
order        | send trigger         | refused: no state of `order` accepts `trigger`
order        | send nothing         | refused: `confirm` needs `amount`; it takes amount: u32
order        | send text            | refused: `confirm` expects a different type for `amount`
order        | send printed         | refused: fill in the payload of `confirm`: `amount: u32`
order        | send more            | refused: does not take `to\u{1b}x`
parent       | approve              | refused: `approve {other} --as NAME`
parent       | cancel               | MAILING WAITING
parent       | send                 | MAILING WAITING
set aside    | approve              | refused: instead: `requeue {id} --as NAME --message=
set aside    | cancel               | ASKING
set aside    | requeue              | ASKING
set aside    | requeue, requeue     | refused: is queued, not set aside
set aside    | requeue none         | refused: name them: `requeue {id} --as NAME --message=
set aside    | send                 | ASKING
paying       | cancel               | PAYING
paying       | send                 | refused: PAYING does not accept `confirm`
paying       | send seen            | PAYING
paying       | send stale           | refused: {id} has moved on since you viewed it
ended        | cancel               | refused: {id} is CANCELLED, so it accepts no more messages
";

/// The situations, with what a person is offered there, and what the machine waits for: the cause
/// and the start of its text, which are empty for one that has ended. Every act that is not in the
/// table of acts is refused, because it does not apply.
const SITUATIONS: &str = "
gate         | approve decline        | person  | a person, who can `approve`, `decline`
expired      | cancel                 | person  | a person, who can `cancel`
orphan       | cancel                 | person  | a person, who can `cancel`
stale        | cancel                 | person  | a person, who can `cancel`
withdrawn    |                        |         |
behind       | approve decline cancel | person  | a person, who answers its gate
pending      | cancel                 | program | its program, which makes the next move: no worker has ever opened this file
overtaken    | cancel                 | program | its program, which makes the next move
stale behind | cancel                 | person  | a person, who can `cancel`
running      |                        | call    | the end of its call, which is under way
accepted     |                        | service | the report of its service, which has accepted it; due
doubt        | confirm confirm        | person  | a person, who can `confirm`
failed       | retry                  |         |
failed child | show                   |         |
repeated     |                        |         |
sent         |                        |         |
contradicted | acknowledge            |         |
question     | respond cancel         | person  | a person, who can `respond`, `cancel`
answered     | respond cancel         | person  | a person, who can `respond`, `cancel`
order        | send send              | person  | a person, who can `confirm`, `cancel`
parent       | send send              | child   | its child
set aside    | requeue send send      | person  | a person, who can `requeue`, `confirm`, `cancel`
paying       | send                   | person  | a person, who can `accept`
ended        |                        |         |
";

pub(crate) fn situations() -> impl Iterator<Item = &'static str> {
    situation_rows().map(|[situation, ..]| situation)
}

/// Each situation, what is offered there, and the cause and the start of what it waits for.
pub(super) fn situation_rows() -> impl Iterator<Item = [&'static str; 4]> {
    SITUATIONS.trim().lines().map(cells)
}

/// The answer to an act that does not apply.
pub(super) fn does_not_apply(situation: &str, act: &str) -> &'static str {
    let is_order = matches!(situation, "order" | "set aside" | "paying" | "ended");
    let has_ended = matches!(
        situation,
        "withdrawn" | "failed" | "failed child" | "repeated" | "sent" | "contradicted" | "ended"
    );
    match act {
        "requeue" | "requeue other" if has_ended => {
            "which is terminal, so workers retry nothing of it"
        }
        "send" if has_ended => "so it accepts no more messages",
        "requeue" => {
            "nothing of {id} was set aside, and it is not stuck, so there is nothing to requeue"
        }
        "requeue other" => "{id} has no message `form-18`; `show {id}` lists its messages",
        "send" => "people move an execution only by the commands that `show` lists",
        _ if is_order => "{id} is of the kind `order`, in ",
        _ if situation == "parent" => "{id} is of the kind `errand`, in ",
        "approve" | "decline" => "{id} is not a gate that waits for an answer: it is ",
        "cancel" => "so there is nothing to cancel",
        "respond" | "resume" => "{id} is not a question that waits for an answer",
        "applied" | "not applied" | "override" => {
            "{id} is not in doubt; there is nothing to confirm"
        }
        "acknowledge" => "there is nothing to acknowledge",
        "retry" => "not FAILED, so it cannot be retried",
        "fence" => "is not an irreversible call in flight, so there is no worker to fence",
        other => panic!("{other} applies to some machines only"),
    }
}

/// The cells of a row.
fn cells<const N: usize>(line: &str) -> [&str; N] {
    let mut cells = line.splitn(N, " |").map(str::trim);
    [(); N].map(|()| cells.next().unwrap_or_else(|| panic!("{line}")))
}

/// The row of an act.
pub(super) fn found(act: &str) -> [&'static str; 3] {
    rows(ACTS).find(|[name, ..]| *name == act).unwrap_or_else(|| panic!("{act} is not an act"))
}

pub(super) fn rows(table: &'static str) -> impl Iterator<Item = [&'static str; 3]> {
    table.trim().lines().map(cells)
}
