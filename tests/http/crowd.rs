//! Many subscribers at once.

use std::{io::Write, net::TcpStream, sync::Arc};

use machine_tests::{STUCK, random::setting};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream as Connection,
    sync::Barrier,
};

use crate::{
    http::{
        sockets::raise_files,
        sse::{Event, Parser, request},
    },
    surfaces::Place,
};

#[tokio::test(flavor = "multi_thread")]
async fn each_of_many_subscribers_sees_every_transition() {
    const QUESTIONS: usize = 20;
    let count = setting("MACHINE_HTTP_SUBSCRIBERS").unwrap_or(200);
    let place = Place::served().await;
    raise_files();
    let address = place.address;
    let ready = Arc::new(Barrier::new(count + 1));
    let subscribers: Vec<_> = (0..count)
        .map(|_| {
            let ready = Arc::clone(&ready);
            tokio::spawn(async move {
                let mut stream = Connection::connect(address).await.unwrap();
                stream.write_all(request(address, "", None).as_bytes()).await.unwrap();
                let mut parser = Parser::default();
                let mut events: Vec<Event> = Vec::new();
                let mut is_ready = false;
                let mut bytes = vec![0; 4096];
                while events.len() < 2 * QUESTIONS {
                    let size = stream.read(&mut bytes).await.unwrap();
                    assert!(size > 0, "the stream ended after {} events", events.len());
                    let read = parser.push(&bytes[..size]);
                    if !is_ready && read.iter().any(Event::is_alive) {
                        is_ready = true;
                        ready.wait().await;
                    }
                    events.extend(read.into_iter().filter(|event| !event.is_alive()));
                }
                events
            })
        })
        .collect();
    let all_are_ready = tokio::time::timeout(STUCK, ready.wait()).await;
    assert!(all_are_ready.is_ok(), "a subscriber is not served");
    let mut ids = Vec::new();
    for _ in 0..QUESTIONS {
        ids.push(json!(place.question().await));
    }
    let mut all = Vec::new();
    for subscriber in subscribers {
        all.push(tokio::time::timeout(3 * STUCK, subscriber).await.unwrap().unwrap());
    }
    let seen: Vec<_> = all[0].iter().map(|event| event.data["execution_id"].clone()).collect();
    let expected: Vec<_> = ids.into_iter().flat_map(|id| [id.clone(), id]).collect();
    assert_eq!(seen, expected);
    assert!(all.iter().all(|events| *events == all[0]), "all of them see the same");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_never_reads_does_not_block_others() {
    // It measures the memory of its process.
    if !machine_tests::is_alone("http::crowd::a_client_that_never_reads_does_not_block_others") {
        return;
    }
    let place = Place::served().await;
    let address = place.address;
    let query = "events=execution_state,machine_state,changed&after=1.0";
    let silent: Vec<_> = (0..5)
        .map(|_| {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(request(address, query, None).as_bytes()).unwrap();
            stream
        })
        .collect();
    let before = resident();
    // More than the buffers of a connection.
    for _ in 0..8 {
        let mut questions: Vec<_> =
            (0..500).map(|_| machine_tests::samples::asked("Deploy?")).collect();
        let batch = questions.iter_mut().fold(place.store.batch(), |batch, it| batch.create(it));
        batch.write().await.unwrap();
    }
    let last = place.question().await;
    let read = move || {
        let mut stream = crate::http::sse::Sse::open(address, "after=1.0", None);
        let mut count = 1;
        while stream.change().data["execution_id"] != json!(last) {
            count += 1;
        }
        count
    };
    let read = tokio::task::spawn_blocking(read);
    let count = tokio::time::timeout(3 * STUCK, read).await.unwrap().unwrap();
    assert_eq!(count, 2 * 8 * 500 + 1);
    let began = std::time::Instant::now();
    place.read("/api/health").await.is(200);
    assert!(began.elapsed() < STUCK);
    let grown = resident().saturating_sub(before);
    assert!(grown < 200 << 20, "{grown} bytes more");
    drop(silent);
}

/// The memory of this process, in bytes.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: usize = text.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
    pages * 4096
}
