//! The people who decide about one mail.

use std::{
    sync::{Arc, atomic::Ordering},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use machine::{
    Id,
    contract::{AnyExecution, Tool},
    store::Query,
    view::{ConsequenceView, Label, NextStep, Observer},
};

use super::{
    desk::Desk,
    disturbance::{Disturbance, When, run_disturbed},
    office::count,
    random::Random,
};
use crate::{
    mail::SendMail,
    world::{errors, printed},
};

/// The people who decide about one mail.
pub(super) struct People {
    pub(super) desk: Arc<Desk>,
    pub(super) to: String,
    pub(super) random: Random,
    pub(super) running: Vec<JoinHandle<()>>,
    /// The number of processes that may still be killed or frozen.
    pub(super) trouble: u64,
    /// The number of additional mails that may arrive, because a person freed the key by name.
    pub(super) more: usize,
}

impl People {
    pub(super) fn new(desk: Arc<Desk>, round: u64, mut random: Random) -> Self {
        let trouble = 3 + random.below(8);
        let to = format!("round-{round}@example.com");
        Self { desk, to, random, running: Vec::new(), trouble, more: 0 }
    }

    pub(super) fn work(mut self) {
        let mut last = String::new();
        for _ in 0..1_000 {
            // Before the look: what ends after it is seen in the next one.
            self.running.retain(|process| !process.is_finished());
            let idle = self.running.is_empty();
            let listed = self.desk.world.run("list --json");
            last = printed(&listed) + &errors(&listed);
            let open = self.open();
            for (id, todo) in &open {
                self.act(*id, *todo);
            }
            if open.is_empty() && idle && listed.status.success() {
                if self.end() {
                    return;
                }
                self.ask();
            }
            thread::sleep(Duration::from_millis(5 + self.random.below(20)));
        }
        let complaints = self.desk.complaints.lock().unwrap();
        let newest = complaints.iter().rev().take(10).map(String::as_str).collect::<String>();
        panic!("{} is stuck: {last}{newest}", self.to);
    }

    pub(super) fn ask(&mut self) {
        let expires = if self.random.one_in(5) { "--expires 400ms" } else { "" };
        let to = self.to.clone();
        self.run(&format!("ask --to {to} --timeout 150ms {expires}"));
    }

    /// Does what there is to do.
    pub(super) fn act(&mut self, id: Id, todo: Todo) {
        match todo {
            Todo::Answer => {
                let approve = |name: &str| format!("approve {id} --yes --as {name}");
                let decline = format!("decline {id} --yes --as eve");
                match self.random.below(8) {
                    0..3 => self.run(&approve("ann")),
                    3..6 => self.run_at_once(&[&approve("ann"), &approve("tom")]),
                    6 => self.run_at_once(&[&approve("ann"), &decline]),
                    _ => self.run_at_once(&[&decline, &format!("cancel {id} --as tom")]),
                }
            }
            Todo::Confirm => self.settle(id),
            // A worker does it, unless a person changes their mind.
            Todo::Wait if self.random.one_in(8) => self.run(&format!("fence {id} --as ann --yes")),
            Todo::Start if self.random.one_in(40) => self.run(&format!("cancel {id} --as tom")),
            Todo::Wait | Todo::Start => {}
            Todo::Requeue => {
                count(&self.desk.figures.set_aside);
                self.run_calmly(&format!("requeue {id} --as ann"));
            }
            Todo::Retry if self.random.one_in(2) => {
                self.run_at_once(&[
                    &format!("retry {id} --as ann --yes"),
                    &format!("retry {id} --as tom --yes"),
                ]);
            }
            Todo::Retry => self.run(&format!("retry {id} --as ann --yes")),
        }
    }

    /// A person looks into the mailbox, and reports its content.
    pub(super) fn settle(&mut self, id: Id) {
        count(&self.desk.figures.found_in_doubt);
        if self.random.one_in(8) {
            self.free_by_name(id);
            return;
        }
        let looked_at = Instant::now();
        if self.desk.office.received(&self.to) > 0 {
            self.run(&format!("confirm {id} applied --as ann --yes"));
            return;
        }
        let told = self.run_calmly(&format!("confirm {id} not-applied --as ann --yes"));
        if told.is_empty() && looked_at.elapsed() >= SendMail::SETTLING_TIME {
            // The look was too old to count when it was taken down.
            self.more += 1;
        }
        if told.contains("may still be running in process ") && self.random.one_in(3) {
            self.free_by_name(id);
        }
    }

    /// A person takes responsibility, without a look.
    pub(super) fn free_by_name(&mut self, id: Id) {
        if self
            .run_calmly(&format!("confirm {id} not-applied --as eve --override --yes"))
            .is_empty()
        {
            count(&self.desk.figures.freed_by_name);
            self.more += 1;
        }
    }

    /// Runs some commands at the same time.
    pub(super) fn run_at_once(&mut self, commands: &[&str]) {
        for command in commands {
            let fate = self.fate();
            let (desk, command) = (Arc::clone(&self.desk), (*command).to_owned());
            self.running.push(thread::spawn(move || drop(run_disturbed(&desk, &command, fate))));
        }
    }

    pub(super) fn run(&mut self, command: &str) {
        self.run_at_once(&[command]);
        if self.random.one_in(2) {
            // Usually one waits for the end.
            drop(self.running.pop().map(JoinHandle::join));
        }
    }

    /// Runs a command to its end; returns its error.
    pub(super) fn run_calmly(&self, command: &str) -> String {
        errors(&run_disturbed(&self.desk, command, Disturbance::Lives))
    }

    pub(super) fn fate(&mut self) -> Disturbance {
        if self.trouble == 0 || self.random.one_in(4) {
            return Disturbance::Lives;
        }
        self.trouble -= 1;
        let longest = u64::try_from((2 * self.desk.decision).as_micros()).unwrap();
        let when = When::After(Duration::from_micros(self.random.below(longest)));
        Disturbance::random(&mut self.random, when)
    }

    /// The open tasks of people about the mails to this recipient. A retry of a mail that is in the mailbox
    /// does not count.
    fn open(&self) -> Vec<(Id, Todo)> {
        let store = self.desk.world.store();
        let observer = Observer::new(store.get());
        let query = Query::new().limit(1_000);
        let (all, set_aside) = store.wait(async {
            let all = store.get().load_all::<AnyExecution>(&query).await.unwrap();
            (all, store.get().set_aside().await.unwrap())
        });
        let all: Vec<AnyExecution> = all.items.into_iter().map(Result::unwrap).collect();
        let mut open = Vec::new();
        for any in all.iter().filter(|any| any.context().summary().ends_with(&self.to)) {
            let id = any.id();
            if set_aside.machines.iter().any(|(other, _)| *other == id) {
                open.push((id, Todo::Requeue));
                continue;
            }
            let todo = match Label::of(any) {
                Label::Waiting => Todo::Answer,
                Label::InDoubt => Todo::Confirm,
                Label::InProgress => Todo::Wait,
                Label::NotStarted => Todo::Start,
                Label::Failed => {
                    let next = store.wait(observer.next_of_execution(any)).unwrap();
                    if !next.iter().any(|step| matches!(step, NextStep::Retry { .. })) {
                        continue;
                    }
                    Todo::Retry
                }
                // Deferred mails are answered at their gate.
                _ => continue,
            };
            open.push((id, todo));
        }
        open
    }

    /// Returns whether the mail ended as it should, when there is nothing left to do.
    pub(super) fn end(&self) -> bool {
        let store = self.desk.world.store();
        let all = store.wait(store.get().load_all::<AnyExecution>(&Query::new().limit(1_000)));
        let all: Vec<ConsequenceView> = all
            .unwrap()
            .items
            .into_iter()
            .map(|any| ConsequenceView::of(&any.unwrap()))
            .filter(|view| view.action_summary.ends_with(&self.to))
            .collect();
        if all.is_empty() {
            return false;
        }
        let received = self.desk.office.received(&self.to);
        let has = |label: Label| {
            let mails = all.iter().filter(|view| view.action_summary.starts_with("email.send"));
            mails.filter(|view| view.consequence_label == label).count()
        };
        assert!(all.iter().all(|view| !view.is_still_pending), "{}: {all:#?}", self.to);
        assert!(received <= 1 + self.more, "{received} mails: {all:#?}");
        assert!(has(Label::Success) <= 1, "{all:#?}");
        let took_place = has(Label::Success) + has(Label::Contradicted);
        if took_place == 0 {
            // Declined, withdrawn, expired, or sent by a worker that a person had overridden, and that was
            // killed before it could say so.
            assert!(received == 0 || self.more > 0, "{all:#?}");
        } else {
            assert!(received > 0, "{all:#?}");
        }
        let figures = &self.desk.figures;
        count(if received > 0 { &figures.sent } else { &figures.not_sent });
        figures.contradicted.fetch_add(has(Label::Contradicted), Ordering::Relaxed);
        if received > 1 {
            count(&figures.mails_that_came_twice);
        }
        true
    }
}

/// A person's task about an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Todo {
    /// Approve or decline it.
    Answer,
    /// Look into the mailbox, and say what is there.
    Confirm,
    /// Wait for its worker, or shut it out.
    Wait,
    /// Let a worker start it, or cancel it.
    Start,
    Requeue,
    Retry,
}
