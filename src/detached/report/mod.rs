//! The formats of a report.

mod github;
mod json;
mod sarif;
mod text;

use super::finding::Report;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Text,
    Json,
    Github,
    Sarif,
}

pub fn write(report: &Report, format: Format) -> String {
    match format {
        Format::Text => text::report(report),
        Format::Json => json::report(report),
        Format::Github => github::report(report),
        Format::Sarif => sarif::report(report),
    }
}

/// What is looked for, and what is missed.
pub fn rules(format: Format) -> String {
    match format {
        Format::Json => json::rules(),
        _ => text::rules(),
    }
}
