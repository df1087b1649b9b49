//! Compares two pieces of code within one run; results are not comparable across runs.

use std::time::{Duration, Instant};

/// Runs both alternately and prints `ratio NAME VALUE`: the time of `ours` divided by that of
/// `base`, each the minimum of all rounds. Below 1 is faster than the base.
///
/// With the arguments `once NAME ours` or `once NAME base` it runs that side once and prints
/// nothing, so that a profiler can count its instructions; see `instructions.py`. A number as a
/// fourth argument is how often.
#[allow(clippy::print_stdout, reason = "this is what a benchmark is for")]
pub fn ratio(name: &str, rounds: usize, mut ours: impl FnMut(), mut base: impl FnMut()) {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [once, wanted, side, times @ ..] = &arguments[..]
        && once == "once"
    {
        let times = times.first().map_or(1, |times| times.parse().expect("a number"));
        for _ in 0..times {
            match side.as_str() {
                "ours" if wanted == name => ours(),
                "base" if wanted == name => base(),
                _ => {}
            }
        }
        return;
    }
    let mut best = [Duration::MAX; 2];
    // Warm-up.
    ours();
    base();
    for _ in 0..rounds {
        let start = Instant::now();
        ours();
        best[0] = best[0].min(start.elapsed());
        let start = Instant::now();
        base();
        best[1] = best[1].min(start.elapsed());
    }
    println!("ratio {name} {:.2}", best[0].as_secs_f64() / best[1].as_secs_f64());
}
