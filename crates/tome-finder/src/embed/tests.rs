//! Vectors compared with those of the training code, and properties of the vectors.

use fearless_simd::Level;
use proptest::prelude::*;
use serde::Deserialize;

use super::transformer::Scratch;
use super::two_speed::{MODEL, TwoSpeedModel};
use super::{DeepEmbedder, Embedder, StaticEmbedder};

/// The file of weights, to be damaged.
const FILE: &[u8] = include_bytes!("../../model/tome-embed.safetensors");

/// Texts with the tokens and vectors that the training code computes for them.
#[derive(Deserialize)]
struct Golden {
    text: String,
    ids: Vec<u32>,
    deep: Vec<f32>,
    #[serde(rename = "static")]
    fast: Vec<f32>,
}

fn golden() -> Vec<Golden> {
    serde_json::from_str(include_str!("../../model/golden.json")).unwrap()
}

fn model() -> &'static TwoSpeedModel<'static> {
    MODEL.as_ref().unwrap()
}

fn embedded(embedder: &dyn Embedder, text: &str) -> Vec<f32> {
    embedder.embed(&[text]).unwrap().pop().unwrap()
}

fn product(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[test]
fn tokens_equal_those_of_the_training_code() {
    for one in golden() {
        assert_eq!(model().tokens(&one.text), one.ids, "{:?}", one.text);
    }
}

#[test]
fn vectors_equal_those_of_the_training_code() {
    for one in golden() {
        for (embedder, expected) in
            [(&StaticEmbedder as &dyn Embedder, &one.fast), (&DeepEmbedder, &one.deep)]
        {
            let vector = embedded(embedder, &one.text);
            if one.ids.is_empty() {
                assert!(vector.iter().all(|number| *number == 0.0), "{:?}", one.text);
                continue;
            }
            let similarity = product(&vector, expected);
            assert!(similarity > 0.999, "{} {:?}: {similarity}", embedder.name(), one.text);
            assert!((product(&vector, &vector) - 1.0).abs() < 1e-5, "{:?}", one.text);
        }
    }
}

#[test]
fn a_vector_is_the_same_on_every_processor() {
    let mut plain = TwoSpeedModel::parse(FILE).unwrap();
    plain.set_level(Level::baseline());
    for one in golden().iter().step_by(3) {
        let (mut scratch, mut other) = (Scratch::default(), Scratch::default());
        let vector = model().deep_vector(&one.text, &mut scratch);
        assert_eq!(vector, plain.deep_vector(&one.text, &mut other), "{:?}", one.text);
        let vector = model().static_vector(&one.text, |_| 1.0);
        assert_eq!(vector, plain.static_vector(&one.text, |_| 1.0), "{:?}", one.text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn a_batch_returns_the_same_vectors_as_single_texts(
        texts in prop::collection::vec("([a-z]{1,9}[ .]|\\PC){0,120}", 1..5),
    ) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for embedder in [&StaticEmbedder as &dyn Embedder, &DeepEmbedder] {
            let alone: Vec<_> = texts.iter().map(|text| embedded(embedder, text)).collect();
            prop_assert_eq!(embedder.embed(&texts).unwrap(), alone);
        }
    }
}

#[test]
fn special_tokens_in_a_text_are_plain_text() {
    assert_eq!(model().tokens("[MASK]"), model().tokens("[ mask ]"));
    assert_eq!(model().tokens("[UNK] [PAD]").len(), 6 + 1);
}

#[test]
fn a_query_can_weight_its_tokens() {
    let text = "caroline likes pottery";
    let plain = StaticEmbedder.embed_query(text, &|_| 1.0).unwrap();
    assert_eq!(plain, embedded(&StaticEmbedder, text));
    let name = model().tokens("caroline");
    let without =
        StaticEmbedder.embed_query(text, &|token| f32::from(!name.contains(&token))).unwrap();
    assert!(product(&without, &embedded(&StaticEmbedder, "likes pottery")) > 0.9999);
}

#[test]
fn token_ids_are_sorted_and_unique() {
    assert_eq!(StaticEmbedder.token_ids("b a b a"), model().tokens("a b"));
    assert!(StaticEmbedder.token_ids("").is_empty());
}

#[test]
fn long_texts_and_words_are_embedded() {
    let word = "x".repeat(1 << 20);
    let long = "pottery ".repeat(100_000);
    for embedder in [&StaticEmbedder as &dyn Embedder, &DeepEmbedder] {
        assert!(embedded(embedder, &word).iter().all(|number| *number == 0.0));
        assert_eq!(embedded(embedder, &long).len(), embedder.dimensions());
    }
}

#[test]
fn a_damaged_file_is_an_error() {
    let header = 8 + usize::try_from(u64::from_le_bytes(*FILE.first_chunk().unwrap())).unwrap();
    for length in [0, 7, 8, 100, header - 1, header, header + 1, FILE.len() / 2, FILE.len() - 1] {
        assert!(TwoSpeedModel::parse(&FILE[..length]).is_err(), "{length}");
    }
    let text = std::str::from_utf8(&FILE[8..header]).unwrap();
    for (from, to) in [
        ("tome-embed", "xome-embed"),
        ("\"version\"", "\"versiom\""),
        ("\"layers\"", "\"layerz\""),
        ("\"layers\":\"3\"", "\"layers\":\"9\""),
        ("layer.0.up.bias", "layer.0.up.bia_"),
        ("\"width\":\"384\"", "\"width\":\"383\""),
        ("\"width\":\"384\"", "\"width\":\"000\""),
        ("\"dims\":\"256\"", "\"dims\":\"255\""),
        ("\"max_tokens\":\"256\"", "\"max_tokens\":\"001\""),
        ("\"I8\"", "\"U8\""),
    ] {
        let changed = text.replace(from, to);
        assert_ne!(changed, text, "{from}");
        let file = [&FILE[..8], changed.as_bytes(), &FILE[header..]].concat();
        assert!(TwoSpeedModel::parse(&file).is_err(), "{from}");
    }
}
