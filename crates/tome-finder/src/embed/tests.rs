//! Tokens compared with the reference tokenizer, and properties of the vectors.

use super::model::MODEL;
use super::wordpiece::wordpiece_tokens;
use super::{Embedder, PotionEmbedder};

/// Output of the tokenizer published with the model, without `[UNK]`.
const TOKENS: &[(&str, &[u32])] = &[
    (
        "The quick brown fox jumps over the lazy dog.",
        &[1002, 3254, 1835, 3425, 13529, 1064, 1002, 12977, 2905, 18],
    ),
    (
        "fn parse_config(path: &Path) -> Result<Config, io::Error>",
        &[
            48, 1084, 10974, 2372, 41, 8536, 7879, 1296, 12, 3136, 30, 10, 3136, 13, 17, 34, 1771,
            32, 8536, 7879, 1296, 16, 21840, 30, 30, 6567, 34,
        ],
    ),
    (
        "getUserByEmail HTTPServer2 snake_case_name",
        &[1137, 19336, 2768, 13551, 3020, 15776, 1127, 5305, 1481, 6494, 41, 1559, 41, 1177],
    ),
    (
        "Café, naïve, Ångström, ÉCOLE, İstanbul, straße",
        &[6674, 16, 14749, 16, 16082, 14693, 16, 11437, 16, 8966, 16, 1364, 26813],
    ),
    ("我们昨天在北京讨论了数据库的迁移", &[861, 817, 787, 761, 922]),
    ("データベース を 移行する", &[719, 29271, 29241, 29253, 29271, 29239, 696, 951, 664, 29219]),
    (
        "한국어 문장",
        &[
            475, 29012, 29027, 28997, 29020, 29026, 29005, 29014, 465, 29020, 29027, 29006, 29012,
            29031,
        ],
    ),
    (
        "Привет, мир! Как дела?",
        &[
            200, 15862, 9331, 24535, 14296, 21925, 16, 197, 9331, 15862, 5, 195, 9266, 22931, 190,
            14296, 28442, 9266, 35,
        ],
    ),
    (
        "ह\u{93f}न\u{94d}द\u{940} म\u{947}\u{902} ल\u{93f}ख\u{93e}",
        &[345, 28883, 28869, 28867, 28884, 337, 340, 28883, 28858, 28882],
    ),
    ("ไทย ภาษา", &[]),
    (
        "tab\there\nnew line\r\nno\u{200b}width soft\u{ad}hyphen\u{feff} nbsp\u{a0}x\u{3000}y",
        &[
            20634, 1188, 1053, 1246, 1091, 2599, 1711, 2736, 9542, 7464, 1374, 56, 4916, 1367, 66,
            67,
        ],
    ),
    ("emoji \u{1f389} and \u{1f469}\u{200d}\u{1f4bb} done", &[6867, 28153, 1078, 1004, 1595]),
    (
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
        &[
            21044, 19354, 19354, 19354, 19354, 19354, 19354, 19354, 19354, 19354, 19354, 19354,
            19354, 19354, 19354, 19354, 19354, 19354, 19354, 19354, 19354, 19354, 19354, 19354,
            19354, 19354, 19354, 19354, 19354, 19354, 19354, 19354, 19354, 19354, 19354, 19354,
            19354, 19354, 19354, 19354, 19354, 19354, 19354, 19354, 19354, 19354, 19354, 19354,
            19354, 19354,
        ],
    ),
    ("don't can't I'm", &[1129, 11, 62, 1070, 11, 62, 51, 11, 55]),
    (
        "a.b/c\\d:e 1.2.3 v0.10-rc1 #42 @me 50% $3",
        &[
            43, 18, 44, 19, 45, 38, 46, 30, 47, 21, 18, 22, 18, 23, 64, 1698, 18, 1190, 17, 21116,
            1493, 7, 3419, 36, 1039, 1759, 9, 8, 23,
        ],
    ),
    ("e\u{301} A\u{30a} ẛ\u{323} ﬁ ½ ①", &[47, 43, 990, 98]),
    ("\u{0}\u{1}bell\u{7} \u{fffd} del\u{7f} nel\u{85}end", &[3336, 2978, 10271, 6776, 1100]),
    ("", &[]),
    ("   ", &[]),
    (
        "\u{2026}\u{2014}\u{201c}quoted\u{201d}\u{2018}x\u{2019} \u{ab}y\u{bb} \u{3001}\u{3002}\u{300c}\u{300d}",
        &[535, 523, 529, 8345, 530, 526, 66, 527, 83, 67, 96, 641, 642, 647, 648],
    ),
    ("ΑΣ ς ΌΣΟΣ", &[161, 28739, 178, 175, 28739, 28736, 28739]),
    ("中abc文123", &[752, 4931, 867, 12144]),
    ("𠀀𪜀 豈", &[]),
    ("Ⅷ ª ² ǅ", &[82, 88]),
    ("\u{600}\u{6dd} \u{180e} \u{e000} \u{e0001}tag", &[5421]),
    ("a\u{903}b क\u{94d}ष\u{93f} क\u{93e}", &[321, 28879, 28883, 321, 28882]),
];

#[test]
fn tokens_are_those_of_the_reference() {
    for (text, expected) in TOKENS {
        assert_eq!(wordpiece_tokens(&MODEL, text), *expected, "{text:?}");
    }
}

#[test]
fn a_mark_in_a_text_is_text() {
    assert_eq!(wordpiece_tokens(&MODEL, "[MASK]"), wordpiece_tokens(&MODEL, "[ mask ]"));
    assert_eq!(wordpiece_tokens(&MODEL, "[UNK] [PAD]").len(), 6 + 1);
}

fn embedded(text: &str) -> Vec<f32> {
    PotionEmbedder.embed(&[text]).unwrap().pop().unwrap()
}

fn cosine(one: &str, other: &str) -> f32 {
    embedded(one).iter().zip(embedded(other)).map(|(one, other)| one * other).sum()
}

#[test]
fn a_vector_has_length_one_or_says_nothing() {
    for (text, tokens) in TOKENS {
        let vector = embedded(text);
        assert_eq!(vector.len(), PotionEmbedder.dimensions());
        let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        let expected = if tokens.is_empty() { 0.0 } else { 1.0 };
        assert!((length - expected).abs() < 1e-5, "{text:?} has length {length}");
    }
}

#[test]
fn what_means_the_same_lies_near() {
    let near = cosine("the database migration failed", "migrating the db broke");
    let far = cosine("the database migration failed", "we had pancakes for breakfast");
    assert!(near > 0.5 && far < 0.2, "{near} {far}");
    assert!((cosine("same words", "Same WORDS") - 1.0).abs() < 1e-5);
}

#[test]
fn a_question_can_weigh_its_tokens() {
    let plain = PotionEmbedder.embed_query("caroline likes pottery", &|_| 1.0).unwrap();
    assert_eq!(plain, embedded("caroline likes pottery"));
    let name = wordpiece_tokens(&MODEL, "caroline");
    let without = PotionEmbedder
        .embed_query("caroline likes pottery", &|token| f32::from(!name.contains(&token)));
    let product: f32 =
        without.unwrap().iter().zip(embedded("likes pottery")).map(|(a, b)| a * b).sum();
    assert!((product - 1.0).abs() < 1e-5);
}

#[test]
fn tokens_are_given_once_and_in_order() {
    assert_eq!(PotionEmbedder.token_ids("b a b a"), wordpiece_tokens(&MODEL, "a b"));
    assert!(PotionEmbedder.token_ids("").is_empty());
}

#[test]
fn long_texts_and_words_are_no_trouble() {
    let word = "x".repeat(1 << 20);
    assert!(embedded(&word).iter().all(|number| *number == 0.0));
    assert_eq!(embedded(&"pottery ".repeat(100_000)).len(), 256);
}
