//! Reproducible random numbers.

/// A seeded generator (SplitMix64).
#[derive(Debug, Clone)]
pub struct SeededRng(u64);

impl SeededRng {
    /// Creates a generator from a seed.
    pub const fn from_seed(seed: u64) -> Self {
        Self(seed)
    }

    /// Creates a separate generator for one of several users of a seed.
    pub fn for_worker(seed: u64, who: u64) -> Self {
        let mut chance = Self(seed ^ who.wrapping_mul(0xD1B5_4A32_D192_ED03));
        chance.next_u64();
        chance
    }

    /// Returns the next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number in `least..end`; `least` if the range is empty.
    pub fn in_range(&mut self, least: u64, end: u64) -> u64 {
        least + self.next_u64() % end.saturating_sub(least).max(1)
    }

    /// Returns `true` once in `times` on average.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.in_range(0, times) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::SeededRng;

    #[test]
    fn a_seed_repeats_itself_and_stays_in_bounds() {
        let (mut a, mut b) = (SeededRng::from_seed(7), SeededRng::from_seed(7));
        for _ in 0..100 {
            let number = a.in_range(5, 9);
            assert_eq!(number, b.in_range(5, 9));
            assert!((5..9).contains(&number));
        }
        assert_ne!(SeededRng::for_worker(7, 1).next_u64(), SeededRng::for_worker(7, 2).next_u64());
    }
}
