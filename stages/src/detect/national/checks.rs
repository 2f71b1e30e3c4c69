//! Check-digit algorithms. Each takes the letters (upper case) and digits of a number.

/// The value of an ASCII digit.
pub(super) fn digit(byte: u8) -> u32 {
    u32::from(byte.wrapping_sub(b'0'))
}

/// The number that a few digits spell; zero where one is none.
pub(super) fn value(digits: &[u8]) -> u32 {
    digits
        .iter()
        .try_fold(0, |n, &b| b.is_ascii_digit().then(|| n * 10 + digit(b)))
        .unwrap_or(0)
}

/// The number that up to eighteen digits spell.
pub(super) fn long_value(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |n, &b| n * 10 + u64::from(digit(b)))
}

/// The sum of the digits, each times its weight.
pub(super) fn weighted(digits: &[u8], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(&b, w)| digit(b) * w).sum()
}

/// ISO/IEC 7812-1 annex B, the Luhn formula, over all digits.
pub(super) fn luhn(digits: &[u8]) -> bool {
    luhn_sum(digits).is_multiple_of(10)
}

/// The Luhn sum of digits whose last one is the check digit.
pub(super) fn luhn_sum(digits: &[u8]) -> u32 {
    let doubled = |d: u32| if d > 4 { 2 * d - 9 } else { 2 * d };
    let each = |(i, &b): (usize, &u8)| {
        if i % 2 == 1 {
            doubled(digit(b))
        } else {
            digit(b)
        }
    };
    digits.iter().rev().enumerate().map(each).sum()
}

/// ISO/IEC 7064 MOD 11,10 over all digits, the last being the check digit.
pub(super) fn mod_11_10(digits: &[u8]) -> bool {
    let Some((&check, body)) = digits.split_last() else {
        return false;
    };
    let product = body.iter().fold(10, |product, &b| {
        let sum = (digit(b) + product) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    (11 - product) % 10 == digit(check)
}

/// ISO/IEC 7064 MOD 11-2 over digits and a check character `0-9X`.
pub(super) fn mod_11_2(number: &[u8]) -> bool {
    let Some((&check, body)) = number.split_last() else {
        return false;
    };
    let rest = body.iter().fold(0, |n, &b| (n + digit(b)) * 2 % 11);
    let want = (12 - rest) % 11;
    want == if check == b'X' { 10 } else { digit(check) }
}

/// Verhoeff's dihedral check over all digits (J. Verhoeff, Error detecting decimal codes, 1969).
pub(super) fn verhoeff(digits: &[u8]) -> bool {
    const PERMUTED: [[u8; 10]; 8] = [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        [1, 5, 7, 6, 2, 8, 3, 0, 9, 4],
        [5, 8, 0, 3, 7, 9, 6, 1, 4, 2],
        [8, 9, 1, 6, 0, 4, 3, 5, 2, 7],
        [9, 4, 5, 3, 1, 2, 6, 8, 7, 0],
        [4, 2, 8, 6, 5, 7, 3, 9, 0, 1],
        [2, 7, 9, 3, 8, 0, 6, 4, 1, 5],
        [7, 0, 4, 6, 9, 1, 3, 2, 5, 8],
    ];
    // Multiplication in the group of symmetries of the pentagon: rotations 0-4, reflections 5-9.
    let times = |a: u8, b: u8| match (a < 5, b < 5) {
        (true, true) => (a + b) % 5,
        (true, false) => 5 + (a + b) % 5,
        (false, true) => 5 + (a + 5 - b) % 5,
        (false, false) => (a + 5 - b) % 5,
    };
    let each = |(i, &b): (usize, &u8)| PERMUTED[i % 8][usize::from(b - b'0')];
    digits.iter().rev().enumerate().map(each).fold(0, times) == 0
}

/// Whether month and day exist in some year.
pub(super) fn day_of_month(month: u32, day: u32) -> bool {
    let days = match month {
        2 => 29,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// Whether the date exists in the Gregorian calendar.
pub(super) fn date(year: u32, month: u32, day: u32) -> bool {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    day_of_month(month, day) && (month != 2 || day < 29 || leap)
}

/// Whether all bytes are the same: such numbers pass many checks and belong to nobody.
pub(super) fn uniform(number: &[u8]) -> bool {
    number.windows(2).all(|pair| pair[0] == pair[1])
}

/// Whether ten or thirteen digits read as a time since 1970 in seconds or milliseconds (2001 to
/// 2033), the most common long numbers there are.
pub(super) fn like_unix_time(digits: &[u8]) -> bool {
    matches!(digits.len(), 10 | 13) && digits[0] == b'1'
}

/// Whether the digits read as year, month, day and time of day, as in `202511091430`.
pub(super) fn like_timestamp(digits: &[u8]) -> bool {
    digits.len() >= 12
        && digits[..12].iter().all(u8::is_ascii_digit)
        && matches!(value(&digits[..4]), 1990..=2049)
        && day_of_month(value(&digits[4..6]), value(&digits[6..8]))
        && value(&digits[8..10]) < 24
        && value(&digits[10..12]) < 60
}
