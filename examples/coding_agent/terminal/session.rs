use std::{
    env,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use coding_agent::{
    plan::{
        agent::Agent,
        attempt::{pause, why_left},
        consent::{Bounds, Scope},
        hands::{Act, Deed, Hands, lock},
        job::{
            Answer, AnyJob, Job, Limits,
            job::{self, AwaitingConfirmation, Driver},
        },
        model::Plan,
        trouble::Trouble,
        work::Summary,
    },
    planner::Planner,
    workspace::{
        edits::Workspace,
        refusal::{
            Code::{E_CONFLICT, E_INVALID_ARGS, E_IO},
            Refusal, Why,
        },
    },
};
use machine::{
    observe::{Detail, NextStep, Observer},
    prelude::*,
    text::shell_word,
    view,
};
use machine_console::http::{Http, serve};
use tokio::{net::TcpListener, time::sleep};

use super::{
    cli::{Do, Exit, Said, tell_displaced},
    face::{Face, Told, fail},
    preview::{preview, rate},
    repository,
    watched::{Log, Watched},
};

/// The name of the program among actors.
const NAME: &str = "coding-agent";

/// The file of the jobs in the store.
const JOBS: &str = "jobs.db";

const NOT_CONFIRMED: Why = (E_INVALID_ARGS, "this plan waits for a confirmation: name its id");
const NOT_ASKED: Why =
    (E_INVALID_ARGS, "the job does not ask for that in this state: `do` alone says what it asks");

/// Of a command that is no check, a person is asked.
const INTERRUPTED: &str = "The command was interrupted: after `applied` the next call is made, and \
                           after `not-applied` it runs again. ";

/// A path that no program reads as an option.
fn no_option(path: &Path) -> PathBuf {
    let is_option = path.as_os_str().as_encoded_bytes().starts_with(b"-");
    if is_option { Path::new(".").join(path) } else { path.to_owned() }
}

/// The job of a folder, with a planner.
pub struct Session<P> {
    asked: Do,
    planner: P,
    workspace: Arc<Mutex<Workspace>>,
    jobs: Store,
    store: PathBuf,
    face: Face,
    /// The command that goes on with the job.
    again: String,
}

impl<P: Planner + Clone> Session<P> {
    /// Locks the folder, and opens the file of its jobs.
    pub async fn open(asked: Do, folder: &Path, store: &Path, planner: P) -> Result<Self, Failure> {
        let [folder, store] = [folder, store].map(no_option);
        let workspace = Workspace::open(&folder, &store, Box::new(|_, _| Ok(())))?;
        let program = env::args_os().next().unwrap_or_else(|| "coding_agent".into());
        let [program, at, kept] = [Path::new(&program), &folder, &store].map(shell_word);
        let mut again = format!("{program} do --folder {at} --store {kept}");
        let script = asked.script.as_deref().map(|script| shell_word(no_option(script)));
        again.extend(script.map(|script| format!(" --script {script}")));
        let jobs = Store::sqlite(store.join(JOBS)).await?;
        let face = Face::new(asked.json);
        let workspace = Arc::new(Mutex::new(workspace));
        Ok(Self { asked, planner, workspace, jobs, store, face, again })
    }

    /// Drives the job until it is done, or asks what nobody answers.
    pub async fn drive(&self) -> Result<Exit, Failure> {
        let Some(id) = self.begin().await? else {
            let folder = lock(&self.workspace).folder.path.display().to_string();
            let none = Trouble::new(E_INVALID_ARGS, folder, "no task is open: pass one");
            fail(&none, self.asked.json);
            return Ok(Exit::Usage);
        };
        self.go_on(id).await.map_err(|error| Trouble::told(&error, id, E_IO).into())
    }

    async fn go_on(&self, id: Id) -> Result<Exit, Failure> {
        self.serve().await?;
        let (mut said, by) = (self.asked.said.as_ref(), &self.asked.by);
        let job: AnyJob = self.jobs.load(id).await?;
        let log = Arc::new(Mutex::new(Log::new(&job, self.face.clone())));
        if let Some(why) =
            said.and_then(|said| said.cancel.clone()).filter(|_| job.goal().is_some())
        {
            let message = Message::new(&job::Event::Cancel { why: Some(why) }, by)?;
            self.jobs.send(id, &message).await?;
            said = None;
        }
        // It may have been set aside, when its planner could not be asked.
        self.jobs.requeue(id, &[]).await?;
        loop {
            let began = self.jobs.now();
            // An answer on the command line comes first.
            if said.is_none() {
                self.work(&log).await?;
            }
            let job: AnyJob = self.jobs.load(id).await?;
            lock(&log).tell(&job);
            match (job, said.take()) {
                (AnyJob::Clarifying(job), said) if said.is_none_or(|it| !it.answer.is_empty()) => {
                    let questions = &job.state().questions;
                    let answer = match said {
                        Some(said) => Some(said.answer.join("\n")),
                        None => self.face.answers(questions)?,
                    };
                    let Some(answer) = answer else {
                        return Ok(self.asks(questions, &[format!("{} --answer TEXT", self.again)]));
                    };
                    self.jobs.commit(&mut job.clarification_answer(answer, by)).await?;
                }
                (AnyJob::AwaitingConfirmation(job), said) => {
                    let answer = match said {
                        Some(said) => Some(self.said(said, &job)?),
                        None => self.consent(&job)?,
                    };
                    let Some(answer) = answer else {
                        return Ok(self.asks(&[], &self.ways(&job)));
                    };
                    self.jobs.commit(&mut AnyJob::from(job.confirm(answer, by))).await?;
                }
                (job, Some(_)) => return Err(Refusal::new(job.status(), NOT_ASKED).into()),
                (AnyJob::Done(job), None) => return self.end(&job.state().summary),
                (job, None) => {
                    let observer = Observer::new(&self.jobs);
                    let left = Box::pin(observer.detail::<view::Human>(id)).await?;
                    let failed = lock(&log).failed.take();
                    let lasts = failed.as_ref().is_some_and(|(_, lasts)| *lasts);
                    let pause = pause(&left, began, self.jobs.now()).filter(|_| !lasts);
                    let Some(pause) = pause else {
                        return self.stuck(&job, &left, failed.map(|(trouble, _)| trouble));
                    };
                    if let Some((Trouble { detail, .. }, _)) = failed {
                        self.face.note(&format!("{detail}; it is tried again"));
                    }
                    sleep(pause).await;
                }
            }
        }
    }

    /// The job that is open, or a new one; without a task also one that is done.
    async fn begin(&self) -> Result<Option<Id>, Failure> {
        let newest = self.jobs.load_all::<AnyJob>(&Query::new().newest_first().limit(1)).await?;
        let newest = newest.items.into_iter().next().transpose()?;
        let open = newest.as_ref().and_then(|job| Some((job.id(), job.goal()?)));
        if open.is_some() && !self.asked.ends() {
            // Its own edits are changes, too.
            repository::check(&lock(&self.workspace).folder.path, true)?;
        }
        let Some(task) = &self.asked.task else { return Ok(newest.map(|job| job.id())) };
        if let Some((id, goal)) = open {
            // Answers are added to a goal, each as a line.
            if goal == task || goal.starts_with(&format!("{task}\n")) {
                return Ok(Some(id));
            }
            let ways = "`do` without a task goes on with it, and `--cancel WHY` ends it";
            let why = (E_CONFLICT, format!("{ways}: {goal:?}"));
            return Err(Refusal::new("another task is open", why).into());
        }
        repository::check(&lock(&self.workspace).folder.path, self.asked.dirty)?;
        let mut job = Job::new(Limits::default()).user_message(task.clone(), &self.asked.by);
        self.jobs.create(&mut job).await?;
        Ok(Some(job.id()))
    }

    /// The answer to a plan on the command line.
    fn said(&self, said: &Said, job: &Job<AwaitingConfirmation>) -> Result<Answer, Refusal> {
        let (plan, first) = (&job.work().plan.id, job.work().first());
        match (&said.decline, said.once) {
            (Some(why), _) => Ok(Answer::No(why.clone())),
            (_, Some(once)) if first == Some(once) => Ok(Answer::Yes(Scope::Once(once))),
            _ if said.confirm.as_ref() == Some(plan) => {
                Ok(Answer::Yes(Scope::Plan(self.bounds(job))))
            }
            _ => Err(Refusal::new(plan, NOT_CONFIRMED)),
        }
    }

    /// Works until nothing is ready.
    async fn work(&self, log: &Arc<Mutex<Log>>) -> Result<(), Failure> {
        let workspace = Arc::clone(&self.workspace);
        let hands = Hands { workspace: Arc::clone(&workspace), jobs: self.jobs.clone() };
        let agent = Agent { planner: self.planner.clone(), workspace, rate };
        let handler = Watched(Driver(agent), Arc::clone(log));
        let worker = Worker::new(&self.jobs, Actors::issue(NAME)?).handler(handler).tool(hands);
        Ok(worker.run_until_idle().await?)
    }

    /// Shows a plan, and asks for its confirmation; `None` if nobody answers.
    fn consent(&self, job: &Job<AwaitingConfirmation>) -> Result<Option<Answer>, Failure> {
        let (work, bounds) = (job.work(), &self.bounds(job));
        let (diff, objections) = &preview(&lock(&self.workspace), work, bounds);
        self.face.tell(&Told::Plan { plan: &work.plan, diff, bounds, objections });
        self.warn(&work.plan);
        if self.asked.yes && objections.is_empty() {
            self.face.note("`--yes` confirms it");
            return Ok(Some(Answer::Yes(Scope::Plan(bounds.clone()))));
        }
        Ok(self.face.confirmation(bounds.clone(), work.first())?)
    }

    /// Says how commands run, before a person confirms the first one.
    fn warn(&self, plan: &Plan) {
        if plan.runs().next().is_none() {
            return;
        }
        let folder = lock(&self.workspace).folder.path.clone();
        let store = self.store.canonicalize().unwrap_or_default();
        // The store is of the folder at this path, and on the same filesystem.
        let mount = folder.ancestors().skip(1).find(|it| store.starts_with(it));
        let paths = [mount.unwrap_or(&folder), folder.as_path(), store.as_path()];
        let [mount, folder, store] = paths.map(shell_word);
        self.face.note(&format!(
            "Not sandboxed: a command can do what you can do. In a container, it is limited to \
             what you mount, which is the folder with its store, at the same path: docker run \
             --rm -it --user \"$(id -u):$(id -g)\" --volume {mount}:{mount} IMAGE coding_agent do \
             --folder {folder} --store {store}"
        ));
    }

    /// What the confirmation of a plan allows, until the time for the request is over.
    fn bounds(&self, job: &Job<AwaitingConfirmation>) -> Bounds {
        let Limits { repairs, request, .. } = job.context();
        let request = i64::try_from(request.as_millis()).unwrap_or(i64::MAX);
        let until = self.jobs.now().saturating_add(request);
        let repairs = usize::try_from(*repairs).unwrap_or_default();
        Bounds::of(&job.work().plan, repairs, until)
    }

    /// The commands that answer a plan.
    fn ways(&self, job: &Job<AwaitingConfirmation>) -> Vec<String> {
        let (work, again) = (job.work(), &self.again);
        let mut ways = vec![format!("{again} --confirm {}", work.plan.id)];
        ways.extend(work.first().map(|first| format!("{again} --once {first}")));
        ways.push(format!("{again} --decline WHY"));
        ways
    }

    fn asks(&self, questions: &[String], commands: &[String]) -> Exit {
        self.face.tell(&Told::Asks { questions, commands });
        Exit::Asks
    }

    fn end(&self, summary: &Summary) -> Result<Exit, Failure> {
        let workspace = lock(&self.workspace);
        let undone = workspace.undone()?;
        self.face.tell(&Told::Summary(&summary.clone().without(&undone)));
        for (act, set) in &summary.what {
            if let Some(set) = set.filter(|set| undone.contains(set)) {
                self.face.note(&format!("edits {set}: undone since then: {act}"));
            }
        }
        tell_displaced(&workspace, &self.store, &self.face)?;
        Ok(if summary.blocked.is_none() { Exit::Done } else { Exit::Blocked })
    }

    /// A person has to say whether the call in doubt took effect, or to look at what failed.
    fn stuck(&self, job: &AnyJob, left: &Detail, failed: Option<Trouble>) -> Result<Exit, Failure> {
        let machine = self.machine();
        let is_doubt = |step: &&NextStep| matches!(step, NextStep::Confirm { .. });
        let mut open = left.children.iter().filter_map(|child| child.open.as_ref());
        let doubt = open.find(|open| open.next.iter().any(|step| is_doubt(&step)));
        if let (Some(open), None) = (doubt, &failed) {
            let is_command = matches!(job, AnyJob::Executing(job)
                if matches!(&job.state().act, Some(Act { deed: Deed::Run(_), .. })));
            let interrupted = if is_command { INTERRUPTED } else { "" };
            let question = format!(
                "It is not known whether this call took effect: {}. {interrupted}Check that, \
                 confirm what you find, and continue with `{}`.",
                open.summary, self.again
            );
            let ways = open.next.iter().filter(is_doubt).map(|step| format!("{machine} {step}"));
            return Ok(self.asks(&[question], &ways.collect::<Vec<_>>()));
        }
        // If none has failed, the worker of this program has left it alone.
        let failed = failed.unwrap_or_else(|| Trouble::new(E_IO, job.id(), why_left(left)));
        let Trouble { code, detail, .. } = failed;
        let (status, id) = (job.status(), job.id());
        let why = format!(
            "the job is {status} and does not go on: {detail}\n`{machine} show {id}` says more"
        );
        Err(Trouble::new(code, id, why).into())
    }

    /// The command that looks at the jobs.
    fn machine(&self) -> String {
        format!("machine --db {}", shell_word(self.store.join(JOBS)))
    }

    /// Serves the inspector until the program ends.
    async fn serve(&self) -> Result<(), Failure> {
        let Some(address) = self.asked.serve else { return Ok(()) };
        let listener = TcpListener::bind(address).await?;
        self.face.note(&format!("http://{}/inspector/ shows the job", listener.local_addr()?));
        let http = Http::new(&self.jobs, Actors::issue("inspector")?).machine::<AnyJob>();
        let http = http.command(self.machine()).database(JOBS);
        tokio::spawn(serve(listener, http, std::future::pending()));
        Ok(())
    }
}
