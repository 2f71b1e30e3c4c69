//! The Merkle tree over the entries of a log, hashed as RFC 6962 §2.1 has it, and its tiles.
//!
//! What is kept in memory is the right edge: per level of tiles the hashes of the one tile that is
//! not full. Full tiles are handed out to be stored (C2SP tlog-tiles) and are read back for proofs.

use sha2::{Digest as _, Sha256};

use super::name::Digest;

/// Hashes in a full tile, and levels of the tree that one level of tiles stands for, as a power.
const TILE_WIDTH: usize = 256;
const TILE_HEIGHT: u32 = 8;

/// The hash of a leaf. A leaf is the hash of an entry, 32 bytes, which stands for its whole line.
#[must_use]
pub fn leaf_hash(entry: Digest) -> Digest {
    Digest(
        Sha256::new_with_prefix([0])
            .chain_update(entry.0)
            .finalize()
            .into(),
    )
}

/// The hash of two neighbouring subtrees.
#[must_use]
pub fn node_hash(left: &Digest, right: &Digest) -> Digest {
    Digest(
        Sha256::new_with_prefix([1])
            .chain_update(left.0)
            .chain_update(right.0)
            .finalize()
            .into(),
    )
}

/// A tree to which leaves are added at the right.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    size: u64,
    edge: Vec<Vec<Digest>>,
    full: Vec<Tile>,
}

impl Tree {
    /// A tree without leaves.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The tree of `size` leaves whose tiles are in `store`; `None` if one is missing.
    pub fn load(size: u64, store: &mut impl TileStore) -> Option<Self> {
        let mut edge = Vec::new();
        for level in 0.. {
            let hashes = size.checked_shr(TILE_HEIGHT * level).unwrap_or(0);
            if hashes == 0 {
                break;
            }
            let width = hashes as usize % TILE_WIDTH;
            let at = TileAt {
                level: level as u8,
                index: hashes / TILE_WIDTH as u64,
                width,
            };
            edge.push(if width == 0 {
                Vec::new()
            } else {
                store.hashes(at)?
            });
        }
        Some(Self {
            size,
            edge,
            full: Vec::new(),
        })
    }

    /// The number of leaves.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Adds a leaf by its hash.
    pub fn push(&mut self, leaf: Digest) {
        let mut hash = leaf;
        for level in 0.. {
            if level == self.edge.len() {
                self.edge.push(Vec::with_capacity(TILE_WIDTH));
            }
            self.edge[level].push(hash);
            if self.edge[level].len() < TILE_WIDTH {
                break;
            }
            hash = perfect(&self.edge[level]);
            let index = (self.size >> (TILE_HEIGHT * level as u32)) / TILE_WIDTH as u64;
            let at = TileAt {
                level: level as u8,
                index,
                width: TILE_WIDTH,
            };
            let hashes = std::mem::replace(&mut self.edge[level], Vec::with_capacity(TILE_WIDTH));
            self.full.push(Tile { at, hashes });
        }
        self.size += 1;
    }

    /// The root hash; of an empty tree the hash of nothing.
    #[must_use]
    pub fn root(&self) -> Digest {
        let mut root: Option<Digest> = None;
        for level in &self.edge {
            let mut end = level.len();
            while end > 0 {
                let width = 1 << end.trailing_zeros();
                let block = perfect(&level[end - width..end]);
                root = Some(root.map_or(block, |right| node_hash(&block, &right)));
                end -= width;
            }
        }
        root.unwrap_or_else(|| Digest::of(b""))
    }

    /// Hands out the tiles that became full since this was last asked.
    pub fn take_full_tiles(&mut self) -> Vec<Tile> {
        std::mem::take(&mut self.full)
    }

    /// The tiles at the right edge, which are not full.
    #[must_use]
    pub fn partial_tiles(&self) -> Vec<Tile> {
        let mut tiles = Vec::new();
        for (level, hashes) in self
            .edge
            .iter()
            .enumerate()
            .filter(|(_, hashes)| !hashes.is_empty())
        {
            let index = (self.size >> (TILE_HEIGHT * level as u32)) / TILE_WIDTH as u64;
            let at = TileAt {
                level: level as u8,
                index,
                width: hashes.len(),
            };
            tiles.push(Tile {
                at,
                hashes: hashes.clone(),
            });
        }
        tiles
    }
}

/// The root of a perfect tree over a power of two of hashes.
fn perfect(hashes: &[Digest]) -> Digest {
    debug_assert!(hashes.len().is_power_of_two());
    match hashes {
        [only] => *only,
        _ => {
            let (left, right) = hashes.split_at(hashes.len() / 2);
            node_hash(&perfect(left), &perfect(right))
        }
    }
}

/// Where a tile belongs: `width` hashes beginning with the `256 × index`-th of tile level `level`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TileAt {
    /// Tile level: its hashes are roots of subtrees of 256^level leaves.
    pub level: u8,
    /// Number of the tile within its level.
    pub index: u64,
    /// How many hashes it holds, 1 to 256.
    pub width: usize,
}

impl TileAt {
    /// The path of its file, for example `tile/0/x001/234` or `tile/1/000.p/17` (C2SP tlog-tiles).
    #[must_use]
    pub fn path(&self) -> String {
        let mut number = format!("{:03}", self.index % 1000);
        let mut rest = self.index / 1000;
        while rest > 0 {
            number = format!("x{:03}/{number}", rest % 1000);
            rest /= 1000;
        }
        let partial = if self.width < TILE_WIDTH {
            format!(".p/{}", self.width)
        } else {
            String::new()
        };
        format!("tile/{}/{number}{partial}", self.level)
    }
}

impl TileAt {
    /// The number of the first leaf under the `hash`-th hash of this tile.
    #[must_use]
    pub fn first_leaf(&self, hash: u64) -> u64 {
        (self.index * TILE_WIDTH as u64 + hash) << (TILE_HEIGHT * u32::from(self.level))
    }
}

/// A tile: a run of hashes of one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Where it belongs.
    pub at: TileAt,
    /// Its hashes.
    pub hashes: Vec<Digest>,
}

impl Tile {
    /// The content of its file: the hashes, one after the other.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.hashes.iter().flat_map(|hash| hash.0).collect()
    }
}

/// Whoever has tiles. Only [`TileStore::read`] is to be written.
pub trait TileStore {
    /// The content of the file with this [path](TileAt::path), if there is one.
    fn read(&mut self, path: &str) -> Option<Vec<u8>>;

    /// The hashes of a tile, from its own file or from that of a wider one it grew into.
    fn hashes(&mut self, at: TileAt) -> Option<Vec<Digest>> {
        let widths = [at.width, TILE_WIDTH]
            .into_iter()
            .chain(at.width + 1..TILE_WIDTH);
        let mut bytes = widths
            .map(|width| TileAt { width, ..at })
            .find_map(|at| self.read(&at.path()))?;
        bytes.truncate(at.width * 32);
        let (hashes, rest) = bytes.as_chunks::<32>();
        (hashes.len() == at.width && rest.is_empty())
            .then(|| hashes.iter().map(|hash| Digest(*hash)).collect())
    }
}

impl<F: FnMut(&str) -> Option<Vec<u8>>> TileStore for F {
    fn read(&mut self, path: &str) -> Option<Vec<u8>> {
        self(path)
    }
}

/// The hash of the leaves `from..to` of a tree of `size` leaves, from its tiles.
///
/// `None` if a tile is missing, or the range is none that RFC 6962 gives a hash of its own.
pub fn subtree_hash(from: u64, to: u64, size: u64, store: &mut impl TileStore) -> Option<Digest> {
    let leaves = to
        .checked_sub(from)
        .filter(|leaves| *leaves > 0 && to <= size)?;
    if !leaves.is_power_of_two() {
        let left = 1 << leaves.ilog2();
        let left_hash = subtree_hash(from, from + left, size, store)?;
        return Some(node_hash(
            &left_hash,
            &subtree_hash(from + left, to, size, store)?,
        ));
    }
    let level = leaves.ilog2() / TILE_HEIGHT;
    let first = from >> (TILE_HEIGHT * level);
    let index = first / TILE_WIDTH as u64;
    let in_level = (size >> (TILE_HEIGHT * level)) - index * TILE_WIDTH as u64;
    let width = in_level.min(TILE_WIDTH as u64) as usize;
    let hashes = store.hashes(TileAt {
        level: level as u8,
        index,
        width,
    })?;
    let at = first as usize % TILE_WIDTH;
    hashes
        .get(at..at + (leaves >> (TILE_HEIGHT * level)) as usize)
        .map(perfect)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn leaf(number: u64) -> Digest {
        leaf_hash(Digest::of(&number.to_be_bytes()))
    }

    /// The definition of RFC 6962 §2.1, word for word.
    fn by_definition(leaves: &[Digest]) -> Digest {
        match leaves {
            [] => Digest::of(b""),
            [only] => *only,
            _ => {
                let (left, right) = leaves.split_at(1 << (leaves.len() - 1).ilog2());
                node_hash(&by_definition(left), &by_definition(right))
            }
        }
    }

    fn grown(size: u64) -> (Tree, HashMap<String, Vec<u8>>) {
        let mut tree = Tree::new();
        (0..size).for_each(|number| tree.push(leaf(number)));
        let tiles = tree
            .take_full_tiles()
            .into_iter()
            .chain(tree.partial_tiles());
        let stored = tiles.map(|tile| (tile.at.path(), tile.bytes())).collect();
        (tree, stored)
    }

    #[test]
    fn roots_are_those_of_the_rfc() {
        let leaves: Vec<_> = (0..700).map(leaf).collect();
        let mut tree = Tree::new();
        for size in 0..leaves.len() {
            assert_eq!(tree.root(), by_definition(&leaves[..size]), "{size} leaves");
            tree.push(leaves[size]);
        }
    }

    #[test]
    fn a_tree_is_loaded_from_its_tiles() {
        for size in [0, 1, 255, 256, 257, 512, 65_535, 65_536, 65_537, 66_000] {
            let (mut tree, stored) = grown(size);
            let mut loaded = Tree::load(size, &mut |path: &str| stored.get(path).cloned()).unwrap();
            for number in size..size + 300 {
                assert_eq!(loaded.root(), tree.root());
                tree.push(leaf(number));
                loaded.push(leaf(number));
            }
        }
    }

    #[test]
    fn a_missing_or_short_tile_is_noticed() {
        let (_, mut stored) = grown(300);
        let short = stored["tile/0/001.p/44"][..32].to_vec();
        stored.insert("tile/0/001.p/44".into(), short);
        assert!(Tree::load(300, &mut |path: &str| stored.get(path).cloned()).is_none());
        stored.remove("tile/0/001.p/44");
        assert!(Tree::load(300, &mut |path: &str| stored.get(path).cloned()).is_none());
    }

    #[test]
    fn subtrees_are_hashed_from_tiles() {
        let leaves: Vec<_> = (0..66_000).map(leaf).collect();
        for size in [1, 2, 300, 66_000] {
            let (_, stored) = grown(size);
            let mut store = |path: &str| stored.get(path).cloned();
            assert_eq!(
                subtree_hash(0, size, size, &mut store),
                Some(by_definition(&leaves[..size as usize]))
            );
        }
        let (_, stored) = grown(66_000);
        let mut store = |path: &str| stored.get(path).cloned();
        for (from, to) in [
            (0, 1),
            (65_999, 66_000),
            (65_536, 66_000),
            (512, 1024),
            (32_768, 65_536),
        ] {
            let want = by_definition(&leaves[from as usize..to as usize]);
            assert_eq!(subtree_hash(from, to, 66_000, &mut store), Some(want));
        }
        assert_eq!(subtree_hash(0, 66_001, 66_000, &mut store), None);
        assert_eq!(subtree_hash(5, 5, 66_000, &mut store), None);
    }

    #[test]
    fn paths_are_those_of_tlog_tiles() {
        let path = |level, index, width| {
            TileAt {
                level,
                index,
                width,
            }
            .path()
        };
        assert_eq!(path(0, 0, 256), "tile/0/000");
        assert_eq!(path(0, 1_234_067, 256), "tile/0/x001/x234/067");
        assert_eq!(path(1, 70_000, 17), "tile/1/x070/000.p/17");
    }
}
