//! Random numbers that are reproducible for a seed.

/// xorshift64: reproducible for a seed.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end.max(1)
    }

    pub(super) fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }
}
