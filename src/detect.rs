//! `detect`: what is found in a text, for a scorer or for people.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use cloak_stages::detect::{Context, Detectors, jsonl};

use crate::config::Config;
use crate::logs::colours;
use crate::names::Recognition;
use crate::os;

/// The arguments of `detect`.
#[derive(Debug, Args)]
pub(crate) struct Detect {
    /// Read lines of {"id", "text"} and write lines of {"id", "spans", "ns"}
    #[arg(long, conflicts_with = "explain")]
    jsonl: bool,

    /// Show each finding with the rule behind it, and what was rejected and why; this is the default
    #[arg(long)]
    explain: bool,

    /// The texts; standard input if there are none
    files: Vec<PathBuf>,
}

impl Detect {
    /// Reads standard input or the files, and writes to standard output.
    pub(crate) fn run(&self, config: &Config) -> anyhow::Result<ExitCode> {
        let names = Recognition::new(&config.detection)?;
        if let Some(gap) = &names.gap {
            tracing::warn!("{gap}");
        }
        let detectors = names.beside(config.detection.detectors()?);
        let stdout = io::stdout().lock();
        let colour = colours(&stdout);
        let mut out = BufWriter::with_capacity(64 << 10, stdout);
        if self.files.is_empty() {
            self.read(
                &detectors,
                io::stdin().lock(),
                "standard input",
                &mut out,
                colour,
            )?;
        }
        for path in &self.files {
            let name = path.display().to_string();
            let file = std::fs::File::open(path).with_context(|| name.clone())?;
            self.read(&detectors, file, &name, &mut out, colour)?;
        }
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }

    fn read(
        &self,
        detectors: &Detectors,
        input: impl Read,
        name: &str,
        out: &mut impl Write,
        colour: bool,
    ) -> anyhow::Result<()> {
        if self.jsonl {
            return lines(detectors, input, name, out);
        }
        let mut text = String::new();
        BufReader::new(input)
            .read_to_string(&mut text)
            .with_context(|| name.to_owned())?;
        explain(detectors, &text, out, colour)?;
        Ok(())
    }
}

/// Answers line by line. What is ready is written as soon as no more input is waiting, so that the
/// other side may wait for each answer.
fn lines(
    detectors: &Detectors,
    input: impl Read,
    name: &str,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let mut input = BufReader::with_capacity(64 << 10, input);
    let mut found = Vec::new();
    let mut line = String::new();
    for number in 1.. {
        if input.buffer().is_empty() {
            out.flush()?;
        }
        line.clear();
        if input
            .read_line(&mut line)
            .with_context(|| format!("{name}, line {number}"))?
            == 0
        {
            break;
        }
        if line.trim().is_empty() {
            continue;
        }
        match jsonl::answer(detectors, &line, &mut found, os::cpu_nanoseconds) {
            Ok(answer) => writeln!(out, "{answer}")?,
            // Where in the line it is wrong, not what stands there.
            Err(error) => bail!(
                "{name}, line {number}, column {}: is not {{\"id\": …, \"text\": \"…\"}}",
                error.column()
            ),
        }
    }
    Ok(())
}

/// Writes a line for each finding: where it stands, what it is, how sure that is and which rule
/// says so; and one for what looks like personal data and is none, with the reason.
fn explain(
    detectors: &Detectors,
    text: &str,
    out: &mut impl Write,
    colour: bool,
) -> io::Result<()> {
    let explanation = detectors.explain(text, Context::default());
    let found = explanation.findings.iter().map(|f| Line {
        span: f.start..f.end,
        name: detectors.name(f.category),
        verdict: format!("{:>3} %", f.confidence),
        reason: f.rule.to_owned(),
        taken: true,
    });
    let rejected = explanation.rejected.iter().map(|r| Line {
        span: r.start..r.end,
        name: detectors.name(r.category),
        verdict: "   no".to_owned(),
        reason: r.reason.to_string(),
        taken: false,
    });
    let mut lines: Vec<_> = found.chain(rejected).collect();
    lines.sort_by_key(|line| line.span.start);
    let (bold, dim, plain) = if colour {
        ("\x1b[1m", "\x1b[2m", "\x1b[0m")
    } else {
        ("", "", "")
    };
    let (mut number, mut start, mut seen) = (1, 0, 0);
    for line in &lines {
        let passed = &text[seen..line.span.start];
        number += passed.matches('\n').count();
        start = passed.rfind('\n').map_or(start, |at| seen + at + 1);
        seen = line.span.start;
        let column = text[start..seen].chars().count() + 1;
        writeln!(
            out,
            "{dim}{:>9}{plain}  {}{:<14}{plain} {}  {:<24}  {dim}{}{plain}",
            format!("{number}:{column}"),
            if line.taken { bold } else { dim },
            line.name,
            line.verdict,
            one_line(&text[line.span.clone()]),
            line.reason,
        )?;
    }
    if lines.is_empty() {
        writeln!(out, "nothing was found")?;
    }
    Ok(())
}

/// What is told about a place of a text.
struct Line<'a> {
    span: Range<usize>,
    name: &'a str,
    verdict: String,
    reason: String,
    taken: bool,
}

/// The text, with what would break a line or a terminal made visible.
fn one_line(text: &str) -> String {
    text.chars()
        .flat_map(|c| {
            if c.is_control() {
                c.escape_default().collect::<Vec<_>>()
            } else {
                vec![c]
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use cloak_stages::detect::Settings;

    use super::*;

    #[test]
    fn explains_where_and_why() {
        let detectors = Detectors::new(&Settings::default()).unwrap();
        let mut out = Vec::new();
        explain(
            &detectors,
            "é\nwrite to marie@example.eu\nfrom 127.0.0.1\n",
            &mut out,
            false,
        )
        .unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(out.contains("2:10") && out.contains("EMAIL"), "{out}");
        assert!(out.contains("marie@example.eu"), "{out}");
        assert!(
            out.contains("no  127.0.0.1") && out.contains("loopback"),
            "{out}"
        );
    }

    #[test]
    fn a_bad_line_is_told_without_what_stands_there() {
        let detectors = Detectors::new(&Settings::default()).unwrap();
        let input = "{\"id\":1,\"text\":\"\"}\n\n{\"id\":2,\"text\":12345}\n";
        let mut out = Vec::new();
        let error = lines(&detectors, input.as_bytes(), "x", &mut out)
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("x, line 3, column") && !error.contains("12345"),
            "{error}"
        );
        assert_eq!(out.iter().filter(|&&byte| byte == b'\n').count(), 1);
    }
}
