//! Addresses of cryptocurrency wallets: Bitcoin and Ethereum, by their checksums.

use sha2::{Digest as _, Sha256};
use sha3::Keccak256;

use super::Hit;
use crate::detect::bytes::{ALNUM, DASH, WORD, at, before, is, run, word_before};

/// The longest address, in characters (BIP-173).
const MAX: usize = 90;
/// Bytes of a base58 address: version, hash, checksum.
const BASE58_BYTES: usize = 25;
/// What the checksum leaves over for version 0 of witness programs (BIP-173) and for later ones
/// (BIP-350).
const BECH32: u32 = 1;
const BECH32M: u32 = 0x2BC8_30A3;

/// The address that begins at `start`.
pub(crate) fn verdict(text: &[u8], start: usize) -> Option<Hit> {
    if !matches!(text[start], b'0' | b'1' | b'3' | b'b' | b'B') || word_before(text, start) {
        return None;
    }
    let end = run(text, start, ALNUM, MAX + 1);
    let within = |at: u8, next: u8| at == b'_' || at == b'-' && is(next, WORD | DASH);
    let second = start.checked_sub(2).map_or(0, |i| text[i]);
    if within(at(text, end), at(text, end + 1)) || within(before(text, start), second) {
        return None;
    }
    let word = std::str::from_utf8(&text[start..end]).ok()?;
    let (confidence, rule) = match word.as_bytes() {
        [b'0', b'x', digits @ ..] => (ethereum(digits)?, "ethereum"),
        [b'1' | b'3', ..] if is_base58(word.as_bytes()) => (97, "bitcoin"),
        [b'b' | b'B', ..] if is_bech32(word) => (98, "bitcoin"),
        _ => return None,
    };
    Some(Hit {
        start,
        end,
        confidence,
        rule,
    })
}

/// How sure it is that the digits behind `0x` are an address: EIP-55 keeps a checksum in the case
/// of the letters, where both cases occur.
fn ethereum(digits: &[u8]) -> Option<u8> {
    if digits.len() != 40 || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    // The null address and those of the precompiled contracts are nobody's.
    if digits[..38].iter().all(|digit| *digit == b'0') {
        return None;
    }
    let any = |class: fn(&u8) -> bool| digits.iter().any(class);
    if !(any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase)) {
        return Some(80);
    }
    let hash = Keccak256::digest(digits.to_ascii_lowercase());
    let right = digits.iter().enumerate().all(|(i, digit)| {
        let nibble = hash[i / 2] >> (4 * (1 - i % 2)) & 0xF;
        digit.is_ascii_digit() || digit.is_ascii_uppercase() == (nibble >= 8)
    });
    right.then_some(98)
}

/// Base58 with the checksum of two rounds of SHA-256: versions 0 (a key) and 5 (a script).
fn is_base58(word: &[u8]) -> bool {
    const ALPHABET: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    if !(26..=35).contains(&word.len()) {
        return false;
    }
    let mut bytes = [0u8; BASE58_BYTES];
    for c in word {
        let Some(value) = ALPHABET.iter().position(|known| known == c) else {
            return false;
        };
        let mut carry = value as u32;
        for byte in bytes.iter_mut().rev() {
            carry += u32::from(*byte) * 58;
            *byte = carry as u8;
            carry >>= 8;
        }
        if carry > 0 {
            return false;
        }
    }
    let (payload, checksum) = bytes.split_at(BASE58_BYTES - 4);
    let hash = Sha256::digest(Sha256::digest(payload));
    let ones = word.iter().take_while(|c| **c == b'1').count();
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    matches!(payload[0], 0 | 5) && ones == zeros && hash[..4] == *checksum
}

/// A witness program of Bitcoin's main net: BIP-173, and BIP-350 for versions above 0.
fn is_bech32(word: &str) -> bool {
    const ALPHABET: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
    let lower = word.to_ascii_lowercase();
    let mixed = word != lower && word != word.to_ascii_uppercase();
    let Some(data) = lower.strip_prefix("bc1") else {
        return false;
    };
    if mixed || !(14..=MAX).contains(&word.len()) {
        return false;
    }
    // The human-readable part "bc", spread out as the standard says.
    let mut sum = [3, 3, 0, 2, 3].into_iter().fold(1, step);
    let mut version = None;
    for c in data.bytes() {
        let Some(value) = ALPHABET.iter().position(|known| *known == c) else {
            return false;
        };
        version = version.or(Some(value));
        sum = step(sum, value as u32);
    }
    let program = (data.len() - 7) * 5 / 8;
    match version {
        Some(0) => sum == BECH32 && matches!(program, 20 | 32),
        Some(1..=16) => sum == BECH32M && (2..=40).contains(&program),
        _ => false,
    }
}

/// One step of the checksum of BIP-173.
fn step(sum: u32, value: u32) -> u32 {
    const GENERATOR: [u32; 5] = [
        0x3B6A_57B2,
        0x2650_8E6D,
        0x1EA1_19FA,
        0x3D42_33DD,
        0x2A14_62B3,
    ];
    let top = sum >> 25;
    GENERATOR
        .iter()
        .enumerate()
        .filter(|(i, _)| top >> i & 1 == 1)
        .fold((sum & 0x01FF_FFFF) << 5 ^ value, |sum, (_, part)| {
            sum ^ part
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the standards.
    const ADDRESSES: &[&str] = &[
        "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
        "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy",
        "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
        "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4",
        "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    ];

    fn finds(text: &str) -> Option<&str> {
        let hit = (0..text.len()).find_map(|i| verdict(text.as_bytes(), i))?;
        Some(&text[hit.start..hit.end])
    }

    #[test]
    fn addresses() {
        for address in ADDRESSES {
            for (left, right) in [("", ""), ("to ", ". "), ("bitcoin:", "?x"), ("\"", "\"")] {
                let text = format!("{left}{address}{right}");
                assert_eq!(finds(&text), Some(*address), "{text}");
            }
        }
        let lower = "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed";
        assert_eq!(finds(lower), Some(lower));
    }

    #[test]
    fn one_character_off() {
        for address in ADDRESSES {
            let i = address.len() - 3;
            let old = address.as_bytes()[i];
            // Another letter of every alphabet; for Ethereum the other case.
            let new = match old {
                _ if !address.starts_with("0x") => match old {
                    b'q' | b'Q' => old + 1 + 8,
                    c if c.is_ascii_uppercase() => b'Q',
                    _ => b'q',
                },
                c => c ^ 0x20,
            };
            let mut wrong = address.as_bytes().to_vec();
            if old.is_ascii_alphabetic() || !address.starts_with("0x") {
                wrong[i] = new;
                let wrong = String::from_utf8(wrong).unwrap();
                assert_ne!(wrong, *address);
                assert_eq!(finds(&wrong), None, "{wrong}");
            }
            assert_eq!(finds(&format!("{address}9")), None);
            assert_eq!(finds(&format!("x{address}")), None);
        }
    }

    #[test]
    fn what_only_looks_like_one() {
        for text in [
            "0x0000000000000000000000000000000000000000",
            "0x0000000000000000000000000000000000000001",
            "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beae",
            "da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3T4",
            "bc1",
            "bc1qqqq",
            "1111111111111111111111111111111111",
        ] {
            assert_eq!(finds(text), None, "{text}");
        }
    }
}
