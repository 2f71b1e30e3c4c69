//! The entries: each follows from the one before it, in number, in hash and in time.

use super::{Due, Place, Removed, Verifier};
use crate::audit::entry::Event;
use crate::audit::finding::Problem;
use crate::audit::line::{Line, StoredEntry};
use crate::audit::name::Digest;
use crate::audit::repair;
use crate::audit::tree::{TileStore, Tree, leaf_hash};

impl<S: TileStore> Verifier<S> {
    pub(super) fn entry(&mut self, place: &Place, line: &Line<'_>) {
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
        self.tree.push(leaf_hash(line.hash));
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
}
