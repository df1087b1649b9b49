use super::*;

fn record() -> LockRecord {
    LockRecord {
        worker: "w".to_owned(),
        inode: Some(17),
        device: Some(1),
        boot: Some("boot-1".to_owned()),
        machine: Some("machine-1".to_owned()),
        process: Process { pid: 1, host: "pod-a".to_owned(), since: 0 },
    }
}

fn here() -> Here {
    Here {
        inode: Some(17),
        device: Some(1),
        is_local: true,
        boot: Some("boot-1".to_owned()),
        machine: Some("machine-1".to_owned()),
        host: "pod-a".to_owned(),
    }
}

fn named(text: &str) -> String {
    text.to_owned()
}

/// A full disk, for example.
#[test]
fn a_try_that_failed_does_not_prevent_the_next_one() {
    let folder = tempfile::tempdir().expect("there is a folder");
    let (unnamed, path) = (folder.path().join("lock-new"), folder.path().join("lock"));
    std::fs::create_dir(&path).expect("its name is taken");
    create(&unnamed, &path, "w").expect_err("a file does not replace a folder");
    assert!(!unnamed.exists());

    std::fs::remove_dir(&path).expect("its name is free");
    let _lock = create(&unnamed, &path, "w").expect("it has its name");
    assert_eq!(liveness(&path, "w").expect("it can be read"), Liveness::Alive);
}

#[test]
fn a_failure_says_what_to_do_about_it() {
    for (kind, advice) in [
        (io::ErrorKind::StorageFull, "free some space and try again"),
        (io::ErrorKind::QuotaExceeded, "free some space and try again"),
        (io::ErrorKind::PermissionDenied, "make its folder writable"),
        (io::ErrorKind::ReadOnlyFilesystem, "make its folder writable"),
        (io::ErrorKind::NotFound, "check its folder and try again"),
    ] {
        let failure = failure(&kind.into());
        assert_eq!(failure, format!("{}; {advice}", io::Error::from(kind)));
    }
}

/// A free lock, in each place where it can be found.
#[test]
fn a_free_lock_proves_the_end_only_where_it_was_taken() {
    use Liveness::{Ended, Unknown};

    let reboot = || Here { boot: Some(named("boot-2")), ..here() };
    let table = [
        ("the same host", here(), Ended),
        ("a new pod on the same kernel", Here { host: "pod-b".to_owned(), ..here() }, Ended),
        (
            "a new pod with a machine id of its own",
            Here { host: "pod-b".to_owned(), machine: Some(named("machine-2")), ..here() },
            Ended,
        ),
        ("the same kernel, network file system", Here { is_local: false, ..here() }, Ended),
        ("a copy", Here { inode: Some(18), ..here() }, Unknown),
        ("a copy on another file system", Here { device: Some(2), ..here() }, Unknown),
        ("a copy after a reboot", Here { inode: Some(18), ..reboot() }, Unknown),
        ("a system without inodes", Here { inode: None, ..here() }, Unknown),
        ("a reboot", reboot(), Ended),
        ("a reboot, and another host name", Here { host: "renamed".to_owned(), ..reboot() }, Ended),
        ("a reboot, network file system", Here { is_local: false, ..reboot() }, Unknown),
        ("another machine", Here { machine: Some(named("machine-2")), ..reboot() }, Unknown),
        ("a system without boot ids", Here { boot: None, ..here() }, Ended),
        (
            "another host, without machine ids",
            Here { machine: None, host: "b".to_owned(), ..reboot() },
            Unknown,
        ),
        ("the same host, without machine ids", Here { machine: None, ..reboot() }, Ended),
    ];
    for (place, here, expected) in table {
        assert_eq!(record().liveness(&here), expected, "{place}");
    }
    // Two systems without boot ids are not the same boot.
    let unknown = LockRecord { boot: None, machine: None, ..record() };
    let elsewhere =
        Here { boot: None, machine: None, host: "b".to_owned(), is_local: true, ..here() };
    assert_eq!(unknown.liveness(&elsewhere), Unknown);
}
