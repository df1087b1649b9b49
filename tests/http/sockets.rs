//! Connections that do not behave.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpStream},
    time::{Duration, Instant},
};

use machine_tests::STUCK;
use serde_json::json;

use crate::surfaces::{OPERATOR, Place};

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_are_dropped_leave_nothing_behind() {
    // It counts the files of its process.
    if !machine_tests::is_alone("http::sockets::connections_that_are_dropped_leave_nothing_behind")
    {
        return;
    }
    raise_files();
    let place = Place::served().await;
    let before = place.contents().await;
    let address = place.address;
    let open = files();
    let dropped = move || {
        let mut streams = Vec::new();
        for at in 0..500_usize {
            let mut stream = TcpStream::connect(address).unwrap();
            let text = format!("GET /api/machines HTTP/1.1\r\nHost: {address}\r\n\r\n");
            stream.write_all(&text.as_bytes()[..at % text.len()]).unwrap();
            streams.push(stream);
        }
    };
    tokio::task::spawn_blocking(dropped).await.unwrap();
    place.read("/api/health").await.is(200);
    let began = Instant::now();
    while files() > open + 10 {
        assert!(began.elapsed() < STUCK, "{} files are open, {open} before", files());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(place.contents().await, before);
}

/// The open files of this process.
fn files() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// Lets this process open as many files as it may: both ends of each connection are in it.
pub(crate) fn raise_files() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_sends_slowly_is_cut() {
    let place = Place::served().await;
    let address = place.address;
    let slow = move || {
        let mut stream = TcpStream::connect(address).unwrap();
        let began = Instant::now();
        let text = format!("GET /api/health HTTP/1.1\r\nHost: {address}\r\n");
        for byte in text.bytes().cycle() {
            if stream.write_all(&[byte]).is_err() || began.elapsed() > STUCK {
                break;
            }
            std::thread::sleep(Duration::from_millis(500));
        }
        began.elapsed()
    };
    let slow = tokio::task::spawn_blocking(slow);
    let after = slow.await.unwrap();
    assert!(after < STUCK, "it was served for {after:?}");
    assert!(after > Duration::from_secs(5), "it was cut after {after:?}");
    place.read("/api/health").await.is(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn several_requests_go_over_one_connection() {
    let place = Place::served().await;
    let address = place.address;
    let text = format!("GET /api/health HTTP/1.1\r\nHost: {address}\r\n\r\n").repeat(3)
        + &format!("GET /api/nothing HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let mut stream = TcpStream::connect(address).unwrap();
    let read = move || {
        stream.write_all(text.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    };
    let text = tokio::task::spawn_blocking(read).await.unwrap();
    assert_eq!(text.matches("HTTP/1.1 200 OK").count(), 3, "{text}");
    assert_eq!(text.matches("HTTP/1.1 404").count(), 1, "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_is_on_record_although_its_client_hangs_up() {
    const TRIES: usize = 40;
    let place = Place::served().await;
    let mut failed = Vec::new();
    for at in 0..TRIES {
        failed.push(place.failed(&format!("{at}@example.com")).await);
    }
    let address = place.address;
    let hang_up = move || {
        for (at, id) in failed.into_iter().enumerate() {
            let text = format!(
                "POST /api/machines/{id}/retry HTTP/1.1\r\nHost: {address}\r\n\
                 Content-Type: application/json\r\nAuthorization: Bearer {OPERATOR}\r\n\
                 Content-Length: 2\r\n\r\n{{}}"
            );
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(text.as_bytes()).unwrap();
            std::thread::sleep(Duration::from_micros(200 * (at as u64 % 20)));
            let _ = stream.shutdown(if at % 2 == 0 { Shutdown::Both } else { Shutdown::Write });
        }
    };
    tokio::task::spawn_blocking(hang_up).await.unwrap();
    let began = Instant::now();
    loop {
        let log = place.get("/api/operations").await;
        let operations = log["operations"].as_array().unwrap();
        let open = operations.iter().filter(|it| it["outcome"] != json!("done")).count();
        if open == 0 && !operations.is_empty() {
            break;
        }
        assert!(began.elapsed() < STUCK, "{open} have no outcome: {log:#}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    place.contents().await;
}
