//! `audit verify`.

use std::path::PathBuf;

use cloak_stages::audit::{Report, Severity};
use serde_json::json;

use super::{CommandError, Context, Verdict, keys, read};
use crate::audit::reading::{Verified, verify};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The directory of the log
    dir: Option<PathBuf>,
    /// A key you trust, as text or in a file; may be given more than once
    #[arg(long = "key", value_name = "KEY")]
    keys: Vec<String>,
    /// A checkpoint you kept; may be given more than once
    #[arg(long = "checkpoint", value_name = "FILE")]
    checkpoints: Vec<PathBuf>,
    /// Fail also on what a whole log only tells of: gaps, crashes, clocks that went back
    #[arg(long)]
    strict: bool,
    /// Write the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, context: &mut Context<'_>) -> Result<Verdict, CommandError> {
    let dir = context.dir(args.dir.as_deref())?;
    let kept = args
        .checkpoints
        .iter()
        .map(|path| Ok((path.display().to_string(), read(path)?)));
    let kept: Vec<_> = kept.collect::<Result<_, CommandError>>()?;
    let lanes = verify(&dir, &keys(&args.keys)?, &kept)?;
    let good = lanes.iter().all(|lane| {
        lane.report.is_intact()
            && !(args.strict && !(lane.report.findings.is_empty() && lane.report.more == [0, 0]))
    });
    for lane in &lanes {
        if args.json {
            writeln!(context.out, "{}", as_json(lane))?;
        } else {
            write!(context.out, "{}", as_text(lane))?;
        }
    }
    Ok(if good { Verdict::Good } else { Verdict::Bad })
}

/// The result for people: first whether the log is whole, then what it rests on, then each finding.
pub(super) fn as_text(lane: &Verified) -> String {
    use std::fmt::Write;
    let report = &lane.report;
    let mut text = String::new();
    let mut line = |words: String| writeln!(text, "{words}").expect("a String takes all");
    line(format!("{}: {}", lane.dir.display(), verdict(report)));
    let last = report.first + report.entries.saturating_sub(1);
    if report.entries > 0 {
        line(format!(
            "  entries      {} to {last} in {} files",
            report.first, report.files
        ));
    }
    if let Some((first, last)) = &report.span {
        line(format!("  time         {first} to {last}"));
    }
    line(format!("  checkpoints  {}", checkpoints(report)));
    for key in &report.keys {
        let trust = if report.keys_named {
            ""
        } else {
            "  (named by the log itself; give --key to check it)"
        };
        line(format!("  signed by    {key}{trust}"));
    }
    if let Some(head) = report.head {
        line(format!("  last hash    {head}"));
    }
    for finding in &report.findings {
        let mark = if finding.problem.severity() == Severity::Broken {
            "BROKEN"
        } else {
            "notice"
        };
        line(format!("  {mark}  {finding}"));
    }
    let [notices, breaks] = report.more;
    if notices + breaks > 0 {
        line(format!(
            "  and {breaks} more breaks, {notices} more notices"
        ));
    }
    text
}

pub(super) fn verdict(report: &Report) -> &'static str {
    match (report.is_intact(), report.entries) {
        (false, _) => "BROKEN",
        (true, 0) => "empty",
        (true, _) => "intact",
    }
}

fn checkpoints(report: &Report) -> String {
    let end = report.first + report.entries;
    match report.checkpoints {
        0 => "none: nothing shows whether the end of the log was cut off".to_owned(),
        count if report.covered < end => {
            format!(
                "{count}, the last covers entries before {}; {} came after it",
                report.covered,
                end - report.covered
            )
        }
        count => format!("{count}, the last covers all entries"),
    }
}

fn as_json(lane: &Verified) -> serde_json::Value {
    let report = &lane.report;
    let findings: Vec<_> = report
        .findings
        .iter()
        .map(|finding| {
            json!({
                "severity": if finding.problem.severity() == Severity::Broken { "broken" } else { "notice" },
                "entry": finding.entry,
                "file": finding.place.as_ref().map(|place| &place.0),
                "line": finding.place.as_ref().map(|place| place.1),
                "problem": finding.problem.to_string(),
            })
        })
        .collect();
    json!({
        "dir": lane.dir,
        "verdict": verdict(report).to_lowercase(),
        "entries": report.entries,
        "first": report.first,
        "files": report.files,
        "from": report.span.as_ref().map(|span| &span.0),
        "to": report.span.as_ref().map(|span| &span.1),
        "head": report.head.map(|head| head.to_string()),
        "checkpoints": report.checkpoints,
        "covered": report.covered,
        "keys": report.keys.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "keys_named": report.keys_named,
        "findings": findings,
        "more_breaks": report.more[1],
        "more_notices": report.more[0],
    })
}
