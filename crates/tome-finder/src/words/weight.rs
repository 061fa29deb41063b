//! BM25 term weights with frequency saturation and length normalization, as fixed-point integers.

use tantivy::fieldnorm::FieldNormReader;

/// BM25's k1. Measured: lower than usual, because entries are short.
const SATURATION: f32 = 0.9;

/// BM25's b.
const LENGTH: f32 = 0.5;

/// Fixed-point representation of 1.
const ONE: f32 = 65_536.0;

/// Lower frequencies are tabulated.
const TABLED: u32 = 16;

/// Number of distinct field norms.
const LENGTHS: usize = 256;

/// Precomputed weights for an average text length.
pub(crate) struct Weights {
    /// Denominator term by field norm.
    norms: Vec<f32>,
    /// Saturation factor by frequency and field norm.
    fractions: Vec<f32>,
}

impl Weights {
    pub(crate) fn new(average: f32) -> Self {
        let norms: Vec<f32> = (0..=u8::MAX)
            .map(|number| {
                let length = FieldNormReader::id_to_fieldnorm(number) as f32;
                SATURATION * (1.0 - LENGTH + LENGTH * length / average)
            })
            .collect();
        let fractions = (0..TABLED)
            .flat_map(|frequency| norms.iter().map(move |norm| fraction(frequency, *norm)))
            .collect();
        Self { norms, fractions }
    }

    pub(crate) fn text(&self, worth: f32, frequency: u32, length: u8) -> u32 {
        let at = frequency as usize * LENGTHS + usize::from(length);
        let fraction = self.fractions.get(at).copied().unwrap_or_else(|| {
            fraction(frequency, self.norms.get(usize::from(length)).copied().unwrap_or_default())
        });
        whole(worth * fraction)
    }

    /// Score of a term in a field where frequency and length do not count: as in a text of average
    /// length.
    pub(crate) fn flat(&self, worth: f32) -> u32 {
        whole(worth)
    }

    /// Upper bound on the score of a term in a text.
    pub(crate) fn most(&self, worth: f32) -> u32 {
        whole(worth * (SATURATION + 1.0)).saturating_add(1)
    }
}

fn fraction(frequency: u32, norm: f32) -> f32 {
    let frequency = frequency as f32;
    frequency * (SATURATION + 1.0) / (frequency + norm)
}

#[expect(clippy::cast_possible_truncation, reason = "saturates; no score comes near the limit")]
fn whole(score: f32) -> u32 {
    (score * ONE) as u32
}

/// Converts a fixed-point score to a float.
pub(crate) fn shown(score: u32) -> f32 {
    score as f32 / ONE
}
