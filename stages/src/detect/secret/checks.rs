//! Checksums inside tokens.

/// CRC-32 (ISO/IEC 8802-3, reflected polynomial EDB88320).
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    !bytes
        .iter()
        .fold(!0, |crc, &b| CRC[usize::from(crc as u8 ^ b)] ^ crc >> 8)
}

static CRC: [u32; 256] = {
    let mut table = [0; 256];
    let mut n = 0;
    while n < 256 {
        let mut crc = n as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 {
                0xEDB8_8320 ^ crc >> 1
            } else {
                crc >> 1
            };
            bit += 1;
        }
        table[n] = crc;
        n += 1;
    }
    table
};

/// Whether the last six characters are the CRC-32 of the thirty before, in base 62: how GitHub and
/// npm tokens end ("Behind GitHub's new authentication token formats", 2021).
pub(super) fn github_checksum(body: &[u8]) -> bool {
    let Some((random, check)) = body.split_at_checked(30) else {
        return false;
    };
    check == base62(crc32(random))
}

/// A number in base 62, digits before upper case before lower case, six places.
pub(super) fn base62(mut number: u32) -> [u8; 6] {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut text = [b'0'; 6];
    for place in text.iter_mut().rev() {
        *place = DIGITS[number as usize % 62];
        number /= 62;
    }
    text
}

/// Decodes base64 or base64url without padding, as far as `out` has room; the number of bytes.
pub(super) fn base64(text: &[u8], out: &mut [u8]) -> Option<usize> {
    let (mut bits, mut held, mut len) = (0u32, 0, 0);
    for &byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' | b'+' => 62,
            b'_' | b'/' => 63,
            b'=' => break,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            *out.get_mut(len)? = (bits >> held) as u8;
            len += 1;
        }
    }
    Some(len)
}
