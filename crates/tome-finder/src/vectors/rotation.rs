//! Rotates vectors before quantization, so that every dimension carries about the same information.
//! Models concentrate it in a few dimensions, but sign bits weight all dimensions equally. A
//! rotation preserves angles.
//!
//! It flips signs with a fixed pseudo-random sequence and applies a Walsh-Hadamard transform per
//! block. The block size is the largest power of two that divides the number of dimensions.

pub(super) fn rotate(vector: &[f32]) -> Vec<f32> {
    let mut turned: Vec<f32> = (0_u64..)
        .zip(vector)
        .map(|(i, number)| if random_sign(i) { -number } else { *number })
        .collect();
    let length = turned.len().max(1);
    let block = 1_usize << length.trailing_zeros();
    turned.chunks_mut(block).for_each(hadamard_transform);
    turned
}

/// In-place normalized Walsh-Hadamard transform. The length must be a power of two.
fn hadamard_transform(numbers: &mut [f32]) {
    let mut half = 1;
    while half < numbers.len() {
        for pair in numbers.chunks_mut(half * 2) {
            let (left, right) = pair.split_at_mut(half);
            for (left, right) in left.iter_mut().zip(right) {
                (*left, *right) = (*left + *right, *left - *right);
            }
        }
        half *= 2;
    }
    let scale = (numbers.len() as f32).sqrt();
    numbers.iter_mut().for_each(|number| *number /= scale);
}

/// One bit of SplitMix64.
fn random_sign(i: u64) -> bool {
    let mut mixed = i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)) & 1 == 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn product(one: &[f32], other: &[f32]) -> f32 {
        one.iter().zip(other).map(|(one, other)| one * other).sum()
    }

    proptest! {
        #[test]
        fn rotation_preserves_dot_products(pairs in proptest::collection::vec((-1_f32..1.0, -1_f32..1.0), 0..300)) {
            let (one, other): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            let (one_turned, other_turned) = (rotate(&one), rotate(&other));
            let error = product(&one, &other) - product(&one_turned, &other_turned);
            prop_assert!(error.abs() < 1e-3, "{error}");
        }
    }

    #[test]
    fn rotation_spreads_one_dimension_over_all() {
        let mut vector = vec![0.0; 256];
        vector[3] = 1.0;
        assert!(rotate(&vector).iter().all(|number| (number.abs() - 1.0 / 16.0).abs() < 1e-6));
    }
}
