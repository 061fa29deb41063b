//! Sign bits in blocks of 256 rows, transposed (bit-sliced), and their Hamming distances to a
//! query.
//!
//! A slice holds one bit position of every row in a block. Adding slices with bitwise logic takes
//! half as long as a popcount per row on the oldest supported processors, and needs no special
//! instructions.

pub(super) const BLOCK_ROWS: usize = LANES * 64;

const LANES: usize = 4;

/// One bit position of every row in a block.
pub(super) type BitSlice = [u64; LANES];

/// Number of slices that are added at once.
const GROUP_SLICES: usize = 16;

/// Width of a distance in bits.
const SUM_BITS: usize = 16;

/// Maximum number of sign bits whose sum cannot overflow.
pub(super) const SIGNS_MAX: usize = (1 << SUM_BITS) - 64;

/// Blocks per contiguous allocation: scattered blocks make a scan take 50 % longer. Low in tests.
const SLAB_BLOCKS: usize = if cfg!(test) { 2 } else { 256 };

/// Slices of all blocks, block by block.
#[derive(Debug)]
pub(super) struct BitSlices {
    slabs: Vec<Vec<BitSlice>>,
    /// Slices per block: one per bit of a row.
    bits: usize,
}

impl BitSlices {
    /// Creates empty slices for rows of this many words.
    pub(super) fn new(words: usize) -> Self {
        Self { slabs: Vec::new(), bits: words * 64 }
    }

    /// Sets the bits of a row; the row must be all zeros before.
    pub(super) fn set_row(&mut self, row: usize, words: &[u64]) {
        let (block, i) = (row / BLOCK_ROWS, row % BLOCK_ROWS);
        for (slices, word) in self.grow_to_block(block).chunks_mut(64).zip(words) {
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

    /// Returns a block, allocating it and those before it if needed.
    fn grow_to_block(&mut self, block: usize) -> &mut [BitSlice] {
        let (slab, block) = (block / SLAB_BLOCKS, block % SLAB_BLOCKS);
        let slab_len = SLAB_BLOCKS * self.bits;
        while self.slabs.len() <= slab {
            if let Some(last) = self.slabs.last_mut() {
                last.resize(slab_len, [0; LANES]);
            }
            // The first slab grows on demand, because most indexes are small. Unused capacity of
            // later slabs is never touched and takes no physical memory.
            let capacity = if self.slabs.is_empty() { 0 } else { slab_len };
            self.slabs.push(Vec::with_capacity(capacity));
        }
        let range = block * self.bits..(block + 1) * self.bits;
        let Some(slab) = self.slabs.get_mut(slab) else { return &mut [] };
        if slab.len() < range.end {
            slab.resize(range.end, [0; LANES]);
        }
        slab.get_mut(range).unwrap_or_default()
    }

    fn block(&self, block: usize) -> &[BitSlice] {
        let (slab, block) = (block / SLAB_BLOCKS, block % SLAB_BLOCKS);
        let slab = self.slabs.get(slab).map(Vec::as_slice).unwrap_or_default();
        slab.get(block * self.bits..(block + 1) * self.bits).unwrap_or_default()
    }

    pub(super) fn row_bytes(&self, row: usize) -> Vec<u8> {
        let (block, i) = (row / BLOCK_ROWS, row % BLOCK_ROWS);
        let bit = |slice: &BitSlice| slice.get(i / 64).map_or(0, |lane| lane >> (i % 64) & 1);
        let (bytes, _) = self.block(block).as_chunks::<8>();
        let byte = |slices: &[BitSlice; 8]| {
            slices.iter().rev().fold(0, |byte, slice| byte << 1 | u8::from(bit(slice) == 1))
        };
        bytes.iter().map(byte).collect()
    }

    /// Hamming distances between the query and all rows of a block.
    pub(super) fn hamming_distances(&self, block: usize, query_bits: &[u64]) -> HammingDistances {
        let slices = self.block(block);
        let mut sums = [[0; LANES]; SUM_BITS];
        // A distance is at most the number of slices, so the higher bits stay zero.
        let bits = slices.len().checked_ilog2().map_or(0, |bits| bits as usize + 1);
        for (slices, word) in slices.chunks(64).zip(query_bits) {
            let (groups, _) = slices.as_chunks::<GROUP_SLICES>();
            for (i, group) in groups.iter().enumerate() {
                add_group(&mut sums, group, word >> (i * GROUP_SLICES), bits);
            }
        }
        HammingDistances(sums)
    }
}

/// Distances of a block's rows, bit-sliced: one slice per bit of the distance.
pub(super) struct HammingDistances([BitSlice; SUM_BITS]);

impl HammingDistances {
    /// Selects the rows within a distance.
    pub(super) fn rows_within(&self, most: u32) -> BitSlice {
        let (mut less, mut equal) = ([0; LANES], [u64::MAX; LANES]);
        for (bit, sums) in self.0.iter().enumerate().rev() {
            let most = broadcast_bit(u64::from(most) >> bit);
            for ((less, equal), sum) in less.iter_mut().zip(&mut equal).zip(sums) {
                *less |= *equal & most & !sum;
                *equal &= !(sum ^ most);
            }
        }
        less.iter_mut().zip(equal).for_each(|(less, equal)| *less |= equal);
        less
    }

    pub(super) fn row_distance(&self, row: usize) -> u32 {
        let bits = self.0.iter().rev().filter_map(|sums| sums.get(row / 64));
        bits.fold(0, |sum, lane| sum << 1 | u32::from(lane >> (row % 64) & 1 == 1))
    }
}

/// Fills a word with its lowest bit.
fn broadcast_bit(bits: u64) -> u64 {
    0_u64.wrapping_sub(bits & 1)
}

/// Bitwise full adder: returns sum and carry.
#[inline(always)]
fn full_add(one: BitSlice, two: BitSlice, three: BitSlice) -> (BitSlice, BitSlice) {
    let (mut low, mut high) = ([0; LANES], [0; LANES]);
    let lanes = low.iter_mut().zip(&mut high).zip(one).zip(two).zip(three);
    for ((((low, high), one), two), three) in lanes {
        let either = one ^ two;
        *low = either ^ three;
        *high = (one & two) | (either & three);
    }
    (low, high)
}

/// Adds sixteen slices, each compared with its query bit, to the sums with a carry-save adder tree:
/// first the ones, then the twos, fours and eights; the carry continues upward.
#[inline(always)]
fn add_group(
    sums: &mut [BitSlice; SUM_BITS],
    group: &[BitSlice; GROUP_SLICES],
    query_bits: u64,
    bits: usize,
) {
    let mut group = *group;
    for (i, slice) in group.iter_mut().enumerate() {
        let query_bit = broadcast_bit(query_bits >> i);
        slice.iter_mut().for_each(|lane| *lane ^= query_bit);
    }
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = group;
    let [ones, twos, fours, eights, above @ ..] = sums;
    let (a, two_a) = full_add(a, b, c);
    let (d, two_b) = full_add(d, e, f);
    let (g, two_c) = full_add(g, h, i);
    let (j, two_d) = full_add(j, k, l);
    let (m, two_e) = full_add(m, n, o);
    let (a, two_f) = full_add(a, d, g);
    let (j, two_g) = full_add(j, m, p);
    let (sum, two_h) = full_add(a, j, *ones);
    *ones = sum;
    let (a, four_a) = full_add(two_a, two_b, two_c);
    let (b, four_b) = full_add(two_d, two_e, two_f);
    let (c, four_c) = full_add(two_g, two_h, *twos);
    let (sum, four_d) = full_add(a, b, c);
    *twos = sum;
    let (a, eight_a) = full_add(four_a, four_b, four_c);
    let (sum, eight_b) = full_add(a, four_d, *fours);
    *fours = sum;
    let (sum, mut carried) = full_add(eight_a, eight_b, *eights);
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
        fn distances_equal_bit_counts(
            rows in proptest::collection::vec(proptest::array::uniform5(any::<u64>()), 1..80),
            query_bits in proptest::array::uniform5(any::<u64>()),
            words in 1..=5_usize,
            apart in 1..40_usize,
            most in 0..330_u32,
        ) {
            let mut slices = BitSlices::new(words);
            for (i, row) in rows.iter().enumerate() {
                slices.set_row(i * apart, &row[..words]);
            }
            for (i, row) in rows.iter().enumerate() {
                let pairs = row.iter().zip(&query_bits).take(words);
                let expected: u32 = pairs.map(|(one, other)| (one ^ other).count_ones()).sum();
                let row_number = i * apart;
                let distances = slices.hamming_distances(row_number / BLOCK_ROWS, &query_bits[..words]);
                let within = distances.rows_within(most);
                let i = row_number % BLOCK_ROWS;
                prop_assert_eq!(distances.row_distance(i), expected);
                let bytes: Vec<u8> = row[..words].iter().flat_map(|it| it.to_le_bytes()).collect();
                prop_assert_eq!(slices.row_bytes(row_number), bytes);
                prop_assert_eq!(within[i / 64] >> (i % 64) & 1 == 1, expected <= most);
            }
        }
    }

    #[test]
    fn the_largest_distance_fits() {
        let words = SIGNS_MAX / 64;
        let mut slices = BitSlices::new(words);
        slices.set_row(7, &vec![u64::MAX; words]);
        let distances = slices.hamming_distances(0, &vec![0; words]);
        assert_eq!(distances.row_distance(7) as usize, SIGNS_MAX);
        assert_eq!(distances.row_distance(8), 0);
    }
}
