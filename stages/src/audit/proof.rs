//! Proofs about a log that can be checked without it (RFC 6962 §2.1.1 and §2.1.2).

use ct_merkle::{
    ConsistencyProof, InclusionProof, RootHash, indices_for_consistency_proof,
    indices_for_inclusion_proof,
};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::checkpoint::Checkpoint;
use super::line::read_line;
use super::name::Digest;
use super::note::{Note, VerifierKey};
use super::tree::{TileStore, subtree_hash};

/// A proof, complete in itself: one JSON object that can be sent to somebody who has no log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "proof", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Proof {
    /// An entry is the one with this number in the log of the checkpoint.
    Inclusion {
        /// The line of the entry, without its newline.
        entry: String,
        /// Its number, from 0.
        index: u64,
        /// The hashes beside the way from the leaf to the root, in hexadecimal.
        hashes: Vec<String>,
        /// The signed checkpoint.
        checkpoint: String,
    },
    /// The log of the older checkpoint is the beginning of the log of the newer one.
    Consistency {
        /// The older signed checkpoint.
        older: String,
        /// The hashes of RFC 6962's `PROOF`, in hexadecimal.
        hashes: Vec<String>,
        /// The newer signed checkpoint.
        checkpoint: String,
    },
}

/// What a proof proves, once it was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proven {
    /// The checkpoint it leads to.
    pub checkpoint: Checkpoint,
    /// The older checkpoint, of a proof of consistency.
    pub older: Option<Checkpoint>,
    /// The key that signed.
    pub key: VerifierKey,
}

impl Proof {
    /// Proves that `line` is entry `index` of the log of `checkpoint`; `None` if a tile is missing
    /// or the log has no such entry.
    #[must_use]
    pub fn inclusion(
        line: &str,
        index: u64,
        note: &Note,
        store: &mut impl TileStore,
    ) -> Option<Self> {
        let checkpoint: Checkpoint = note.text().parse().ok()?;
        if index >= checkpoint.size {
            return None;
        }
        let nodes = indices_for_inclusion_proof(checkpoint.size, index);
        Some(Self::Inclusion {
            entry: line.to_owned(),
            index,
            hashes: hashes(&nodes, checkpoint.size, store)?,
            checkpoint: note.to_string(),
        })
    }

    /// Proves that the log of `older` is the beginning of that of `newer`; `None` if a tile is
    /// missing or `older` is of no smaller log.
    #[must_use]
    pub fn consistency(older: &Note, newer: &Note, store: &mut impl TileStore) -> Option<Self> {
        let from: Checkpoint = older.text().parse().ok()?;
        let to: Checkpoint = newer.text().parse().ok()?;
        let added = to.size.checked_sub(from.size).filter(|_| from.size > 0)?;
        let nodes = indices_for_consistency_proof(from.size, added);
        Some(Self::Consistency {
            older: older.to_string(),
            hashes: hashes(&nodes, to.size, store)?,
            checkpoint: newer.to_string(),
        })
    }

    /// Checks the proof against the keys one trusts.
    ///
    /// # Errors
    ///
    /// If it is malformed, signed by none of `keys`, or does not prove what it says.
    pub fn check(&self, keys: &[VerifierKey]) -> Result<Proven, BadProof> {
        match self {
            Self::Inclusion {
                entry,
                index,
                hashes,
                checkpoint,
            } => {
                let (checkpoint, key) = signed(checkpoint, keys)?;
                let line = read_line(entry.as_bytes()).map_err(|_| BadProof::Entry)?;
                if line.hash != line.stated || line.entry.seq != *index {
                    return Err(BadProof::Entry);
                }
                let proof = InclusionProof::<Sha256>::try_from_bytes(bytes(hashes)?)
                    .map_err(|_| BadProof::Hashes)?;
                root(&checkpoint)
                    .verify_inclusion(&line.hash.0, *index, &proof)
                    .map_err(|_| BadProof::Hashes)?;
                Ok(Proven {
                    checkpoint,
                    older: None,
                    key,
                })
            }
            Self::Consistency {
                older,
                hashes,
                checkpoint,
            } => {
                let (checkpoint, key) = signed(checkpoint, keys)?;
                let (older, _) = signed(older, keys)?;
                let proof = ConsistencyProof::<Sha256>::try_from_bytes(bytes(hashes)?)
                    .map_err(|_| BadProof::Hashes)?;
                root(&checkpoint)
                    .verify_consistency(&root(&older), &proof)
                    .map_err(|_| BadProof::Hashes)?;
                Ok(Proven {
                    checkpoint,
                    older: Some(older),
                    key,
                })
            }
        }
    }
}

/// Why a proof proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadProof {
    /// The checkpoint cannot be read.
    #[error("the proof's checkpoint is no signed note with a log's name, size and root")]
    Checkpoint,
    /// None of the trusted keys signed the checkpoint.
    #[error("none of the given keys signed the proof's checkpoint")]
    Signature,
    /// The entry was altered, or is another one.
    #[error("the proof's entry is altered, or has another number than the proof says")]
    Entry,
    /// The hashes do not lead from the entry, or the older checkpoint, to the checkpoint's root.
    #[error(
        "the proof's hashes do not lead to the checkpoint's root: what it says is not in that log"
    )]
    Hashes,
}

fn signed(note: &str, keys: &[VerifierKey]) -> Result<(Checkpoint, VerifierKey), BadProof> {
    let note: Note = note.parse().map_err(|_| BadProof::Checkpoint)?;
    let checkpoint: Checkpoint = note.text().parse().map_err(|_| BadProof::Checkpoint)?;
    let signer = keys
        .iter()
        .find(|key| key.name() == checkpoint.origin && note.signature_of(key).is_some());
    Ok((checkpoint, signer.ok_or(BadProof::Signature)?.clone()))
}

fn root(checkpoint: &Checkpoint) -> RootHash<Sha256> {
    RootHash::new(checkpoint.root.0.into(), checkpoint.size)
}

fn bytes(hashes: &[String]) -> Result<Vec<u8>, BadProof> {
    let mut bytes = Vec::with_capacity(32 * hashes.len());
    for hash in hashes {
        bytes.extend_from_slice(&Digest::from_hex(hash.as_bytes()).ok_or(BadProof::Hashes)?.0);
    }
    Ok(bytes)
}

/// The hashes of nodes that are numbered as in the array trees of RFC 9420 appendix C.
fn hashes(nodes: &[u64], size: u64, store: &mut impl TileStore) -> Option<Vec<String>> {
    let hash = |node: &u64| {
        let level = node.trailing_ones();
        let from = (node >> (level + 1)) << level;
        let to = (from + (1 << level)).min(size);
        subtree_hash(from, to, size, store).map(|hash| hash.to_string())
    };
    nodes.iter().map(hash).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use ct_merkle::mem_backed_tree::MemoryBackedTree;

    use super::super::{Chain, Entry, Event, Session, SignerKey, Stamp, Tree, leaf_hash};
    use super::*;

    struct Grown {
        lines: Vec<String>,
        hashes: Vec<[u8; 32]>,
        tiles: HashMap<String, Vec<u8>>,
        notes: Vec<Note>,
        key: SignerKey,
    }

    /// A log of `size` entries with a checkpoint after each; notes\[n\] is of n entries.
    fn grown(size: u64) -> Grown {
        let key = SignerKey::new("test/log", &[5; 32]).unwrap();
        let (mut chain, mut tree) = (Chain::genesis(), Tree::new());
        let mut grown = Grown {
            lines: Vec::new(),
            hashes: Vec::new(),
            tiles: HashMap::new(),
            notes: Vec::new(),
            key,
        };
        for number in 0..=size {
            grown
                .notes
                .push(Checkpoint::of(&tree, "test/log").sign(&grown.key));
            if number < size {
                let mut line = Vec::new();
                let stamp = Stamp {
                    utc_micros: 0,
                    mono_micros: number,
                    session: Session(1),
                };
                let hash = chain.append(&stamp, &Entry::new(Event::Message), &mut line);
                tree.push(leaf_hash(hash));
                grown.hashes.push(hash.0);
                grown.lines.push(String::from_utf8(line).unwrap());
            }
        }
        for tile in tree
            .take_full_tiles()
            .into_iter()
            .chain(tree.partial_tiles())
        {
            grown.tiles.insert(tile.at.path(), tile.bytes());
        }
        grown
    }

    #[test]
    fn proofs_are_those_of_another_implementation() {
        for size in [1, 2, 3, 7, 64, 100, 256, 300] {
            let log = grown(size);
            let keys = [log.key.public().clone()];
            let mut store = |path: &str| log.tiles.get(path).cloned();
            let mut other: MemoryBackedTree<Sha256, [u8; 32]> = MemoryBackedTree::new();
            log.hashes.iter().for_each(|hash| other.push(*hash));
            let newest = &log.notes[size as usize];
            for index in 0..size {
                let line = &log.lines[index as usize];
                let proof = Proof::inclusion(line, index, newest, &mut store).unwrap();
                let Proof::Inclusion { hashes, .. } = &proof else {
                    unreachable!()
                };
                assert_eq!(
                    bytes(hashes).unwrap(),
                    other.prove_inclusion(index as usize).as_bytes()
                );
                assert_eq!(proof.check(&keys).unwrap().checkpoint.size, size);

                let proof =
                    Proof::consistency(&log.notes[index as usize + 1], newest, &mut store).unwrap();
                let Proof::Consistency { hashes, .. } = &proof else {
                    unreachable!()
                };
                let added = (size - index - 1) as usize;
                assert_eq!(
                    bytes(hashes).unwrap(),
                    other.prove_consistency(added).as_bytes()
                );
                assert_eq!(proof.check(&keys).unwrap().older.unwrap().size, index + 1);
            }
        }
    }

    #[test]
    fn an_altered_proof_proves_nothing() {
        let log = grown(20);
        let keys = [log.key.public().clone()];
        let mut store = |path: &str| log.tiles.get(path).cloned();
        let good = Proof::inclusion(&log.lines[3], 3, &log.notes[20], &mut store).unwrap();
        let Proof::Inclusion {
            entry,
            index,
            hashes,
            checkpoint,
        } = good.clone()
        else {
            unreachable!()
        };
        let with = |entry: &str, index, hashes: &[String], checkpoint: &str| Proof::Inclusion {
            entry: entry.into(),
            index,
            hashes: hashes.into(),
            checkpoint: checkpoint.into(),
        };
        assert!(good.check(&keys).is_ok());
        assert_eq!(good.check(&[]), Err(BadProof::Signature));
        assert_eq!(
            with(&log.lines[4], 3, &hashes, &checkpoint).check(&keys),
            Err(BadProof::Entry)
        );
        assert_eq!(
            with(&entry, 4, &hashes, &checkpoint).check(&keys),
            Err(BadProof::Entry)
        );
        assert_eq!(
            with(&entry, index, &hashes[1..], &checkpoint).check(&keys),
            Err(BadProof::Hashes)
        );
        assert_eq!(
            with(&entry, index, &hashes, &log.notes[19].to_string()).check(&keys),
            Err(BadProof::Hashes)
        );
        assert_eq!(
            with(&entry, index, &hashes, "20").check(&keys),
            Err(BadProof::Checkpoint)
        );
        let forged = Checkpoint {
            origin: "test/log".into(),
            size: u64::MAX,
            root: Digest::GENESIS,
        }
        .sign(&log.key);
        assert_eq!(
            with(&entry, index, &hashes, &forged.to_string()).check(&keys),
            Err(BadProof::Checkpoint)
        );
    }

    #[test]
    fn what_is_not_there_cannot_be_proven() {
        let log = grown(5);
        let mut store = |path: &str| log.tiles.get(path).cloned();
        assert_eq!(
            Proof::inclusion(&log.lines[4], 5, &log.notes[5], &mut store),
            None
        );
        assert_eq!(
            Proof::consistency(&log.notes[5], &log.notes[4], &mut store),
            None
        );
        assert_eq!(
            Proof::consistency(&log.notes[0], &log.notes[4], &mut store),
            None
        );
        assert_eq!(
            Proof::inclusion(&log.lines[4], 4, &log.notes[5], &mut |_: &str| None),
            None
        );
    }
}
