// M0028

use machine::machine;
use serde::{Deserialize, Serialize};

#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Session {
    #[initial]
    #[on(log_in(user, token) => LoggedIn)]
    LoggedOut,

    #[terminal]
    LoggedIn {
        user: String,
        #[serde(skip)]
        token: Option<String>,
    },
}

fn main() {
    let _session = Session::new().log_in("ann".to_owned(), Some("5f2a".to_owned()));
}
