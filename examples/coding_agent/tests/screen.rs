//! The program at a terminal, whose keys a person presses.

use std::{
    fs::File,
    io::{Read, Write},
    process::Stdio,
    sync::mpsc::{Receiver, channel},
    thread,
};

use rustix::{
    pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt},
    termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr},
};

use crate::{
    desk::Desk,
    terminal::{TASK, agent, checked, usual, written},
    testing::{Process, STUCK},
};

/// The program, and what a person sees and presses.
struct Screen {
    program: Process,
    keys: File,
    shown: Receiver<Vec<u8>>,
    text: String,
}

impl Screen {
    fn start(desk: &Desk) -> Self {
        let script = written(desk, &usual());
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let keys = openpt(flags).unwrap();
        unlockpt(&keys).unwrap();
        let screen = ioctl_tiocgptpeer(&keys, flags).unwrap();
        // Keys that come before the prompt are kept for it.
        let mut modes = tcgetattr(&screen).unwrap();
        modes.local_modes.remove(LocalModes::ISIG);
        tcsetattr(&screen, OptionalActions::Now, &modes).unwrap();
        let keys = File::from(keys);
        let mut program = agent(desk, &["do", TASK, "--script", script.to_str().unwrap()]);
        program.env("TERM", "xterm");
        program.stdin(Stdio::from(screen.try_clone().unwrap()));
        program.stdout(Stdio::from(screen.try_clone().unwrap())).stderr(Stdio::from(screen));
        let process = Process::start(&mut program);
        let (sender, shown) = channel();
        let mut reader = keys.try_clone().unwrap();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // It fails when the program has ended.
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        // The other end is closed here, too.
        drop(program);
        Self { program: process, keys, shown, text: String::new() }
    }

    /// Waits until a text is shown, and presses keys.
    fn answer(&mut self, text: &str, keys: &str) {
        while !self.text.contains(text) {
            let bytes = self.shown.recv_timeout(STUCK);
            let bytes = bytes.unwrap_or_else(|_| panic!("{text:?} is not in {:?}", self.text));
            self.text.push_str(&String::from_utf8_lossy(&bytes));
        }
        self.text.clear();
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    fn ended(self) -> i32 {
        // Somebody has to read what it shows.
        let Self { program, shown, .. } = self;
        let reader = thread::spawn(move || shown.iter().for_each(drop));
        let code = program.ended().status.code().unwrap();
        reader.join().unwrap();
        code
    }
}

/// A letter chooses nothing, and Enter alone declines.
#[test]
fn a_letter_and_enter_confirm_nothing() {
    for keys in ["n\r", "y\r", "\r", "\x1b[A\x1b[B\r"] {
        let desk = checked();
        let mut screen = Screen::start(&desk);
        screen.answer("Confirm?", keys);
        screen.answer("Why not?", "not now\r");
        assert_eq!(screen.ended(), 4, "{keys:?}");
        assert_eq!(desk.file("a").unwrap(), "old\n", "{keys:?}");
    }
    let desk = checked();
    let mut screen = Screen::start(&desk);
    screen.answer("Confirm?", "\x1b[B\r");
    assert_eq!(screen.ended(), 0);
    assert_eq!(desk.file("a").unwrap(), "right\n");
}

/// Control-C and Esc answer nothing: the program tells the commands that do.
#[test]
fn a_person_can_leave_a_prompt() {
    for key in ["\x1b", "\x03"] {
        let desk = checked();
        let mut screen = Screen::start(&desk);
        screen.answer("Confirm?", key);
        screen.answer("Answer with one of these", "");
        assert_eq!(screen.ended(), 3, "{key:?}");
        assert_eq!(desk.file("a").unwrap(), "old\n", "{key:?}");
    }
}
