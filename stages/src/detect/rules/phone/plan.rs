//! The numbering plans of all regions: which national numbers exist, and how they are grouped.
//!
//! `plan.bin` is made by `tools/numbering` from the metadata of Google's libphonenumber
//! (Apache-2.0). All of its numbers are little-endian and of 16 bits, unless said otherwise:
//!
//! - how many regions, country codes, shapes, nodes and accepting nodes there are;
//! - a region: two letters (`00` for services beyond a region), country code, length (8 bits) and
//!   three digits of the trunk prefix, root node, first shape, number of shapes;
//! - a country code: the code, root node of all its regions together;
//! - a shape (32 bits): the sizes of the groups of digits, one nibble each, first lowest;
//! - a node: the next node for each digit. Node 0 is dead, the accepting ones follow it.

use std::sync::LazyLock;

static BYTES: &[u8] = include_bytes!("plan.bin");
const HEAD: usize = 10;
const REGION: usize = 14;
const CODE: usize = 4;
const SHAPE: usize = 4;
const NODE: usize = 20;

/// The plan, unpacked once.
static PLAN: LazyLock<Plan> = LazyLock::new(Plan::unpack);

struct Plan {
    regions: Vec<Region>,
    /// Root node of each country code below 1000, 0 where there is none.
    codes: Vec<u16>,
    shapes: Vec<u32>,
    nodes: Vec<[u16; 10]>,
    accepting: u16,
}

/// One region's plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    pub(crate) id: [u8; 2],
    trunk: [u8; 3],
    trunk_length: u8,
    root: u16,
    shapes: (u16, u16),
}

fn number(at: usize) -> u16 {
    u16::from_le_bytes([BYTES[at], BYTES[at + 1]])
}

impl Plan {
    fn unpack() -> Self {
        let [regions, codes, shapes, nodes, accepting] =
            [0, 2, 4, 6, 8].map(|at| usize::from(number(at)));
        let codes_at = HEAD + regions * REGION;
        let shapes_at = codes_at + codes * CODE;
        let nodes_at = shapes_at + shapes * SHAPE;
        let region = |at: usize| Region {
            id: [BYTES[at], BYTES[at + 1]],
            trunk_length: BYTES[at + 4],
            trunk: [BYTES[at + 5], BYTES[at + 6], BYTES[at + 7]],
            root: number(at + 8),
            shapes: (number(at + 10), number(at + 12)),
        };
        let mut by_code = vec![0; 1000];
        for at in (0..codes).map(|i| codes_at + i * CODE) {
            by_code[usize::from(number(at))] = number(at + 2);
        }
        let shape = |at: usize| u32::from(number(at)) | u32::from(number(at + 2)) << 16;
        Self {
            regions: (0..regions).map(|i| region(HEAD + i * REGION)).collect(),
            codes: by_code,
            shapes: (0..shapes).map(|i| shape(shapes_at + i * SHAPE)).collect(),
            nodes: (0..nodes)
                .map(|i| std::array::from_fn(|digit| number(nodes_at + i * NODE + 2 * digit)))
                .collect(),
            accepting: accepting as u16,
        }
    }

    /// Whether the digits are a number from this root on.
    fn accepts(&self, root: u16, digits: &[u8]) -> bool {
        let end = digits.iter().try_fold(root, |node, digit| {
            Some(self.nodes[usize::from(node)][usize::from(digit - b'0')]).filter(|node| *node != 0)
        });
        end.is_some_and(|node| node != 0 && node <= self.accepting)
    }
}

/// The region of this ISO 3166 code.
pub(crate) fn region(id: &str) -> Option<Region> {
    PLAN.regions
        .iter()
        .find(|region| region.id == id.as_bytes() && id != "00")
        .copied()
}

/// The regions (ISO 3166) in which languages and countries of locales are spoken.
#[rustfmt::skip]
pub(crate) fn regions_of(locales: &[String]) -> impl Iterator<Item = &'static str> {
    const REGIONS: &[(&str, &str)] = &[
        ("de", "DE"), ("fr", "FR"), ("es", "ES"), ("nl", "NL"), ("he", "IL"), ("zh", "CN"),
        ("ja", "JP"), ("ru", "RU"), ("ko", "KR"), ("it", "IT"), ("pl", "PL"), ("pt", "PT"),
        ("pt", "BR"), ("hi", "IN"), ("tr", "TR"), ("sv", "SE"), ("da", "DK"), ("no", "NO"),
        ("nb", "NO"), ("nn", "NO"), ("fi", "FI"), ("cs", "CZ"), ("sk", "SK"), ("ro", "RO"),
        ("hr", "HR"), ("bg", "BG"), ("et", "EE"), ("lt", "LT"), ("uk", "GB"), ("gb", "GB"),
        ("en", "US"), ("at", "AT"), ("ch", "CH"), ("be", "BE"), ("ie", "IE"), ("au", "AU"),
        ("nz", "NZ"), ("ca", "CA"), ("mx", "MX"), ("br", "BR"), ("ar", "AR"), ("cl", "CL"),
        ("za", "ZA"), ("ng", "NG"), ("sg", "SG"), ("my", "MY"), ("ms", "MY"), ("id", "ID"),
        ("th", "TH"), ("tw", "TW"), ("in", "IN"), ("pk", "PK"), ("ur", "PK"), ("il", "IL"),
        ("cn", "CN"), ("kr", "KR"), ("us", "US"), ("ph", "PH"),
    ];
    let wanted = |key: &str| {
        locales.iter().any(|locale| {
            locale.eq_ignore_ascii_case("all")
                || locale.split(['-', '_']).any(|part| part.eq_ignore_ascii_case(key))
        })
    };
    REGIONS.iter().filter(move |(key, _)| wanted(key)).map(|(_, region)| *region)
}

/// The plans of all regions.
pub(crate) fn regions() -> &'static [Region] {
    &PLAN.regions
}

/// Length of the country code that the digits begin with (ITU-T E.164; no code begins another).
pub(crate) fn country_code(digits: &[u8]) -> Option<usize> {
    (1..=3.min(digits.len())).find(|&length| PLAN.codes[code(&digits[..length])] != 0)
}

/// Whether digits after a `+` are a number: country code, then a national number.
pub(crate) fn is_international(digits: &[u8]) -> bool {
    country_code(digits).is_some_and(|length| {
        let (country, national) = digits.split_at(length);
        PLAN.accepts(PLAN.codes[code(country)], national)
    })
}

fn code(digits: &[u8]) -> usize {
    digits
        .iter()
        .fold(0, |n, digit| 10 * n + usize::from(digit - b'0'))
}

impl Region {
    /// What one dials before a national number within the region, mostly `0`.
    pub(crate) fn trunk(&self) -> &[u8] {
        &self.trunk[..usize::from(self.trunk_length)]
    }

    /// Whether this is a national number, without its trunk prefix.
    pub(crate) fn accepts(&self, national: &[u8]) -> bool {
        PLAN.accepts(self.root, national)
    }

    /// Whether numbers are written in groups of these sizes, without the trunk prefix.
    pub(crate) fn groups(&self, sizes: &[u8]) -> bool {
        if sizes.len() > 8 || sizes.iter().any(|size| *size > 15) {
            return false;
        }
        let shape = sizes
            .iter()
            .rev()
            .fold(0, |shape, size| shape << 4 | u32::from(*size));
        let (first, count) = (usize::from(self.shapes.0), usize::from(self.shapes.1));
        PLAN.shapes[first..first + count].contains(&shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_world() {
        for number in [
            "14155552671",
            "442079460958",
            "447400123456",
            "4930123456",
            "33612345678",
            "81312345678",
            "8613812345678",
            "4681234567",
            "390612345678",
        ] {
            assert!(is_international(number.as_bytes()), "{number}");
        }
        for number in [
            "",
            "1",
            "10155552671",
            "441",
            "999123456789",
            "3361234567",
            "0123456789",
        ] {
            assert!(!is_international(number.as_bytes()), "{number}");
        }
    }

    #[test]
    fn numbers_of_a_region() {
        let us = region("US").unwrap();
        assert!(us.accepts(b"4155552671") && !us.accepts(b"1155552671"));
        assert!(us.groups(&[3, 3, 4]) && !us.groups(&[4, 3, 3]));
        assert_eq!(us.trunk(), b"1");
        let gb = region("GB").unwrap();
        assert!(gb.accepts(b"2079460958") && gb.groups(&[2, 4, 4]) && gb.trunk() == b"0");
        assert!(region("ZZ").is_none() && region("00").is_none());
    }
}
