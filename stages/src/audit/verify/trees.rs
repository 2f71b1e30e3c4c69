//! The tree over the entries: its roots are those that were signed, its tiles those that are stored.

use super::Verifier;
use crate::audit::checkpoint::Checkpoint;
use crate::audit::finding::Problem;
use crate::audit::note::Note;
use crate::audit::tree::{Tile, TileStore};

/// A checkpoint from outside the entries.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) name: String,
    pub(super) note: Note,
    pub(super) checkpoint: Checkpoint,
}

impl<S: TileStore> Verifier<S> {
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

    /// Compares the root of the tree as it is now with that of a checkpoint of the same size.
    pub(super) fn compare_root(
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
    pub(super) fn compare_kept(&mut self) {
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

    pub(super) fn compare_full_tiles(&mut self) {
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
    pub(super) fn check_missing_tiles(&mut self) {
        for at in std::mem::take(&mut self.missing_tiles) {
            let path = at.path();
            if self.store.read(&path).is_none() {
                self.found(None, at.first_leaf(0), Problem::NoTile { path });
            }
        }
    }
}
