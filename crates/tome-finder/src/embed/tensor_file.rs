//! Reads the safetensors format: the length of a JSON header (u64, little-endian), the header, which
//! names the tensors with type, shape and byte range, and their bytes. Nothing is copied: tensors are
//! slices of the file.

use std::collections::HashMap;

use serde::Deserialize;

/// Header of the format's own strings.
const METADATA: &str = "__metadata__";

/// A tensor file whose ranges have been checked.
#[derive(Debug)]
pub(super) struct TensorFile<'a> {
    metadata: HashMap<String, String>,
    tensors: HashMap<String, Tensor<'a>>,
}

#[derive(Debug)]
struct Tensor<'a> {
    kind: String,
    shape: Vec<usize>,
    bytes: &'a [u8],
}

#[derive(Deserialize)]
struct TensorHeader {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (usize, usize),
}

impl<'a> TensorFile<'a> {
    /// Parses a file. The error describes the problem.
    pub(super) fn parse(file: &'a [u8]) -> Result<Self, String> {
        let (length, rest) = file.split_first_chunk::<8>().ok_or("is too short")?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| "is too short")?;
        let (header, data) = rest.split_at_checked(length).ok_or("has a truncated header")?;
        let header: HashMap<String, serde_json::Value> =
            serde_json::from_slice(header).map_err(|error| format!("has a bad header: {error}"))?;
        let (mut metadata, mut tensors) = (HashMap::new(), HashMap::new());
        for (name, value) in header {
            if name == METADATA {
                metadata = serde_json::from_value(value)
                    .map_err(|error| format!("has bad metadata: {error}"))?;
                continue;
            }
            let tensor = read_tensor(value, data).ok_or_else(|| format!("{name} is malformed"))?;
            tensors.insert(name, tensor);
        }
        Ok(Self { metadata, tensors })
    }

    /// A string of the metadata.
    pub(super) fn text(&self, key: &str) -> Result<&str, String> {
        self.metadata.get(key).map(String::as_str).ok_or_else(|| format!("has no {key}"))
    }

    /// A number of the metadata.
    pub(super) fn number<T: std::str::FromStr>(&self, key: &str) -> Result<T, String> {
        self.text(key)?.parse().map_err(|_| format!("{key} is not a number"))
    }

    /// The bytes of a tensor that must have this type and shape.
    pub(super) fn bytes(
        &self,
        name: &str,
        kind: &str,
        shape: &[usize],
    ) -> Result<&'a [u8], String> {
        let tensor = self.tensors.get(name).ok_or_else(|| format!("has no tensor {name}"))?;
        if tensor.kind != kind || tensor.shape != shape {
            return Err(format!(
                "{name} is {} {:?}, expected {kind} {shape:?}",
                tensor.kind, tensor.shape
            ));
        }
        Ok(tensor.bytes)
    }

    /// The bytes of a one-dimensional tensor of any length.
    pub(super) fn byte_string(&self, name: &str) -> Result<&'a [u8], String> {
        let length = self.tensors.get(name).map_or(0, |tensor| tensor.bytes.len());
        self.bytes(name, "U8", &[length])
    }

    /// The values of a vector of this length. They must be finite.
    pub(super) fn floats(&self, name: &str, length: usize) -> Result<Vec<f32>, String> {
        let values: Vec<f32> = self
            .bytes(name, "F32", &[length])?
            .as_chunks()
            .0
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes))
            .collect();
        if values.iter().any(|value| !value.is_finite()) {
            return Err(format!("{name} has a value that is not finite"));
        }
        Ok(values)
    }
}

/// Locates a tensor; `None` if its range is not in the data or does not fit its shape.
fn read_tensor(header: serde_json::Value, data: &[u8]) -> Option<Tensor<'_>> {
    let TensorHeader { dtype, shape, data_offsets: (from, to) } =
        serde_json::from_value(header).ok()?;
    let width = match dtype.as_str() {
        "I8" | "U8" => 1,
        "F32" => 4,
        _ => return None,
    };
    let bytes = data.get(from..to)?;
    let expected = shape.iter().try_fold(width, |size: usize, side| size.checked_mul(*side))?;
    (bytes.len() == expected).then_some(Tensor { kind: dtype, shape, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend_from_slice(header.as_bytes());
        file.extend_from_slice(data);
        file
    }

    #[test]
    fn tensors_are_ranges_of_the_file() {
        let header = r#"{"__metadata__":{"layers":"3"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"U8","shape":[1],"data_offsets":[8,9]}}"#;
        let bytes = file(header, &[0, 0, 128, 63, 0, 0, 0, 64, 7]);
        let read = TensorFile::parse(&bytes).unwrap();
        assert_eq!(read.number("layers"), Ok(3));
        assert_eq!(read.floats("a", 2), Ok(vec![1.0, 2.0]));
        assert_eq!(read.byte_string("b"), Ok(&[7][..]));
        assert!(read.floats("a", 3).is_err() && read.floats("b", 1).is_err());
        assert!(read.floats("c", 1).is_err() && read.text("c").is_err());
    }

    #[test]
    fn a_malformed_file_is_an_error() {
        for (header, data) in [
            ("", vec![]),
            ("{", vec![]),
            (r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#, vec![0; 7]),
            (r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}"#, vec![0; 8]),
            (r#"{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}"#, vec![0; 8]),
            (r#"{"a":{"dtype":"Q4","shape":[8],"data_offsets":[0,8]}}"#, vec![0; 8]),
            (
                r#"{"a":{"dtype":"I8","shape":[9223372036854775807,4],"data_offsets":[0,8]}}"#,
                vec![0; 8],
            ),
            (r#"{"a":1}"#, vec![]),
            (r#"{"__metadata__":3}"#, vec![]),
        ] {
            assert!(TensorFile::parse(&file(header, &data)).is_err(), "{header}");
        }
        let mut cut = file("{}", &[]);
        assert!(TensorFile::parse(&cut).is_ok());
        cut.pop();
        assert!(TensorFile::parse(&cut).is_err() && TensorFile::parse(&cut[..7]).is_err());
        let mut header = file(r#"{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#, &[]);
        header.extend(f32::NAN.to_le_bytes());
        assert!(TensorFile::parse(&header).unwrap().floats("a", 1).is_err());
    }
}
