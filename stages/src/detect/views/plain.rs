//! What a piece of text says when its disguise is taken off: escapes of JSON, percent-encoding,
//! entities of HTML, quoted-printable, and characters that look like others or like nothing.

use crate::detect::bytes::{ALNUM, DIGIT, HEX, at, before, char_at, is};

/// One plain character in place of a disguise, or nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Plain {
    pub(super) text: Option<char>,
    /// How many bytes the disguise has.
    pub(super) length: usize,
}

impl Plain {
    fn new(text: char, length: usize) -> Option<Self> {
        Some(Self {
            text: Some(text),
            length,
        })
    }
}

/// The plain character at `i`, where the text is disguised there.
pub(super) fn plain(text: &[u8], i: usize) -> Option<Plain> {
    match text[i] {
        b'\\' => escape(text, i),
        b'%' => percent(text, i),
        b'&' => entity(text, i),
        b'=' => quoted_printable(text, i),
        0xC2.. => {
            let c = char_at(text, i)?;
            character(c).map(|plain| Plain {
                text: plain,
                length: c.len_utf8(),
            })
        }
        _ => None,
    }
}

/// Whether what stands at `i` is worth a look at the plain text around it.
#[inline]
pub(crate) fn is_trigger(text: &[u8], i: usize) -> bool {
    let c = text[i];
    if c >= 0xC2 {
        return may_be_odd(c, at(text, i + 1)) && is_odd(text, i);
    }
    match c {
        b'\\' => is_glued_escape(text, i),
        b'%' => percent(text, i).is_some_and(|plain| {
            plain
                .text
                .is_some_and(|c| !c.is_ascii() || "@.+-_ ()".contains(c))
        }),
        b'&' => entity(text, i).is_some(),
        b'=' => quoted_printable(text, i).is_some(),
        _ => false,
    }
}

/// Whether these lead bytes begin a block in which there are such characters.
#[inline(always)]
fn may_be_odd(first: u8, second: u8) -> bool {
    match first {
        0xC2 => matches!(second, 0xA0 | 0xAD),
        0xCC | 0xCD | 0xD9 | 0xDB | 0xE0 | 0xE1 => true,
        0xE2 => matches!(second, 0x80 | 0x81 | 0x83 | 0x88),
        0xE3 => second == 0x80,
        0xEF => matches!(second, 0xB8..=0xBD),
        0xF0 => second == 0x9D,
        _ => false,
    }
}

#[cold]
fn is_odd(text: &[u8], i: usize) -> bool {
    let Some(c) = char_at(text, i) else {
        return false;
    };
    let digit_beside = || {
        is(before(text, i), DIGIT)
            || matches!(at(text, i + c.len_utf8()), b'0'..=b'9' | b'(' | b'+')
    };
    match character(c) {
        // Spaces and dashes are common; they matter between digits.
        Some(Some(' ' | '-')) => digit_beside(),
        Some(Some('.')) => is(before(text, i), ALNUM),
        Some(_) => true,
        None => false,
    }
}

/// An escape whose letter would be read as a part of what follows: `\t555…`, `\nsk-…`; and all
/// that stand for another character.
fn is_glued_escape(text: &[u8], i: usize) -> bool {
    let Some(Plain { length, .. }) = escape(text, i) else {
        return false;
    };
    match text[i + length - 1] {
        b'n' | b'r' | b't' | b'b' | b'f' if !matches!(at(text, i + 1), b'u' | b'x') => {
            let next = at(text, i + length);
            let key = |c: &u8| is(*c, ALNUM) || matches!(c, b'-' | b'_');
            is(next, DIGIT)
                || matches!(next, b'+' | b'(')
                || text[i + length..]
                    .iter()
                    .take(12)
                    .take_while(|c| key(c))
                    .count()
                    == 12
        }
        b'"' | b'/' | b'\\' => false,
        _ => true,
    }
}

/// `\n`, `\"`, `\u0040`, `\x40`, `\u{40}`, each also where the backslash is escaped itself.
fn escape(text: &[u8], i: usize) -> Option<Plain> {
    let mut letter = i + 1;
    while at(text, letter) == b'\\' && letter - i < 4 {
        letter += 1;
    }
    let simple = |c| Plain::new(c, letter + 1 - i);
    match at(text, letter) {
        b'n' | b'r' => simple('\n'),
        b't' | b'b' | b'f' => simple(' '),
        c @ (b'"' | b'\'' | b'/') => simple(char::from(c)),
        b'x' => Plain::new(
            char::from(u8::try_from(hex(text, letter + 1, 2)?).ok()?),
            letter + 3 - i,
        ),
        b'u' if at(text, letter + 1) == b'{' => {
            let close = (letter + 2..letter + 9).find(|&j| at(text, j) == b'}')?;
            let c = char::from_u32(hex(text, letter + 2, close - letter - 2)?)?;
            Some(Plain {
                text: character(c).unwrap_or(Some(c)),
                length: close + 1 - i,
            })
        }
        b'u' => {
            let unit = hex(text, letter + 1, 4)?;
            let mut length = letter + 5 - i;
            let c = if (0xD800..0xDC00).contains(&unit) {
                let low = (letter + 5..letter + 9).find(|&j| at(text, j) == b'u')?;
                let second = hex(text, low + 1, 4).filter(|low| (0xDC00..0xE000).contains(low))?;
                length = low + 5 - i;
                char::from_u32(0x10000 + ((unit - 0xD800) << 10) + (second - 0xDC00))?
            } else {
                char::from_u32(unit)?
            };
            Some(Plain {
                text: character(c).unwrap_or(Some(c)),
                length,
            })
        }
        _ => None,
    }
}

/// `%40`, RFC 3986, 2.1; several of them where they are one character of UTF-8.
fn percent(text: &[u8], i: usize) -> Option<Plain> {
    let mut bytes = [0; 4];
    let mut count = 0;
    while count < 4 && at(text, i + 3 * count) == b'%' {
        let Some(byte) = hex(text, i + 3 * count + 1, 2) else {
            break;
        };
        bytes[count] = byte as u8;
        count += 1;
    }
    let c = char_at(&bytes[..count], 0).filter(|c| !c.is_control())?;
    let length = 3 * c.len_utf8();
    Some(Plain {
        text: character(c).unwrap_or(Some(c)),
        length,
    })
}

/// `&#64;`, `&#x40;` and the named ones that hide something.
fn entity(text: &[u8], i: usize) -> Option<Plain> {
    const NAMED: [(&[u8], Option<char>); 14] = [
        (b"commat;", Some('@')),
        (b"period;", Some('.')),
        (b"nbsp;", Some(' ')),
        (b"ensp;", Some(' ')),
        (b"thinsp;", Some(' ')),
        (b"shy;", None),
        (b"zwj;", None),
        (b"zwnj;", None),
        (b"hyphen;", Some('-')),
        (b"dash;", Some('-')),
        (b"ndash;", Some('-')),
        (b"lowbar;", Some('_')),
        (b"plus;", Some('+')),
        (b"colon;", Some(':')),
    ];
    let body = &text[i + 1..text.len().min(i + 12)];
    if let Some((name, c)) = NAMED.iter().find(|(name, _)| body.starts_with(name)) {
        return Some(Plain {
            text: *c,
            length: name.len() + 1,
        });
    }
    let digits = body.strip_prefix(b"#")?;
    let close = digits.iter().position(|c| *c == b';')?;
    let number = std::str::from_utf8(&digits[..close]).ok()?;
    let number = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => number.parse(),
    };
    let c = char::from_u32(number.ok()?).filter(|c| !c.is_control())?;
    Some(Plain {
        text: character(c).unwrap_or(Some(c)),
        length: close + 3,
    })
}

/// `=40` and its like between letters, and the soft line break, RFC 2045, 6.7. Only what cannot
/// be an assignment.
fn quoted_printable(text: &[u8], i: usize) -> Option<Plain> {
    if !is(before(text, i), ALNUM) {
        return None;
    }
    let break_length = match (at(text, i + 1), at(text, i + 2)) {
        (b'\n', _) => 2,
        (b'\r', b'\n') => 3,
        _ => 0,
    };
    if break_length > 0 {
        let goes_on = is(at(text, i + break_length), ALNUM) || at(text, i + break_length) == b'@';
        return goes_on.then_some(Plain {
            text: None,
            length: break_length,
        });
    }
    let c = match &text[i + 1..text.len().min(i + 3)] {
        b"40" => '@',
        b"2E" => '.',
        b"2D" => '-',
        b"2B" => '+',
        _ => return None,
    };
    at(text, i + 3).is_ascii_alphabetic().then_some(())?;
    Plain::new(c, 3)
}

fn hex(text: &[u8], i: usize, count: usize) -> Option<u32> {
    let digits = text.get(i..i + count)?;
    if count == 0 || !digits.iter().all(|c| is(*c, HEX)) {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// What stands for an ordinary character (`Some(Some)`) or for nothing (`Some(None)`).
fn character(c: char) -> Option<Option<char>> {
    let code = c as u32;
    let ascii = |base: u8, offset: u32| Some(Some(char::from(base + offset as u8)));
    match code {
        // Spaces of other widths.
        0xA0 | 0x2000..=0x200A | 0x202F | 0x205F | 0x3000 => Some(Some(' ')),
        // Soft hyphens, joiners, direction marks, selectors and other things without width.
        0xAD
        | 0x034F
        | 0x061C
        | 0x180E
        | 0x200B..=0x200F
        | 0x202A..=0x202E
        | 0x2060..=0x2064
        | 0x2066..=0x2069
        | 0xFE00..=0xFE0F
        | 0xFEFF => Some(None),
        // Combining marks.
        0x0300..=0x036F | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x20D0..=0x20FF => Some(None),
        // Hyphens, dashes and minus signs.
        0x2010..=0x2015 | 0x2212 | 0xFE58 | 0xFE63 | 0xFF0D => Some(Some('-')),
        0xFE6B => Some(Some('@')),
        0xFE52 | 0x2024 | 0xFF61 => Some(Some('.')),
        // Full-width forms, but not the punctuation of East Asian text.
        0xFF10..=0xFF19 => ascii(b'0', code - 0xFF10),
        0xFF21..=0xFF3A => ascii(b'A', code - 0xFF21),
        0xFF41..=0xFF5A => ascii(b'a', code - 0xFF41),
        0xFF0B | 0xFF0E | 0xFF20 | 0xFF3F => ascii(b'!', code - 0xFF01),
        // Mathematical letters and digits.
        0x1D400..=0x1D6A3 => {
            let letter = (code - 0x1D400) % 52;
            if letter < 26 {
                ascii(b'A', letter)
            } else {
                ascii(b'a', letter - 26)
            }
        }
        0x1D7CE..=0x1D7FF => ascii(b'0', (code - 0x1D7CE) % 10),
        _ => decimal_digit(code),
    }
}

/// Decimal digits of other scripts (Unicode general category Nd), by the code of their zero.
fn decimal_digit(code: u32) -> Option<Option<char>> {
    const ZEROS: [u32; 22] = [
        0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6,
        0x0D66, 0x0DE6, 0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0,
    ];
    let zero = ZEROS.iter().rev().find(|zero| **zero <= code)?;
    (code - zero < 10).then(|| Some(char::from(b'0' + (code - zero) as u8)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn undisguised(text: &str) -> String {
        let bytes = text.as_bytes();
        let mut out = String::new();
        let mut i = 0;
        while i < bytes.len() {
            match plain(bytes, i) {
                Some(plain) => {
                    out.extend(plain.text);
                    i += plain.length;
                }
                None => {
                    let c = char_at(bytes, i).unwrap();
                    out.push(c);
                    i += c.len_utf8();
                }
            }
        }
        out
    }

    #[test]
    fn every_disguise() {
        for (text, expected) in [
            (r"a\u0040b.org", "a@b.org"),
            (r"a\x40b\\nc\\\u002e", "a@b\nc."),
            (r"\ud83d\ude00", "😀"),
            ("tom%2Bbill%40example.net%C3%A9", "tom+bill@example.neté"),
            ("a&#64;b&#x2e;org&commat;&nbsp;", "a@b.org@ "),
            ("jo=40example.org a=40 jo=\n@b", "jo@example.org a=40 jo@b"),
            ("petra@\u{200b}exam\u{ad}ple.com", "petra@example.com"),
            ("１２３\u{a0}Ａｂ＠ｃ．ｄ", "123 Ab@c.d"),
            ("521\u{2011}4\u{303}4–9382", "521-44-9382"),
            ("𝟏𝟐𝐀𝐛 ٣٤ ५", "12Ab 34 5"),
        ] {
            assert_eq!(undisguised(text), expected);
        }
        for text in [
            "100%",
            "50%a",
            "a & b",
            "&;",
            "&#;",
            r"\d \\",
            "x = 40",
            "日本，（語）。",
            "é",
        ] {
            assert_eq!(undisguised(text), text);
        }
    }
}
