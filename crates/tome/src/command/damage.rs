//! Damage of stores, as commands print it.

use std::io::Write;

use serde_json::{Value, json};
use tome_proto::v1;
use tome_terminal::{DIM, RED, RESET};

/// Prints each damage with its remedy; consecutive damage with the same remedy shows it once.
pub fn print_damage(out: &mut dyn Write, damage: &[v1::Damage]) -> std::io::Result<()> {
    let mut last_remedy = "";
    for one in damage {
        writeln!(out, "damage   {RED}{}{RESET}", one.found)?;
        if one.remedy != last_remedy {
            writeln!(out, "         {DIM}→{RESET} {}", one.remedy)?;
        }
        last_remedy = &one.remedy;
    }
    Ok(())
}

pub fn damage_json(damage: &[v1::Damage]) -> Vec<Value> {
    damage.iter().map(|one| json!({"found": one.found, "remedy": one.remedy})).collect()
}
