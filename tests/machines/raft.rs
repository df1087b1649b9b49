//! The roles of a Raft server (Ongaro and Ousterhout, "In Search of an Understandable Consensus
//! Algorithm", 2014: figure 4 for the states, figure 2 for the rules).
//!
//! The rule for all servers, "if RPC request or response contains term T > currentTerm: set
//! currentTerm = T, convert to follower", is the move `discover_term` of every role. A server that
//! receives a message makes this move first, so the other moves only see messages of the current
//! term and refuse those of an older one. Logs are left out, and with them the check that a
//! candidate's log is up to date.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt,
    time::Duration,
};

use machine::{
    actor::{Actor, Anyone, Category},
    machine,
};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use crate::machines::source::Source;

/// The server's clock.
struct Timer;

impl Actor for Timer {
    const KIND: &'static str = "timer";
    const CATEGORY: Category = Category::System;
}

type ServerId = u8;
type Term = u64;

/// The server and its cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Server {
    id: ServerId,
    /// The number of servers.
    cluster: usize,
}

impl Server {
    fn is_majority(&self, votes: usize) -> bool {
        votes > self.cluster / 2
    }

    /// Differs from server to server and from term to term, so that votes are rarely split
    /// (section 5.2).
    fn election_timeout(&self, term: Term) -> Duration {
        Duration::from_millis(150 + (u64::from(self.id) * 37 + term * 11) % 150)
    }
}

const HEARTBEAT: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RequestVote {
    term: Term,
    candidate: ServerId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Vote {
    term: Term,
    voter: ServerId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AppendEntries {
    term: Term,
    leader: ServerId,
}

/// Why a message is ignored.
#[derive(Debug, PartialEq, Eq)]
enum Ignored {
    /// Its term is not the current one.
    OtherTerm(Term),
    /// Its term is not newer.
    NotNewer(Term),
    /// The server has voted for another candidate in this term.
    VotedFor(ServerId),
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherTerm(term) => write!(f, "the current term is {term}"),
            Self::NotNewer(term) => write!(f, "the current term is {term} already"),
            Self::VotedFor(candidate) => write!(f, "the vote went to server {candidate}"),
        }
    }
}

fn same(term: Term, found: Term) -> Result<(), Ignored> {
    if found == term { Ok(()) } else { Err(Ignored::OtherTerm(term)) }
}

/// The current term, in any role.
trait CurrentTerm {
    fn term(&self) -> Term;
}

impl CurrentTerm for raft::Follower {
    fn term(&self) -> Term {
        self.term
    }
}

impl CurrentTerm for raft::Candidate {
    fn term(&self) -> Term {
        self.term
    }
}

impl CurrentTerm for raft::Leader {
    fn term(&self) -> Term {
        self.term
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "guards borrow the payload")]
fn is_newer(state: &impl CurrentTerm, _: &Server, newer: &Term) -> Result<(), Ignored> {
    if *newer > state.term() { Ok(()) } else { Err(Ignored::NotNewer(state.term())) }
}

fn is_of_this_term(
    state: &impl CurrentTerm,
    _: &Server,
    rpc: &AppendEntries,
) -> Result<(), Ignored> {
    same(state.term(), rpc.term)
}

fn is_counted(state: &raft::Candidate, _: &Server, vote: &Vote) -> Result<(), Ignored> {
    same(state.term, vote.term)
}

/// Figure 2, `RequestVote` RPC: "if votedFor is null or candidateId, grant vote".
fn vote_is_free(state: &raft::Follower, _: &Server, rpc: &RequestVote) -> Result<(), Ignored> {
    same(state.term, rpc.term)?;
    match state.voted_for {
        Some(other) if other != rpc.candidate => Err(Ignored::VotedFor(other)),
        _ => Ok(()),
    }
}

fn with(mut votes: BTreeSet<ServerId>, voter: ServerId) -> BTreeSet<ServerId> {
    votes.insert(voter);
    votes
}

/// A server of a cluster.
#[machine(
    context = Server,
    fields(term: Term, voted_for: Option<ServerId>),
    on(discover_term(newer: Term, term = newer, voted_for = None) => Follower, from = Role,
       guard = is_newer -> Ignored)
)]
#[derive(Debug, Clone, PartialEq)]
enum Raft {
    /// Answers leaders and candidates.
    #[initial]
    #[group(Role)]
    #[on(election_timeout(
            term = term + 1,
            voted_for = Some(context.id),
            votes = BTreeSet::from([context.id]),
         ) => Candidate, by = Timer, after = context.election_timeout(term))]
    #[on(append_entries(rpc: AppendEntries) => Follower, guard = is_of_this_term -> Ignored)]
    #[on(request_vote(rpc: RequestVote, voted_for = Some(rpc.candidate)) => Follower,
         guard = vote_is_free -> Ignored)]
    Follower,

    /// Asks for votes.
    #[group(Role)]
    #[on(election_timeout(term = term + 1, votes = BTreeSet::from([context.id])) => Candidate,
         by = Timer, after = context.election_timeout(term))]
    #[on(append_entries(rpc: AppendEntries) => Follower, guard = is_of_this_term -> Ignored)]
    #[on(count_vote(vote: Vote) => if context.is_majority(with(votes.clone(), vote.voter).len()) {
        Leader
    } else {
        Self(votes = with(votes, vote.voter))
    }, guard = is_counted -> Ignored)]
    Candidate { votes: BTreeSet<ServerId> },

    /// Replicates its log to the others.
    #[group(Role)]
    #[on(heartbeat => Leader, by = Timer, after = HEARTBEAT)]
    Leader,
}

pub(crate) use raft::DEFINITION;

#[test]
fn the_table_is_that_of_the_source() {
    Source {
        states: &["follower", "candidate", "leader"],
        initial: "follower",
        terminal: &[],
        stable: &[],
        rows: &[
            // Figure 4: "times out, starts election", "times out, new election".
            ("follower", "election_timeout", "candidate"),
            ("candidate", "election_timeout", "candidate"),
            // "receives votes from majority of servers", and too few votes.
            ("candidate", "count_vote", "leader"),
            ("candidate", "count_vote", "candidate"),
            // "discovers current leader or new term", "discovers server with higher term".
            ("candidate", "append_entries", "follower"),
            ("candidate", "discover_term", "follower"),
            ("leader", "discover_term", "follower"),
            // Figure 2: what a follower answers, and what a leader sends during idle periods.
            ("follower", "discover_term", "follower"),
            ("follower", "append_entries", "follower"),
            ("follower", "request_vote", "follower"),
            ("leader", "heartbeat", "leader"),
        ],
        deadlines: &[
            ("follower", "election_timeout", "context.election_timeout(term)"),
            ("candidate", "election_timeout", "context.election_timeout(term)"),
            ("leader", "heartbeat", "HEARTBEAT"),
        ],
    }
    .matches(DEFINITION);
}

fn server(id: ServerId) -> Raft<raft::Follower> {
    Raft::new(Server { id, cluster: 5 }, 0, None)
}

#[test]
fn typed_a_majority_elects_a_leader() {
    use raft::AfterCountVote;

    let candidate = server(1).election_timeout(&Timer);
    let expected = raft::Candidate { term: 1, voted_for: Some(1), votes: BTreeSet::from([1]) };
    assert_eq!(candidate.state(), &expected);

    let vote = |voter| Vote { term: 1, voter };
    let AfterCountVote::Candidate(candidate) = candidate.count_vote(vote(2)).unwrap() else {
        panic!("two of five are no majority")
    };
    // A vote that arrives twice counts once.
    let AfterCountVote::Candidate(candidate) = candidate.count_vote(vote(2)).unwrap() else {
        panic!("still two of five")
    };
    let refused = candidate.count_vote(Vote { term: 0, voter: 4 }).unwrap_err();
    assert_eq!(refused.reason, Ignored::OtherTerm(1));
    let AfterCountVote::Leader(leader) = refused.machine.count_vote(vote(3)).unwrap() else {
        panic!("three of five are a majority")
    };
    assert_eq!(leader.deadlines().next().unwrap().after, HEARTBEAT);

    let refused = leader.heartbeat(&Timer).discover_term(1).unwrap_err();
    assert_eq!(refused.reason, Ignored::NotNewer(1));
    let follower = refused.machine.discover_term(2).unwrap();
    assert_eq!(follower.state(), &raft::Follower { term: 2, voted_for: None });
}

#[test]
fn typed_a_follower_votes_once_in_a_term() {
    let rpc = |candidate| RequestVote { term: 0, candidate };
    let follower = server(1).request_vote(rpc(2)).unwrap();
    let follower = follower.request_vote(rpc(2)).unwrap();
    let refused = follower.request_vote(rpc(3)).unwrap_err();
    assert_eq!(refused.reason, Ignored::VotedFor(2));
    let follower = refused.machine.discover_term(1).unwrap();
    let rpc = RequestVote { term: 1, candidate: 3 };
    assert_eq!(follower.request_vote(rpc).unwrap().state().voted_for, Some(3));
}

#[test]
fn typed_election_timeouts_differ() {
    let after = |id| server(id).deadlines().map(|one| (one.trigger, one.after)).collect::<Vec<_>>();
    let all: BTreeSet<_> = (1..=5).flat_map(after).collect();
    assert_eq!(all.len(), 5);
    let range = Duration::from_millis(150)..Duration::from_millis(300);
    assert!(all.iter().all(|(trigger, one)| *trigger == "election_timeout" && range.contains(one)));
    let candidate = server(1).election_timeout(&Timer);
    let first = candidate.deadlines().next().unwrap();
    let second = candidate.election_timeout(&Timer).deadlines().next().unwrap();
    assert_ne!(first.after, second.after, "the next election has another timeout");
}

fn term(any: &AnyRaft) -> Term {
    match any {
        AnyRaft::Follower(follower) => follower.state().term,
        AnyRaft::Candidate(candidate) => candidate.state().term,
        AnyRaft::Leader(leader) => leader.state().term,
    }
}

#[derive(Debug, Clone, Copy)]
enum Message {
    RequestVote(RequestVote),
    Vote(Vote),
    AppendEntries(AppendEntries),
}

/// A step of the network or the clocks.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// The deadline of a server fires.
    Timeout(usize),
    /// The oldest message arrives.
    Deliver,
    /// The oldest message is lost.
    Lose,
    /// The oldest message arrives after all others.
    Delay,
    /// The oldest message is sent once more.
    Duplicate,
}

/// A cluster and its messages in flight.
struct Cluster {
    servers: Vec<AnyRaft>,
    network: VecDeque<(usize, Message)>,
}

impl Cluster {
    fn new(cluster: u8) -> Self {
        let servers = (0..cluster).map(|id| Server { id, cluster: usize::from(cluster) });
        let servers = servers.map(|server| AnyRaft::from(Raft::new(server, 0, None))).collect();
        Self { servers, network: VecDeque::new() }
    }

    fn make(&mut self, step: Step) {
        match step {
            Step::Timeout(server) => self.time_out(server % self.servers.len()),
            Step::Deliver => {
                if let Some((to, message)) = self.network.pop_front() {
                    self.receive(to, message);
                }
            }
            Step::Lose => drop(self.network.pop_front()),
            Step::Delay => {
                let oldest = self.network.pop_front();
                self.network.extend(oldest);
            }
            Step::Duplicate => {
                let oldest = self.network.front().copied();
                self.network.extend(oldest);
            }
        }
    }

    fn time_out(&mut self, id: usize) {
        let any = self.servers.remove(id);
        let trigger = any.deadlines().next().unwrap().trigger;
        let any = any.fire_deadline(trigger).unwrap();
        let (term, sender) = (term(&any), any.context().id);
        let message = match &any {
            AnyRaft::Leader(_) => Message::AppendEntries(AppendEntries { term, leader: sender }),
            _ => Message::RequestVote(RequestVote { term, candidate: sender }),
        };
        self.servers.insert(id, any);
        let others = (0..self.servers.len()).filter(|other| *other != id);
        self.network.extend(others.map(|other| (other, message)));
    }

    fn receive(&mut self, to: usize, message: Message) {
        use raft::Event;

        let any = &mut self.servers[to];
        let (found, event) = match message {
            Message::RequestVote(rpc) => (rpc.term, Event::RequestVote { rpc }),
            Message::Vote(vote) => (vote.term, Event::CountVote { vote }),
            Message::AppendEntries(rpc) => (rpc.term, Event::AppendEntries { rpc }),
        };
        let _ = any.apply_mut(Event::DiscoverTerm { newer: found }, &Anyone);
        if any.apply_mut(event, &Anyone).is_ok()
            && let Message::RequestVote(rpc) = message
        {
            let vote = Vote { term: rpc.term, voter: any.context().id };
            self.network.push_back((usize::from(rpc.candidate), Message::Vote(vote)));
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0_usize..5).prop_map(Step::Timeout),
        8 => Just(Step::Deliver),
        1 => Just(Step::Lose),
        2 => Just(Step::Delay),
        1 => Just(Step::Duplicate),
    ]
}

proptest! {
    /// Election safety: a term has at most one leader, whatever the network does. A server's term
    /// never decreases, and a server votes at most once in a term.
    #[test]
    fn a_term_has_at_most_one_leader(
        cluster in 2_u8..6,
        steps in prop::collection::vec(step(), 0..200),
    ) {
        let mut cluster = Cluster::new(cluster);
        let mut leaders: BTreeMap<Term, ServerId> = BTreeMap::new();
        let mut votes: BTreeMap<(ServerId, Term), ServerId> = BTreeMap::new();
        for step in steps {
            let before: Vec<Term> = cluster.servers.iter().map(term).collect();
            cluster.make(step);
            for (any, before) in cluster.servers.iter().zip(before) {
                let (id, now) = (any.context().id, term(any));
                prop_assert!(now >= before, "the term of server {id} decreased from {before} to {now}");
                let voted_for = match any {
                    AnyRaft::Follower(follower) => follower.state().voted_for,
                    AnyRaft::Candidate(candidate) => candidate.state().voted_for,
                    AnyRaft::Leader(leader) => {
                        let first = *leaders.entry(now).or_insert(id);
                        prop_assert_eq!(first, id, "two leaders in term {}", now);
                        leader.state().voted_for
                    }
                };
                if let Some(candidate) = voted_for {
                    let first = *votes.entry((id, now)).or_insert(candidate);
                    prop_assert_eq!(first, candidate, "server {} voted twice", id);
                }
            }
        }
    }
}

/// The property above also holds for a cluster that never elects a leader; this one does.
#[test]
fn an_undisturbed_cluster_elects_a_leader() {
    use raft::Status::{Follower, Leader};

    let mut cluster = Cluster::new(5);
    cluster.make(Step::Timeout(3));
    while !cluster.network.is_empty() {
        cluster.make(Step::Deliver);
    }
    let roles: Vec<_> = cluster.servers.iter().map(AnyRaft::status).collect();
    assert_eq!(roles, [Follower, Follower, Follower, Leader, Follower]);
    assert!(cluster.servers.iter().all(|any| term(any) == 1));
}
