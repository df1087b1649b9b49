//! A tool whose service accepts a call, and reports its outcome later.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use machine::{
    Id,
    contract::{
        Answer, Attempt, Call, CallbackToken, Contract, NoReceipt, Perform, Planned, Settled, Tool,
    },
    store::Store,
};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use crate::{
    actors::{reasoning_node, tool_node},
    notified,
};

/// Deploys a version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Tool)]
#[serde(deny_unknown_fields)]
#[tool(cluster.deploy, answers_later, receipt = Live, about = "version {version}")]
pub struct Deploy {
    /// The version.
    pub version: u32,
}

/// The receipt of a deployment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Live {
    /// The version that is live.
    pub version: u32,
    /// Where.
    pub region: String,
}

/// The reference under which the service accepts calls.
pub const REFERENCE: &str = "rollout 12";

/// The time limit for its report.
pub const LIMIT: Duration = Duration::from_mins(10);

/// A receipt.
#[must_use]
pub fn live(version: u32) -> Live {
    Live { version, region: "eu".to_owned() }
}

/// A contract to deploy a version.
#[must_use]
pub fn deploy(version: u32) -> Contract {
    Contract::of(&Deploy { version }, reasoning_node()).unwrap()
}

/// A request as the service received it.
#[derive(Debug, Clone)]
pub struct Request {
    /// The execution.
    pub id: Id,
    /// The path for the report.
    pub path: String,
    /// The token for the report.
    pub token: CallbackToken,
}

/// The service.
#[derive(Debug, Clone, Default)]
pub struct Cluster(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    requests: Mutex<Vec<Request>>,
    called: Notify,
    held: bool,
    found: Mutex<Option<Answer<Live>>>,
}

impl Cluster {
    /// A service that never answers.
    #[must_use]
    pub fn held() -> Self {
        Self(Arc::new(Inner { held: true, ..Inner::default() }))
    }

    /// It answers status queries like this.
    pub fn finds(&self, answer: Answer<Live>) {
        *self.0.found.lock().unwrap() = Some(answer);
    }

    /// The latest request, as soon as there is one.
    pub async fn called(&self) -> Request {
        loop {
            if let Some(request) = self.requests().pop() {
                return request;
            }
            notified(&self.0.called).await;
        }
    }

    /// All that it was sent.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.0.requests.lock().unwrap().clone()
    }
}

impl Perform<Deploy> for Cluster {
    const CONFINED: bool = true;

    async fn perform(&self, call: &Call<Deploy>) -> Answer<Live> {
        let request = Request {
            id: call.execution_id,
            path: call.report_path(),
            token: call.callback_token().clone(),
        };
        self.0.requests.lock().unwrap().push(request);
        self.0.called.notify_one();
        if self.0.held {
            std::future::pending::<()>().await;
        }
        call.accepted(REFERENCE, LIMIT)
    }

    async fn find(&self, _: &Attempt<Deploy>) -> Answer<Live> {
        let found = self.0.found.lock().unwrap().clone();
        found.unwrap_or_else(|| Err(NoReceipt::unknown("it does not know")))
    }
}

/// An execution whose service has accepted the call.
pub async fn accepted(store: &Store, version: u32) -> Request {
    let cluster = Cluster::default();
    let settled = performed(store, version, &cluster).await;
    assert!(matches!(settled, Settled::Accepted(_)), "{settled:?}");
    cluster.called().await
}

/// Performs a new execution.
pub async fn performed(store: &Store, version: u32, cluster: &Cluster) -> Settled {
    let mut planned: Planned<Deploy> = Planned::new(deploy(version)).unwrap();
    store.plan(&mut planned).await.unwrap();
    store.perform(planned, cluster.clone(), tool_node()).await.unwrap()
}
