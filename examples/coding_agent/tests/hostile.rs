//! A server that is no friend of the planner.

use std::{
    fs,
    io::{self, Write as _},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
        mpsc,
    },
    thread,
};

use coding_agent::planner::{Planner, openai::OpenAi, stream::Message};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    planner::{STREAM, brief, openai},
    testing::STUCK,
};

/// A server that sends this to each client and then, if there is something to repeat, that without
/// end. Counts its clients.
fn server(head: String, repeated: String) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let (address, count) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let clients = Arc::clone(&count);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            clients.fetch_add(1, Relaxed);
            let _ = serve(&stream, &head, &repeated);
        }
    });
    (address, count)
}

fn serve(stream: &TcpStream, head: &str, repeated: &str) -> io::Result<()> {
    let (mut writer, mut reader) = (stream, stream.try_clone()?);
    // What is not read would reset the connection.
    let request = thread::spawn(move || io::copy(&mut reader, &mut io::sink()));
    writer.write_all(head.as_bytes())?;
    if !repeated.is_empty() {
        loop {
            writer.write_all(repeated.as_bytes())?;
        }
    }
    stream.shutdown(Shutdown::Write)?;
    let _ = request.join();
    Ok(())
}

fn planner(address: SocketAddr, folder: &Path) -> OpenAi {
    openai(format!("http://{address}/v1"), folder)
}

/// How long a stream, a line of it or an answer is, is not up to the server.
#[tokio::test]
async fn an_endless_answer_has_a_limit() {
    let long = "x".repeat(10_000);
    let text = json!({ "choices": [{ "delta": { "content": long } }] });
    let event = format!("data: {text}\n\n");
    for (what, repeated) in [("comments", format!(": {long}\n")), ("a line", long), ("text", event)]
    {
        let (folder, (address, clients)) =
            (TempDir::new().unwrap(), server(STREAM.to_owned(), repeated));
        let reply = planner(address, folder.path()).questions(&brief("visit")).await;
        assert!(reply.is_err(), "{what}: {reply:?}");
        assert_eq!(clients.load(Relaxed), 1, "{what}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{what}");
    }
}

/// Nobody else gets the request, and its key.
#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (other, others) = server(STREAM.to_owned(), String::new());
    for status in [301, 302, 303, 307, 308] {
        let head = format!(
            "HTTP/1.1 {status} Elsewhere\r\nlocation: http://{other}/v1/chat/completions\r\n\
             connection: close\r\ncontent-length: 0\r\n\r\n"
        );
        let (folder, (address, clients)) = (TempDir::new().unwrap(), server(head, String::new()));
        let failure = planner(address, folder.path()).questions(&brief("visit")).await.unwrap_err();
        assert!(failure.to_string().contains(&status.to_string()), "{failure}");
        assert_eq!(clients.load(Relaxed), 1, "{status}");
    }
    assert_eq!(others.load(Relaxed), 0);
}

/// Its arguments are not parsed again with each piece, which would take far longer.
#[test]
fn a_call_in_many_pieces_is_read_at_once() {
    let piece = |function: &Value| {
        let call = json!({ "index": 0, "function": function });
        let choice = json!({ "delta": { "tool_calls": [call] } });
        format!("data: {}\n\n", json!({ "choices": [choice] }))
    };
    let more = piece(&json!({ "arguments": "1,".repeat(50) }));
    let events = [
        piece(&json!({ "name": "ask", "arguments": "[" })),
        more.repeat(50_000),
        "data: [DONE]\n\n".to_owned(),
    ];
    let (sender, read) = mpsc::channel();
    thread::spawn(move || sender.send(Message::read(events.concat().as_bytes()).is_ok()));
    assert!(read.recv_timeout(STUCK).unwrap());
}
