use std::{fmt, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{DefaultBodyLimit, Request},
    http::{HeaderValue, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use utoipa::{
    Modify, OpenApi,
    openapi::{
        ContentBuilder, OpenApi as Document, Ref, ResponseBuilder,
        security::{Http as HttpScheme, HttpAuthScheme, SecurityScheme},
    },
};
use utoipa_axum::{router::OpenApiRouter, routes};

use super::{
    Access, acts, approvals,
    caller::authenticate,
    definitions, ecs, events, executions,
    extract::LARGEST,
    feed::Feed,
    guard::{InvalidHost, guard, valid},
    health, machines, operations, page,
    problem::Problem,
    report::{self, Receipts},
    sessions,
    sign_in::{self, Codes},
};
use machine::{
    actor::Actors,
    contract::Tool,
    store::Store,
    stored::Restore,
    view::{Language, Observer},
};

/// The views of a store over HTTP, what people decide, a stream of events, and the inspector.
///
/// ```
/// use machine::actor::{Actors, Human};
/// use machine_console::http::{Access, Http};
/// use machine::store::Store;
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let store = Store::memory();
/// let access = Access::new().operator(Human::new("ann")?, "3c7ad1f5-of-ann")?;
/// let agent = Http::new(&store, Actors::issue("inspector")?).access(access).router();
/// // The inspector is at /agent/inspector/.
/// let app: axum::Router = axum::Router::new().nest("/agent", agent);
/// # drop(app);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Http {
    pub(super) store: Store,
    pub(super) actors: Arc<Actors>,
    pub(super) observer: Observer,
    pub(super) access: Access,
    /// Names of hosts, besides `localhost`.
    pub(super) hosts: Vec<String>,
    /// What commands begin with.
    pub(super) command: String,
    /// The name of the file.
    pub(super) database: Option<String>,
    pub(super) feed: Arc<Feed>,
    pub(super) codes: Codes,
    pub(super) receipts: Receipts,
    pub(super) language: Language,
}

pub(super) type Shared = Arc<Http>;

/// How long a request may take, except for a stream.
const LONGEST: Duration = Duration::from_secs(30);

#[derive(OpenApi)]
#[openapi(
    info(
        title = "machine",
        description = "Durable machines: what happened, what needs attention, and what people decide.\n\n\
            Times are in milliseconds since the Unix epoch. A refused move is 409, with the legal moves."
    ),
    // Its route is not limited in time, so it is added without the others.
    paths(events::events),
    modifiers(&Bearer),
    security((), ("bearer" = []))
)]
struct Described;

struct Bearer;

impl Modify for Bearer {
    fn modify(&self, document: &mut Document) {
        let bearer = SecurityScheme::Http(HttpScheme::new(HttpAuthScheme::Bearer));
        document.components.get_or_insert_default().add_security_scheme("bearer", bearer);
    }
}

impl Http {
    /// For a store, with the actors by which the library's own executions are moved.
    #[must_use]
    pub fn new(store: &Store, actors: impl Into<Arc<Actors>>) -> Self {
        Self {
            store: store.clone(),
            actors: actors.into(),
            observer: Observer::new(store),
            access: Access::new(),
            hosts: Vec::new(),
            command: "machine ".to_owned(),
            database: None,
            feed: Feed::new(store, Language::English),
            codes: Codes::default(),
            receipts: Receipts::default(),
            language: Language::English,
        }
    }

    /// Who may do what; by default nobody can write.
    #[must_use]
    pub fn access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// The language of the sentences in views; by default English.
    #[must_use]
    pub fn language(mut self, language: Language) -> Self {
        self.observer = self.observer.language(language);
        self.feed = Feed::new(&self.store, language);
        self.language = language;
        self
    }

    /// Declares a kind of machine of the program: see [`Observer::machine`].
    #[must_use]
    pub fn machine<M: Restore>(mut self) -> Self {
        self.observer = self.observer.machine::<M>();
        self
    }

    /// Receipts in the reports about calls of this tool must have its type. Without this, any JSON is a receipt.
    #[must_use]
    pub fn tool<T: Tool>(mut self) -> Self {
        self.receipts.add::<T>();
        self
    }

    /// The name of a host that this is served as, such as `agents.example.com`. Requests for other names
    /// than `localhost` are refused, because any page can make its own name point to this server.
    ///
    /// # Errors
    ///
    /// [`InvalidHost`] unless it is a name alone: a request could never be for it. A port does not matter.
    pub fn host(mut self, name: impl Into<String>) -> Result<Self, InvalidHost> {
        self.hosts.push(valid(name.into())?);
        Ok(self)
    }

    /// What the commands begin with that the inspector shows, such as `machine --db agent.db`.
    #[must_use]
    pub fn command(mut self, command: impl Into<String>) -> Self {
        self.command = command.into();
        self.command.push(' ');
        self
    }

    /// The name of the file that the inspector shows; by default it shows what the commands begin with.
    #[must_use]
    pub fn database(mut self, name: impl Into<String>) -> Self {
        self.database = Some(name.into());
        self
    }

    /// One-time codes for links to the inspector that sign somebody in.
    #[must_use]
    pub fn codes(&self) -> Codes {
        self.codes.clone()
    }

    /// The routes, to serve or to nest. Programs of this computer are known by their address, so a program
    /// that serves them by itself does it with `into_make_service_with_connect_info::<SocketAddr>()`;
    /// [`serve`](super::serve) does so.
    pub fn router(self) -> Router {
        self.into_parts().0
    }

    /// The description of the API (`OpenAPI` 3.1), as JSON.
    #[must_use]
    pub fn openapi() -> String {
        // Texts and numbers can always be written.
        let mut document = described().split_for_parts().1;
        add_problems(&mut document);
        let document = document.to_pretty_json().unwrap_or_default();
        // One schema for all audiences: it has the fields of the one that sees most.
        document.replace("_Internal\"", "\"")
    }

    /// The routes, and what ends their streams.
    pub(super) fn into_parts(self) -> (Router, Arc<Feed>) {
        let http = Arc::new(self);
        let (api, _) = guarded().split_for_parts();
        let api = api
            .layer(middleware::from_fn(in_time))
            .route("/api/events", get(events::events))
            .layer(middleware::from_fn_with_state(Arc::clone(&http), authenticate));
        let open = Router::new()
            .route("/", get(page::redirect))
            .route("/inspector", get(page::with_slash))
            .route("/inspector/", get(page::html))
            .route("/inspector/{file}", get(page::file))
            .route("/api/openapi.json", get(openapi));
        let feed = Arc::clone(&http.feed);
        let router = api
            .merge(open)
            .merge(without_token().split_for_parts().0)
            .fallback(async || Problem::not_found("no such path; see api/openapi.json"))
            .method_not_allowed_fallback(async || Problem::method_not_allowed())
            .layer(DefaultBodyLimit::max(LARGEST))
            .layer(middleware::from_fn_with_state(Arc::clone(&http), guard))
            .layer(middleware::from_fn(plain))
            .with_state(http);
        (router, feed)
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http")
            .field("store", &self.store)
            .field("access", &self.access)
            .field("hosts", &self.hosts)
            .finish_non_exhaustive()
    }
}

/// The routes that are described, except for the stream.
fn described() -> OpenApiRouter<Shared> {
    guarded().merge(without_token())
}

/// The routes by which one gets a token, and those with tokens of their own.
fn without_token() -> OpenApiRouter<Shared> {
    let report = OpenApiRouter::new().routes(routes!(report::report));
    let report = report.layer(middleware::from_fn(in_time));
    OpenApiRouter::new().routes(routes!(sign_in::sign_in)).merge(report)
}

/// The routes for which the caller must be known.
fn guarded() -> OpenApiRouter<Shared> {
    OpenApiRouter::with_openapi(Described::openapi())
        .routes(routes!(health::health))
        .routes(routes!(machines::attention))
        .routes(routes!(machines::list))
        .routes(routes!(machines::show))
        .routes(routes!(machines::timeline))
        .routes(routes!(sessions::sessions))
        .routes(routes!(executions::timeline))
        .routes(routes!(executions::snapshot))
        .routes(routes!(executions::topology))
        .routes(routes!(definitions::topology))
        .routes(routes!(definitions::list))
        .routes(routes!(definitions::show))
        .routes(routes!(definitions::svg))
        .routes(routes!(approvals::list))
        .routes(routes!(approvals::show))
        .routes(routes!(approvals::approve))
        .routes(routes!(approvals::decline))
        .routes(routes!(acts::confirm))
        .routes(routes!(acts::acknowledge))
        .routes(routes!(acts::retry))
        .routes(routes!(acts::cancel))
        .routes(routes!(acts::fence))
        .routes(routes!(acts::requeue))
        .routes(routes!(acts::send))
        .routes(routes!(ecs::respond))
        .routes(routes!(ecs::proceed))
        .routes(routes!(operations::list))
        .routes(routes!(sign_in::prepare))
}

async fn openapi() -> Response {
    let json = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, json)], Http::openapi()).into_response()
}

/// Every route can answer with a problem.
fn add_problems(document: &mut Document) {
    let problem = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    let problem = ResponseBuilder::new()
        .description("Why not.")
        .content("application/problem+json", problem)
        .build();
    for path in document.paths.paths.values_mut() {
        for operation in [&mut path.get, &mut path.post].into_iter().flatten() {
            let responses = &mut operation.responses.responses;
            responses.insert("default".to_owned(), problem.clone().into());
        }
    }
}

/// Gives up a request that takes too long. A write goes on, also if its client hangs up, so that the
/// operator log has its outcome.
async fn in_time(request: Request, next: Next) -> Result<Response, Problem> {
    let is_write = !request.method().is_safe();
    let answer = next.run(request);
    let answer = async {
        if is_write {
            tokio::spawn(answer).await.map_err(|_| Problem::broken())
        } else {
            Ok(answer.await)
        }
    };
    tokio::time::timeout(LONGEST, answer).await.unwrap_or_else(|_| Err(Problem::slow()))
}

/// Security headers of every response. Without `Access-Control-Allow-Origin`, pages of other origins cannot read
/// any.
async fn plain(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let mut set = |name: header::HeaderName, value: &'static str| {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    };
    set(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(header::CACHE_CONTROL, "no-store");
    set(header::REFERRER_POLICY, "no-referrer");
    set(header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'; sandbox");
    set(header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    response
}
