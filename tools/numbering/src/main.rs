//! The numbering plans of all regions as one small automaton:
//!
//! ```text
//! cd tools/numbering && cargo run --release -- ../../stages/src/detect/rules/phone/plan.bin
//! ```
//!
//! The rules are those of Google's libphonenumber (Apache-2.0), as the `phonenumber` crate brings
//! them. For each region every kind of number (fixed line, mobile, toll free, …) is one regular
//! expression over digits; their union, unrolled and merged over all regions, is a graph without
//! cycles of a few thousand nodes. The layout is described in `stages/src/detect/rules/phone/plan.rs`.

use std::collections::{BTreeSet, HashMap};

use phonenumber::metadata::{DATABASE, Metadata};
use regex_automata::dfa::{Automaton, dense};
use regex_automata::util::{primitives::StateID, start};
use regex_automata::{Anchored, MatchKind};

type Node = ([u16; 10], bool);

/// Nodes of the merged graph; the same node is never made twice. Node 0 is the dead one.
#[derive(Default)]
struct Graph {
    nodes: Vec<Node>,
    known: HashMap<Node, u16>,
}

impl Graph {
    fn add(&mut self, node: Node) -> u16 {
        *self.known.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            u16::try_from(self.nodes.len() - 1).expect("at most 65,535 nodes")
        })
    }

    fn region(&mut self, patterns: &[String]) -> u16 {
        let dfa = dense::Builder::new()
            .configure(
                dense::Config::new()
                    .match_kind(MatchKind::All)
                    .start_kind(regex_automata::dfa::StartKind::Anchored)
                    .minimize(true),
            )
            .syntax(
                regex_automata::util::syntax::Config::new()
                    .unicode(false)
                    .utf8(false),
            )
            .build_many(patterns)
            .expect("the patterns of the metadata compile");
        let config = start::Config::new().anchored(Anchored::Yes);
        let state = dfa.start_state(&config).expect("an anchored start");
        self.state(&dfa, state, &mut HashMap::new(), 0)
    }

    fn state(
        &mut self,
        dfa: &dense::DFA<Vec<u32>>,
        state: StateID,
        memo: &mut HashMap<StateID, u16>,
        depth: usize,
    ) -> u16 {
        assert!(depth < 20, "a number has no end");
        if dfa.is_dead_state(state) {
            return 0;
        }
        if let Some(&node) = memo.get(&state) {
            return node;
        }
        let next = std::array::from_fn(|digit| {
            self.state(
                dfa,
                dfa.next_state(state, b'0' + digit as u8),
                memo,
                depth + 1,
            )
        });
        let accepts = dfa.is_match_state(dfa.next_eoi_state(state));
        let node = if accepts || next != [0; 10] {
            self.add((next, accepts))
        } else {
            0
        };
        memo.insert(state, node);
        node
    }
}

fn patterns(region: &Metadata) -> Vec<String> {
    let kinds = [
        region.descriptors().fixed_line(),
        region.descriptors().mobile(),
        region.descriptors().toll_free(),
        region.descriptors().premium_rate(),
        region.descriptors().shared_cost(),
        region.descriptors().personal_number(),
        region.descriptors().voip(),
        region.descriptors().pager(),
        region.descriptors().uan(),
        region.descriptors().voicemail(),
    ];
    let general = region
        .descriptors()
        .general()
        .national_number()
        .as_str()
        .to_owned();
    let mut patterns: Vec<_> = kinds
        .into_iter()
        .flatten()
        .map(|kind| kind.national_number().as_str().to_owned())
        .filter(|pattern| pattern != "NA" && !pattern.is_empty())
        .collect();
    if patterns.is_empty() {
        patterns.push(general);
    }
    patterns
        .iter()
        .map(|pattern| format!("(?:{})$", pattern.replace([' ', '\n'], "")))
        .collect()
}

/// The sizes of the groups in which a format writes a number, one nibble each, first lowest.
fn groupings(region: &Metadata) -> BTreeSet<u32> {
    let formats = region
        .formats()
        .iter()
        .chain(region.international_formats());
    formats
        .filter_map(|format| grouping(format.pattern().as_str()))
        .flatten()
        .collect()
}

fn grouping(pattern: &str) -> Option<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for group in pattern.split('(').skip(1) {
        let inner = &group[..group.find(')')?];
        let sizes: Vec<u32> = match inner.strip_prefix("\\d") {
            Some("") => vec![1],
            Some(count) => {
                let count = count.strip_prefix('{')?.strip_suffix('}')?;
                let (low, high) = count.split_once(',').unwrap_or((count, count));
                (low.parse().ok()?..=high.parse().ok()?).collect()
            }
            None => vec![plain_length(inner)?],
        };
        all = all
            .iter()
            .flat_map(|sofar: &Vec<u32>| {
                sizes
                    .iter()
                    .map(move |size| [sofar.as_slice(), &[*size]].concat())
            })
            .collect();
    }
    let packed = |sizes: &Vec<u32>| {
        (2..=8).contains(&sizes.len()).then(|| {
            sizes
                .iter()
                .rev()
                .fold(0, |packed, size| packed << 4 | (*size).min(15))
        })
    };
    Some(all.iter().filter_map(packed).collect())
}

/// The length of what is neither alternation nor repetition: digits, `\d`, `[…]`.
fn plain_length(mut pattern: &str) -> Option<u32> {
    let mut length = 0;
    while !pattern.is_empty() {
        let (atom, rest) = if let Some(rest) = pattern.strip_prefix("\\d") {
            (1, rest)
        } else if pattern.starts_with('[') {
            (1, &pattern[pattern.find(']')? + 1..])
        } else if pattern.starts_with(|c: char| c.is_ascii_digit()) {
            (1, &pattern[1..])
        } else {
            return None;
        };
        pattern = rest;
        let times = match pattern.strip_prefix('{') {
            Some(rest) => {
                let end = rest.find('}')?;
                let times = rest[..end].parse::<u32>().ok()?;
                pattern = &rest[end + 1..];
                times
            }
            None => 1,
        };
        length += atom * times;
    }
    Some(length)
}

fn main() {
    let path = std::env::args().nth(1).expect("the file to write");
    let mut graph = Graph::default();
    graph.add(([0; 10], false));
    let mut all: Vec<&Metadata> = DATABASE.iter().collect();
    all.sort_by_key(|region| (region.id().to_owned(), region.country_code()));
    let mut regions = Vec::new();
    let mut shapes = Vec::new();
    for region in all {
        let root = graph.region(&patterns(region));
        let id = if region.id().len() == 2 {
            region.id()
        } else {
            "00"
        };
        let trunk = region
            .national_prefix()
            .unwrap_or("")
            .replace(|c: char| !c.is_ascii_digit(), "");
        assert!(trunk.len() <= 3, "{id} has the trunk prefix {trunk}");
        let mut sizes = groupings(region);
        if sizes.is_empty() {
            // Regions that share a country code share the formats of its main region.
            sizes = DATABASE
                .by_code(&region.country_code())
                .into_iter()
                .flatten()
                .filter(|other| other.is_main_country_for_code())
                .flat_map(groupings)
                .collect();
        }
        regions.push((
            id.to_owned(),
            region.country_code(),
            trunk,
            root,
            shapes.len(),
            sizes.len(),
        ));
        shapes.extend(sizes);
    }

    // All regions of one country code as one plan, for numbers that are written with it.
    let mut codes: Vec<u16> = regions.iter().map(|region| region.1).collect();
    codes.sort_unstable();
    codes.dedup();
    let codes: Vec<(u16, u16)> = codes
        .into_iter()
        .map(|code| {
            let all = DATABASE
                .iter()
                .filter(|region| region.country_code() == code);
            (
                code,
                graph.region(&all.flat_map(patterns).collect::<Vec<_>>()),
            )
        })
        .collect();

    // Nodes that accept come first, behind the dead one, so that the index tells.
    let mut order: Vec<usize> = (1..graph.nodes.len()).collect();
    order.sort_by_key(|&i| !graph.nodes[i].1);
    let mut place = vec![0u16; graph.nodes.len()];
    for (new, &old) in order.iter().enumerate() {
        place[old] = new as u16 + 1;
    }
    let accepting = graph.nodes.iter().filter(|node| node.1).count();

    let mut out = Vec::new();
    let put = |out: &mut Vec<u8>, n: usize| out.extend(u16::try_from(n).unwrap().to_le_bytes());
    put(&mut out, regions.len());
    put(&mut out, codes.len());
    put(&mut out, shapes.len());
    put(&mut out, graph.nodes.len());
    put(&mut out, accepting);
    for (id, code, trunk, root, shape, count) in &regions {
        out.extend(id.bytes());
        put(&mut out, usize::from(*code));
        out.push(trunk.len() as u8);
        out.extend(trunk.bytes().chain(std::iter::repeat(0)).take(3));
        put(&mut out, usize::from(place[usize::from(*root)]));
        put(&mut out, *shape);
        put(&mut out, *count);
    }
    for &(code, root) in &codes {
        put(&mut out, usize::from(code));
        put(&mut out, usize::from(place[usize::from(root)]));
    }
    shapes
        .iter()
        .for_each(|shape: &u32| out.extend(shape.to_le_bytes()));
    put(&mut out, 0);
    (1..10).for_each(|_| put(&mut out, 0));
    for &old in &order {
        graph.nodes[old]
            .0
            .iter()
            .for_each(|&next| put(&mut out, usize::from(place[usize::from(next)])));
    }
    std::fs::write(&path, &out).expect("the file can be written");
    println!(
        "{} regions, {} shapes, {} nodes, {} bytes",
        regions.len(),
        shapes.len(),
        graph.nodes.len(),
        out.len()
    );
}
