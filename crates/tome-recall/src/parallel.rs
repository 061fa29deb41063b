//! A parallel map for queries, which users wait for.

use std::sync::{Mutex, PoisonError};
use std::thread;

/// Maximum number of threads per query.
const THREADS_MAX: usize = 4;

/// Applies `work` to each item and returns the results in order. Starts one more thread per
/// `worth_a_thread` items; threads take items from the front.
pub(super) fn map<T: Send, R: Send>(
    things: Vec<T>,
    worth_a_thread: usize,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let threads =
        (things.len() / worth_a_thread.max(1)).min(tome_finder::available_cores()).min(THREADS_MAX);
    if threads < 2 {
        return things.into_iter().map(work).collect();
    }
    let waiting = Mutex::new(things.into_iter().enumerate());
    let take = || {
        let mut done = Vec::new();
        loop {
            let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, thing)) = next else { return done };
            done.push((number, work(thing)));
        }
    };
    let mut all = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(take)).collect();
        let mut all = take();
        for other in others {
            // Propagate panics.
            all.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    });
    all.sort_unstable_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::map;

    #[test]
    fn results_keep_the_order_of_their_inputs() {
        for (count, per_thread) in [(0, 1), (1, 1), (2, 1), (7, 2), (23, 24), (48, 24), (1_001, 10)]
        {
            let mut things: Vec<usize> = (0..count).collect();
            let doubled = map(things.iter_mut().collect(), per_thread, |thing| {
                *thing += 1;
                *thing * 2
            });
            assert_eq!(doubled, (1..=count).map(|thing| thing * 2).collect::<Vec<_>>());
            assert_eq!(things, (1..=count).collect::<Vec<_>>());
        }
    }
}
