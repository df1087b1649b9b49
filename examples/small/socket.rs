//! A socket moves from state to state, without any feature of the library: only one that is
//! connected can send, and none can be used after it was closed.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, UdpSocket},
};

use machine::prelude::*;

#[machine]
#[derive(Debug)]
enum Socket {
    #[initial]
    #[on(connected(peer) => Connected)]
    Bound { udp: UdpSocket },
    #[on(close => Closed)]
    Connected { udp: UdpSocket, peer: SocketAddr },
    // It has no field `udp`: the transition into it drops the socket.
    #[terminal]
    Closed { peer: SocketAddr },
}

impl Socket<socket::Bound> {
    fn bind() -> io::Result<Self> {
        Ok(Self::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?))
    }

    fn address(&self) -> io::Result<SocketAddr> {
        self.state().udp.local_addr()
    }

    fn connect(self, peer: SocketAddr) -> io::Result<Socket<socket::Connected>> {
        self.state().udp.connect(peer)?;
        Ok(self.connected(peer))
    }
}

impl Socket<socket::Connected> {
    fn send(&self, text: &str) -> io::Result<()> {
        self.state().udp.send(text.as_bytes())?;
        Ok(())
    }

    fn receive(&self) -> io::Result<String> {
        let mut bytes = [0; 512];
        let length = self.state().udp.recv(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
    }
}

#[test]
fn two_sockets_talk() -> io::Result<()> {
    let (ann, bob) = (Socket::bind()?, Socket::bind()?);
    let (to_ann, to_bob) = (ann.address()?, bob.address()?);
    // Here `ann.send("hello")` does not compile: BOUND has no such method.
    let (ann, bob) = (ann.connect(to_bob)?, bob.connect(to_ann)?);
    ann.send("hello")?;
    assert_eq!(bob.receive()?, "hello");
    let closed = ann.close();
    // Here `ann.send("more")` does not compile: `close` has consumed it.
    assert_eq!(closed.state().peer, to_bob);
    Ok(())
}
