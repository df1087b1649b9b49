//! A client that is cut again and again sees each transition once, in order.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    thread,
};

use machine::{machine, store::OpenOptions};
use machine_tests::{
    STUCK,
    process::{Process, orders},
    random::{Random, setting},
};
use serde::{Deserialize, Serialize};

use crate::{
    http::sse::{Event, Sse},
    surfaces::Place,
};

/// It counts.
#[machine(durable)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Counter {
    #[initial]
    #[stable]
    #[on(up(count = count + 1) => Even)]
    Even { count: u64 },
}

/// Makes transitions of a new machine.
async fn write(file: &Path, count: usize) {
    let store = OpenOptions::new().busy_timeout(STUCK).sqlite(file).await.unwrap();
    let mut counter = Counter::new(0);
    store.create(&mut counter).await.unwrap();
    for _ in 0..count {
        counter = counter.up();
        store.commit(&mut counter).await.unwrap();
    }
    store.close().await.unwrap();
}

#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn writes() {
    let (file, count): (PathBuf, usize) = orders();
    write(&file, count).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_is_cut_sees_each_transition_once_in_order() {
    let transitions = setting("MACHINE_HTTP_TRANSITIONS").unwrap_or(2000);
    let cuts = setting("MACHINE_HTTP_CUTS").unwrap_or(30);
    let mut place = Place::served().await;
    let file = place.file();
    // Two processes and two tasks, each with its own store.
    let each = transitions / 4;
    let processes = [(); 2].map(|()| Process::start("http::cuts::writes", &(&file, each)));
    let writers = [(); 2].map(|()| {
        let file = file.clone();
        tokio::spawn(async move { write(&file, each).await })
    });
    let (address, total) = (place.address, each * 4);
    let (sender, halfway) = tokio::sync::oneshot::channel();
    let client = thread::spawn(move || client(address, total, cuts, sender));
    // The server is another one from here on.
    halfway.await.unwrap();
    place.restart().await;
    let events = tokio::task::spawn_blocking(|| client.join().unwrap()).await.unwrap();
    processes.into_iter().for_each(Process::join);
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(events.len(), total);
    let positions = events.iter().map(|event| event.id[2..].parse::<u64>().unwrap());
    assert!(positions.is_sorted_by(|one, next| one < next), "in order, and each once");
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for event in &events {
        *counts.entry(event.data["id"].as_str().unwrap()).or_default() += 1;
    }
    assert_eq!(counts.into_values().collect::<Vec<_>>(), [each; 4]);
}

/// Reads all transitions, on connections that are cut at random places.
fn client(
    address: std::net::SocketAddr,
    total: usize,
    cuts: usize,
    halfway: tokio::sync::oneshot::Sender<()>,
) -> Vec<Event> {
    let mut random = Random::new(42);
    let mut events: Vec<Event> = Vec::new();
    let mut halfway = Some(halfway);
    let mut last = "1.0".to_owned();
    let mut done = 0;
    // More than 300 bytes an event, so that the cuts are spread over most of them.
    let size = 200 * total / (cuts + 1);
    while events.len() < total {
        let left = if done < cuts { 1 + random.below(2 * size) } else { usize::MAX };
        // While the server is started again, the connection waits, or breaks off at once.
        let Ok(mut stream) = std::panic::catch_unwind(|| {
            Sse::cut_after(left, address, "events=machine_state", Some(&last))
        }) else {
            continue;
        };
        while events.len() < total
            && let Some(event) = stream.next()
        {
            last.clone_from(&event.id);
            if !event.is_alive() {
                events.push(event);
            }
        }
        done += 1;
        if events.len() >= total / 2
            && let Some(halfway) = halfway.take()
        {
            halfway.send(()).unwrap();
        }
    }
    assert!(done >= cuts, "only {done} cuts");
    events
}
