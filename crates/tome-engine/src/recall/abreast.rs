//! The same work for many things, on several threads where there is enough of it: a question is
//! waited for, and most machines have cores to spare.

use std::num::NonZero;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Fewer things than this a thread are not worth one.
const THINGS_MIN: usize = 24;
/// Threads of one question at most.
const THREADS_MAX: usize = 4;

/// What becomes of each thing, in their order.
pub(super) fn each<T: Send, R: Send>(
    things: &mut [T],
    work: impl Fn(&mut T) -> R + Sync,
) -> Vec<R> {
    let threads = (things.len() / THINGS_MIN).min(cores()).min(THREADS_MAX);
    if threads < 2 {
        return things.iter_mut().map(work).collect();
    }
    let share = things.len().div_ceil(threads);
    let work = &work;
    thread::scope(|scope| {
        let mut shares = things.chunks_mut(share);
        let own = shares.next();
        let others: Vec<_> = shares
            .map(|share| scope.spawn(move || share.iter_mut().map(work).collect::<Vec<R>>()))
            .collect();
        let mut all: Vec<R> = own.into_iter().flatten().map(work).collect();
        for other in others {
            // A panic on another thread is one here.
            all.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    })
}

/// How many cores there are for this process. Asked once: the system reads several files to say it.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

/// The same for things of which each takes long: whoever is free takes the next one, the first ones first.
pub(super) fn in_turn<T: Sync, R: Send>(things: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = things.len().min(cores()).min(THREADS_MAX);
    if threads < 2 {
        return things.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(thing) = things.get(number) else { return done };
            done.push((number, work(thing)));
        }
    };
    let mut all = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(take)).collect();
        let mut all = take();
        for other in others {
            all.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    });
    all.sort_unstable_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, result)| result).collect()
}

/// What becomes of two things that are done at the same time.
pub(super) fn both<A: Send, B>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B,
) -> (A, B) {
    thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), other)
    })
}

#[cfg(test)]
mod tests {
    use super::{both, each, in_turn};

    #[test]
    fn both_are_done() {
        assert_eq!(both(|| 1, || "two"), (1, "two"));
    }

    #[test]
    fn what_is_taken_in_turn_comes_back_in_order() {
        for count in [0, 1, 2, 7, 64] {
            let things: Vec<usize> = (0..count).collect();
            let doubled: Vec<usize> = (0..count).map(|thing| thing * 2).collect();
            assert_eq!(in_turn(&things, |thing| thing * 2), doubled);
        }
    }

    #[test]
    fn all_is_done_in_order() {
        for count in [0, 1, 23, 48, 500, 1_001] {
            let mut things: Vec<usize> = (0..count).collect();
            let doubled = each(&mut things, |thing| {
                *thing += 1;
                *thing * 2
            });
            assert_eq!(doubled, (1..=count).map(|thing| thing * 2).collect::<Vec<_>>());
            assert_eq!(things, (1..=count).collect::<Vec<_>>());
        }
    }
}
