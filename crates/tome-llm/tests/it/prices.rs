//! Cost of token usage, for the prices that are configured.

use tome_llm::{Prices, Usage};

#[test]
fn a_cost_requires_prices() {
    let usage =
        Usage { input: 1_000_000, cache_read: 2_000_000, cache_written: 500_000, output: 100_000 };
    assert_eq!(Prices::default().cost(&usage), None);
    let all = Prices {
        input: Some(3.0),
        output: Some(15.0),
        cache_read: Some(0.3),
        cache_write: Some(3.75),
    };
    assert!((all.cost(&usage).unwrap() - (3.0 + 0.6 + 1.875 + 1.5)).abs() < 1e-9);
    // Missing cache prices fall back to the input price.
    let two = Prices { cache_read: None, cache_write: None, ..all };
    assert!((two.cost(&usage).unwrap() - (3.0 + 6.0 + 1.5 + 1.5)).abs() < 1e-9);
    let half = Prices { output: None, ..all };
    assert_eq!(half.cost(&usage), None);
    assert_eq!(half.cost(&Usage { output: 0, ..usage }), Some(3.0 + 0.6 + 1.875));
    let nonsense = Prices { input: Some(f64::NAN), ..all };
    assert_eq!(nonsense.cost(&usage), None);
    assert_eq!(all.cost(&Usage::default()), Some(0.0));
}
