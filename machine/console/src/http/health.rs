use axum::extract::State;
use serde::Serialize;

use super::{access::Role, act::read, caller::Caller, json::Json, problem::Problem, state::Shared};
use machine::actor::Actor;

/// The state of the server, and the rights of the caller.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Health {
    /// `ok`.
    status: &'static str,
    /// The version of the library.
    version: &'static str,
    /// The newest position of the store, such as `1.42`.
    position: String,
    /// The name of the file, if the program has set it.
    database: Option<String>,
    /// The prefix of the equivalent commands: the program and its file.
    command: String,
    /// The caller.
    access: Access,
}

/// The rights of the caller.
#[derive(Debug, Serialize, utoipa::ToSchema)]
struct Access {
    /// `local` reads human-audience data, `reader` also diagnostic data, `operator` reads
    /// everything and writes.
    role: &'static str,
    /// The name that is recorded.
    name: Option<String>,
}

read! {
    /// The state of the server, and the rights of the caller.
    #[get("/api/health", "health", "health")]
    #[shows("The store can be read.", Health)]
    async fn health(http, caller: Caller) -> Json<Health> {
        let position = http.store.position().await?;
        Ok(Json(Health {
            status: "ok",
            version: env!("CARGO_PKG_VERSION"),
            position: position.to_string(),
            database: http.database.clone(),
            command: http.command.trim_end().to_owned(),
            access: Access {
                role: match caller.role {
                    Role::Local => "local",
                    Role::Reader => "reader",
                    Role::Operator => "operator",
                },
                name: caller.person.as_ref().and_then(Actor::name).map(str::to_owned),
            },
        }))
    }
}
