//! People decide about several mails at once, in processes that are killed, frozen and thawed at
//! random moments.

use std::{
    collections::HashMap,
    env,
    os::unix::process::ExitStatusExt,
    process::{Child, Output},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use machine::{
    Id,
    contract::{AnyExecution, Tool},
    store::Query,
    view::{ConsequenceView, Label},
};
use mailin::{Response, response};

use crate::{
    mail::SendMail,
    server::Step,
    world::{World, errors, printed, signal},
};

/// How many mails share a database and a server.
const MAILS: u64 = 6;

/// How long the server takes at most for an answer.
const SLOW: Duration = Duration::from_millis(60);

/// `CRASH_ROUNDS` mails (default 18), with the random seed `CRASH_SEED`.
///
/// A round is the life of one mail: people approve, decline, withdraw, retry, fence and settle it, some
/// of them at the same time, and their processes are killed, or frozen and thawed or killed later. They
/// do what `status` says, and tell what they find in the mailbox; now and then one of them frees a key
/// by name, without a look. It ends when nothing is left to do.
///
/// At most one mail per key arrives, and one more for each time that somebody freed it by name; what was
/// reported as ended stays as reported; nothing gets stuck; every history verifies, and no lock file is
/// left.
#[test]
#[allow(clippy::print_stdout, reason = "the seed must be known when it fails")]
fn killed_and_frozen_at_random_moments() {
    let rounds = number("CRASH_ROUNDS", 18);
    let seed = number("CRASH_SEED", 0x2545_f491_4f6c_dd1d);
    let whole_run = measure();
    println!("{rounds} rounds from seed {seed}; an approval takes {whole_run:?}");
    let figures = Arc::new(Figures::default());
    for first in (0..rounds).step_by(usize::try_from(MAILS).unwrap()) {
        let desk = Arc::new(Desk::new(Arc::clone(&figures), whole_run));
        let mails: Vec<_> = (first..rounds.min(first + MAILS))
            .map(|round| {
                let random = Random(seed ^ round.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
                let people = People::new(Arc::clone(&desk), round, random);
                thread::spawn(move || people.work())
            })
            .collect();
        let ended: Vec<_> = mails.into_iter().map(JoinHandle::join).collect();
        assert!(ended.iter().all(Result::is_ok), "rounds from {first} of seed {seed}");
        desk.check();
    }
    println!("{figures:#?}");
}

/// What happened, for the record.
#[derive(Debug, Default)]
struct Figures {
    processes: AtomicUsize,
    killed: AtomicUsize,
    frozen: AtomicUsize,
    sent: AtomicUsize,
    not_sent: AtomicUsize,
    refused_by_the_server: AtomicUsize,
    found_in_doubt: AtomicUsize,
    freed_by_name: AtomicUsize,
    contradicted: AtomicUsize,
    mails_that_came_twice: AtomicUsize,
}

fn count(figure: &AtomicUsize) {
    figure.fetch_add(1, Ordering::Relaxed);
}

/// What the server and the people share.
struct Office {
    /// The mails that arrived, by recipient.
    mailbox: Mutex<HashMap<String, usize>>,
    /// The processes that the server stops when it hears of a mail to this recipient. Nobody waits for
    /// the end of one that is in here.
    to_stop: Mutex<HashMap<u32, String>>,
    steps: AtomicUsize,
    figures: Arc<Figures>,
}

impl Office {
    /// The policy of the server.
    fn answer(&self, step: Step<'_>) -> Response {
        let number = self.steps.fetch_add(1, Ordering::Relaxed);
        match step {
            Step::Recipient(_) if number % 5 == 4 => {
                count(&self.figures.refused_by_the_server);
                return Response::custom(450, "4.7.1 come back later".to_owned());
            }
            Step::Recipient(to) if number.is_multiple_of(2) => self.stop_those_who_send_to(to),
            Step::Recipient(_) => {}
            Step::Stored(mail) => {
                let mail = String::from_utf8_lossy(mail);
                let to = mail.lines().find_map(|line| line.strip_prefix("To: ")).unwrap();
                *self.mailbox.lock().unwrap().entry(to.to_owned()).or_default() += 1;
                self.stop_those_who_send_to(to);
            }
        }
        // It takes its time, so that many processes end while they wait for it.
        thread::sleep(SLOW / 6 * u32::try_from(number % 7).unwrap());
        response::OK
    }

    fn stop_those_who_send_to(&self, to: &str) {
        for (process, _) in self.to_stop.lock().unwrap().extract_if(|_, mail| mail == to) {
            signal(process, "STOP");
        }
    }

    fn received(&self, to: &str) -> usize {
        self.mailbox.lock().unwrap().get(to).copied().unwrap_or_default()
    }
}

/// A database and a server.
struct Desk {
    world: World,
    office: Arc<Office>,
    /// What processes complained about.
    complaints: Mutex<Vec<String>>,
    /// What processes reported as ended.
    reported: Mutex<Vec<(Id, String)>>,
    figures: Arc<Figures>,
    whole_run: Duration,
}

impl Desk {
    fn new(figures: Arc<Figures>, whole_run: Duration) -> Self {
        let office = Arc::new(Office {
            mailbox: Mutex::default(),
            to_stop: Mutex::default(),
            steps: AtomicUsize::new(0),
            figures: Arc::clone(&figures),
        });
        let server = Arc::clone(&office);
        Self {
            world: World::with(move |step| server.answer(step)),
            office,
            complaints: Mutex::default(),
            reported: Mutex::default(),
            figures,
            whole_run,
        }
    }

    /// Takes note of how a process ended, and of what it reported.
    fn note(&self, command: &str, output: &Output) {
        count(&self.figures.processes);
        match (output.status.code(), output.status.signal()) {
            (Some(0 | 1), _) => {}
            (None, Some(9)) => count(&self.figures.killed),
            _ => panic!("{command}: {output:?}"),
        }
        self.complaints.lock().unwrap().push(format!("{command}: {}", errors(output)));
        let printed = printed(output);
        // The last line may be cut by a kill.
        let lines = printed.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let items = lines.filter_map(item);
        let ended = ["SUCCESS", "FAILED", "REJECTED", "CANCELLED"];
        let ended = items.filter(|(_, label)| ended.contains(&label.as_str()));
        self.reported.lock().unwrap().extend(ended);
    }

    /// After the last process.
    fn check(&self) {
        let status = self.world.ok("status");
        self.world.verify();
        for (id, label) in self.reported.lock().unwrap().drain(..) {
            let now = self.world.label(id);
            let kept = now.to_string() == label;
            let contradicted = label == "FAILED" && now == Label::Contradicted;
            assert!(kept || contradicted, "{id} was reported as {label}, and is {now}: {status}");
        }
    }
}

/// The id and the label of a line of the program.
fn item(line: &str) -> Option<(Id, String)> {
    let (id, rest) = line.split_once("  [")?;
    let label = rest.split([']', ' ']).next()?;
    Some((id.parse().ok()?, label.to_owned()))
}

/// Those who decide about one mail.
struct People {
    desk: Arc<Desk>,
    to: String,
    random: Random,
    running: Vec<JoinHandle<()>>,
    /// How many processes may still be killed or frozen.
    trouble: u64,
    /// How many mails more than one may arrive, because somebody freed the key by name.
    more: usize,
}

impl People {
    fn new(desk: Arc<Desk>, round: u64, mut random: Random) -> Self {
        let trouble = 3 + random.below(8);
        let to = format!("round-{round}@example.com");
        Self { desk, to, random, running: Vec::new(), trouble, more: 0 }
    }

    fn work(mut self) {
        let mut last = String::new();
        for _ in 0..1_000 {
            // Before the look: what ends after it is seen in the next one.
            self.running.retain(|process| !process.is_finished());
            let idle = self.running.is_empty();
            let status = self.desk.world.run("status");
            last = printed(&status) + &errors(&status);
            let open = open(&printed(&status), &self.to);
            for (id, next) in &open {
                self.act(*id, next);
            }
            if open.is_empty() && idle && status.status.success() {
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

    fn ask(&mut self) {
        let expires = if self.random.one_in(5) { "--expires 400ms" } else { "" };
        let to = self.to.clone();
        self.run(&format!("ask --to {to} --timeout 150ms {expires}"));
    }

    /// Does what `status` says.
    fn act(&mut self, id: Id, next: &str) {
        match next.split(' ').next().unwrap() {
            "approve" => {
                let approve = |name: &str| format!("approve {id} --yes --as {name}");
                let decline = format!("decline {id} --as eve");
                match self.random.below(8) {
                    0..3 => self.run(&approve("ann")),
                    3..6 => self.run_at_once(&[&approve("ann"), &approve("tom")]),
                    6 => self.run_at_once(&[&approve("ann"), &decline]),
                    _ => self.run_at_once(&[&decline, &format!("withdraw {id}")]),
                }
            }
            "settle" => self.settle(id),
            "wait," if self.random.one_in(8) => self.run(&format!("fence {id}")),
            "wait," => {}
            "send" => {
                let told = self.run_calmly(&format!("send {id}"));
                // Another attempt was faster, or the approval has expired.
                if told.contains("has already done what") || told.contains("expired") {
                    self.run(&format!("cancel {id}"));
                }
            }
            "cancel" => self.run(&format!("cancel {id}")),
            "retry" if self.random.one_in(2) => {
                self.run_at_once(&[
                    &format!("retry {id} --as ann"),
                    &format!("retry {id} --as tom"),
                ]);
            }
            "retry" => self.run(&format!("retry {id} --as ann")),
            other => panic!("nobody knows how to `{other}`: {next}"),
        }
    }

    /// Somebody looks into the mailbox, and says what is there.
    fn settle(&mut self, id: Id) {
        count(&self.desk.figures.found_in_doubt);
        if self.random.one_in(8) {
            self.free_by_name(id);
            return;
        }
        let looked_at = Instant::now();
        if self.desk.office.received(&self.to) > 0 {
            self.run(&format!("settle {id} sent --as ann"));
            return;
        }
        let told = self.run_calmly(&format!("settle {id} not-sent --as ann"));
        if told.is_empty() && looked_at.elapsed() >= SendMail::SETTLING_TIME {
            // The look was too old to count when it was taken down.
            self.more += 1;
        }
        if told.contains("is alive and may still do it") && self.random.one_in(3) {
            self.free_by_name(id);
        }
    }

    /// Somebody takes responsibility, without a look.
    fn free_by_name(&mut self, id: Id) {
        if self.run_calmly(&format!("settle {id} not-sent --as eve --override")).is_empty() {
            count(&self.desk.figures.freed_by_name);
            self.more += 1;
        }
    }

    /// Runs some commands at the same time.
    fn run_at_once(&mut self, commands: &[&str]) {
        for command in commands {
            let fate = self.fate();
            let (desk, to) = (Arc::clone(&self.desk), self.to.clone());
            let command = (*command).to_owned();
            self.running.push(thread::spawn(move || suffer(&desk, &to, &command, fate)));
        }
    }

    fn run(&mut self, command: &str) {
        self.run_at_once(&[command]);
        if self.random.one_in(2) {
            // Usually one waits for the end.
            drop(self.running.pop().map(JoinHandle::join));
        }
    }

    /// Runs a command to its end; returns its error.
    fn run_calmly(&self, command: &str) -> String {
        let output = self.desk.world.run(command);
        self.desk.note(command, &output);
        errors(&output)
    }

    fn fate(&mut self) -> Fate {
        if self.trouble == 0 || self.random.one_in(4) {
            return Fate::Lives;
        }
        self.trouble -= 1;
        let longest = u64::try_from((self.desk.whole_run + 2 * SLOW).as_micros()).unwrap();
        let when = if self.random.one_in(2) {
            When::Sending
        } else {
            When::After(Duration::from_micros(self.random.below(longest)))
        };
        if self.random.one_in(2) {
            return Fate::Killed { when };
        }
        // Longer than the timeout, most of the time.
        let thaws_after = Duration::from_millis(self.random.below(800));
        Fate::Frozen { when, thaws_after, killed: self.random.one_in(3) }
    }

    /// Whether the mail ended as it should, when there is nothing left to do.
    fn end(&self) -> bool {
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
            // Declined, withdrawn, expired, or sent by a process that somebody had overridden, and
            // that was killed before it could say so.
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

/// What somebody can do about the mails to this recipient, by id. What is only for information, and a
/// retry of what is in the mailbox, does not count.
fn open(status: &str, to: &str) -> Vec<(Id, String)> {
    let mut open = Vec::new();
    let mut of = None;
    for line in status.lines() {
        match (item(line), line.strip_prefix("    next: ")) {
            (Some((id, _)), _) => of = line.contains(to).then_some(id),
            (None, Some(next)) if !next.starts_with("tell") => {
                open.extend(of.map(|id| (id, next.to_owned())));
            }
            _ => {}
        }
    }
    open
}

/// What happens to a process.
#[derive(Clone, Copy)]
enum Fate {
    Lives,
    Killed { when: When },
    Frozen { when: When, thaws_after: Duration, killed: bool },
}

#[derive(Clone, Copy)]
enum When {
    After(Duration),
    /// The server has heard of a mail to the same recipient, and has not answered yet.
    Sending,
}

/// Runs a command to its end, successful or not.
fn suffer(desk: &Desk, to: &str, command: &str, fate: Fate) {
    // Locked, so that the server knows the process before it hears from it.
    let mut to_stop = desk.office.to_stop.lock().unwrap();
    let mut child = desk.world.command(command).spawn().unwrap();
    if let Fate::Killed { when: When::Sending } | Fate::Frozen { when: When::Sending, .. } = fate {
        to_stop.insert(child.id(), to.to_owned());
    }
    drop(to_stop);
    match fate {
        Fate::Lives => {}
        Fate::Killed { when } => {
            if is_alive(desk, &mut child, when) {
                child.kill().unwrap();
            }
        }
        Fate::Frozen { when, thaws_after, killed } => {
            if is_alive(desk, &mut child, when) {
                count(&desk.figures.frozen);
                signal(child.id(), "STOP");
                thread::sleep(thaws_after);
                if killed {
                    child.kill().unwrap();
                } else {
                    signal(child.id(), "CONT");
                }
            }
        }
    }
    desk.note(command, &child.wait_with_output().unwrap());
}

/// Waits until then. Whether the process is alive.
fn is_alive(desk: &Desk, child: &mut Child, when: When) -> bool {
    if let When::After(time) = when {
        thread::sleep(time);
        return child.try_wait().unwrap().is_none();
    }
    loop {
        let mut to_stop = desk.office.to_stop.lock().unwrap();
        if !to_stop.contains_key(&child.id()) {
            // The server has stopped it.
            return true;
        }
        if child.try_wait().unwrap().is_some() {
            to_stop.remove(&child.id());
            return false;
        }
        drop(to_stop);
        thread::sleep(Duration::from_millis(2));
    }
}

/// xorshift64: reproducible for a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end.max(1)
    }

    fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }
}

/// The duration of an approval that nobody disturbs, at its best.
fn measure() -> Duration {
    let world = World::new();
    let runs = (0..5).map(|number| {
        let (gate, _) = world.ask_for(&format!("--to measure-{number}@example.com"));
        let start = Instant::now();
        world.ok(&format!("approve --yes {gate} --as ann"));
        start.elapsed()
    });
    runs.min().unwrap()
}

fn number(variable: &str, usual: u64) -> u64 {
    match env::var(variable) {
        Ok(text) => {
            text.parse().unwrap_or_else(|_| panic!("{variable} is `{text}`, which is not a number"))
        }
        Err(_) => usual,
    }
}
