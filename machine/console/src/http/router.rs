use std::{sync::Arc, time::Duration};

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
    acts, approvals,
    caller::authenticate,
    definitions, events, executions,
    extract::LARGEST,
    feed::Feed,
    guard::guard,
    health, lists, machines, page,
    problem::Problem,
    questions, report,
    state::{Http, Shared},
};

/// The longest time of a request that is not a stream.
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
    /// The routes, to serve or to nest. Programs of this computer are known by their address, so a
    /// program that serves them by itself does it with
    /// `into_make_service_with_connect_info::<SocketAddr>()`; [`serve`](super::serve) does so.
    pub fn router(self) -> Router {
        self.into_parts().0
    }

    /// The description of the API (`OpenAPI` 3.1), as JSON.
    #[must_use]
    pub fn openapi() -> String {
        let mut document = guarded().merge(without_token()).split_for_parts().1;
        add_problems(&mut document);
        // Texts and numbers can always be written.
        let document = document.to_pretty_json().unwrap_or_default();
        // One schema for all audiences: it has the fields of the most privileged one.
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
            .method_not_allowed_fallback(async || {
                Problem::no_method("this path has other methods; see `Allow`, and api/openapi.json")
            })
            .layer(DefaultBodyLimit::max(LARGEST))
            .layer(middleware::from_fn_with_state(Arc::clone(&http), guard))
            .layer(middleware::from_fn(plain))
            .with_state(http);
        (router, feed)
    }
}

/// The route with separate tokens.
fn without_token() -> OpenApiRouter<Shared> {
    OpenApiRouter::new().routes(routes!(report::report)).layer(middleware::from_fn(in_time))
}

/// With the routes of these handlers: the module, and its handlers.
macro_rules! with_routes {
    ($router:expr; $($module:ident: $($handler:ident)+;)+) => {
        $router$($(.routes(routes!($module::$handler)))+)+
    };
}

/// The routes for which the caller must be known.
fn guarded() -> OpenApiRouter<Shared> {
    with_routes! {
        OpenApiRouter::with_openapi(Described::openapi());
        health: health;
        machines: attention list show timeline;
        lists: sessions agents;
        executions: timeline snapshot topology;
        definitions: list show;
        approvals: list show approve decline;
        acts: confirm acknowledge retry cancel fence requeue send;
        questions: respond proceed;
        lists: operations;
    }
}

async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], Http::openapi()).into_response()
}

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

/// Times out long requests. A write continues, also if its client hangs up, so that the
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
    tokio::time::timeout(LONGEST, answer).await.unwrap_or_else(|_| {
        Err(Problem::slow(
            "the request timed out; it may have taken effect, so check the machine before you send it again",
        ))
    })
}

/// Security headers of every response. Without `Access-Control-Allow-Origin`, pages of other
/// origins cannot read any.
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
