//! A number as it is written: groups of digits and what parts them.

use crate::detect::bytes::{DIGIT, at, is, run};

/// Most groups that a number is written in.
pub(super) const GROUPS: usize = 8;
/// E.164, 6.2.1: at most fifteen digits; three more for what is dialled before them.
const MAX: usize = 18;

/// Groups of digits, parted by one separator each, or by a bracket and a space.
pub(super) struct Written {
    digits: [u8; MAX],
    groups: [Group; GROUPS],
    count: usize,
}

/// One group, together with all before it.
#[derive(Clone, Copy, Default)]
pub(super) struct Group {
    /// Where it ends in the text.
    pub(super) end: usize,
    /// How many digits there are up to here.
    pub(super) total: usize,
    /// The first byte of what parts it from the next.
    pub(super) separator: u8,
}

impl Written {
    /// Reads as many groups from `start` on as belong together.
    pub(super) fn read(text: &[u8], start: usize) -> Self {
        let mut written = Self {
            digits: [0; MAX],
            groups: [Group::default(); GROUPS],
            count: 0,
        };
        let mut total = 0;
        let mut i = start;
        while written.count < GROUPS {
            let end = run(text, i, DIGIT, MAX + 1);
            let next = total + end - i;
            if end == i || next > MAX {
                break;
            }
            written.digits[total..next].copy_from_slice(&text[i..end]);
            total = next;
            let separator = at(text, end);
            written.groups[written.count] = Group {
                end,
                total,
                separator,
            };
            written.count += 1;
            i = skip_separator(text, end);
            if i == end {
                break;
            }
        }
        written
    }

    pub(super) fn groups(&self) -> &[Group] {
        &self.groups[..self.count]
    }

    /// The digits of the first `count` groups.
    pub(super) fn digits(&self, count: usize) -> &[u8] {
        &self.digits[..self.groups[..count].last().map_or(0, |group| group.total)]
    }

    /// The sizes of the first `count` groups.
    pub(super) fn sizes(&self, count: usize) -> [u8; GROUPS] {
        let mut before = 0;
        let mut sizes = [0; GROUPS];
        for (size, group) in sizes.iter_mut().zip(&self.groups[..count]) {
            *size = (group.total - before) as u8;
            before = group.total;
        }
        sizes
    }

    /// Whether a separator other than a space parts the first `count` groups.
    pub(super) fn is_marked(&self, count: usize) -> bool {
        self.groups[..count - 1]
            .iter()
            .any(|group| group.separator != b' ')
    }
}

/// The place behind what parts two groups: ` `, `-`, `.`, `/`, `) `, ` (`, `)-`.
fn skip_separator(text: &[u8], i: usize) -> usize {
    let mut j = i;
    for allowed in [&b")"[..], b" -./", b"("] {
        if allowed.contains(&at(text, j)) {
            j += 1;
        }
    }
    if j > i && is(at(text, j), DIGIT) {
        j
    } else {
        i
    }
}
