//! International bank account numbers: ISO 13616, check digits of ISO/IEC 7064 (mod 97-10).

use super::Hit;
use crate::detect::bytes::{ALNUM, at, is, word_at, word_before};

/// The longest of all countries (Russia 33, Saint Lucia 32), as ISO 13616 allows.
const MAX: usize = 34;

/// The account number whose two capitals of the country begin at `start`; the caller has seen
/// two letters and two digits there.
pub(crate) fn verdict(text: &[u8], start: usize) -> Option<Hit> {
    if word_before(text, start) {
        return None;
    }
    let country = [
        text[start].to_ascii_uppercase(),
        text[start + 1].to_ascii_uppercase(),
    ];
    let length = length_of(country)?;
    let mut compact = [0; MAX];
    let mut count = 0;
    let mut i = start;
    while count < length {
        let c = at(text, i);
        if is(c, ALNUM) {
            compact[count] = c.to_ascii_uppercase();
            count += 1;
        } else if !matches!(c, b' ' | b'-' | b'.') || !is(at(text, i + 1), ALNUM) {
            return None;
        }
        i += 1;
    }
    (!word_at(text, i) && mod_97(&compact[..length]) == 1).then_some(Hit {
        start,
        end: i,
        confidence: 98,
        rule: "iban",
    })
}

/// The number read with its first four characters last, letters as 10 to 35, modulo 97.
pub(crate) fn mod_97(compact: &[u8]) -> u32 {
    compact[4..]
        .iter()
        .chain(&compact[..4])
        .fold(0, |rest, c| match c {
            b'0'..=b'9' => (rest * 10 + u32::from(c - b'0')) % 97,
            _ => (rest * 100 + u32::from(c - b'A' + 10)) % 97,
        })
}

/// The IBAN registry of SWIFT, release 99, and the countries that use the format outside it.
fn length_of(country: [u8; 2]) -> Option<usize> {
    Some(match &country {
        b"NO" => 15,
        b"BE" => 16,
        b"BI" | b"DK" | b"FI" | b"FK" | b"FO" | b"GL" | b"NL" | b"SD" => 18,
        b"MK" | b"SI" => 19,
        b"AT" | b"BA" | b"EE" | b"KZ" | b"LT" | b"LU" | b"MN" | b"XK" => 20,
        b"CH" | b"HR" | b"LI" | b"LV" => 21,
        b"BG" | b"BH" | b"CR" | b"DE" | b"GB" | b"GE" | b"IE" | b"ME" | b"RS" | b"VA" => 22,
        b"AE" | b"GI" | b"IL" | b"IQ" | b"OM" | b"SO" | b"TL" => 23,
        b"AD" | b"CM" | b"CZ" | b"DZ" | b"ES" | b"MD" | b"PK" | b"RO" | b"SA" | b"SE" | b"SK"
        | b"TN" | b"VG" | b"TD" | b"CG" => 24,
        b"AO" | b"CV" | b"GW" | b"LY" | b"MZ" | b"PT" | b"ST" => 25,
        b"IR" | b"IS" | b"TR" => 26,
        b"FR" | b"GR" | b"IT" | b"MC" | b"MG" | b"MR" | b"SM" | b"CF" | b"DJ" | b"GA" | b"GQ"
        | b"KM" => 27,
        b"AL" | b"AZ" | b"BY" | b"CY" | b"DO" | b"GT" | b"HN" | b"HU" | b"LB" | b"NI" | b"PL"
        | b"SN" | b"SV" | b"TG" | b"BF" | b"BJ" | b"CI" | b"ML" | b"NE" | b"MA" => 28,
        b"BR" | b"EG" | b"PS" | b"QA" | b"UA" => 29,
        b"JO" | b"KW" | b"MU" | b"YE" => 30,
        b"MT" | b"SC" => 31,
        b"LC" => 32,
        b"RU" => 33,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for iban in [
            "DE89370400440532013000",
            "DE89 3704 0044 0532 0130 00",
            "GB29 NWBK 6016 1331 9268 19",
            "PL63 9532 5816 8388 9032 7220 6620",
            "NO93 8601 1117 947",
            "MT84MALT011000012345MTLCAST001S",
            "gb29nwbk60161331926819",
            "CR05 0152 0200 1026 2840 66",
            "VA59001123000012345678",
        ] {
            let text = format!("{iban}, please");
            let hit = verdict(text.as_bytes(), 0).unwrap();
            assert_eq!(&text[..hit.end], iban);
        }
    }

    #[test]
    fn what_only_looks_like_one() {
        for text in [
            "DE88370400440532013000",
            "DE8937040044053201300",
            "DE893704004405320130000",
            "XX89370400440532013000",
            "DE89  3704 0044 0532 0130 00",
            "DE89",
        ] {
            assert_eq!(verdict(text.as_bytes(), 0), None, "{text}");
        }
    }
}
