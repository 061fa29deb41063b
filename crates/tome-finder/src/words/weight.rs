//! What a match is worth: BM25's saturation of frequency and length, in whole numbers.

use tantivy::fieldnorm::FieldNormReader;

/// How soon more of the same says nothing new. Measured: lower than usual, because entries are short.
const SATURATION: f32 = 0.9;

/// How much a long text is held against itself.
const LENGTH: f32 = 0.5;

/// One, as a score.
const ONE: f32 = 65_536.0;

/// Frequencies below this are looked up.
const TABLED: u32 = 16;

/// The number of lengths that are told apart.
const LENGTHS: usize = 256;

/// Weights for texts of some average length.
pub(crate) struct Weights {
    /// What the length adds below the fraction, by the length's number.
    norms: Vec<f32>,
    /// The fraction, by frequency and length.
    fractions: Vec<f32>,
}

impl Weights {
    /// Weights for texts that are so long on average.
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

    /// The score of a term in a text.
    pub(crate) fn text(&self, worth: f32, frequency: u32, length: u8) -> u32 {
        let at = frequency as usize * LENGTHS + usize::from(length);
        let fraction = self.fractions.get(at).copied().unwrap_or_else(|| {
            fraction(frequency, self.norms.get(usize::from(length)).copied().unwrap_or_default())
        });
        whole(worth * fraction)
    }

    /// The score of a term where frequency and length do not count: as in a text of average length.
    pub(crate) fn flat(&self, worth: f32) -> u32 {
        whole(worth)
    }

    /// No text gets more.
    pub(crate) fn most(&self, worth: f32) -> u32 {
        whole(worth * (SATURATION + 1.0)).saturating_add(1)
    }
}

fn fraction(frequency: u32, norm: f32) -> f32 {
    let frequency = frequency as f32;
    frequency * (SATURATION + 1.0) / (frequency + norm)
}

#[expect(clippy::cast_possible_truncation, reason = "saturates, which no score comes near")]
fn whole(score: f32) -> u32 {
    (score * ONE) as u32
}

/// A score as others see it.
pub(crate) fn shown(score: u32) -> f32 {
    score as f32 / ONE
}
