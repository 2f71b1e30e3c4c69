//! Text that is written in base64 (RFC 4648), one level deep.

use crate::detect::Finding;
use crate::detect::bytes::{ALNUM, at, is};
use crate::detect::scan::{Rules, scan_plain};

/// The shortest run that is worth a look: a short address.
pub(crate) const MIN: usize = 24;
/// The longest run that is decoded.
const MAX: usize = 4096;
/// How many bytes must be text before the rest is decoded.
const HEAD: usize = 12;

/// Adds the whole run that begins at `start`, if it is base64 of a text with something in it that
/// is sure by itself.
pub(crate) fn find(text: &[u8], start: usize, rules: &Rules, out: &mut Vec<Finding>) {
    if start > 0 && is_letter(text[start - 1]) {
        return;
    }
    let limit = text.len().min(start + MAX);
    if !is_text_ahead(&text[start..limit]) {
        return;
    }
    let mut end = start;
    while end < limit && is_letter(text[end]) {
        end += 1;
    }
    if end - start < MIN || end == limit && limit < text.len() {
        return;
    }
    let Some(plain) = decode(&text[start..end]).and_then(|bytes| String::from_utf8(bytes).ok())
    else {
        return;
    };
    while at(text, end) == b'=' && !(end - start).is_multiple_of(4) {
        end += 1;
    }
    let mut found = Vec::new();
    scan_plain(&plain, rules, &mut found);
    let sure = found.iter().filter(|finding| finding.confidence >= 80);
    if let Some(best) = sure.max_by_key(|finding| (finding.confidence, finding.end - finding.start))
    {
        out.push(Finding {
            start,
            end,
            ..*best
        });
    }
}

fn is_letter(c: u8) -> bool {
    is(c, ALNUM) || matches!(c, b'+' | b'/' | b'-' | b'_')
}

/// Whether the first bytes of a run are text. Nearly every word is refused by its first four
/// letters.
fn is_text_ahead(run: &[u8]) -> bool {
    let (groups, _) = run[..run.len().min(HEAD / 3 * 4)].as_chunks::<4>();
    groups.len() == HEAD / 3
        && groups.iter().all(|group| {
            let [a, b, c, d] = group.map(|c| u32::from(SEXTET[usize::from(c)]));
            let bits = a << 18 | b << 12 | c << 6 | d;
            (a | b | c | d) < NO_LETTER.into()
                && is_text((bits >> 16) as u8)
                && is_text((bits >> 8) as u8)
                && is_text(bits as u8)
        })
}

fn is_text(c: u8) -> bool {
    c >= 0x80 || matches!(c, b' '..=b'~' | b'\n' | b'\r' | b'\t')
}

/// Stands in [`SEXTET`] for a byte of neither alphabet: a bit that no sextet has.
const NO_LETTER: u8 = 0x40;

/// The six bits of each letter of either alphabet.
static SEXTET: [u8; 256] = {
    let mut table = [NO_LETTER; 256];
    let mut i = 0;
    while i < 256 {
        let c = i as u8;
        table[i] = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => NO_LETTER,
        };
        i += 1;
    }
    table
};

/// The bytes of a run of either alphabet, without its padding.
fn decode(run: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(run.len() / 4 * 3 + 3);
    let (mut bits, mut count) = (0u32, 0);
    for &c in run {
        let value = SEXTET[usize::from(c)];
        if value == NO_LETTER {
            return None;
        }
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::{Category, Context, Detectors, Settings};

    #[test]
    fn a_run_decodes() {
        assert_eq!(decode(b"aGVsbG8").unwrap(), b"hello");
        assert_eq!(decode(b"aGV*"), None);
    }

    #[test]
    fn an_address_in_base64_is_found() {
        let detectors = Detectors::new(&Settings::default()).unwrap();
        let mut out = Vec::new();
        // "mail marie@example.eu now"
        let run = "bWFpbCBtYXJpZUBleGFtcGxlLmV1IG5vdw==";
        let text = format!("data: {run};");
        detectors.find(&text, Context::default(), &mut out);
        assert_eq!(out.len(), 1);
        assert_eq!(
            (out[0].category, &text[out[0].start..out[0].end]),
            (Category::EMAIL, run)
        );
    }
}
