//! The weights that decide which segments belong together.

/// Weights of the graph of segments, in thousandths. `cargo bench -p tome-topics --bench pairs` compares
/// others with the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GraphWeights {
    /// Density of edges that holds a group together.
    pub resolution: i64,
    /// Nearest neighbors of a segment that become edges.
    pub neighbors: usize,
    /// Weight of texts that are alike.
    pub similarity: i64,
    /// Weight of a changed file in common, if it is rare.
    pub file: i64,
    /// Segments after it that a segment is linked to, for a feature of many segments.
    pub linked_next: usize,
}

impl Default for GraphWeights {
    fn default() -> Self {
        Self { resolution: 40, neighbors: 8, similarity: 1_000, file: 150, linked_next: 4 }
    }
}
