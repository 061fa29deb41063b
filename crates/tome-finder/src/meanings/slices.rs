//! Sign bits in blocks of 256 rows, kept by bit instead of by row, and how far all of them are from a
//! question.
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

/// Blocks that lie one behind the other in memory: a scan that goes from one place to the next takes
/// half as long again when each is somewhere else. Tests have few.
const SLAB_BLOCKS: usize = if cfg!(test) { 2 } else { 256 };

/// The bits of all rows, block by block, of each block one slice after the other.
#[derive(Debug)]
pub(super) struct Slices {
    slabs: Vec<Vec<Slice>>,
    /// Slices of a block: one for each bit of a row.
    bits: usize,
}

impl Slices {
    /// None, of rows of so many words.
    pub(super) fn new(words: usize) -> Self {
        Self { slabs: Vec::new(), bits: words * 64 }
    }

    /// Sets the bits of a row that has none set.
    pub(super) fn set(&mut self, row: usize, words: &[u64]) {
        let (block, i) = (row / SLICE_ROWS, row % SLICE_ROWS);
        for (slices, word) in self.make_block(block).chunks_mut(64).zip(words) {
            let mut rest = *word;
            while rest != 0 {
                let slice = slices.get_mut(rest.trailing_zeros() as usize);
                if let Some(lane) = slice.and_then(|slice| slice.get_mut(i / 64)) {
                    *lane |= 1 << (i % 64);
                }
                rest &= rest - 1;
            }
        }
    }

    /// A block, and all before it, made if they are not there.
    fn make_block(&mut self, block: usize) -> &mut [Slice] {
        let (slab, block) = (block / SLAB_BLOCKS, block % SLAB_BLOCKS);
        let whole = SLAB_BLOCKS * self.bits;
        while self.slabs.len() <= slab {
            if let Some(last) = self.slabs.last_mut() {
                last.resize(whole, [0; LANES]);
            }
            // The first one grows as it is needed: most indexes are small. What is not used of the
            // others takes up no memory.
            let room = if self.slabs.is_empty() { 0 } else { whole };
            self.slabs.push(Vec::with_capacity(room));
        }
        let range = block * self.bits..(block + 1) * self.bits;
        let Some(slab) = self.slabs.get_mut(slab) else { return &mut [] };
        if slab.len() < range.end {
            slab.resize(range.end, [0; LANES]);
        }
        slab.get_mut(range).unwrap_or_default()
    }

    fn block(&self, block: usize) -> &[Slice] {
        let (slab, block) = (block / SLAB_BLOCKS, block % SLAB_BLOCKS);
        let slab = self.slabs.get(slab).map(Vec::as_slice).unwrap_or_default();
        slab.get(block * self.bits..(block + 1) * self.bits).unwrap_or_default()
    }

    /// The bits of a row, as bytes.
    pub(super) fn row(&self, row: usize) -> Vec<u8> {
        let (block, i) = (row / SLICE_ROWS, row % SLICE_ROWS);
        let bit = |slice: &Slice| slice.get(i / 64).map_or(0, |lane| lane >> (i % 64) & 1);
        let (bytes, _) = self.block(block).as_chunks::<8>();
        let byte = |slices: &[Slice; 8]| {
            slices.iter().rev().fold(0, |byte, slice| byte << 1 | u8::from(bit(slice) == 1))
        };
        bytes.iter().map(byte).collect()
    }

    /// In how many bits each row of a block differs from the question.
    pub(super) fn distances(&self, block: usize, question: &[u64]) -> Distances {
        let slices = self.block(block);
        let mut sums = [[0; LANES]; SUM_BITS];
        // No sum is larger than the number of slices: the bits beyond that are not looked at.
        let bits = slices.len().checked_ilog2().map_or(0, |bits| bits as usize + 1);
        for (slices, word) in slices.chunks(64).zip(question) {
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
            apart in 1..40_usize,
            most in 0..330_u32,
        ) {
            let mut slices = Slices::new(words);
            for (i, row) in rows.iter().enumerate() {
                slices.set(i * apart, &row[..words]);
            }
            for (i, row) in rows.iter().enumerate() {
                let pairs = row.iter().zip(&question).take(words);
                let expected: u32 = pairs.map(|(one, other)| (one ^ other).count_ones()).sum();
                let row_number = i * apart;
                let distances = slices.distances(row_number / SLICE_ROWS, &question[..words]);
                let within = distances.within(most);
                let i = row_number % SLICE_ROWS;
                prop_assert_eq!(distances.of(i), expected);
                let bytes: Vec<u8> = row[..words].iter().flat_map(|it| it.to_le_bytes()).collect();
                prop_assert_eq!(slices.row(row_number), bytes);
                prop_assert_eq!(within[i / 64] >> (i % 64) & 1 == 1, expected <= most);
            }
        }
    }

    #[test]
    fn the_farthest_there_is_fits() {
        let words = SIGNS_MAX / 64;
        let mut slices = Slices::new(words);
        slices.set(7, &vec![u64::MAX; words]);
        let distances = slices.distances(0, &vec![0; words]);
        assert_eq!(distances.of(7) as usize, SIGNS_MAX);
        assert_eq!(distances.of(8), 0);
    }
}
