//! Charts as inline SVG. Colours are classes, so that the page gives them for light and dark.

use maud::{Markup, html};

use super::gather::Counts;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 200.0;
/// Room for labels below the columns and left of the bars.
const BELOW: f64 = 22.0;
const LEFT: f64 = 180.0;
const BAR: f64 = 22.0;
/// Categories with a colour of their own; the page has as many.
pub(super) const COLOURS: usize = 8;
/// Below so many columns each has its label; beyond, every n-th.
const MAX_LABELS: usize = 8;

/// A column a day, stacked by series; what is no series is on top, in grey.
pub(super) fn columns(days: &[(&str, &Counts)], series: &[String]) -> Markup {
    let highest = days
        .iter()
        .map(|(_, counts)| counts.total())
        .max()
        .unwrap_or(0)
        .max(1) as f64;
    let step = WIDTH / days.len().max(1) as f64;
    let width = (step * 0.8).min(60.0);
    let labelled = days.len().div_ceil(MAX_LABELS).max(1);
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT + BELOW) } role="img" aria-label="values protected per day" {
            line.axis x1="0" y1=(HEIGHT) x2=(WIDTH) y2=(HEIGHT) {}
            @for (at, (day, counts)) in days.iter().enumerate() {
                @let left = at as f64 * step + (step - width) / 2.0;
                @for part in stack(counts, series) {
                    @let height = part.count as f64 / highest * (HEIGHT - 16.0);
                    @let top = HEIGHT - (part.below + part.count) as f64 / highest * (HEIGHT - 16.0);
                    rect class=(part.class) x=(round(left)) y=(round(top)) width=(round(width)) height=(round(height)) {
                        title { (day) ": " (part.name) " " (part.count) }
                    }
                }
                @if days.len() <= 31 {
                    text.value x=(round(left + width / 2.0)) y=(round(HEIGHT - counts.total() as f64 / highest * (HEIGHT - 16.0) - 4.0)) text-anchor="middle" { (counts.total()) }
                }
                @if at % labelled == 0 {
                    text x=(round(left + width / 2.0)) y=(HEIGHT + 16.0) text-anchor="middle" { (day.get(5..).unwrap_or(day)) }
                }
            }
        }
    }
}

struct Part {
    name: String,
    class: String,
    below: u64,
    count: u64,
}

fn stack(counts: &Counts, series: &[String]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut below = 0;
    let mut rest = counts.total();
    for (at, name) in series.iter().enumerate().take(COLOURS) {
        let count = counts
            .by_name()
            .find(|(other, _)| other == name)
            .map_or(0, |(_, count)| count);
        if count > 0 {
            parts.push(Part {
                name: name.clone(),
                class: format!("c{at}"),
                below,
                count,
            });
        }
        below += count;
        rest -= count;
    }
    if rest > 0 {
        parts.push(Part {
            name: "others".to_owned(),
            class: "rest".to_owned(),
            below,
            count: rest,
        });
    }
    parts
}

/// A horizontal bar for each count.
pub(super) fn bars(counts: &[(String, u64)], coloured: bool) -> Markup {
    let longest = counts
        .iter()
        .map(|(_, count)| *count)
        .max()
        .unwrap_or(0)
        .max(1) as f64;
    let height = BAR * counts.len() as f64;
    html! {
        svg viewBox={ "0 0 " (WIDTH) " " (height) } role="img" aria-label="counts" {
            @for (at, (name, count)) in counts.iter().enumerate() {
                @let top = at as f64 * BAR;
                @let width = *count as f64 / longest * (WIDTH - LEFT - 80.0);
                text x=(LEFT - 8.0) y=(round(top + 15.0)) text-anchor="end" { (shorten(name)) }
                rect class=(if coloured && at < COLOURS { format!("c{at}") } else { "c0".to_owned() })
                    x=(LEFT) y=(round(top + 3.0)) width=(round(width.max(1.0))) height=(BAR - 6.0) rx="2" { title { (name) ": " (count) } }
                text.value x=(round(LEFT + width + 6.0)) y=(round(top + 15.0)) { (count) }
            }
        }
    }
}

/// A decimal is enough for a pixel.
fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn shorten(name: &str) -> String {
    const MOST: usize = 26;
    if name.chars().count() <= MOST {
        name.to_owned()
    } else {
        name.chars().take(MOST - 1).chain(['…']).collect()
    }
}
