//! Australia and New Zealand: tax, business and health numbers.

use super::checks::{digit, long_value, uniform, value, weighted};
use super::rule::{Rule, rule};

/// The rules of Australia and New Zealand.
#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    rule("au.tfn", "TFN_AU", &["en", "au"], &[("999 999 999", 0), ("999999999", 0), ("999-999-999", 0)], tfn_au,
        &["tfn", "taxfile", "taxfilenumber"]),
    rule("au.abn", "ABN_AU", &["en", "au"], &[("99 999 999 999", 75), ("99999999999", 60)], abn_au,
        &["abn", "australianbusiness", "businessnumber"]),
    rule("au.acn", "ACN_AU", &["en", "au"], &[("999 999 999", 0), ("999999999", 0)], acn_au,
        &["acn", "australiancompany", "companynumber"]),
    rule("au.medicare", "MEDICARE_AU", &["en", "au"], &[("9999 99999 9", 70), ("9999-99999-9", 65), ("9999999999", 0)], medicare_au,
        &["medicare", "medicareno", "medicarenumber", "medicarecard"]),
    rule("nz.ird", "IRD_NZ", &["nz"], &[("99-999-999", 0), ("999-999-999", 0), ("999999999", 0), ("99999999", 0)], ird_nz,
        &["ird", "irdnumber", "inlandrevenue"]),
];

/// Tax file number (ATO): weights 1 4 3 7 5 8 6 9 10, divisible by eleven.
fn tfn_au(n: &[u8]) -> bool {
    weighted(n, &[1, 4, 3, 7, 5, 8, 6, 9, 10]).is_multiple_of(11) && !uniform(n)
}

/// Australian Business Number (ABR): one less in the first digit, weights 10 1 3 5 … 19, divisible
/// by 89.
fn abn_au(n: &[u8]) -> bool {
    let sum = weighted(n, &[10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);
    n[0] != b'0' && (sum - 10).is_multiple_of(89)
}

/// Australian Company Number (ASIC): weights 8 to 1, ten minus the rest.
fn acn_au(n: &[u8]) -> bool {
    let sum = weighted(n, &[8, 7, 6, 5, 4, 3, 2, 1]);
    (10 - sum % 10) % 10 == digit(n[8]) && value(n) > 0
}

/// Medicare card number (Services Australia): the first digit 2 to 6, weights 1 3 7 9 modulo 10 in
/// the ninth place.
fn medicare_au(n: &[u8]) -> bool {
    matches!(n[0], b'2'..=b'6') && weighted(n, &[1, 3, 7, 9, 1, 3, 7, 9]) % 10 == digit(n[8])
}

/// Inland Revenue number (New Zealand): weights 3 2 7 6 5 4 3 2, and others where that gives 10.
fn ird_nz(n: &[u8]) -> bool {
    let mut padded = [b'0'; 9];
    padded[9 - n.len()..].copy_from_slice(n);
    let check = |weights: &[u32]| (11 - weighted(&padded[..8], weights) % 11) % 11;
    let first = check(&[3, 2, 7, 6, 5, 4, 3, 2]);
    let want = if first < 10 {
        first
    } else {
        check(&[7, 4, 3, 2, 5, 2, 7, 6])
    };
    (10_000_000..200_000_000).contains(&long_value(&padded)) && want == digit(padded[8])
}
