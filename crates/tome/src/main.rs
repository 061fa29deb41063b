//! tome

#[allow(dead_code)]
mod agents;

fn main() {}
