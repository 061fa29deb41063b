//! Links the program at a fixed address where that is the platform's custom for small tools.
//!
//! A position-independent executable has its 55,000 pointers adjusted at every start, which touches
//! 260 pages and takes a third of what a hook takes. Stack, heap and libraries stay at random
//! addresses.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |part: &str| std::env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
