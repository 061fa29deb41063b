//! BM25 term weights with frequency saturation and length normalization, as fixed-point integers.

use tantivy::fieldnorm::FieldNormReader;

/// BM25's k1: saturation of the term frequency. Measured: lower than usual, because entries are short.
pub const BM25_K1: f32 = 0.9;

/// BM25's b: normalization of the length.
pub const BM25_B: f32 = 0.5;

/// Fixed-point representation of 1.
const ONE: f32 = 65_536.0;

/// Lower frequencies are tabulated.
const FREQUENCIES_TABULATED: u32 = 16;

/// Number of distinct field norms.
const LENGTHS: usize = 256;

/// Precomputed weights for an average text length.
pub(crate) struct Bm25Weights {
    /// Denominator term by field norm.
    norms: Vec<f32>,
    /// Saturation factor by frequency and field norm.
    fractions: Vec<f32>,
}

impl Bm25Weights {
    pub(crate) fn new(average: f32) -> Self {
        let norms: Vec<f32> = (0..=u8::MAX)
            .map(|number| {
                let length = FieldNormReader::id_to_fieldnorm(number) as f32;
                BM25_K1 * (1.0 - BM25_B + BM25_B * length / average)
            })
            .collect();
        let fractions = (0..FREQUENCIES_TABULATED)
            .flat_map(|frequency| norms.iter().map(move |norm| saturate(frequency, *norm)))
            .collect();
        Self { norms, fractions }
    }

    pub(crate) fn text_score(&self, weight: f32, frequency: u32, length: u8) -> u32 {
        let at = frequency as usize * LENGTHS + usize::from(length);
        let fraction = self.fractions.get(at).copied().unwrap_or_else(|| {
            saturate(frequency, self.norms.get(usize::from(length)).copied().unwrap_or_default())
        });
        to_fixed_point(weight * fraction)
    }

    /// Score of a term in a field where frequency and length do not count: as in a text of average
    /// length.
    pub(crate) fn flat_score(&self, weight: f32) -> u32 {
        to_fixed_point(weight)
    }

    /// Upper bound on the score of a term in a text.
    pub(crate) fn max_text_score(&self, weight: f32) -> u32 {
        to_fixed_point(weight * (BM25_K1 + 1.0)).saturating_add(1)
    }
}

fn saturate(frequency: u32, norm: f32) -> f32 {
    let frequency = frequency as f32;
    frequency * (BM25_K1 + 1.0) / (frequency + norm)
}

#[expect(clippy::cast_possible_truncation, reason = "saturates; no score comes near the limit")]
fn to_fixed_point(score: f32) -> u32 {
    (score * ONE) as u32
}

/// Converts a fixed-point score to a float.
pub(crate) fn to_float(score: u32) -> f32 {
    score as f32 / ONE
}
