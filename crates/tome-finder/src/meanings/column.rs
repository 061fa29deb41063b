//! A compact column of integers. Rows written together have similar values, so the column stores
//! each value's offset from the minimum in the narrowest type that fits.

use super::slices::SLICE_ROWS;

#[derive(Debug, Default)]
pub(super) struct Column {
    least: u64,
    steps: Steps,
}

/// Offsets from the minimum.
#[derive(Debug)]
enum Steps {
    /// This many offsets, all of them zero.
    None(usize),
    Bytes(Vec<u8>),
    Shorts(Vec<u16>),
    Words(Vec<u32>),
    Longs(Vec<u64>),
}

impl Default for Steps {
    fn default() -> Self {
        Self::None(0)
    }
}

impl Steps {
    /// An empty vector of the narrowest type that holds `most`.
    fn that_fit(most: u64) -> Self {
        match most {
            0 => Self::None(0),
            most if most <= u64::from(u8::MAX) => Self::Bytes(Vec::with_capacity(SLICE_ROWS)),
            most if most <= u64::from(u16::MAX) => Self::Shorts(Vec::with_capacity(SLICE_ROWS)),
            most if most <= u64::from(u32::MAX) => Self::Words(Vec::with_capacity(SLICE_ROWS)),
            _ => Self::Longs(Vec::with_capacity(SLICE_ROWS)),
        }
    }

    /// Appends an offset; returns `false` if it does not fit.
    fn push(&mut self, step: u64) -> bool {
        fn onto<T: TryFrom<u64>>(steps: &mut Vec<T>, step: u64) -> bool {
            T::try_from(step).map(|step| steps.push(step)).is_ok()
        }
        match self {
            Self::None(count) => {
                *count += usize::from(step == 0);
                step == 0
            }
            Self::Bytes(steps) => onto(steps, step),
            Self::Shorts(steps) => onto(steps, step),
            Self::Words(steps) => onto(steps, step),
            Self::Longs(steps) => onto(steps, step),
        }
    }

    fn get(&self, i: usize) -> Option<u64> {
        match self {
            Self::None(count) => (i < *count).then_some(0),
            Self::Bytes(steps) => steps.get(i).copied().map(u64::from),
            Self::Shorts(steps) => steps.get(i).copied().map(u64::from),
            Self::Words(steps) => steps.get(i).copied().map(u64::from),
            Self::Longs(steps) => steps.get(i).copied(),
        }
    }
}

impl Column {
    pub(super) fn len(&self) -> usize {
        match &self.steps {
            Steps::None(count) => *count,
            Steps::Bytes(steps) => steps.len(),
            Steps::Shorts(steps) => steps.len(),
            Steps::Words(steps) => steps.len(),
            Steps::Longs(steps) => steps.len(),
        }
    }

    pub(super) fn get(&self, i: usize) -> Option<u64> {
        self.steps.get(i).map(|step| self.least + step)
    }

    /// The common value, if all values are known to be equal.
    pub(super) fn same(&self) -> Option<u64> {
        match self.steps {
            Steps::None(count) if count > 0 => Some(self.least),
            _ => None,
        }
    }

    pub(super) fn all(&self) -> Vec<u64> {
        let least = self.least;
        let wide = |step: u64| least + step;
        match &self.steps {
            Steps::None(count) => vec![least; *count],
            Steps::Bytes(steps) => steps.iter().map(|step| wide(u64::from(*step))).collect(),
            Steps::Shorts(steps) => steps.iter().map(|step| wide(u64::from(*step))).collect(),
            Steps::Words(steps) => steps.iter().map(|step| wide(u64::from(*step))).collect(),
            Steps::Longs(steps) => steps.iter().map(|step| wide(*step)).collect(),
        }
    }

    /// Appends a value, repacking the column if the value does not fit.
    pub(super) fn push(&mut self, number: u64) {
        if self.len() == 0 {
            self.least = number;
        }
        let fits = number.checked_sub(self.least).is_some_and(|step| self.steps.push(step));
        if !fits {
            let mut all = self.all();
            all.push(number);
            *self = Self::of(&all);
        }
    }

    /// Replaces a value. Repacks the whole column.
    pub(super) fn set(&mut self, i: usize, number: u64) {
        let mut all = self.all();
        if let Some(place) = all.get_mut(i) {
            *place = number;
            *self = Self::of(&all);
        }
    }

    fn of(all: &[u64]) -> Self {
        let least = all.iter().copied().min().unwrap_or_default();
        let most = all.iter().copied().max().unwrap_or_default();
        let mut steps = Steps::that_fit(most - least);
        for number in all {
            steps.push(number - least);
        }
        Self { least, steps }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_come_back(
            numbers in proptest::collection::vec(
                prop_oneof![0..3_u64, 0..1000_u64, any::<u32>().prop_map(u64::from), any::<u64>()],
                1..300,
            ),
            changed in any::<proptest::sample::Index>(),
            to in any::<u64>(),
        ) {
            let mut column = Column::default();
            let mut expected = Vec::new();
            for number in numbers {
                column.push(number);
                expected.push(number);
                prop_assert_eq!(column.len(), expected.len());
            }
            prop_assert_eq!(&column.all(), &expected);
            prop_assert!(column.same().is_none_or(|same| expected.iter().all(|it| *it == same)));
            let i = changed.index(expected.len());
            column.set(i, to);
            expected[i] = to;
            let got: Vec<u64> = (0..expected.len()).filter_map(|i| column.get(i)).collect();
            prop_assert_eq!(&got, &expected);
            prop_assert_eq!(column.get(expected.len()), None);
        }
    }
}
