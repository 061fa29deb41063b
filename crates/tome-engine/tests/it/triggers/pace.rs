//! The reminder of the overview and its adaptive interval.

use tome_engine::triggers::{DueInjection, TriggerEvent, TriggerSettings, TriggerState};

use super::{check, event};

#[test]
fn ten_rounds_without_a_write_trigger_a_reminder() {
    check(
        "prompt*10 prompt[overview 10] prompt*9 prompt[overview 20]
         prompt*8 overview prompt*10 prompt[overview 10]
         prompt*10 read prompt[overview 10]",
    );
}

#[test]
fn a_long_loop_counts_as_rounds() {
    check("prompt read*249 read[overview 10] read*249 read[overview 20]");
}

/// Number of rounds until the next reminder.
fn rounds_until_reminder(state: &mut TriggerState, number: &mut usize) -> u32 {
    loop {
        *number += 1;
        let due = state.process_event(
            &TriggerEvent::from_draft(&event(*number, "prompt")),
            &TriggerSettings::default(),
        );
        if let Some(DueInjection::Overview { rounds }) = due {
            return rounds;
        }
    }
}

/// Replays writes, `a` unprompted and `p` after a reminder; returns the rounds until the next one.
fn silence_after(writes: &str) -> u32 {
    let (mut state, mut number) = (TriggerState::default(), 0);
    for write in writes.chars() {
        if write == 'p' {
            rounds_until_reminder(&mut state, &mut number);
        }
        number += 1;
        state.process_event(
            &TriggerEvent::from_draft(&event(number, "overview")),
            &TriggerSettings::default(),
        );
    }
    rounds_until_reminder(&mut state, &mut number)
}

#[test]
fn the_reminder_interval_adapts_to_past_writes() {
    for (writes, rounds) in [
        ("", 10),
        // A single write does not change the interval.
        ("a", 10),
        ("p", 10),
        // Unprompted: shares of 1 (+3), 1/2 (+2), 1/3 (+1).
        ("aa", 13),
        ("pa", 12),
        ("ppa", 8),
        // After a reminder: shares of 1/2 (-2), 2/3 (-1), 0 (-3).
        ("ap", 8),
        ("aap", 12),
        ("pp", 7),
        // Between 5 and 30.
        ("pppp", 5),
        ("ppppppp", 5),
        ("aaaaaaaa", 30),
        ("aaaaaaaaaaaa", 30),
    ] {
        assert_eq!(silence_after(writes), rounds, "after {writes:?}");
    }
}
