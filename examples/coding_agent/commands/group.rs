use std::{fs, process::Child, thread, time::Duration};

use rustix::{
    io::Errno,
    process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal},
};
use serde::{Deserialize, Serialize};

use crate::workspace::refusal::{self, At, Refusal};

const PROC: &str = "/proc";

/// The number of looks at processes that were killed, and the time between two.
const LOOKS: u32 = 1000;
const PAUSE: Duration = Duration::from_millis(5);

/// A group of processes, so that a later process recognizes it: numbers are used again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Group {
    /// The number of the group, and of the process that leads it.
    id: i32,
    session: i32,
    /// The time at which that process was started.
    start: u64,
    /// The boot of the system, and the namespace of the numbers.
    space: String,
}

/// What `/proc` shows of a process.
struct Process {
    has_ended: bool,
    group: i32,
    session: i32,
    start: u64,
}

impl Group {
    /// The group that a child leads.
    pub fn of(child: &Child) -> Result<Self, Refusal> {
        let id = Pid::from_child(child).as_raw_pid();
        let leader = Process::read(id);
        let leader = leader.ok_or_else(|| Refusal::new(id, refusal::NO_PROCESS))?;
        Ok(Self { id, session: leader.session, start: leader.start, space: space()? })
    }

    /// Kills what lives of it, and waits until that has ended.
    pub fn end(&self) -> Result<(), Refusal> {
        for _ in 0..LOOKS {
            let is_alive = self.lives()?;
            let id = Pid::from_raw(self.id.max(0)).filter(|id| is_alive && !id.is_init());
            let Some(id) = id else { return Ok(()) };
            self.kill_leader(id);
            match kill_process_group(id, Signal::KILL) {
                Ok(()) | Err(Errno::SRCH) => thread::sleep(PAUSE),
                Err(error) => return Err(error).at(self.id),
            }
        }
        Err(Refusal::new(self.id, refusal::SURVIVES))
    }

    /// Kills the process that led it, which may be in another group now.
    fn kill_leader(&self, id: Pid) {
        let Ok(leader) = pidfd_open(id, PidfdFlags::empty()) else { return };
        // The descriptor is of the process that has this number now, which may be another one.
        if Process::read(self.id).is_some_and(|it| it.start == self.start) {
            let _ = pidfd_send_signal(leader, Signal::KILL);
        }
    }

    /// Returns `true` if its leader or a process of it lives. While one does, or the leader was not
    /// waited for, the system gives its number to no other.
    fn lives(&self) -> Result<bool, Refusal> {
        if space()? != self.space {
            return Ok(false);
        }
        match Process::read(self.id) {
            Some(leader) if leader.start != self.start => return Ok(false),
            Some(leader) if !leader.has_ended => return Ok(true),
            _ => {}
        }
        let entries = fs::read_dir(PROC).at(PROC)?;
        let ids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        Ok(ids.filter_map(Process::read).any(|it| {
            let is_of_group = it.group == self.id && it.session == self.session;
            is_of_group && it.start >= self.start && !it.has_ended
        }))
    }
}

impl Process {
    fn read(id: i32) -> Option<Self> {
        let line = fs::read(format!("{PROC}/{id}/stat")).ok()?;
        let line = String::from_utf8_lossy(&line);
        // The name in parentheses can have any bytes. The fields after it, from the third of
        // proc(5): state, parent, group, session, .., time of the start.
        let fields: Vec<&str> = line.rsplit_once(')')?.1.split_whitespace().collect();
        Some(Self {
            has_ended: fields.first()?.starts_with(['Z', 'X']),
            group: fields.get(2)?.parse().ok()?,
            session: fields.get(3)?.parse().ok()?,
            start: fields.get(19)?.parse().ok()?,
        })
    }
}

/// Where and since when the numbers of processes are unique.
fn space() -> Result<String, Refusal> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").at(PROC)?;
    let numbers = fs::read_link("/proc/self/ns/pid").at(PROC)?;
    Ok(format!("{} {}", boot.trim(), numbers.display()))
}
