//! The verifier: reads a log from its first line to its last and says which entry breaks.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};

use sha2::{Digest as _, Sha256};

use super::checkpoint::Checkpoint;
use super::entry::Event;
use super::finding::{Finding, Problem, Severity};
use super::keyring::Keyring;
use super::line::{BadLine, Line, MAX_LINE_BYTES, StoredEntry, read_line};
use super::name::Digest;
use super::note::{Note, VerifierKey};
use super::repair;
use super::tree::{Tile, TileAt, TileStore, Tree, leaf_hash};

/// Reads logs; see the [module](super).
///
/// It holds one line, the edge of the tree and at most [`Verifier::MAX_FINDINGS`] findings.
#[derive(Debug)]
pub struct Verifier<S> {
    store: S,
    keys: Keyring,
    due: Due,
    /// A line that is no entry, until the next one tells whether it was torn by a crash.
    unread: Option<Unread>,
    tree: Tree,
    /// Whether the tree still has a leaf for each entry at its place.
    comparable: bool,
    /// Whether a root was another one, so that all later ones are too.
    diverged: bool,
    /// Whether the hashes of removed entries are missing.
    no_history: bool,
    kept: BTreeMap<u64, Vec<Kept>>,
    latest: Option<(String, u64)>,
    missing_tiles: Vec<TileAt>,
    removed: Removed,
    clock: Clock,
    report: Report,
}

/// What the next line has to be.
#[derive(Debug)]
struct Due {
    seq: u64,
    /// The hash that the line before states, and the one it has; `None` where any will do.
    hashes: Option<[Digest; 2]>,
}

#[derive(Debug)]
struct Unread {
    place: Place,
    why: BadLine,
    bytes: u64,
    digest: Digest,
}

/// A file, and a line in it.
type Place = (String, u64);

/// A checkpoint from outside the entries.
#[derive(Debug)]
struct Kept {
    name: String,
    note: Note,
    checkpoint: Checkpoint,
}

/// Entries at the beginning that are not there.
#[derive(Debug, Default)]
struct Removed {
    until: u64,
    place: Option<Place>,
    recorded: bool,
}

#[derive(Debug, Default)]
struct Clock {
    utc: String,
    mono: u64,
    open: bool,
}

/// What a verification came to.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Entries that were read.
    pub entries: u64,
    /// Files that were read.
    pub files: u64,
    /// The number of the first entry that is there; more than 0 after old days were removed.
    pub first: u64,
    /// Time of the first and of the last entry.
    pub span: Option<(String, String)>,
    /// Hash of the last entry.
    pub head: Option<Digest>,
    /// Checkpoints whose signature and root are right.
    pub checkpoints: u64,
    /// How many entries the last of them covers.
    pub covered: u64,
    /// The keys whose signatures were accepted.
    pub keys: Vec<VerifierKey>,
    /// Whether the caller named the keys. If not, the log vouches for itself.
    pub keys_named: bool,
    /// What was found, in the order of the log.
    pub findings: Vec<Finding>,
    /// Findings beyond [`Verifier::MAX_FINDINGS`]: notices, and breaks.
    pub more: [u64; 2],
}

impl Report {
    /// Whether the log is what was written; it may still tell of gaps and crashes.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        self.more[1] == 0
            && self
                .findings
                .iter()
                .all(|finding| finding.problem.severity() == Severity::Notice)
    }
}

impl Verifier<()> {
    /// The most findings that are told one by one.
    pub const MAX_FINDINGS: usize = 1000;
}

impl<S: TileStore> Verifier<S> {
    /// A verifier that trusts these keys; without any, the keys that the log itself names.
    ///
    /// The tiles in `store` are compared with the entries, and give the hashes of removed days.
    pub fn new(keys: &[VerifierKey], store: S) -> Self {
        Self {
            store,
            keys: Keyring::new(keys),
            due: Due {
                seq: 0,
                hashes: Some([Digest::GENESIS; 2]),
            },
            unread: None,
            tree: Tree::new(),
            comparable: true,
            diverged: false,
            no_history: false,
            kept: BTreeMap::new(),
            latest: None,
            missing_tiles: Vec::new(),
            removed: Removed::default(),
            clock: Clock::default(),
            report: Report::default(),
        }
    }

    /// Takes a checkpoint from outside the entries, before they are read: the log's own `latest`,
    /// or one that was kept elsewhere.
    pub fn expect(&mut self, name: &str, note: &str, latest: bool) {
        let parsed = note
            .parse::<Note>()
            .ok()
            .and_then(|note| Some((note.text().parse::<Checkpoint>().ok()?, note)));
        let Some((checkpoint, note)) = parsed else {
            return self.found(
                None,
                0,
                Problem::BadCheckpoint {
                    source_name: name.to_owned(),
                },
            );
        };
        if latest {
            self.latest = Some((name.to_owned(), checkpoint.size));
        }
        let same_size = self.kept.entry(checkpoint.size).or_default();
        same_size.push(Kept {
            name: name.to_owned(),
            note,
            checkpoint,
        });
    }

    /// Reads the next file of the log.
    ///
    /// # Errors
    ///
    /// If reading fails. What the file holds is never an error but a finding.
    pub fn read(&mut self, name: &str, mut file: impl BufRead) -> io::Result<()> {
        self.report.files += 1;
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let most = MAX_LINE_BYTES as u64 + 1;
            let read = file.by_ref().take(most).read_until(b'\n', &mut line)?;
            if read == 0 {
                break;
            }
            let place = (name.to_owned(), number);
            if line.pop_if(|byte| *byte == b'\n').is_none() && read > MAX_LINE_BYTES {
                let (bytes, digest) = digest_line(&line, &mut file)?;
                self.no_entry(Unread {
                    place,
                    why: BadLine::TooLong,
                    bytes,
                    digest,
                });
            } else if !line.is_empty() {
                self.line(place, &line);
            }
        }
        Ok(())
    }

    fn line(&mut self, place: Place, text: &[u8]) {
        match read_line(text) {
            Ok(line) => {
                self.settle_unread(Some(&line));
                self.entry(&place, text, &line);
            }
            Err(why) => {
                let (bytes, digest) = (text.len() as u64, Digest::of(text));
                self.no_entry(Unread {
                    place,
                    why,
                    bytes,
                    digest,
                });
            }
        }
    }

    fn no_entry(&mut self, line: Unread) {
        self.settle_unread(None);
        self.unread = Some(line);
    }

    /// A line that is no entry is accounted for by a repair right after it, and by nothing else.
    fn settle_unread(&mut self, next: Option<&Line<'_>>) {
        let Some(unread) = self.unread.take() else {
            return;
        };
        let accounted =
            next.is_some_and(|next| next.accounts_for_digest(unread.bytes, unread.digest));
        if !accounted {
            self.found(
                Some(unread.place),
                self.due.seq,
                Problem::BadLine(unread.why),
            );
            (self.due.seq, self.due.hashes, self.comparable) = (self.due.seq + 1, None, false);
        }
    }

    fn entry(&mut self, place: &Place, text: &[u8], line: &Line<'_>) {
        self.report.entries += 1;
        let genuine = line.hash == line.stated;
        if genuine && self.report.entries == 1 && line.entry.seq > 0 && self.due.seq == 0 {
            self.begin_at(place, line.entry.seq);
        }
        let previous = Digest::from_hex(line.entry.prev_hash.as_bytes());
        let follows = self
            .due
            .hashes
            .is_none_or(|hashes| previous.is_some_and(|hash| hashes.contains(&hash)));
        if genuine {
            self.order(place, line, follows);
            self.times(place, &line.entry);
            self.events(place, &line.entry);
        } else {
            self.altered(place, line, follows);
        }
        self.tree.push(leaf_hash(text));
        self.compare_full_tiles();
        self.compare_kept();
    }

    /// Nothing that an altered entry says is believed; if it follows from the one before it or has
    /// the number that is due, it is the one that is due.
    fn altered(&mut self, place: &Place, line: &Line<'_>, follows: bool) {
        let seq = if follows {
            self.due.seq
        } else {
            line.entry.seq
        };
        let (stated, actual) = (line.stated, line.hash);
        self.found(
            Some(place.clone()),
            seq,
            Problem::Altered { stated, actual },
        );
        self.comparable = false;
        if seq >= self.due.seq {
            self.due = Due {
                seq: seq.saturating_add(1),
                hashes: Some([stated, actual]),
            };
        }
    }

    /// The log begins with a later entry: its tiles still have the hashes of those before.
    fn begin_at(&mut self, place: &Place, seq: u64) {
        self.report.first = seq;
        self.removed = Removed {
            until: seq,
            place: Some(place.clone()),
            recorded: false,
        };
        self.due = Due { seq, hashes: None };
        match Tree::load(seq, &mut self.store) {
            Some(tree) => self.tree = tree,
            None => {
                (self.comparable, self.no_history) = (false, true);
            }
        }
    }

    /// Only a line that is not behind its place moves on what is due.
    fn order(&mut self, place: &Place, line: &Line<'_>, follows: bool) {
        let (seq, due) = (line.entry.seq, self.due.seq);
        let problem = if seq < due {
            let twice = seq + 1 == due && self.report.head == Some(line.hash);
            Some(if twice {
                Problem::Twice
            } else {
                Problem::OutOfOrder { due }
            })
        } else if seq > due {
            Some(Problem::Missing {
                from: due,
                to: seq - 1,
            })
        } else {
            (!follows).then_some(Problem::Unlinked)
        };
        self.comparable &= seq == due;
        if let Some(problem) = problem {
            self.found(Some(place.clone()), seq.min(due), problem);
        }
        if seq >= due {
            self.due = Due {
                seq: seq.saturating_add(1),
                hashes: Some([line.stated, line.hash]),
            };
            self.report.head = Some(line.hash);
        }
    }

    fn times(&mut self, place: &Place, entry: &StoredEntry<'_>) {
        let now = entry.timestamp.to_owned();
        match &mut self.report.span {
            Some((_, last)) => last.clone_from(&now),
            None => self.report.span = Some((now.clone(), now.clone())),
        }
        if now < self.clock.utc {
            let before = self.clock.utc.clone();
            self.found(
                Some(place.clone()),
                entry.seq,
                Problem::ClockBack {
                    before,
                    now: now.clone(),
                },
            );
        }
        let mono = entry.metadata.mono_us;
        if mono < self.clock.mono
            && self.clock.open
            && entry.event_type != Event::LogOpened.as_str()
        {
            let problem = Problem::MonotonicBack {
                before: self.clock.mono,
                now: mono,
            };
            self.found(Some(place.clone()), entry.seq, problem);
        }
        (self.clock.utc, self.clock.mono) = (now, mono);
    }

    fn events(&mut self, place: &Place, entry: &StoredEntry<'_>) {
        let problem = match Event::parse(entry.event_type) {
            Some(Event::Gap) => Some(Problem::Gap {
                missed: entry.number("missed").unwrap_or(0),
            }),
            Some(Event::LogRepaired) => repair::facts(entry).map(|(bytes, _)| {
                self.clock.mono = 0;
                Problem::Repaired { bytes }
            }),
            Some(Event::LogOpened) => {
                self.keys.seen(entry);
                std::mem::replace(&mut self.clock.open, true).then_some(Problem::NotClosed)
            }
            Some(Event::LogClosed) => {
                self.clock.open = false;
                None
            }
            Some(Event::Pruned) => {
                self.removed.recorded |= entry
                    .number("first_kept")
                    .is_some_and(|kept| kept >= self.removed.until);
                None
            }
            Some(Event::KeyChange) => self.keys.change(entry).err(),
            Some(Event::Checkpoint) => self
                .keys
                .recorded(entry)
                .and_then(|checkpoint| {
                    self.check_missing_tiles();
                    self.compare_root(&checkpoint, format!("entry {}", entry.seq))
                })
                .err(),
            _ => None,
        };
        if let Some(problem) = problem {
            self.found(Some(place.clone()), entry.seq, problem);
        }
    }

    /// Compares the root of the tree as it is now with that of a checkpoint of the same size.
    fn compare_root(
        &mut self,
        checkpoint: &Checkpoint,
        source_name: String,
    ) -> Result<(), Problem> {
        if std::mem::take(&mut self.no_history) {
            return Err(Problem::NoHistory);
        }
        if !self.comparable || self.diverged {
            return Ok(());
        }
        if self.tree.root() == checkpoint.root {
            self.report.checkpoints += 1;
            self.report.covered = checkpoint.size;
            return Ok(());
        }
        self.diverged = true;
        let since = self.report.covered;
        Err(Problem::OtherTree {
            since,
            size: checkpoint.size,
            source_name,
        })
    }

    /// Compares the tree with the checkpoints from outside that are of its size.
    fn compare_kept(&mut self) {
        let size = self.tree.size();
        for Kept {
            name,
            note,
            checkpoint,
        } in self.kept.remove(&size).unwrap_or_default()
        {
            let signed = self.keys.signed(&note, checkpoint, name.clone());
            let same = signed.and_then(|checkpoint| self.compare_root(&checkpoint, name.clone()));
            if let Err(problem) = same {
                self.found(None, size.saturating_sub(1), problem);
            }
            if self
                .latest
                .as_ref()
                .is_some_and(|(latest, _)| *latest == name)
            {
                for tile in self.tree.partial_tiles() {
                    if !self.compare_tile(&tile) {
                        self.missing_tiles.push(tile.at);
                    }
                }
                self.check_missing_tiles();
            }
        }
    }

    fn compare_full_tiles(&mut self) {
        for tile in self.tree.take_full_tiles() {
            if !self.compare_tile(&tile) {
                self.missing_tiles.push(tile.at);
            }
        }
    }

    /// Compares a tile with the stored one; false if there is none.
    fn compare_tile(&mut self, tile: &Tile) -> bool {
        let path = tile.at.path();
        let Some(stored) = self.store.read(&path) else {
            return false;
        };
        let computed = tile.bytes();
        if self.comparable && stored != computed {
            let same = stored
                .chunks(32)
                .zip(computed.chunks(32))
                .take_while(|(a, b)| a == b)
                .count() as u64;
            self.found(None, tile.at.first_leaf(same), Problem::OtherTile { path });
        }
        true
    }

    /// Tiles are stored before the checkpoint that covers them.
    fn check_missing_tiles(&mut self) {
        for at in std::mem::take(&mut self.missing_tiles) {
            let path = at.path();
            if self.store.read(&path).is_none() {
                self.found(None, at.first_leaf(0), Problem::NoTile { path });
            }
        }
    }

    /// Ends the verification.
    pub fn finish(mut self) -> Report {
        self.settle_unread(None);
        if self.tree.size() == 0 {
            self.compare_kept();
        }
        if self.removed.until > 0 && !self.removed.recorded {
            let place = self.removed.place.take();
            self.found(
                place,
                0,
                Problem::Missing {
                    from: 0,
                    to: self.removed.until - 1,
                },
            );
        }
        let end = self.due.seq;
        if self.no_history && !self.kept.is_empty() {
            self.found(None, self.report.first, Problem::NoHistory);
        }
        for Kept {
            name,
            note,
            checkpoint,
        } in std::mem::take(&mut self.kept).into_values().flatten()
        {
            let size = checkpoint.size;
            match self.keys.signed(&note, checkpoint, name.clone()) {
                Err(problem) => self.found(None, size.saturating_sub(1), problem),
                Ok(_) if size > end => self.found(
                    None,
                    end,
                    Problem::TailMissing {
                        from: end,
                        size,
                        source_name: name,
                    },
                ),
                Ok(_) => {}
            }
        }
        let covered = self.report.covered;
        match self.latest.take() {
            Some((source_name, size)) if size < covered => {
                self.found(None, size, Problem::OldCheckpoint { source_name, size });
            }
            None if covered > 0 => self.found(None, covered, Problem::NoCheckpoint),
            _ => {}
        }
        self.report.keys = self.keys.used;
        self.report.keys_named = self.keys.named;
        self.report
    }

    fn found(&mut self, place: Option<Place>, entry: u64, problem: Problem) {
        if self.report.findings.len() < Verifier::MAX_FINDINGS {
            self.report.findings.push(Finding {
                place,
                entry,
                problem,
            });
        } else {
            self.report.more[usize::from(problem.severity() == Severity::Broken)] += 1;
        }
    }
}

/// Length and digest of a line of which `start` was read, without holding the rest.
fn digest_line(start: &[u8], rest: &mut impl BufRead) -> io::Result<(u64, Digest)> {
    let (mut bytes, mut digest) = (start.len() as u64, Sha256::new_with_prefix(start));
    loop {
        let buffer = rest.fill_buf()?;
        let end = memchr::memchr(b'\n', buffer);
        let part = &buffer[..end.unwrap_or(buffer.len())];
        let used = part.len() + usize::from(end.is_some());
        bytes += part.len() as u64;
        digest.update(part);
        rest.consume(used);
        if end.is_some() || used == 0 {
            return Ok((bytes, Digest(digest.finalize().into())));
        }
    }
}
