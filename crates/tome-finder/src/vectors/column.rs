//! A compact column of integers. Rows written together have similar values, so the column stores
//! each value's offset from the minimum in the narrowest type that fits.

use super::bit_slices::BLOCK_ROWS;

#[derive(Debug, Default)]
pub(super) struct PackedColumn {
    min: u64,
    offsets: PackedOffsets,
}

/// Offsets from the minimum.
#[derive(Debug)]
enum PackedOffsets {
    /// This many offsets, all of them zero.
    Zeros(usize),
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
}

impl Default for PackedOffsets {
    fn default() -> Self {
        Self::Zeros(0)
    }
}

impl PackedOffsets {
    /// An empty vector of the narrowest type that holds `most`.
    fn with_width_for(most: u64) -> Self {
        match most {
            0 => Self::Zeros(0),
            most if most <= u64::from(u8::MAX) => Self::U8(Vec::with_capacity(BLOCK_ROWS)),
            most if most <= u64::from(u16::MAX) => Self::U16(Vec::with_capacity(BLOCK_ROWS)),
            most if most <= u64::from(u32::MAX) => Self::U32(Vec::with_capacity(BLOCK_ROWS)),
            _ => Self::U64(Vec::with_capacity(BLOCK_ROWS)),
        }
    }

    /// Appends an offset; returns `false` if it does not fit.
    fn push(&mut self, step: u64) -> bool {
        fn onto<T: TryFrom<u64>>(steps: &mut Vec<T>, step: u64) -> bool {
            T::try_from(step).map(|step| steps.push(step)).is_ok()
        }
        match self {
            Self::Zeros(count) => {
                *count += usize::from(step == 0);
                step == 0
            }
            Self::U8(steps) => onto(steps, step),
            Self::U16(steps) => onto(steps, step),
            Self::U32(steps) => onto(steps, step),
            Self::U64(steps) => onto(steps, step),
        }
    }

    fn get(&self, i: usize) -> Option<u64> {
        match self {
            Self::Zeros(count) => (i < *count).then_some(0),
            Self::U8(steps) => steps.get(i).copied().map(u64::from),
            Self::U16(steps) => steps.get(i).copied().map(u64::from),
            Self::U32(steps) => steps.get(i).copied().map(u64::from),
            Self::U64(steps) => steps.get(i).copied(),
        }
    }
}

impl PackedColumn {
    pub(super) fn len(&self) -> usize {
        match &self.offsets {
            PackedOffsets::Zeros(count) => *count,
            PackedOffsets::U8(steps) => steps.len(),
            PackedOffsets::U16(steps) => steps.len(),
            PackedOffsets::U32(steps) => steps.len(),
            PackedOffsets::U64(steps) => steps.len(),
        }
    }

    pub(super) fn get(&self, i: usize) -> Option<u64> {
        self.offsets.get(i).map(|step| self.min + step)
    }

    /// The common value, if all values are known to be equal.
    pub(super) fn uniform_value(&self) -> Option<u64> {
        match self.offsets {
            PackedOffsets::Zeros(count) if count > 0 => Some(self.min),
            _ => None,
        }
    }

    pub(super) fn to_vec(&self) -> Vec<u64> {
        let least = self.min;
        let wide = |step: u64| least + step;
        match &self.offsets {
            PackedOffsets::Zeros(count) => vec![least; *count],
            PackedOffsets::U8(steps) => steps.iter().map(|step| wide(u64::from(*step))).collect(),
            PackedOffsets::U16(steps) => steps.iter().map(|step| wide(u64::from(*step))).collect(),
            PackedOffsets::U32(steps) => steps.iter().map(|step| wide(u64::from(*step))).collect(),
            PackedOffsets::U64(steps) => steps.iter().map(|step| wide(*step)).collect(),
        }
    }

    /// Appends a value, repacking the column if the value does not fit.
    pub(super) fn push(&mut self, number: u64) {
        if self.len() == 0 {
            self.min = number;
        }
        let fits = number.checked_sub(self.min).is_some_and(|step| self.offsets.push(step));
        if !fits {
            let mut all = self.to_vec();
            all.push(number);
            *self = Self::from_values(&all);
        }
    }

    /// Replaces a value. Repacks the whole column.
    pub(super) fn set(&mut self, i: usize, number: u64) {
        let mut all = self.to_vec();
        if let Some(value) = all.get_mut(i) {
            *value = number;
            *self = Self::from_values(&all);
        }
    }

    fn from_values(all: &[u64]) -> Self {
        let least = all.iter().copied().min().unwrap_or_default();
        let most = all.iter().copied().max().unwrap_or_default();
        let mut steps = PackedOffsets::with_width_for(most - least);
        for number in all {
            steps.push(number - least);
        }
        Self { min: least, offsets: steps }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn columns_round_trip(
            numbers in proptest::collection::vec(
                prop_oneof![0..3_u64, 0..1000_u64, any::<u32>().prop_map(u64::from), any::<u64>()],
                1..300,
            ),
            changed in any::<proptest::sample::Index>(),
            to in any::<u64>(),
        ) {
            let mut column = PackedColumn::default();
            let mut expected = Vec::new();
            for number in numbers {
                column.push(number);
                expected.push(number);
                prop_assert_eq!(column.len(), expected.len());
            }
            prop_assert_eq!(&column.to_vec(), &expected);
            prop_assert!(column.uniform_value().is_none_or(|same| expected.iter().all(|it| *it == same)));
            let i = changed.index(expected.len());
            column.set(i, to);
            expected[i] = to;
            let got: Vec<u64> = (0..expected.len()).filter_map(|i| column.get(i)).collect();
            prop_assert_eq!(&got, &expected);
            prop_assert_eq!(column.get(expected.len()), None);
        }
    }
}
