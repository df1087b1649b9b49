//! `--watch`, and output without a reader.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
    sync::mpsc,
    time::{Duration, Instant},
};

use machine_tests::STUCK;
use serde_json::Value;

use crate::surfaces::{Place, end};

/// A process that does not outlive a test that fails.
#[cfg(unix)]
struct Ended(std::process::Child);

#[cfg(unix)]
impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// It ends soon.
#[cfg(unix)]
fn ended(child: &mut std::process::Child) -> std::process::ExitStatus {
    let asked = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        assert!(asked.elapsed() < STUCK, "it goes on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_watch_shows_each_commit_until_it_is_stopped() {
    use rustix::process::{Pid, Signal, kill_process};

    let place = Place::new().await;
    let order = place.order().await;
    for arguments in [&["list"][..], &["show", &end(order)], &["timeline", &end(order)]] {
        // Shells start it with Ctrl-C ignored in the background, and `nohup` with the end of the
        // terminal ignored.
        let watch = place.command(&[arguments, &["--watch", "--json"]].concat());
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "trap '' INT HUP; exec \"$@\"", "sh"]);
        command.arg(watch.get_program()).args(watch.get_args());
        let mut child = Ended(command.stdout(Stdio::piped()).spawn().unwrap());
        let child = &mut child.0;
        let (sender, lines) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let reader = std::thread::spawn(move || {
            for line in stdout.lines() {
                let document: Value = serde_json::from_str(&line.unwrap()).unwrap();
                if sender.send(document).is_err() {
                    break;
                }
            }
        });
        let first = lines.recv_timeout(STUCK).unwrap();
        assert!(first.is_object());
        place.order().await;
        let second = lines.recv_timeout(STUCK).unwrap();
        if arguments == ["list"] {
            assert_eq!(second["machines"].as_array().unwrap().len(), 2, "{second}");
        }
        kill_process(Pid::from_child(child), Signal::INT).unwrap();
        assert_eq!(ended(child).code(), Some(0), "{arguments:?}");
        reader.join().unwrap();
    }
}

#[tokio::test]
async fn a_closed_output_is_not_an_error() {
    let place = Place::new().await;
    place.order().await;
    for arguments in [&["list"][..], &["export", "--all"]] {
        let mut command = place.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    }
}

/// A file that is replaced or deleted is not shown on as if nothing had happened.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_watch_ends_when_the_file_is_gone() {
    for replaced in [false, true] {
        let place = Place::new().await;
        place.order().await;
        let backup = place.folder().join("backup.db");
        place.store.backup(&backup, |_| {}).await.unwrap();
        let mut command = place.command(&["list", "--watch", "--json"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut child = Ended(child);
        let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
        assert!(lines.next().unwrap().is_ok());
        for suffix in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(place.file().with_extension(format!("db{suffix}")));
        }
        if replaced {
            std::fs::rename(&backup, place.file()).unwrap();
            let restored = machine::store::Store::sqlite(place.file()).await.unwrap();
            drop(restored);
        }
        assert_eq!(ended(&mut child.0).code(), Some(5), "replaced: {replaced}");
    }
}
