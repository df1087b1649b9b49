//! The memory that verification takes.
#![cfg(target_os = "linux")]

use std::path::PathBuf;

use machine::Id;

use crate::{
    machines::{AnyMeter, Meter},
    process::{Process, orders, say},
    support::{block_on, new_file, options},
};

/// The number of entries of the machine.
fn entries() -> usize {
    machine_tests::random::setting("MACHINE_VERIFY_ENTRIES").unwrap_or(40_000)
}

/// The additional memory that verification may take, in KiB: pages of the file in the caches of
/// SQLite, and a part of the journal. The entries of the machine take about 1 KiB each.
const LIMIT: usize = 24 * 1024;

/// Verifies a machine, and everything, and says how much more memory that took.
#[tokio::test]
#[ignore = "another test runs it as another process"]
async fn verifies() {
    let (file, id): (PathBuf, Id) = orders();
    let store = options().read_only(file).await.unwrap();
    let before = peak();
    store.verify::<AnyMeter>(id).await.unwrap();
    let one = peak() - before;
    assert!(store.verify_all(|_| {}).await.unwrap().is_clean());
    say(&(one, peak() - before));
}

/// The most memory that this process has had, in KiB.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse().unwrap()
}

/// It does not grow with the number of entries of one machine.
#[test]
fn verification_takes_the_same_memory_for_a_long_history() {
    let (_folder, file) = new_file();
    let id = block_on(async {
        let store = options().sqlite(&file).await.unwrap();
        let mut meter = Meter::new().add("0".to_owned());
        store.create(&mut meter).await.unwrap();
        for number in 0..entries() {
            meter = meter.add(number.to_string());
            if number % 1000 == 999 {
                store.commit(&mut meter).await.unwrap();
            }
        }
        store.close().await.unwrap();
        meter.id()
    });
    let mut child = Process::start("memory::verifies", &(&file, id));
    let (one, all): (usize, usize) = child.hear();
    eprintln!("{} entries: verify {one} KiB, verify_all {all} KiB", entries());
    assert!(one < LIMIT && all < LIMIT, "verify {one} KiB, verify_all {all} KiB");
}
