//! A web server on loopback. It answers one page, and never answers another.

use std::{
    io::{self, BufRead, BufReader, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    thread,
};

/// The page that it has.
pub const PAGE: &str = "/news";
/// The page that it is asked for in vain.
pub const NEVER: &str = "/never";

const FOUND: &str = "HTTP/1.0 200 OK\r\n\r\nno news";

/// Starts it; it runs until the process ends.
pub fn start() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve(&stream));
        }
    });
    Ok(address)
}

fn serve(mut stream: &TcpStream) -> io::Result<()> {
    let (mut request, mut lines) = (String::new(), BufReader::new(stream));
    lines.read_line(&mut request)?;
    // Until the empty line that ends the request.
    let mut header = String::new();
    while lines.read_line(&mut header)? > 2 {
        header.clear();
    }
    if request.contains(NEVER) {
        // Until the client gives up.
        io::copy(&mut lines, &mut io::sink())?;
        return Ok(());
    }
    stream.write_all(FOUND.as_bytes())
}
