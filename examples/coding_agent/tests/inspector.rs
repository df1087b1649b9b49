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
    let get = |path: &str, (name, value): (&str, &str)| {
        let mut answer = client.get(format!("{base}{path}")).header(name, value).call().unwrap();
        (answer.status().as_u16(), answer.body_mut().read_to_string().unwrap())
    };
    let plain = ("accept", "*/*");
    for (path, part) in [("/", "inspector.js"), ("/inspector/inspector.js", "api/health")] {
        let (status, text) = get(path, plain);
        assert_eq!((status, text.contains(part)), (200, true), "{path}: {text}");
    }
    // The commands that the page shows are for the file of the jobs.
    let (_, health) = get("/api/health", plain);
    let health: Value = serde_json::from_str(&health).unwrap();
    let command = format!("machine --db {}", desk.store().join("jobs.db").display());
    assert_eq!([&health["command"], &health["database"]], [command.as_str(), "jobs.db"]);
    let (status, shown) = get("/api/machines", plain);
    assert_eq!(status, 200, "{shown}");
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let is_in = |machine: &str, state: &str| {
        let all = shown["machines"].as_array().unwrap().iter();
        all.filter(|it| it["machine"] == machine && it["status"] == state).collect::<Vec<_>>()
    };
    assert_eq!(is_in("job", "verifying").len(), 1, "{shown}");
    let [call] = is_in("execution", "running")[..] else { panic!("one call runs: {shown}") };
    assert!(call["summary"].as_str().unwrap().contains(CHECK), "{call}");
    let call = format!("/api/machines/{}", call["id"].as_str().unwrap());

    for (query, header, expected) in [
        ("", plain, 200),
        ("?audience=diagnostic", plain, 403),
        ("", ("authorization", "Bearer of-another-person"), 401),
        // From another computer, through a proxy.
        ("", ("x-forwarded-for", "192.0.2.7"), 401),
    ] {
        let (status, text) = get(&format!("{call}{query}"), header);
        assert_eq!(status, expected, "{query} {header:?}: {text}");
    }
    let act = client.post(format!("{base}{call}/cancel")).content_type("application/json");
    assert_eq!(act.send("{}").unwrap().status().as_u16(), 401);
    assert_eq!(program.stop().status.code(), Some(143));
}
