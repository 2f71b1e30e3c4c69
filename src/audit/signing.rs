//! The Merkle tree of a lane and the key that signs it.

use std::io;
use std::path::Path;

use cloak_stages::audit::{
    Checkpoint, Digest, Entry, Tile, TileAt, Tree, checkpoint_entry, key_change, leaf_hash,
};

use super::directory::CHECKPOINT;
use super::files::Files;
use super::key::KeyFile;

/// The most full tiles that wait to be stored, 8 KiB each; further ones are computed again from
/// the entries when the log is opened next.
const MAX_UNSTORED: usize = 4096;

pub(super) struct Signing {
    pub(super) key: KeyFile,
    tree: Tree,
    unstored: Vec<Tile>,
    /// The partial tiles of the last checkpoint, which the next one makes useless.
    partial: Vec<TileAt>,
}

impl Signing {
    pub(super) fn new(key: KeyFile, tree: Tree) -> Self {
        let partial = tree
            .partial_tiles()
            .into_iter()
            .map(|tile| tile.at)
            .collect();
        Self {
            key,
            tree,
            unstored: Vec::new(),
            partial,
        }
    }

    /// Adds the entry of this hash to the tree.
    pub(super) fn push(&mut self, entry: Digest) {
        self.tree.push(leaf_hash(entry));
        let room = MAX_UNSTORED - self.unstored.len();
        self.unstored
            .extend(self.tree.take_full_tiles().into_iter().take(room));
    }

    /// The entry that introduces the key, if it is another one than until now.
    pub(super) fn key_change(
        &self,
        before: Option<&cloak_stages::audit::VerifierKey>,
    ) -> Option<Entry> {
        let key = self.key.key.public();
        if before == Some(key) {
            return None;
        }
        let vouched = self
            .key
            .before
            .as_ref()
            .filter(|(previous, _)| Some(previous) == before);
        let before = before.map(|previous| (previous, vouched.map(|(_, signature)| *signature)));
        Some(key_change(key, before))
    }

    /// Stores the tiles and then the checkpoint over all entries, which must be durable already.
    /// Gives the entry that records it.
    pub(super) fn checkpoint(&mut self, dir: &Path, files: &mut dyn Files) -> io::Result<Entry> {
        while let Some(tile) = self.unstored.last() {
            files.store(&dir.join(tile.at.path()), &tile.bytes())?;
            self.unstored.pop();
        }
        let partial = self.tree.partial_tiles();
        for tile in &partial {
            files.store(&dir.join(tile.at.path()), &tile.bytes())?;
        }
        let key = &self.key.key;
        let checkpoint = Checkpoint::of(&self.tree, key.public().name());
        let note = checkpoint.sign(key);
        files.replace(&dir.join(CHECKPOINT), note.to_string().as_bytes())?;

        let kept: Vec<_> = partial.into_iter().map(|tile| tile.at).collect();
        for old in std::mem::replace(&mut self.partial, kept) {
            if !self.partial.contains(&old) {
                // A tile too many does no harm.
                let _ = files.remove(&dir.join(old.path()));
            }
        }
        let signature = note
            .signature_of(key.public())
            .expect("the note was signed with this key");
        Ok(checkpoint_entry(&checkpoint, key.public(), signature))
    }
}
