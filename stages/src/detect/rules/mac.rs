//! Hardware addresses: EUI-48 and EUI-64 of IEEE 802, in the three ways they are written.

use super::Hit;
use crate::detect::bytes::{HEX, at, before, is, word_at, word_before};

/// The bytes of the longest address, EUI-64.
const BYTES_MAX: usize = 8;

/// The address that begins at `start`: pairs of hexadecimal digits parted by colons or by hyphens
/// (IEEE 802, 8.1), or groups of four parted by dots, as Cisco's devices write them.
pub(crate) fn verdict(text: &[u8], start: usize) -> Option<Hit> {
    let (width, separator) = match (at(text, start + 2), at(text, start + 4)) {
        (separator @ (b':' | b'-'), _) => (2, separator),
        (_, b'.') => (4, b'.'),
        _ => return None,
    };
    // Part of something longer: an IPv6 address, a fingerprint, a UUID.
    let joint = |c: u8| matches!(c, b':' | b'-' | b'.');
    if word_before(text, start)
        || joint(before(text, start)) && start >= 2 && goes_on(text[start - 2])
    {
        return None;
    }
    let mut address = [0; BYTES_MAX];
    let mut count = 0;
    let mut i = start;
    loop {
        for _ in 0..width / 2 {
            let byte = address.get_mut(count)?;
            *byte = digit(at(text, i))? << 4 | digit(at(text, i + 1))?;
            count += 1;
            i += 2;
        }
        if at(text, i) != separator || !is(at(text, i + 1), HEX) {
            break;
        }
        i += 1;
    }
    let address = &address[..count];
    let goes_on = word_at(text, i) || joint(at(text, i)) && goes_on(at(text, i + 1));
    if !matches!(count, 6 | 8) || goes_on || is_nobodys(address) {
        return None;
    }
    // With nothing but decimal digits it may be some other number.
    let letters = text[start..i].iter().any(u8::is_ascii_alphabetic);
    Some(Hit {
        start,
        end: i,
        confidence: if letters { 92 } else { 75 },
        rule: "mac",
    })
}

/// Whether an address that meets this character behind a separator is part of something longer.
fn goes_on(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b':'
}

fn digit(c: u8) -> Option<u8> {
    char::from(c).to_digit(16).map(|digit| digit as u8)
}

/// Broadcast and the null address say nothing about anybody.
fn is_nobodys(address: &[u8]) -> bool {
    address.iter().all(|byte| *byte == 0) || address.iter().all(|byte| *byte == 0xFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(text: &str) -> Option<&str> {
        let hit = (0..text.len()).find_map(|i| verdict(text.as_bytes(), i))?;
        Some(&text[hit.start..hit.end])
    }

    #[test]
    fn addresses() {
        for address in [
            "0c:4d:e9:9a:11:7f",
            "0C-4D-E9-9A-11-7F",
            "0c4d.e99a.117f",
            "0c:4d:e9:ff:fe:9a:11:7f",
            "0C-4D-E9-FF-FE-9A-11-7F",
            "0c4d.e9ff.fe9a.117f",
            "02:42:10:20:30:40",
        ] {
            for (left, right) in [
                ("", ""),
                ("mac=", ";"),
                ("MAC: ", ", up"),
                ("\"", "\""),
                ("(", ")."),
                ("at ", ". Then"),
                ("/sys/", "/x"),
            ] {
                let text = format!("{left}{address}{right}");
                assert_eq!(finds(&text), Some(address), "{text}");
            }
        }
    }

    #[test]
    fn what_only_looks_like_one() {
        for text in [
            "00:00:00:00:00:00",
            "ff:ff:ff:ff:ff:ff",
            "FF-FF-FF-FF-FF-FF",
            "0c:4d:e9:9a:11",
            "0c:4d:e9:9a:11:7",
            "0c:4d:e9:9a:11:7g",
            "0c:4d:e9:9a:11:7f:01",
            "0c:4d:e9-9a:11:7f",
            "0c:4d:e9:9a:11:7f:00:01:02",
            "2001:db8:0c:4d:e9:9a:11:7f",
            "fe80::0c:4d:e9:9a:11:7f",
            "0c:4d:e9:9a:11:7f::1",
            "0c4d.e99a",
            "0c4d.e99a.117",
            "12:34:56",
            "2026-03-02",
            "16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48",
            "x0c:4d:e9:9a:11:7f",
        ] {
            assert_eq!(finds(text), None, "{text}");
        }
    }
}
