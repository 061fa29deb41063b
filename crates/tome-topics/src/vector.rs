//! Vectors in one byte per component: a quarter of the size, and sums that are exact.

/// Quantizes a unit vector. An empty or zero vector gives an empty one.
#[expect(clippy::cast_possible_truncation, reason = "clamped to the range of a byte before")]
pub fn quantize(vector: &[f32]) -> Vec<i8> {
    let largest = vector.iter().fold(0.0_f32, |most, one| most.max(one.abs()));
    if !largest.is_finite() || largest <= 0.0 {
        return Vec::new();
    }
    let scale = 127.0 / largest;
    vector.iter().map(|one| (one * scale).round().clamp(-127.0, 127.0) as i8).collect()
}

/// A quantized vector with its sign bits and length.
#[derive(Debug, Clone)]
pub(crate) struct PackedVector<'a> {
    values: &'a [i8],
    signs: Vec<u64>,
    length: f32,
}

impl<'a> PackedVector<'a> {
    /// `None` for a vector without direction.
    pub(crate) fn new(values: &'a [i8]) -> Option<Self> {
        let squares = dot(values, values);
        if squares == 0 {
            return None;
        }
        let mut signs = vec![0_u64; values.len().div_ceil(64)];
        for (word, chunk) in signs.iter_mut().zip(values.chunks(64)) {
            for (bit, value) in chunk.iter().enumerate() {
                *word |= u64::from(*value > 0) << bit;
            }
        }
        Some(Self { values, signs, length: to_f32(squares).sqrt() })
    }

    /// One bit per component: whether it is positive.
    pub(crate) fn signs(&self) -> &[u64] {
        &self.signs
    }

    /// Cosine similarity; 0 for vectors of different models.
    pub(crate) fn similarity(&self, other: &Self) -> f32 {
        if self.values.len() != other.values.len() {
            return 0.0;
        }
        to_f32(dot(self.values, other.values)) / (self.length * other.length)
    }

    /// Cosine similarity to a vector that is compared only once; 0 for one without direction.
    pub(crate) fn similarity_to(&self, other: &[i8]) -> f32 {
        let squares = dot(other, other);
        if self.values.len() != other.len() || squares == 0 {
            return 0.0;
        }
        to_f32(dot(self.values, other)) / (self.length * to_f32(squares).sqrt())
    }

    pub(crate) fn dimensions(&self) -> usize {
        self.values.len()
    }
}

fn dot(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

#[expect(clippy::cast_precision_loss, reason = "a similarity needs no more precision")]
fn to_f32(value: i32) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantized_vectors_keep_their_similarity() {
        let a: Vec<f32> = (0..=255_u8).map(|i| (f32::from(i) * 0.7).sin()).collect();
        let b: Vec<f32> = (0..=255_u8).map(|i| (f32::from(i) * 0.7 + 0.5).sin()).collect();
        let (qa, qb) = (quantize(&a), quantize(&b));
        let (pa, pb) = (PackedVector::new(&qa).unwrap(), PackedVector::new(&qb).unwrap());
        assert!((pa.similarity(&pb) - 0.5_f32.cos()).abs() < 0.02);
        assert!((pa.similarity(&pa) - 1.0).abs() < 1e-5);
        assert_eq!(pa.signs().len(), 4);
        assert!(quantize(&[0.0; 8]).is_empty() && quantize(&[f32::NAN, 0.0]).is_empty());
        assert!(PackedVector::new(&[]).is_none());
        assert!(pa.similarity(&PackedVector::new(&[1, 2]).unwrap()).abs() < 1e-9);
    }
}
