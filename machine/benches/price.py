#!/usr/bin/env python3
"""What the macro costs while building, beside a typestate by hand and the crate statum.

    python3 machine/benches/price.py

Makes crates in a temporary folder, with a ring of 7, 50, 100 and 200 states that each may also
stop, and prints for each size:

    price STATES expanded BYTES      the expanded source of the macro, without spaces at line starts
    ratio touch_build_STATES VALUE   seconds of a build after a touch, ours over by hand
    ratio touch_build_STATES_vs_statum VALUE   the same over the crate statum
    price STATES touch_ms OURS HAND  the same in milliseconds, the shortest of several builds
"""

import os
import pathlib
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
        ["cargo", arguments[0], "--quiet", *arguments[1:]],
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
    # The stable compiler prints what it expanded when it is told that this is no release.
    text = cargo(path, "rustc", "--", "-Zunpretty=expanded", RUSTC_BOOTSTRAP="1")
    return sum(len(line.lstrip()) for line in text.splitlines())


def main():
    library = f'machine = {{ path = "{ROOT / "machine"}", default-features = false }}'
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for states in (7, 50, 100, 200):
            # The terminal state counts.
            first = crate(folder, f"ours_{states}", ours(states - 1), library)
            second = crate(folder, f"hand_{states}", by_hand(states - 1), "")
            cargo(first, "build")
            cargo(second, "build")
            best = [min(touched(path) for _ in range(ROUNDS)) for path in (first, second)]
            print(f"price {states} expanded {expanded(first)}")
            print(f"price {states} touch_ms {best[0] * 1000:.0f} {best[1] * 1000:.0f}")
            print(f"ratio touch_build_{states} {best[0] / best[1]:.2f}", flush=True)
            third = crate(folder, f"statum_{states}", by_statum(states - 1), 'statum = "0.9.0"')
            cargo(third, "build")
            touch = min(touched(third) for _ in range(ROUNDS))
            print(f"price {states} statum_expanded {expanded(third)}")
            print(f"ratio touch_build_{states}_vs_statum {best[0] / touch:.2f}", flush=True)


if __name__ == "__main__":
    main()
