//! Reading a log that somebody else may be writing.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use cloak_stages::audit::{MAX_LINE_BYTES, Report, StoredEntry, Verifier, VerifierKey, read_line};

use super::directory::{CHECKPOINT, days, existing_lanes, tiles};

/// A lane and what its verification came to.
#[derive(Clone, Debug)]
pub struct Verified {
    /// The directory of the lane.
    pub dir: PathBuf,
    /// The result.
    pub report: Report,
}

/// Verifies every lane of the log in `dir`.
///
/// Without `keys` the log's own word is taken for them. `kept` are checkpoints of the first lane
/// that were kept elsewhere, each with the name it is reported by.
///
/// # Errors
///
/// If a file cannot be read. What it holds is never an error but a finding.
pub fn verify(
    dir: &Path,
    keys: &[VerifierKey],
    kept: &[(String, String)],
) -> io::Result<Vec<Verified>> {
    let mut lanes = Vec::new();
    for (at, lane) in existing_lanes(dir).into_iter().enumerate() {
        let mut verifier = Verifier::new(keys, tiles(&lane));
        match fs::read(lane.join(CHECKPOINT)) {
            Ok(note) => verifier.expect(CHECKPOINT, &String::from_utf8_lossy(&note), true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        for (name, note) in kept.iter().filter(|_| at == 0) {
            verifier.expect(name, note, false);
        }
        for day in days(&lane)? {
            verifier.read(
                &day.name(),
                BufReader::with_capacity(1 << 18, File::open(&day.path)?),
            )?;
        }
        lanes.push(Verified {
            dir: lane,
            report: verifier.finish(),
        });
    }
    Ok(lanes)
}

/// Calls `each` with every entry of every lane, lane by lane, and with its line. Lines that are no
/// entries are left to [`verify`].
///
/// # Errors
///
/// If a file cannot be read, or `each` fails.
pub fn entries(
    dir: &Path,
    mut each: impl FnMut(&StoredEntry<'_>, &str) -> io::Result<()>,
) -> io::Result<()> {
    for lane in existing_lanes(dir) {
        for day in days(&lane)? {
            let mut file = BufReader::with_capacity(1 << 18, File::open(&day.path)?);
            let mut line = Vec::new();
            while file
                .by_ref()
                .take(MAX_LINE_BYTES as u64)
                .read_until(b'\n', &mut line)?
                > 0
            {
                entry_of(&line, &mut each)?;
                line.clear();
            }
        }
    }
    Ok(())
}

/// Calls `each` if the line, with or without its newline, is an entry.
pub(super) fn entry_of(
    line: &[u8],
    each: &mut impl FnMut(&StoredEntry<'_>, &str) -> io::Result<()>,
) -> io::Result<()> {
    let line = line.trim_ascii_end();
    match (read_line(line), str::from_utf8(line)) {
        (Ok(read), Ok(text)) => each(&read.entry, text),
        _ => Ok(()),
    }
}
