//! The result table: each figure next to its baseline and its target.

use std::io::{self, Write};

use serde_json::{Value, json};

pub struct Row {
    pub what: String,
    pub unit: FigureUnit,
    pub tome: f64,
    /// Label and figure of the baseline, from the same run.
    pub baseline: Option<(String, f64)>,
    pub aim: Option<Aim>,
}

#[derive(Clone, Copy)]
pub enum FigureUnit {
    Us,
    Ms,
    PerSecond,
    MegabytesPerSecond,
    Megabytes,
    Bytes,
    Count,
    Times,
}

/// Target of a figure.
#[derive(Clone, Copy, PartialEq)]
pub enum Aim {
    /// At most this much above the baseline.
    WithinOfBaseline(f64),
    /// At least this many times the baseline.
    TimesBaseline(f64),
    AtLeast(f64),
    Under(f64),
}

impl Row {
    pub fn new(what: impl Into<String>, unit: FigureUnit, tome: f64) -> Self {
        Self { what: what.into(), unit, tome, baseline: None, aim: None }
    }

    pub fn against(mut self, what: &str, figure: f64) -> Self {
        self.baseline = Some((what.to_owned(), figure));
        self
    }

    pub fn aim(mut self, aim: Aim) -> Self {
        self.aim = Some(aim);
        self
    }

    /// Whether the target is met, if there is one.
    fn is_met(&self) -> Option<bool> {
        let baseline = self.baseline.as_ref().map(|(_, figure)| *figure);
        Some(match self.aim? {
            Aim::WithinOfBaseline(more) => self.tome <= baseline? + more,
            Aim::TimesBaseline(times) => self.tome >= baseline? * times,
            Aim::AtLeast(least) => self.tome >= least,
            Aim::Under(most) => self.tome < most,
        })
    }

    fn aim_text(&self) -> String {
        match self.aim {
            None => String::new(),
            Some(Aim::WithinOfBaseline(more)) => format!("+{} at most", self.unit.format(more)),
            Some(Aim::TimesBaseline(times)) => format!("{times} x at least"),
            Some(Aim::AtLeast(least)) => format!("{} at least", self.unit.format(least)),
            Some(Aim::Under(most)) => format!("under {}", self.unit.format(most)),
        }
    }

    fn difference(&self) -> String {
        let Some((_, baseline)) = &self.baseline else {
            return String::new();
        };
        match self.unit {
            FigureUnit::Ms => format!("{:+.2} ms", self.tome - baseline),
            FigureUnit::Count => String::new(),
            _ if *baseline > 0.0 => format!("{:.2} x", self.tome / baseline),
            _ => String::new(),
        }
    }

    pub fn json(&self, group: &str) -> Value {
        json!({
            "group": group, "what": self.what, "unit": self.unit.name(), "tome": self.tome,
            "baseline": self.baseline.as_ref().map(|(what, figure)| json!({ "what": what, "figure": figure })),
            "aim": Some(self.aim_text()).filter(|text| !text.is_empty()), "met": self.is_met(),
        })
    }
}

impl FigureUnit {
    fn name(self) -> &'static str {
        match self {
            Self::Us => "µs",
            Self::Ms => "ms",
            Self::PerSecond => "/s",
            Self::MegabytesPerSecond => "MB/s",
            Self::Megabytes => "MB",
            Self::Bytes => "bytes",
            Self::Count => "",
            Self::Times => "x",
        }
    }

    fn format(self, figure: f64) -> String {
        match self {
            Self::Count => group_thousands(figure),
            Self::Times => format!("{figure:.2} x"),
            Self::PerSecond | Self::Bytes => format!("{} {}", group_thousands(figure), self.name()),
            Self::Ms if figure.abs() < 100.0 => format!("{figure:.2} ms"),
            _ => format!("{figure:.1} {}", self.name()),
        }
    }
}

fn group_thousands(figure: f64) -> String {
    let digits = format!("{figure:.0}");
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

pub fn print_rows(out: &mut impl Write, group: &str, rows: &[Row]) -> io::Result<()> {
    writeln!(out, "\n{group}")?;
    print_line(out, &["", "tome", "baseline", "", "difference", "aim", ""])?;
    for row in rows {
        let (name, figure) = match &row.baseline {
            Some((what, figure)) => (what.as_str(), row.unit.format(*figure)),
            None => ("", String::new()),
        };
        let met = match row.is_met() {
            Some(true) => "met",
            Some(false) => "MISSED",
            None => "",
        };
        print_line(
            out,
            &[
                &row.what,
                &row.unit.format(row.tome),
                &figure,
                name,
                &row.difference(),
                &row.aim_text(),
                met,
            ],
        )?;
    }
    out.flush()
}

fn print_line(out: &mut impl Write, cells: &[&str; 7]) -> io::Result<()> {
    let [what, tome, figure, name, difference, aim, met] = cells;
    let text = format!(
        "  {what:<54} {tome:>14} {figure:>14} {name:<22} {difference:>12}  {aim:<20} {met}"
    );
    writeln!(out, "{}", text.trim_end())
}
