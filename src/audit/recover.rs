//! What a lane holds when it is opened: the end of its chain, its tree, and what a crash left.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use cloak_stages::audit::{
    Chain, Checkpoint, Digest, Line, Note, Tile, Tree, VerifierKey, leaf_hash, read_line,
};

use super::directory::{CHECKPOINT, Day, days, tiles};
use super::files::Files;
use super::writer::day_number;

pub(super) const PUBLIC_KEY: &str = "key.pub";
/// A torn line is a fraction of a batch; more than this was not left by a crash of ours.
const MAX_TORN_BYTES: u64 = 16 * 1024 * 1024;

/// A lane as it was found.
pub(super) struct Recovered {
    pub(super) chain: Chain,
    /// The tree, if it was asked for.
    pub(super) tree: Option<Tree>,
    /// The newest day.
    pub(super) day: Option<Day>,
    /// Bytes after the last newline that are no entry.
    pub(super) torn: Vec<u8>,
    /// Whether the last entry only lacks its newline.
    pub(super) lacks_newline: bool,
    /// The latest checkpoint.
    pub(super) checkpoint: Option<(Checkpoint, Note)>,
    /// The key that signed until now.
    pub(super) key: Option<VerifierKey>,
}

/// Why a lane cannot be gone on with.
#[derive(Debug, thiserror::Error)]
pub(super) enum Damage {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("the checkpoint cannot be read")]
    Checkpoint,
    #[error("the checkpoint was signed over {size} entries and only {found} are there")]
    CutOff { size: u64, found: u64 },
    #[error("the entries are not those the checkpoint was signed over")]
    OtherTree,
    #[error("the hashes of removed entries are not in the tiles")]
    NoHistory,
    #[error("{file} is not named after a day")]
    Name { file: String },
    #[error("{file}:{line} is no entry that follows from the one before it")]
    Broken { file: String, line: u64 },
}

/// Reads the end of a lane. The tree comes from the tiles of the latest checkpoint and the entries
/// after it; if the tiles do not fit it, from all entries, and the tiles are stored again.
pub(super) fn recover(
    dir: &Path,
    with_tree: bool,
    files: &mut dyn Files,
) -> Result<Recovered, Damage> {
    let days = days(dir)?;
    if let Some(day) = days.iter().find(|day| day_number(&day.date).is_none()) {
        return Err(Damage::Name { file: day.name() });
    }
    let checkpoint = read_checkpoint(dir)?;
    let stored_tree = checkpoint
        .as_ref()
        .filter(|_| with_tree)
        .and_then(|(checkpoint, _)| {
            Tree::load(checkpoint.size, &mut tiles(dir))
                .filter(|tree| tree.root() == checkpoint.root)
        });
    let mut reader = Reader {
        dir,
        tree: stored_tree.unwrap_or_default(),
        from: if with_tree { 0 } else { u64::MAX },
        due: None,
        torn: Vec::new(),
        lacks_newline: false,
        checkpoint: checkpoint.as_ref().map(|(checkpoint, _)| checkpoint),
        files,
    };
    if with_tree {
        reader.from = reader.tree.size();
    }
    for day in &days[first_to_read(&days, reader.from)?..] {
        reader.day(day)?;
    }
    let (seq, head) = reader.due.unwrap_or((0, Digest::GENESIS));
    if let Some((checkpoint, _)) = checkpoint
        .as_ref()
        .filter(|(checkpoint, _)| checkpoint.size > seq)
    {
        return Err(Damage::CutOff {
            size: checkpoint.size,
            found: seq,
        });
    }
    Ok(Recovered {
        chain: Chain::resume(seq, head),
        tree: with_tree.then_some(reader.tree),
        day: days.last().cloned(),
        torn: reader.torn,
        lacks_newline: reader.lacks_newline,
        checkpoint,
        key: fs::read_to_string(dir.join(PUBLIC_KEY))
            .ok()
            .and_then(|key| key.trim_end().parse().ok()),
    })
}

/// The latest checkpoint of a lane.
pub(super) fn read_checkpoint(dir: &Path) -> Result<Option<(Checkpoint, Note)>, Damage> {
    match fs::read_to_string(dir.join(CHECKPOINT)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
        Ok(text) => {
            let note: Note = text.parse().map_err(|_| Damage::Checkpoint)?;
            Ok(Some((
                note.text().parse().map_err(|_| Damage::Checkpoint)?,
                note,
            )))
        }
    }
}

/// The number of the first entry of a day, if there is one.
pub(super) fn first_seq(day: &Day) -> io::Result<Option<u64>> {
    let mut line = Vec::new();
    let limit = cloak_stages::audit::MAX_LINE_BYTES as u64;
    BufReader::new(File::open(&day.path)?.take(limit)).read_until(b'\n', &mut line)?;
    Ok(read_line(line.trim_ascii_end())
        .ok()
        .map(|line| line.entry.seq))
}

/// The newest day that begins no later than with entry `from`.
fn first_to_read(days: &[Day], from: u64) -> io::Result<usize> {
    for (at, day) in days.iter().enumerate().rev() {
        if first_seq(day)?.is_some_and(|seq| seq <= from) {
            return Ok(at);
        }
    }
    Ok(0)
}

struct Reader<'a> {
    dir: &'a Path,
    tree: Tree,
    /// The first entry that the tree lacks.
    from: u64,
    /// The number of the next entry and the hash it has to name.
    due: Option<(u64, Digest)>,
    torn: Vec<u8>,
    lacks_newline: bool,
    checkpoint: Option<&'a Checkpoint>,
    files: &'a mut dyn Files,
}

impl Reader<'_> {
    fn day(&mut self, day: &Day) -> Result<(), Damage> {
        let broken = |line| Damage::Broken {
            file: day.name(),
            line,
        };
        let mut file = BufReader::with_capacity(1 << 18, File::open(&day.path)?);
        let mut text = Vec::new();
        for number in 1.. {
            text.clear();
            if file
                .by_ref()
                .take(MAX_TORN_BYTES)
                .read_until(b'\n', &mut text)?
                == 0
            {
                break;
            }
            if self.lacks_newline {
                return Err(broken(number));
            }
            let whole = text.pop_if(|byte| *byte == b'\n').is_some();
            if text.is_empty() {
                continue;
            }
            match read_line(&text)
                .ok()
                .filter(|line| line.hash == line.stated)
            {
                Some(line) => {
                    if !self.torn.is_empty() && !line.accounts_for(&self.torn) {
                        return Err(broken(number));
                    }
                    self.torn.clear();
                    self.entry(&line)?.ok_or_else(|| broken(number))?;
                    self.lacks_newline = !whole;
                }
                None if self.torn.is_empty() => self.torn.clone_from(&text),
                None => return Err(broken(number)),
            }
        }
        Ok(())
    }

    fn entry(&mut self, line: &Line<'_>) -> Result<Option<()>, Damage> {
        let seq = line.entry.seq;
        let previous = Digest::from_hex(line.entry.prev_hash.as_bytes());
        // The first entry that is read may name any hash, unless it is the first of all.
        let first = previous.filter(|_| seq > 0).unwrap_or(Digest::GENESIS);
        let (due, head) = self.due.unwrap_or((seq, first));
        if seq != due || previous != Some(head) {
            return Ok(None);
        }
        self.due = Some((seq + 1, line.hash));
        if self.from > seq {
            return Ok(Some(()));
        }
        if self.tree.size() != seq {
            return Err(Damage::NoHistory);
        }
        self.tree.push(leaf_hash(line.hash));
        for tile in self.tree.take_full_tiles() {
            self.store(&tile)?;
        }
        match self.checkpoint {
            Some(checkpoint)
                if checkpoint.size == seq + 1 && checkpoint.root != self.tree.root() =>
            {
                Err(Damage::OtherTree)
            }
            _ => Ok(Some(())),
        }
    }

    fn store(&mut self, tile: &Tile) -> io::Result<()> {
        self.files
            .store(&self.dir.join(tile.at.path()), &tile.bytes())
    }
}
