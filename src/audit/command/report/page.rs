//! The page of a report. Every text is escaped, since a log may have been tampered with.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::super::verify::{as_text, verdict};
use super::chart;
use super::gather::{Counts, Totals};
use crate::audit::reading::Verified;

/// The most bars of one chart, and the most findings that are shown.
const MAX_BARS: usize = 20;
const MAX_FINDINGS_BYTES: usize = 64 * 1024;

pub(super) fn render(totals: &Totals, lanes: &[Verified], now: &str) -> String {
    let intact = lanes.iter().all(|lane| lane.report.is_intact());
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "CloakLLM gateway: audit report" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    h1 { "What the gateway protected" }
                    p.muted {
                        @if let Some((first, last)) = &totals.span { (minute(first)) " to " (minute(last)) " UTC, " }
                        "written " (now)
                    }
                    (figures(totals, intact))
                    (charts(totals))
                    (latency(totals))
                    (events(totals))
                    (verification(lanes, intact))
                    p.muted {
                        "Values are never in the log this page is made from; it holds counts, digests and names. "
                        "A whole log shows that no entry was altered, dropped, added or moved since it was written, up to its last checkpoint. "
                        "It does not show that the gateway saw all traffic, nor what was cut off after the last checkpoint, nor anything if the signing key was stolen."
                    }
                }
            }
        }
    };
    page.into_string()
}

fn figures(totals: &Totals, intact: bool) -> Markup {
    html! {
        section.figures {
            (figure(&totals.categories.total().to_string(), "values kept from the model"))
            (figure(&totals.restored.to_string(), "values given back to tools"))
            (figure(&totals.refusals.total().to_string(), "refusals"))
            (figure(&totals.incidents.total().to_string(), "incidents"))
            (figure(&totals.sessions.by_name().count().to_string(), "sessions"))
            (figure(&totals.entries.to_string(), "entries"))
            div.figure.good[intact].bad[!intact] { strong { (if intact { "intact" } else { "BROKEN" }) } span { "the log" } }
        }
    }
}

/// `2026-12-01 07:30` of a time as it stands in the log.
fn minute(time: &str) -> String {
    time.get(..16).unwrap_or(time).replace('T', " ")
}

fn figure(number: &str, of: &str) -> Markup {
    html! { div.figure { strong { (number) } span { (of) } } }
}

fn charts(totals: &Totals) -> Markup {
    let categories = totals.categories.largest(MAX_BARS);
    let series: Vec<_> = categories.iter().map(|(name, _)| name.clone()).collect();
    let days: Vec<_> = totals
        .days
        .iter()
        .map(|(day, counts)| (day.as_str(), counts))
        .collect();
    html! {
        section {
            h2 { "Values kept from the model, per day" }
            @if days.is_empty() { p.muted { "Nothing had to be protected in this time." } } @else { (chart::columns(&days, &series)) }
        }
        (bars("Values by category", &totals.categories, true))
        (bars("Values by server", &totals.upstreams, false))
        (bars("Values by tool", &totals.tools, false))
        (bars("Refusals by reason", &totals.refusals, false))
        (bars("Incidents", &totals.incidents, false))
    }
}

fn bars(title: &str, counts: &Counts, coloured: bool) -> Markup {
    html! {
        @if counts.total() > 0 {
            section { h2 { (title) } (chart::bars(&counts.largest(MAX_BARS), coloured)) }
        }
    }
}

fn latency(totals: &Totals) -> Markup {
    html! {
        @if !totals.latency.is_empty() {
            section {
                h2 { "Time spent in the gateway, milliseconds" }
                table {
                    tr { th { "event" } @for head in ["messages", "median", "90 %", "99 %", "longest"] { th.number { (head) } } }
                    @for (event, times) in &totals.latency {
                        tr {
                            td { (event) }
                            td.number { (times.count()) }
                            @for share in [0.5, 0.9, 0.99, 1.0] { td.number { (times.percentile(share)) } }
                        }
                    }
                }
            }
        }
    }
}

fn events(totals: &Totals) -> Markup {
    html! {
        section {
            h2 { "Entries by kind" }
            table { @for (event, count) in totals.events.largest(MAX_BARS * 2) { tr { td { (event) } td.number { (count) } } } }
        }
    }
}

fn verification(lanes: &[Verified], intact: bool) -> Markup {
    html! {
        section {
            h2 { "Verification: " span.good[intact].bad[!intact] { (if intact { "intact" } else { "BROKEN" }) } }
            @for lane in lanes {
                @let mut text = as_text(lane);
                details open[verdict(&lane.report) == "BROKEN"] {
                    summary { (lane.dir.display()) ": " (verdict(&lane.report)) }
                    pre { (cut(&mut text)) }
                }
            }
        }
    }
}

fn cut(text: &mut String) -> &str {
    if text.len() > MAX_FINDINGS_BYTES {
        let end = (0..=MAX_FINDINGS_BYTES)
            .rev()
            .find(|at| text.is_char_boundary(*at))
            .unwrap_or(0);
        text.truncate(end);
        text.push_str("…\n");
    }
    text
}

const STYLE: &str = "\
:root{--page:#fff;--card:#f5f6f8;--text:#1c2430;--muted:#5d6878;--line:#c9d0da;--good:#1a7f4b;--bad:#c02b2b;--rest:#aab3c0;\
--c0:#2f6fde;--c1:#e08a1e;--c2:#2a9d73;--c3:#b5488f;--c4:#7a5fd3;--c5:#cf5240;--c6:#1c9bb0;--c7:#8a8f2a}\
@media(prefers-color-scheme:dark){:root{--page:#12161c;--card:#1c222b;--text:#e6eaf0;--muted:#97a3b3;--line:#3a4452;--good:#4cc38a;--bad:#ff7b72;--rest:#5a6678;\
--c0:#6ea1ff;--c1:#f3ad57;--c2:#58c79c;--c3:#e08cc0;--c4:#a794f0;--c5:#f28b7b;--c6:#5cc8da;--c7:#c2c75a}}\
*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--text);font:15px/1.5 system-ui,sans-serif}\
main{max-width:820px;margin:0 auto;padding:24px}h1{font-size:26px;margin:0}h2{font-size:17px;margin:28px 0 8px}\
.muted{color:var(--muted)}.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(96px,1fr));gap:10px}\
.figure{background:var(--card);border-radius:8px;padding:12px}.figure strong{display:block;font-size:22px}.figure span{color:var(--muted);font-size:13px;line-height:1.3;display:block}\
.good,.figure.good strong{color:var(--good)}.bad,.figure.bad strong{color:var(--bad)}\
svg{width:100%;height:auto;font:12px system-ui,sans-serif}svg text{fill:var(--muted)}svg .value{fill:var(--text)}svg .axis{stroke:var(--line)}\
.c0{fill:var(--c0)}.c1{fill:var(--c1)}.c2{fill:var(--c2)}.c3{fill:var(--c3)}.c4{fill:var(--c4)}.c5{fill:var(--c5)}.c6{fill:var(--c6)}.c7{fill:var(--c7)}.rest{fill:var(--rest)}\
table{border-collapse:collapse;width:100%}td,th{padding:4px 8px;border-bottom:1px solid var(--line);text-align:left}.number{text-align:right;font-variant-numeric:tabular-nums}\
pre{background:var(--card);border-radius:8px;padding:12px;overflow-x:auto;white-space:pre-wrap;font-size:13px}";
