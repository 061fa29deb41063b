//! tome
fn main() {}
