//! Vector functions of the model. All sums have a fixed order and nothing calls the system's
//! mathematics, so results are the same on every machine. Written so that compilers vectorize them.

/// Partial sums: enough for any processor's vectors.
const LANES: usize = 16;
/// Adding and subtracting this rounds a small number to an integer, which then is in its low bits.
pub(super) const ROUNDING: f32 = 12_582_912.0;
/// Avoids division by zero when normalizing.
const EPSILON: f32 = 1e-12;

/// Sum of a function of each value; as many values as a multiple of 16.
#[inline(always)]
fn sum_of(values: &[f32], term: impl Fn(f32) -> f32) -> f32 {
    let mut sums = [0.0; LANES];
    for part in values.as_chunks::<LANES>().0 {
        for (sum, value) in sums.iter_mut().zip(part) {
            *sum += term(*value);
        }
    }
    sums.iter().sum()
}

/// Adds `other` to `row`, then scales and shifts the values to mean 0 and variance 1, and by the
/// weights.
#[inline(always)]
pub(super) fn add_and_normalize(row: &mut [f32], other: &[f32], weight: &[f32], bias: &[f32]) {
    for (value, other) in row.iter_mut().zip(other) {
        *value += other;
    }
    let share = 1.0 / row.len() as f32;
    let mean = sum_of(row, |value| value) * share;
    let variance = sum_of(row, |value| (value - mean) * (value - mean)) * share;
    let factor = 1.0 / (variance + EPSILON).sqrt();
    for ((value, weight), bias) in row.iter_mut().zip(weight).zip(bias) {
        *value = (*value - mean) * factor * weight + bias;
    }
}

/// The function e^x, to about 1e-7 of its value.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    let x = x.clamp(-87.0, 88.0);
    let rounded = x * std::f32::consts::LOG2_E + ROUNDING;
    let whole = rounded - ROUNDING;
    // The logarithm of 2 in two parts, so that the product is exact.
    let rest = (x - whole * 0.693_359_4) - whole * -2.121_944_4e-4;
    let series = 1.0 / 720.0;
    let series = series * rest + 1.0 / 120.0;
    let series = series * rest + 1.0 / 24.0;
    let series = series * rest + 1.0 / 6.0;
    let series = series * rest + 0.5;
    let series = series * rest + 1.0;
    let series = series * rest + 1.0;
    // Multiplies with a power of two by adding to the exponent.
    f32::from_bits(series.to_bits().wrapping_add(rounded.to_bits() << 23))
}

/// The activation: GELU with the approximation by tanh.
#[inline(always)]
pub(super) fn gelu(values: &mut [f32]) {
    // 2 √(2/π)
    const SLOPE: f32 = 1.595_769;
    for value in values {
        let x = *value;
        *value = x / (1.0 + exp(-SLOPE * (x + 0.044_715 * x * x * x)));
    }
}

/// Turns scores, as many as a multiple of 16, into shares of 1; those beyond `count` become 0.
#[inline(always)]
pub(super) fn softmax(scores: &mut [f32], count: usize) {
    let (_, unused) = scores.split_at_mut(count.min(scores.len()));
    unused.fill(f32::MIN);
    let mut most = [f32::MIN; LANES];
    for part in scores.as_chunks::<LANES>().0 {
        for (most, score) in most.iter_mut().zip(part) {
            *most = if *score > *most { *score } else { *most };
        }
    }
    let most = most.iter().copied().fold(f32::MIN, f32::max);
    scores.iter_mut().for_each(|score| *score = exp(*score - most));
    let (_, unused) = scores.split_at_mut(count.min(scores.len()));
    unused.fill(0.0);
    let share = 1.0 / sum_of(scores, |value| value);
    scores.iter_mut().for_each(|score| *score *= share);
}

/// Scales a vector to length 1; leaves a zero vector unchanged.
pub(super) fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|number| *number /= length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_close_to_the_exact_ones() {
        for step in -800..=800_i16 {
            let x = f32::from(step) / 10.0;
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-6, "{x}");
            let mut value = [x / 10.0];
            let x = f64::from(x) / 10.0;
            let exact = 0.5 * x * (1.0 + (0.797_884_560_8 * (x + 0.044_715 * x.powi(3))).tanh());
            gelu(&mut value);
            assert!((f64::from(value[0]) - exact).abs() < 2e-6, "{x}");
        }
        assert!(exp(-1e9) < 1e-37 && exp(1e9).is_finite());
    }

    #[test]
    fn shares_sum_to_one() {
        let mut scores: Vec<f32> = (0..32_i16).map(f32::from).collect();
        softmax(&mut scores, 20);
        assert!((scores.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!(scores[19] > 0.6 && scores[20] == 0.0);
    }
}
