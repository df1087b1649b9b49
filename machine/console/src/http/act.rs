//! The shape of all acts (a person with the token of an operator, a body, an answer or a refusal),
//! and that of all reads.

use std::future::Future;

use super::{json::Json, problem::Problem, state::Http};
use machine::{Id, observe::Observer, operate, view::Human};

/// Declares the handler of an act. `about` is the machine in the path, for acts on one machine.
macro_rules! act {
    (
        $(#[doc = $doc:literal])+
        #[post($path:literal, $tag:literal, $operation:literal)]
        #[answers($status:literal, $told:literal)]
        async fn $name:ident($http:ident, $operator:ident, about $id:ident, $body:ident: $Body:ty) -> $Answer:ty
        $act:block
    ) => {
        $(#[doc = $doc])+
        #[utoipa::path(
            operation_id = $operation,
            post, path = $path, tag = $tag, request_body = $Body,
            params(("id" = Id, Path)), security(("bearer" = [])),
            responses(
                (status = $status, description = $told, body = $Answer),
                (status = 409, description = "Refused, with the legal moves.", body = Problem,
                    content_type = "application/problem+json"),
            )
        )]
        pub(super) async fn $name(
            State($http): State<Shared>,
            writer: Writer,
            OfMachine($id): OfMachine,
            Body($body): Body<$Body>,
        ) -> Result<(StatusCode, Json<$Answer>), Problem> {
            let $operator = writer.operates(&$http);
            let status = StatusCode::from_u16($status).unwrap_or_default();
            Ok((status, $http.answer(&[$id], async $act).await?))
        }
    };
    (
        $(#[doc = $doc:literal])+
        #[post($path:literal, $tag:literal, $operation:literal)]
        #[answers($status:literal, $told:literal)]
        async fn $name:ident($http:ident, $operator:ident, $body:ident: $Body:ty) -> $Answer:ty
        $act:block
    ) => {
        $(#[doc = $doc])+
        #[utoipa::path(
            operation_id = $operation,
            post, path = $path, tag = $tag, request_body = $Body, security(("bearer" = [])),
            responses(
                (status = $status, description = $told, body = $Answer),
                (status = 409, description = "Refused, with the legal moves of a single machine.",
                    body = Problem, content_type = "application/problem+json"),
            )
        )]
        pub(super) async fn $name(
            State($http): State<Shared>,
            writer: Writer,
            Body($body): Body<$Body>,
        ) -> Result<Json<$Answer>, Problem> {
            let $operator = writer.operates(&$http);
            $act
        }
    };
}
pub(super) use act;

/// Declares the handler of a read, with what it shows and the problems that it may have instead.
macro_rules! read {
    (
        $(#[doc = $doc:literal])+
        #[get($path:literal, $tag:literal, $operation:literal $(, params($($params:tt)*))?)]
        #[shows($told:literal, $Shown:ty)]
        $(#[problem($status:literal, $why:literal)])*
        async fn $name:ident($http:ident, $($arguments:tt)*) -> $Answer:ty
        $read:block
    ) => {
        $(#[doc = $doc])+
        #[utoipa::path(
            operation_id = $operation,
            get, path = $path, tag = $tag, $(params($($params)*),)?
            responses(
                (status = 200, description = $told, body = $Shown),
                $((
                    status = $status, description = $why, body = Problem,
                    content_type = "application/problem+json"
                ),)*
            )
        )]
        pub(super) async fn $name(
            State($http): State<Shared>,
            $($arguments)*
        ) -> Result<$Answer, Problem> $read
    };
}
pub(super) use read;

impl Http {
    /// Waits for an act. A refusal about one machine has its legal moves; with several it is not
    /// known which of them was refused.
    pub(super) async fn answer<T>(
        &self,
        machines: &[Id],
        act: impl Future<Output = Result<T, operate::Error>>,
    ) -> Result<Json<T>, Problem> {
        match (act.await, machines) {
            (Ok(answer), _) => Ok(Json(answer)),
            (Err(error), [id]) => Err(refused(&self.observer, *id, error).await),
            (Err(error), _) => Err(error.into()),
        }
    }
}

/// A refusal, with what can be done instead.
async fn refused(observer: &Observer, id: Id, error: operate::Error) -> Problem {
    let mut problem = Problem::from(error);
    if problem.is_about_the_machine() {
        if let Ok(snapshot) = observer.snapshot::<Human>(id).await {
            problem.legal_moves = Some(snapshot.moves.clone());
        }
        problem.next = observer.next(id).await.ok();
    }
    problem
}
