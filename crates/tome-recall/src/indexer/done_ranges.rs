//! The events that an index has read, if it does not read them in order: ranges of sequence numbers.
//!
//! As a cursor: `5-20,31-40`, ascending, with gaps between the ranges.

use std::ops::RangeInclusive;

/// Ranges of sequence numbers, ascending, with gaps between them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct DoneRanges(Vec<RangeInclusive<u64>>);

impl DoneRanges {
    /// Parses a cursor. Empty if it has another form: everything is read again.
    pub(crate) fn parse(cursor: &str) -> Self {
        let range = |part: &str| {
            let (first, last) = part.split_once('-')?;
            let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
            (0 < first && first <= last).then_some(first..=last)
        };
        let ranges: Option<Vec<_>> = cursor.split(',').map(range).collect();
        let ranges = ranges.unwrap_or_default();
        let is_ascending = ranges.is_sorted_by(|one, next| one.end() + 1 < *next.start());
        Self(if is_ascending { ranges } else { Vec::new() })
    }

    pub(crate) fn render(&self) -> String {
        let range = |range: &RangeInclusive<u64>| format!("{}-{}", range.start(), range.end());
        self.0.iter().map(range).collect::<Vec<_>>().join(",")
    }

    /// Number of events read.
    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|range| range.end() - range.start() + 1).sum()
    }

    /// The newest events up to `last` that have not been read, at most `limit` of them.
    pub(crate) fn newest_missing(&self, last: u64, limit: u64) -> Option<RangeInclusive<u64>> {
        let mut end = last;
        for range in self.0.iter().rev() {
            if *range.end() < end {
                let first = (range.end() + 1).max(end.saturating_sub(limit - 1));
                return Some(first..=end);
            }
            end = end.min(range.start() - 1);
        }
        (end > 0).then(|| end.saturating_sub(limit - 1).max(1)..=end)
    }

    /// Adds a range, which joins those that it touches.
    pub(crate) fn add(&mut self, added: RangeInclusive<u64>) {
        let (mut first, mut last) = added.into_inner();
        self.0.retain(|range| {
            let touches = *range.start() <= last + 1 && first <= range.end() + 1;
            if touches {
                (first, last) = (first.min(*range.start()), last.max(*range.end()));
            }
            !touches
        });
        let index = self.0.partition_point(|range| *range.end() < first);
        self.0.insert(index, first..=last);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_newest_come_first() {
        let mut done = DoneRanges::default();
        assert_eq!(done.newest_missing(0, 10), None);
        assert_eq!(done.newest_missing(25, 10), Some(16..=25));
        done.add(16..=25);
        // Meanwhile there are more.
        assert_eq!(done.newest_missing(28, 10), Some(26..=28));
        done.add(26..=28);
        assert_eq!(done.render(), "16-28");
        assert_eq!(done.newest_missing(28, 10), Some(6..=15));
        done.add(6..=15);
        assert_eq!(done.newest_missing(28, 10), Some(1..=5));
        done.add(1..=5);
        assert_eq!((done.newest_missing(28, 10), done.count()), (None, 28));
        assert_eq!(done.newest_missing(60, 10), Some(51..=60));
    }

    #[test]
    fn a_malformed_cursor_parses_as_empty() {
        for cursor in ["", "12", "5-4", "0-3", "1-2,3-4", "7-9,1-2", "a-b", "1-2,"] {
            assert_eq!(DoneRanges::parse(cursor), DoneRanges::default(), "{cursor}");
        }
        assert_eq!(DoneRanges::parse("1-2,4-9").count(), 8);
    }

    proptest! {
        #[test]
        fn every_event_is_returned_exactly_once(steps in prop::collection::vec((0u64..40, 1u64..12), 1..40)) {
            let (mut done, mut last, mut read) = (DoneRanges::default(), 0, Vec::new());
            for (more, limit) in steps {
                last += more;
                if let Some(next) = done.newest_missing(last, limit) {
                    prop_assert!(next.clone().count() as u64 <= limit);
                    read.extend(next.clone());
                    done.add(next);
                }
                prop_assert_eq!(&DoneRanges::parse(&done.render()), &done);
                prop_assert_eq!(done.count(), read.len() as u64);
            }
            while let Some(next) = done.newest_missing(last, 7) {
                read.extend(next.clone());
                done.add(next);
            }
            read.sort_unstable();
            prop_assert_eq!(read, (1..=last).collect::<Vec<_>>());
        }
    }
}
