//! `audit prove` and `audit check`.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use cloak_stages::audit::{Checkpoint, Note, Proof, read_line};

use super::{CommandError, Context, Verdict, keys, read};
use crate::audit::directory::{CHECKPOINT, days, lanes, tiles};
use crate::audit::recover::first_seq;

#[derive(Debug, clap::Args)]
pub struct ProveArgs {
    /// The number of the entry
    #[arg(required_unless_present = "since")]
    seq: Option<u64>,
    /// Instead, prove that the log of this older checkpoint is the beginning of the log
    #[arg(long, value_name = "CHECKPOINT", conflicts_with = "seq")]
    since: Option<PathBuf>,
    /// The directory of the log
    #[arg(long)]
    dir: Option<PathBuf>,
    /// The lane, where more than one process wrote at the same time
    #[arg(long, default_value_t = 1)]
    lane: u32,
    /// Write the proof to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub struct CheckArgs {
    /// The file of the proof
    proof: PathBuf,
    /// A key you trust, as text or in a file; may be given more than once
    #[arg(long = "key", value_name = "KEY")]
    keys: Vec<String>,
}

pub(super) fn prove(args: &ProveArgs, context: &mut Context<'_>) -> Result<Verdict, CommandError> {
    let dir = context.dir(args.dir.as_deref())?;
    let lane = lanes(&dir)
        .find(|(lane, _)| *lane == args.lane)
        .map_or(dir, |(_, path)| path);
    let no_proof = |why: String| CommandError::NoProof(why);
    let note: Note = read(&lane.join(CHECKPOINT))?
        .parse()
        .map_err(|error| no_proof(format!("checkpoint: {error}")))?;
    let checkpoint: Checkpoint = note
        .text()
        .parse()
        .map_err(|error| no_proof(format!("checkpoint: {error}")))?;
    let missing =
        || no_proof("the tiles of the log are incomplete; `audit verify` tells which".to_owned());
    let mut store = tiles(&lane);
    let proof = match (args.seq, &args.since) {
        (_, Some(path)) => {
            let older: Note = read(path)?
                .parse()
                .map_err(|error| no_proof(format!("{}: {error}", path.display())))?;
            Proof::consistency(&older, &note, &mut store).ok_or_else(missing)?
        }
        (Some(seq), None) if seq >= checkpoint.size => {
            return Err(no_proof(format!(
                "entry {seq} is not covered yet: the latest checkpoint covers the {} entries before {}",
                checkpoint.size, checkpoint.size
            )));
        }
        (seq, None) => {
            let seq = seq.unwrap_or_default();
            let line = find(&lane, seq)?.ok_or_else(|| {
                no_proof(format!("entry {seq} is not there any more, or is damaged"))
            })?;
            Proof::inclusion(&line, seq, &note, &mut store).ok_or_else(missing)?
        }
    };
    let text =
        serde_json::to_string_pretty(&proof).expect("a proof has only texts and numbers") + "\n";
    match &args.out {
        Some(path) => fs::write(path, text).map_err(|source| CommandError::File {
            path: path.clone(),
            source,
        })?,
        None => context.out.write_all(text.as_bytes())?,
    }
    Ok(Verdict::Good)
}

/// The line of an entry, in the newest day that begins no later than with it.
fn find(lane: &Path, seq: u64) -> Result<Option<String>, CommandError> {
    for day in days(lane)?.iter().rev() {
        if first_seq(day)?.is_none_or(|first| first > seq) {
            continue;
        }
        for line in BufReader::new(File::open(&day.path)?).split(b'\n') {
            let line = line?;
            if read_line(&line).is_ok_and(|line| line.entry.seq == seq) {
                return Ok(String::from_utf8(line).ok());
            }
        }
        return Ok(None);
    }
    Ok(None)
}

pub(super) fn check(args: &CheckArgs, context: &mut Context<'_>) -> Result<Verdict, CommandError> {
    let text = read(&args.proof)?;
    let bad = |source| CommandError::BadProof {
        path: args.proof.clone(),
        source,
    };
    let proof: Proof = serde_json::from_str(&text).map_err(bad)?;
    if args.keys.is_empty() {
        return Err(CommandError::NoKey);
    }
    let proven = match proof.check(&keys(&args.keys)?) {
        Ok(proven) => proven,
        Err(why) => {
            writeln!(context.out, "NOT PROVEN: {why}")?;
            return Ok(Verdict::Bad);
        }
    };
    let log = format!(
        "the log {} of {} entries",
        proven.checkpoint.origin, proven.checkpoint.size
    );
    match (&proof, &proven.older) {
        (Proof::Inclusion { index, entry, .. }, _) => {
            writeln!(
                context.out,
                "proven: this is entry {index} of {log}\n{entry}"
            )?;
        }
        (_, older) => {
            let size = older.as_ref().map_or(0, |older| older.size);
            writeln!(
                context.out,
                "proven: the log of {size} entries is the beginning of {log}"
            )?;
        }
    }
    writeln!(context.out, "signed by {}", proven.key)?;
    Ok(Verdict::Good)
}
