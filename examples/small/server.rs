//! The chat API of the example `model`, on loopback.

use std::{
    io::{self, Write},
    iter,
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    thread,
};

const BUSY: &str =
    "HTTP/1.1 429 Too Many Requests\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
const CUT: &str =
    "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 90\r\n\r\n{\"choices\": [";
const GOOD: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n\
                    {\"choices\": [{\"message\": {\"content\": \"It scatters light.\"}}]}";

/// Starts a server that has no good answer to the first four requests; returns its address.
pub(crate) fn start() -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let answers = [Some(BUSY), Some(CUT), None, Some(BUSY)].into_iter();
        let answers = answers.chain(iter::repeat(Some(GOOD)));
        for (stream, answer) in listener.incoming().flatten().zip(answers) {
            thread::spawn(move || serve(&stream, answer));
        }
    });
    format!("http://{address}/v1/chat/completions")
}

fn serve(mut stream: &TcpStream, answer: Option<&str>) -> io::Result<()> {
    if let Some(answer) = answer {
        stream.peek(&mut [0])?; // it has begun to ask
        stream.write_all(answer.as_bytes())?;
        stream.shutdown(Shutdown::Write)?;
    }
    // Until the client closes the connection; an end before that would reset it.
    io::copy(&mut stream, &mut io::sink())?;
    Ok(())
}
