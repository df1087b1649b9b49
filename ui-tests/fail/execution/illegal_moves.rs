// Every illegal transition of `Execution`: 7 states x 8 triggers - 9 legal ones.

use machine::actor::{GraphRunner, ToolNode};
use machine::contract::{Execution, execution::*};

fn pending_cancel(pending: Execution<Pending>, by: &GraphRunner) {
    let _ = pending.cancel("given up".to_owned(), by);
}

fn pending_fail(pending: Execution<Pending>, by: &GraphRunner) {
    let _ = pending.fail("no route to host".to_owned(), None, by);
}

fn pending_reject(pending: Execution<Pending>, by: &GraphRunner) {
    let _ = pending.reject("not allowed".to_owned(), by);
}

fn pending_resume(pending: Execution<Pending>, by: &GraphRunner) {
    let _ = pending.resume(by);
}

fn pending_succeed(pending: Execution<Pending>, by: &GraphRunner) {
    let _ = pending.succeed("sent".to_owned(), by);
}

fn pending_suspend(pending: Execution<Pending>, by: &ToolNode) {
    let _ = pending.suspend("Send it?".to_owned(), by);
}

fn pending_timeout(pending: Execution<Pending>, by: &GraphRunner) {
    let _ = pending.timeout(by);
}

fn running_resume(running: Execution<Running>, by: &GraphRunner) {
    let _ = running.resume(by);
}

fn running_start(running: Execution<Running>, by: &ToolNode) {
    let _ = running.start(by);
}

fn running_timeout(running: Execution<Running>, by: &GraphRunner) {
    let _ = running.timeout(by);
}

fn waiting_fail(waiting: Execution<Waiting>, by: &GraphRunner) {
    let _ = waiting.fail("no route to host".to_owned(), None, by);
}

fn waiting_reject(waiting: Execution<Waiting>, by: &GraphRunner) {
    let _ = waiting.reject("not allowed".to_owned(), by);
}

fn waiting_start(waiting: Execution<Waiting>, by: &ToolNode) {
    let _ = waiting.start(by);
}

fn waiting_succeed(waiting: Execution<Waiting>, by: &GraphRunner) {
    let _ = waiting.succeed("sent".to_owned(), by);
}

fn waiting_suspend(waiting: Execution<Waiting>, by: &ToolNode) {
    let _ = waiting.suspend("Send it?".to_owned(), by);
}

fn completed_cancel(completed: Execution<Completed>, by: &GraphRunner) {
    let _ = completed.cancel("given up".to_owned(), by);
}

fn completed_fail(completed: Execution<Completed>, by: &GraphRunner) {
    let _ = completed.fail("no route to host".to_owned(), None, by);
}

fn completed_reject(completed: Execution<Completed>, by: &GraphRunner) {
    let _ = completed.reject("not allowed".to_owned(), by);
}

fn completed_resume(completed: Execution<Completed>, by: &GraphRunner) {
    let _ = completed.resume(by);
}

fn completed_start(completed: Execution<Completed>, by: &ToolNode) {
    let _ = completed.start(by);
}

fn completed_succeed(completed: Execution<Completed>, by: &GraphRunner) {
    let _ = completed.succeed("sent".to_owned(), by);
}

fn completed_suspend(completed: Execution<Completed>, by: &ToolNode) {
    let _ = completed.suspend("Send it?".to_owned(), by);
}

fn completed_timeout(completed: Execution<Completed>, by: &GraphRunner) {
    let _ = completed.timeout(by);
}

fn failed_cancel(failed: Execution<Failed>, by: &GraphRunner) {
    let _ = failed.cancel("given up".to_owned(), by);
}

fn failed_fail(failed: Execution<Failed>, by: &GraphRunner) {
    let _ = failed.fail("no route to host".to_owned(), None, by);
}

fn failed_reject(failed: Execution<Failed>, by: &GraphRunner) {
    let _ = failed.reject("not allowed".to_owned(), by);
}

fn failed_resume(failed: Execution<Failed>, by: &GraphRunner) {
    let _ = failed.resume(by);
}

fn failed_start(failed: Execution<Failed>, by: &ToolNode) {
    let _ = failed.start(by);
}

fn failed_succeed(failed: Execution<Failed>, by: &GraphRunner) {
    let _ = failed.succeed("sent".to_owned(), by);
}

fn failed_suspend(failed: Execution<Failed>, by: &ToolNode) {
    let _ = failed.suspend("Send it?".to_owned(), by);
}

fn failed_timeout(failed: Execution<Failed>, by: &GraphRunner) {
    let _ = failed.timeout(by);
}

fn rejected_cancel(rejected: Execution<Rejected>, by: &GraphRunner) {
    let _ = rejected.cancel("given up".to_owned(), by);
}

fn rejected_fail(rejected: Execution<Rejected>, by: &GraphRunner) {
    let _ = rejected.fail("no route to host".to_owned(), None, by);
}

fn rejected_reject(rejected: Execution<Rejected>, by: &GraphRunner) {
    let _ = rejected.reject("not allowed".to_owned(), by);
}

fn rejected_resume(rejected: Execution<Rejected>, by: &GraphRunner) {
    let _ = rejected.resume(by);
}

fn rejected_start(rejected: Execution<Rejected>, by: &ToolNode) {
    let _ = rejected.start(by);
}

fn rejected_succeed(rejected: Execution<Rejected>, by: &GraphRunner) {
    let _ = rejected.succeed("sent".to_owned(), by);
}

fn rejected_suspend(rejected: Execution<Rejected>, by: &ToolNode) {
    let _ = rejected.suspend("Send it?".to_owned(), by);
}

fn rejected_timeout(rejected: Execution<Rejected>, by: &GraphRunner) {
    let _ = rejected.timeout(by);
}

fn cancelled_cancel(cancelled: Execution<Cancelled>, by: &GraphRunner) {
    let _ = cancelled.cancel("given up".to_owned(), by);
}

fn cancelled_fail(cancelled: Execution<Cancelled>, by: &GraphRunner) {
    let _ = cancelled.fail("no route to host".to_owned(), None, by);
}

fn cancelled_reject(cancelled: Execution<Cancelled>, by: &GraphRunner) {
    let _ = cancelled.reject("not allowed".to_owned(), by);
}

fn cancelled_resume(cancelled: Execution<Cancelled>, by: &GraphRunner) {
    let _ = cancelled.resume(by);
}

fn cancelled_start(cancelled: Execution<Cancelled>, by: &ToolNode) {
    let _ = cancelled.start(by);
}

fn cancelled_succeed(cancelled: Execution<Cancelled>, by: &GraphRunner) {
    let _ = cancelled.succeed("sent".to_owned(), by);
}

fn cancelled_suspend(cancelled: Execution<Cancelled>, by: &ToolNode) {
    let _ = cancelled.suspend("Send it?".to_owned(), by);
}

fn cancelled_timeout(cancelled: Execution<Cancelled>, by: &GraphRunner) {
    let _ = cancelled.timeout(by);
}

fn main() {}
