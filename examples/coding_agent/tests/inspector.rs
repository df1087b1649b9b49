//! The inspector, which the program serves while its job runs.

use std::io::{BufRead, BufReader};

use serde_json::Value;
use ureq::Agent;

use crate::{
    stops::{CHECK, begun, checks},
    testing::STUCK,
};

/// A browser on this computer, which needs no token, reads what people see. There is no token for
/// anything else.
#[test]
fn a_browser_sees_the_job_as_it_runs() {
    let (desk, script) = checks();
    let (mut program, _) = begun(&desk, &script, &["--serve=127.0.0.1:0"]);
    let mut line = String::new();
    BufReader::new(program.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let note: Value = serde_json::from_str(&line).unwrap();
    let (base, _) = note["text"].as_str().unwrap().split_once("/inspector/ ").unwrap();
    let client = Agent::config_builder().http_status_as_error(false).proxy(None);
    let client = client.timeout_global(Some(STUCK)).build().new_agent();
    let get = |path: &str| {
        let mut answer = client.get(format!("{base}{path}")).call().unwrap();
        (answer.status().as_u16(), answer.body_mut().read_to_string().unwrap())
    };
    for (path, part) in [("/", "inspector.js"), ("/inspector/inspector.js", "api/health")] {
        let (status, text) = get(path);
        assert_eq!((status, text.contains(part)), (200, true), "{path}: {text}");
    }
    // The commands that the page shows are for the file of the jobs.
    let (_, health) = get("/api/health");
    let health: Value = serde_json::from_str(&health).unwrap();
    let command = format!("machine --db {}", desk.store().join("jobs.db").display());
    assert_eq!([&health["command"], &health["database"]], [command.as_str(), "jobs.db"]);
    let (status, shown) = get("/api/machines");
    assert_eq!(status, 200, "{shown}");
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let is_in = |machine: &str, state: &str| {
        let all = shown["machines"].as_array().unwrap().iter();
        all.filter(|it| it["machine"] == machine && it["status"] == state).collect::<Vec<_>>()
    };
    assert_eq!(is_in("job", "verifying").len(), 1, "{shown}");
    let [call] = is_in("execution", "running")[..] else { panic!("one call runs: {shown}") };
    assert!(call["summary"].as_str().unwrap().contains(CHECK), "{call}");
    let cancel = format!("{base}/api/machines/{}/cancel", call["id"].as_str().unwrap());
    let act = client.post(cancel).content_type("application/json");
    assert_eq!(act.send("{}").unwrap().status().as_u16(), 401);
    assert_eq!(program.stop().status.code(), Some(143));
}
