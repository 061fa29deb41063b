//! The token table: a row of int8 values with a scale per token of the vocabulary. Both speeds of
//! the model start from it.

use super::tensor_file::TensorFile;

/// Rows of the tokens, used where they are in the file.
#[derive(Debug)]
pub(super) struct TokenTable<'a> {
    width: usize,
    rows: &'a [u8],
    scales: &'a [[u8; 4]],
}

impl<'a> TokenTable<'a> {
    pub(super) fn read(file: &TensorFile<'a>, tokens: usize, width: usize) -> Result<Self, String> {
        if width == 0 {
            return Err("has an empty token table".to_owned());
        }
        let rows = file.bytes("table", "I8", &[tokens, width])?;
        // Checked as numbers, kept as they are.
        file.floats("table.scale", tokens)?;
        let scales = file.bytes("table.scale", "F32", &[tokens])?.as_chunks().0;
        Ok(Self { width, rows, scales })
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Scale and values of a token's row.
    pub(super) fn row(&self, token: u32) -> Option<(f32, &'a [u8])> {
        let token = token as usize;
        let scale = f32::from_le_bytes(*self.scales.get(token)?);
        let from = token * self.width;
        Some((scale, self.rows.get(from..from + self.width)?))
    }
}
