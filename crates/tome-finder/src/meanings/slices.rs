//! Sign bits of 256 rows, kept by bit instead of by row, and how far all of them are from a question.
//!
//! One slice holds the same bit of every row. Adding the slices up, one bit of the sums a word, takes
//! half as long as counting the bits of row after row does on a processor as old as the program
//! may meet, and needs no instruction that it may lack.

/// Rows that are kept together.
pub(super) const SLICE_ROWS: usize = LANES * 64;

const LANES: usize = 4;

/// One bit of each row.
pub(super) type Slice = [u64; LANES];

/// Slices are added up in groups of this many.
const GROUP: usize = 16;

/// The sums of as many slices as there may be.
const SUM_BITS: usize = 16;

/// The most sign bits whose sums are sure to fit.
pub(super) const SIGNS_MAX: usize = (1 << SUM_BITS) - 64;

/// The bits of all rows, one slice after the other.
#[derive(Debug, Default)]
pub(super) struct Slices(Vec<Slice>);

impl Slices {
    /// Sets the bits of a row.
    pub(super) fn set(&mut self, row: usize, words: &[u64]) {
        self.0.resize(words.len() * 64, [0; LANES]);
        for (slices, word) in self.0.chunks_mut(64).zip(words) {
            let mut rest = *word;
            while rest != 0 {
                let slice = slices.get_mut(rest.trailing_zeros() as usize);
                if let Some(lane) = slice.and_then(|slice| slice.get_mut(row / 64)) {
                    *lane |= 1 << (row % 64);
                }
                rest &= rest - 1;
            }
        }
    }

    /// The bits of a row, as bytes.
    pub(super) fn row(&self, row: usize) -> Vec<u8> {
        let bit = |slice: &Slice| slice.get(row / 64).map_or(0, |lane| lane >> (row % 64) & 1);
        let (bytes, _) = self.0.as_chunks::<8>();
        let byte = |slices: &[Slice; 8]| {
            slices.iter().rev().fold(0, |byte, slice| byte << 1 | u8::from(bit(slice) == 1))
        };
        bytes.iter().map(byte).collect()
    }

    /// In how many bits each row differs from the question.
    pub(super) fn distances(&self, question: &[u64]) -> Distances {
        let mut sums = [[0; LANES]; SUM_BITS];
        // No sum is larger than the number of slices: the bits beyond that are not looked at.
        let bits = self.0.len().checked_ilog2().map_or(0, |bits| bits as usize + 1);
        for (slices, word) in self.0.chunks(64).zip(question) {
            let (groups, _) = slices.as_chunks::<GROUP>();
            for (i, group) in groups.iter().enumerate() {
                add_group(&mut sums, group, word >> (i * GROUP), bits);
            }
        }
        Distances(sums)
    }
}

/// The distances of all rows, a bit a word.
pub(super) struct Distances([Slice; SUM_BITS]);

impl Distances {
    /// Which rows are no farther than this.
    pub(super) fn within(&self, most: u32) -> Slice {
        let (mut less, mut equal) = ([0; LANES], [u64::MAX; LANES]);
        for (bit, sums) in self.0.iter().enumerate().rev() {
            let most = spread(u64::from(most) >> bit);
            for ((less, equal), sum) in less.iter_mut().zip(&mut equal).zip(sums) {
                *less |= *equal & most & !sum;
                *equal &= !(sum ^ most);
            }
        }
        less.iter_mut().zip(equal).for_each(|(less, equal)| *less |= equal);
        less
    }

    /// The distance of one row.
    pub(super) fn of(&self, row: usize) -> u32 {
        let bits = self.0.iter().rev().filter_map(|sums| sums.get(row / 64));
        bits.fold(0, |sum, lane| sum << 1 | u32::from(lane >> (row % 64) & 1 == 1))
    }
}

/// A word of the lowest bit.
fn spread(bits: u64) -> u64 {
    0_u64.wrapping_sub(bits & 1)
}

/// The sum of three bits in each place: the lower bit and the higher.
#[inline(always)]
fn add(one: Slice, two: Slice, three: Slice) -> (Slice, Slice) {
    let (mut low, mut high) = ([0; LANES], [0; LANES]);
    let lanes = low.iter_mut().zip(&mut high).zip(one).zip(two).zip(three);
    for ((((low, high), one), two), three) in lanes {
        let either = one ^ two;
        *low = either ^ three;
        *high = (one & two) | (either & three);
    }
    (low, high)
}

/// Adds sixteen slices, each against its bit of the question, to the sums: what is worth 1 first, then what
/// is worth 2, 4 and 8; what is left over is carried on.
#[inline(always)]
fn add_group(sums: &mut [Slice; SUM_BITS], group: &[Slice; GROUP], question: u64, bits: usize) {
    let mut group = *group;
    for (i, slice) in group.iter_mut().enumerate() {
        let asked = spread(question >> i);
        slice.iter_mut().for_each(|lane| *lane ^= asked);
    }
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = group;
    let [ones, twos, fours, eights, above @ ..] = sums;
    let (a, two_a) = add(a, b, c);
    let (d, two_b) = add(d, e, f);
    let (g, two_c) = add(g, h, i);
    let (j, two_d) = add(j, k, l);
    let (m, two_e) = add(m, n, o);
    let (a, two_f) = add(a, d, g);
    let (j, two_g) = add(j, m, p);
    let (sum, two_h) = add(a, j, *ones);
    *ones = sum;
    let (a, four_a) = add(two_a, two_b, two_c);
    let (b, four_b) = add(two_d, two_e, two_f);
    let (c, four_c) = add(two_g, two_h, *twos);
    let (sum, four_d) = add(a, b, c);
    *twos = sum;
    let (a, eight_a) = add(four_a, four_b, four_c);
    let (sum, eight_b) = add(a, four_d, *fours);
    *fours = sum;
    let (sum, mut carried) = add(eight_a, eight_b, *eights);
    *eights = sum;
    for sum in above.iter_mut().take(bits.saturating_sub(4)) {
        for (sum, carried) in sum.iter_mut().zip(&mut carried) {
            let both = *sum & *carried;
            *sum ^= *carried;
            *carried = both;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn distances_are_those_of_counting_bits(
            rows in proptest::collection::vec(proptest::array::uniform5(any::<u64>()), 1..80),
            question in proptest::array::uniform5(any::<u64>()),
            words in 1..=5_usize,
            apart in 1..4_usize,
            most in 0..330_u32,
        ) {
            let mut slices = Slices::default();
            for (i, row) in rows.iter().enumerate() {
                slices.set(i * apart, &row[..words]);
            }
            let distances = slices.distances(&question[..words]);
            let within = distances.within(most);
            for (i, row) in rows.iter().enumerate() {
                let pairs = row.iter().zip(&question).take(words);
                let expected: u32 = pairs.map(|(one, other)| (one ^ other).count_ones()).sum();
                let i = i * apart;
                prop_assert_eq!(distances.of(i), expected);
                let bytes: Vec<u8> = row[..words].iter().flat_map(|it| it.to_le_bytes()).collect();
                prop_assert_eq!(slices.row(i), bytes);
                prop_assert_eq!(within[i / 64] >> (i % 64) & 1 == 1, expected <= most);
            }
        }
    }

    #[test]
    fn the_farthest_there_is_fits() {
        let words = SIGNS_MAX / 64;
        let mut slices = Slices::default();
        slices.set(7, &vec![u64::MAX; words]);
        let distances = slices.distances(&vec![0; words]);
        assert_eq!(distances.of(7) as usize, SIGNS_MAX);
        assert_eq!(distances.of(8), 0);
    }
}
