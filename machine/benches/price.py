#!/usr/bin/env python3
"""The build cost of the macro, compared to a handwritten typestate and to other crates' macros.

    python3 machine/benches/price.py

Creates crates in a temporary folder, with machines of 7, 50, 100 and 200 states: a ring whose states
can also stop. Prints for each size:

    price STATES expanded OURS STATUM STATE_MACHINES
        bytes of the expanded source, without indentation
    price STATES touch_ms OURS HAND STATUM STATE_MACHINES
        milliseconds of a build after a touch, the minimum of several alternating rounds
    ratio touch_build_STATES VALUE
    ratio touch_build_STATES_vs_statum VALUE
    ratio touch_build_STATES_vs_state_machines VALUE
        the same, ours divided by the other

and then, for the seven states of the library's own execution machine, without durability,

    price execution expanded BYTES

Neither statum nor state-machines generates anything for illegal moves. Our time includes cargo's
check of a path dependency; theirs come from the registry.
"""

import os
import pathlib
import re
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROUNDS = 7


def ours(states):
    lines = ["use machine::machine;", "#[machine]", "pub enum Ring {"]
    for state in range(states):
        if state == 0:
            lines.append("    #[initial]")
        lines.append(f"    #[on(step_{state} => S{(state + 1) % states})]")
        lines.append("    #[on(stop => Stopped)]")
        lines.append(f"    S{state},")
    lines += ["    #[terminal]", "    Stopped,", "}"]
    return "\n".join(lines)


def by_hand(states):
    lines = ["pub struct Ring<S>(S);", "pub struct Stopped;"]
    lines += [f"pub struct S{state};" for state in range(states)]
    lines.append("impl Ring<S0> { pub fn new() -> Self { Ring(S0) } }")
    for state in range(states):
        to = (state + 1) % states
        lines.append(
            f"impl Ring<S{state}> {{ pub fn step_{state}(self) -> Ring<S{to}> {{ Ring(S{to}) }} "
            "pub fn stop(self) -> Ring<Stopped> { Ring(Stopped) } }"
        )
    return "\n".join(lines)


def by_statum(states):
    names = ", ".join(f"S{state}" for state in range(states))
    lines = ["use statum::{machine, state, transition};", "#[state]"]
    lines += [f"pub enum Spot {{ {names}, Stopped }}", "#[machine]", "pub struct Ring<Spot> {}"]
    for state in range(states):
        to = (state + 1) % states
        lines += [
            "#[transition]",
            f"impl Ring<S{state}> {{ pub fn step_{state}(self) -> Ring<S{to}> {{ self.transition() }} "
            "pub fn stop(self) -> Ring<Stopped> { self.transition() } }",
        ]
    return "\n".join(lines)


def by_state_machines(states):
    names = [f"S{state}" for state in range(states)]
    lines = ["use state_machines::state_machine;", "state_machine! {", "name: Ring, initial: S0,"]
    lines.append(f"states: [{', '.join(names)}, Stopped], events {{")
    for state in range(states):
        to = (state + 1) % states
        lines.append(f"step_{state} {{ transition: {{ from: S{state}, to: S{to} }} }}")
    lines.append(f"stop {{ transition: {{ from: [{', '.join(names)}], to: Stopped }} }} }} }}")
    return "\n".join(lines)


def execution():
    """The library's own machine, without durability and derives."""
    source = (ROOT / "machine/src/contract/execution_machine.rs").read_text()
    body = re.search(r"^pub enum Execution \{.*?^\}", source, re.DOTALL | re.MULTILINE).group()
    # Without durability there is no context, which says how long a question may wait.
    body = re.sub(r",\s*after = context\.\w+\(\)", "", body)
    return f"use machine::{{actor::*, machine}};\n#[machine]\n{body}"


def crate(folder, name, source, dependencies):
    path = folder / name
    (path / "src").mkdir(parents=True)
    (path / "Cargo.toml").write_text(
        f'[package]\nname = "{name}"\nversion = "0.1.0"\nedition = "2024"\n'
        f"[dependencies]\n{dependencies}\n[workspace]\n"
    )
    (path / "src/lib.rs").write_text(source)
    return path


def cargo(path, *arguments, **environment):
    done = subprocess.run(
        # state-machines requires a newer compiler than this project, but builds with this one.
        ["cargo", arguments[0], "--quiet", "--ignore-rust-version", *arguments[1:]],
        cwd=path,
        env=os.environ | {"CARGO_TARGET_DIR": str(path.parent / "target")} | environment,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return done.stdout


def touched(path):
    (path / "src/lib.rs").touch()
    start = time.perf_counter()
    cargo(path, "build")
    return time.perf_counter() - start


def expanded(path):
    # RUSTC_BOOTSTRAP enables the unstable option on the stable compiler.
    text = cargo(path, "rustc", "--", "-Zunpretty=expanded", RUSTC_BOOTSTRAP="1")
    return sum(len(line.lstrip()) for line in text.splitlines())


def main():
    library = f'machine = {{ path = "{ROOT / "machine"}" }}'
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for states in (7, 50, 100, 200):
            # The terminal state counts.
            ring = states - 1
            kinds = {
                "ours": (ours(ring), library),
                "hand": (by_hand(ring), ""),
                "statum": (by_statum(ring), 'statum = "0.9.0"'),
                "state_machines": (by_state_machines(ring), 'state-machines = "0.34.0"'),
            }
            crates = {
                name: crate(folder, f"{name}_{states}", *kind) for name, kind in kinds.items()
            }
            for path in crates.values():
                cargo(path, "build")
            rounds = [[touched(path) for path in crates.values()] for _ in range(ROUNDS)]
            best = dict(zip(crates, map(min, zip(*rounds))))
            macros = [name for name in crates if name != "hand"]
            print(f"price {states} expanded", *(expanded(crates[name]) for name in macros))
            print(f"price {states} touch_ms", *(f"{best[name] * 1000:.0f}" for name in crates))
            print(f"ratio touch_build_{states} {best['ours'] / best['hand']:.2f}")
            for rival in macros[1:]:
                ratio = best["ours"] / best[rival]
                print(f"ratio touch_build_{states}_vs_{rival} {ratio:.2f}", flush=True)
        print("price execution expanded", expanded(crate(folder, "execution", execution(), library)))


if __name__ == "__main__":
    main()
