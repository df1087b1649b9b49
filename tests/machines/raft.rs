//! The roles of a Raft server (Ongaro and Ousterhout, "In Search of an Understandable Consensus
//! Algorithm", 2014: figure 4 for the states, figure 2 for the rules).
//!
//! The rule for all servers, "if RPC request or response contains term T > currentTerm: set
//! currentTerm = T, convert to follower", is the move `discover_term` of every role. A server that
//! receives a message makes this move first, so the other moves only see messages of the current
//! term and refuse those of an older one. Logs are left out, and with them the check that a
//! candidate's log is up to date.

use std::{collections::BTreeSet, fmt, time::Duration};

use machine::{
    actor::{Actor, Category},
    machine,
};
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
