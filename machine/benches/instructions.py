#!/usr/bin/env python3
"""Counts instructions instead of time: the count does not depend on system load.

    python3 machine/benches/instructions.py

First, checks whether a typed transition compiles to the same machine code as a handwritten
typestate, and a machine with shared fields to the same as one whose states declare these fields.
Compiles them for release and prints

    instructions NAME OURS BASE same|different

If the optimizer merges two equal functions, that counts as the same.

Then, if valgrind is installed, counts the instructions that the benchmarks execute, ours divided by
theirs:

    ratio NAME_instructions VALUE
"""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

SOURCE = """
#[machine::machine]
pub enum Job {
    #[initial] #[on(start(work) => Running)] Pending,
    #[on(suspend => Waiting)] #[on(succeed(result = work + 1) => Completed)] Running { work: u64 },
    #[on(resume => Running)] Waiting { work: u64 },
    #[terminal] Completed { result: u64 },
}

#[machine::machine(fields(work: u64, tries: u64, in = Active | Kept | Done))]
pub enum Shared {
    #[initial] #[on(start(work, tries = 0) => Active)] Empty,
    #[on(suspend => Kept)] #[on(finish => Done)] Active,
    #[on(resume(tries = tries + 1) => Active)] Kept,
    #[terminal] Done,
}

#[machine::machine]
pub enum Declared {
    #[initial] #[on(start(work, tries = 0) => Active)] Empty,
    #[on(suspend => Kept)] #[on(finish => Done)] Active { work: u64, tries: u64 },
    #[on(resume(tries = tries + 1) => Active)] Kept { work: u64, tries: u64 },
    #[terminal] Done { work: u64, tries: u64 },
}

pub mod hand {
    pub struct Pending;
    pub struct Running { pub work: u64 }
    pub struct Waiting { pub work: u64 }
    pub struct Completed { pub result: u64 }
    pub struct Job<S>(pub S);
    impl Job<Pending> { pub fn start(self, work: u64) -> Job<Running> { Job(Running { work }) } }
    impl Job<Running> {
        pub fn suspend(self) -> Job<Waiting> { Job(Waiting { work: self.0.work }) }
        pub fn succeed(self) -> Job<Completed> { Job(Completed { result: self.0.work + 1 }) }
    }
    impl Job<Waiting> { pub fn resume(self) -> Job<Running> { Job(Running { work: self.0.work }) } }
}

#[unsafe(no_mangle)] pub fn ours_suspend(job: Job<job::Running>) -> Job<job::Waiting> { job.suspend() }
#[unsafe(no_mangle)] pub fn hand_suspend(job: hand::Job<hand::Running>) -> hand::Job<hand::Waiting> { job.suspend() }
#[unsafe(no_mangle)] pub fn ours_succeed(job: Job<job::Running>) -> Job<job::Completed> { job.succeed() }
#[unsafe(no_mangle)] pub fn hand_succeed(job: hand::Job<hand::Running>) -> hand::Job<hand::Completed> { job.succeed() }
#[unsafe(no_mangle)] pub fn ours_whole(work: u64) -> u64 { Job::new().start(work).suspend().resume().succeed().state().result }
#[unsafe(no_mangle)] pub fn hand_whole(work: u64) -> u64 { hand::Job(hand::Pending).start(work).suspend().resume().succeed().0.result }
#[unsafe(no_mangle)] pub fn shared_resume(job: Shared<shared::Kept>) -> Shared<shared::Active> { job.resume() }
#[unsafe(no_mangle)] pub fn declared_resume(job: Declared<declared::Kept>) -> Declared<declared::Active> { job.resume() }
#[unsafe(no_mangle)] pub fn shared_life(work: u64) -> u64 { Shared::new().start(work).suspend().resume().finish().state().work }
#[unsafe(no_mangle)] pub fn declared_life(work: u64) -> u64 { Declared::new().start(work).suspend().resume().finish().state().work }
"""


def functions(assembly):
    """The instructions of each function, including aliases."""
    bodies, name = {}, None
    for line in assembly.splitlines():
        label = re.match(r"^(\w+):", line)
        if label:
            name = label.group(1)
            bodies[name] = []
        elif re.match(r"^\t[a-z]", line) and name:
            bodies[name].append(line.strip())
        alias = re.match(r"^\s*\.set\s+(\w+),\s*(\w+)|^(\w+)\s*=\s*(\w+)$", line)
        if alias:
            new, old = [part for part in alias.groups() if part]
            bodies[new] = bodies.get(old, [])
    return bodies


def compare_code():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "src").mkdir()
        (path / "src/lib.rs").write_text(SOURCE)
        (path / "Cargo.toml").write_text(
            '[package]\nname = "compared"\nversion = "0.1.0"\nedition = "2024"\n[dependencies]\n'
            f'machine = {{ path = "{ROOT / "machine"}" }}\n[workspace]\n'
        )
        build = ["cargo", "rustc", "--quiet", "--release", "--", "--emit=asm", "-Ccodegen-units=1"]
        subprocess.run(build, cwd=path, check=True)
        assembly = next((path / "target/release/deps").glob("compared-*.s")).read_text()
    bodies = functions(assembly)
    pairs = [("ours", "hand", name) for name in ("suspend", "succeed", "whole")]
    pairs += [("shared", "declared", name) for name in ("resume", "life")]
    for ours, base, name in pairs:
        first, second = bodies[f"{ours}_{name}"], bodies[f"{base}_{name}"]
        same = "same" if first == second else "different"
        print(f"instructions {ours}_{name} {len(first)} {len(second)} {same}")


def binary(*arguments):
    """Builds a benchmark and returns the path of its executable."""
    done = subprocess.run(
        ["cargo", *arguments, "--quiet", "--message-format=json"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    return next(message["executable"] for message in messages if message.get("executable"))


def executed(program, case, side):
    """The number of instructions that the program executes."""
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program]
        + ["once", case, side],
        check=True, capture_output=True, text=True,
    )
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def count():
    if not shutil.which("valgrind"):
        print("skipped: needs valgrind")
        return
    rivals = ROOT / "machine/benches/rivals"
    programs = [
        (
            binary("bench", "--package", "machine", "--bench", "transitions", "--no-run"),
            ROOT / "machine/benches/transitions.rs",
        ),
        (
            binary("build", "--release", "--ignore-rust-version",
                   f"--manifest-path={rivals / 'Cargo.toml'}"),
            rivals / "rivals.rs",
        ),
    ]
    for program, source in programs:
        # The cost of starting and ending the program, without any case.
        empty = executed(program, "none", "ours")
        for case in re.findall(r'ratio\(\s*"(\w+)"', source.read_text()):
            ours, base = (executed(program, case, side) - empty for side in ("ours", "base"))
            print(f"ratio {case}_instructions {ours / base:.2f}", flush=True)


def main():
    compare_code()
    count()


if __name__ == "__main__":
    main()
