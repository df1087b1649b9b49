//! Random choices that a seed determines.

use std::{ffi::OsStr, str::FromStr};

/// A small random generator.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// With this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// With the seed in `TEST_SEED`, or with a new one. Prints the seed.
    #[must_use]
    pub fn of(test: &str) -> Self {
        let seed = setting("TEST_SEED");
        let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
        let seed = seed.unwrap_or_else(|| u64::from(now.subsec_nanos()) ^ now.as_secs() << 20);
        eprintln!("{test}: TEST_SEED={seed}");
        Self(seed)
    }

    /// Any number (splitmix64).
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Less than `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.number() % limit as u64).unwrap()
    }

    /// Returns true with this probability.
    pub fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of these.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// The number in an environment variable; `None` if it is not set.
#[must_use]
pub fn setting<N: FromStr>(variable: &str) -> Option<N> {
    std::env::var_os(variable).map(|text| parse(variable, &text))
}

/// The number in the text of an environment variable. Panics if it is not a number, because a test
/// that ignored it would not be the one that was asked for.
#[must_use]
pub fn parse<N: FromStr>(variable: &str, text: &OsStr) -> N {
    let text = text.to_string_lossy();
    text.parse().unwrap_or_else(|_| panic!("{variable} is `{text}`, which is not a number"))
}
