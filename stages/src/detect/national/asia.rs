//! Asia and Africa: national and tax numbers.

use super::checks::{
    date, day_of_month, digit, luhn, mod_11_2, uniform, value, verhoeff, weighted,
};
use super::rule::{RARE_SUSPECT, Rule, SUSPECT, rule};

/// The rules of Asian and African countries.
#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    rule("cn.resident-id", "NATIONAL_ID_CN", &["zh", "cn"],
        &[("999999999999999999", 92), ("99999999999999999X", 95), ("999999 99999999 999X", 92)], resident_id_cn,
        &["身份证", "身份证号", "身份證", "公民身份号码", "idcard", "residentid", "nationalid", "idnumber", "shenfenzheng"]),
    rule("cn.resident-id-15", "NATIONAL_ID_CN", &["zh", "cn"], &[("999999999999999", 0)], resident_id_15_cn,
        &["身份证", "身份證", "公民身份号码", "idcard", "residentid"]),
    rule("jp.my-number", "MY_NUMBER_JP", &["ja", "jp"],
        &[("999999999999", RARE_SUSPECT), ("9999 9999 9999", 50), ("9999-9999-9999", 50)], my_number_jp,
        &["マイナンバー", "個人番号", "mynumber", "individualnumber", "kojinbango"]),
    rule("kr.rrn", "RRN_KR", &["ko", "kr"], &[("999999-9999999", 92), ("9999999999999", 60)],
        |n| rrn_date_kr(n) && rrn_check_kr(n), RRN_WORDS),
    // Numbers given since October 2020 have random digits instead of a check digit.
    rule("kr.rrn-unchecked", "RRN_KR", &["ko", "kr"], &[("999999-9999999", 75), ("9999999999999", 0)],
        |n| rrn_date_kr(n) && n[6] <= b'4', RRN_WORDS),
    rule("in.aadhaar", "AADHAAR_IN", &["hi", "in"],
        &[("9999 9999 9999", 70), ("9999-9999-9999", 70), ("9999:9999:9999", 60), ("999999999999", RARE_SUSPECT)], aadhaar_in,
        &["aadhaar", "aadhar", "adhaar", "uidai", "uid", "आधार"]),
    rule("in.pan", "PAN_IN", &["hi", "in"], &[("AAAAA9999A", 78)], pan_in,
        &["pan", "pannumber", "pancard", "permanentaccountnumber", "पैन"]),
    rule("in.gstin", "GSTIN_IN", &["hi", "in"], &[("99AAAAA9999AXAX", 88)], gstin_in, &["gstin", "gst"]),
    rule("il.id", "IL_ID", &["he", "il"], &[("999999999", SUSPECT), ("99999999-9", 50)], |n| luhn(n) && value(n) > 99_999 && !uniform(n),
        &["תעודתזהות", "תז", "מספרזהות", "israeliid", "teudatzehut", "ilid", "idil", "מספרתז"]),
    rule("sg.fin", "FIN_SG", &["en", "sg", "zh"], &[("A9999999A", 85)], nric_sg, &["nric", "fin", "nricfin", "singaporeid"]),
    rule("th.id", "TNIN_TH", &["th"], &[("9-9999-99999-99-9", 92), ("9 9999 99999 99 9", 88), ("9999999999999", SUSPECT)], id_th,
        &["บัตรประชาชน", "ประจำตัวประชาชน", "thaiid", "tnin", "thainationalid", "nationalid"]),
    rule("tw.id", "ID_TW", &["zh", "tw"], &[("A999999999", 70)], id_tw, &["身分證", "身分證字號", "nationalid"]),
    rule("my.nric", "NRIC_MY", &["ms", "my"], &[("999999-99-9999", 80), ("999999999999", 0)],
        |n| day_of_month(value(&n[2..4]), value(&n[4..6])) && !matches!(value(&n[6..8]), 0 | 17..=20 | 69 | 70 | 73),
        &["nric", "mykad", "ic", "kadpengenalan"]),
    rule("id.nik", "NIK_ID", &["id"], &[("9999999999999999", 0)], nik_id, &["nik", "ktp", "indukkependudukan"]),
    rule("pk.cnic", "CNIC_PK", &["ur", "pk"], &[("99999-9999999-9", 80)], |n| matches!(n[0], b'1'..=b'8'), &["cnic", "nadra"]),
    rule("za.id", "ID_ZA", &["en", "za"], &[("9999999999999", 78), ("999999 9999 99 9", 88), ("999999 9999 999", 85)], id_za,
        &["southafricanid", "rsaid", "said", "idnumber", "residentnumber", "refugeeid"]),
    rule("ng.nin", "NIN_NG", &["ng"], &[("99999999999", 0)], |n| !uniform(n), &["nin", "nationalidentificationnumber", "bvn"]),
];

const RRN_WORDS: &[&str] = &[
    "rrn",
    "주민등록번호",
    "주민번호",
    "residentregistration",
    "외국인등록번호",
    "jumin",
    "juminno",
];

/// 居民身份证 (GB 11643-1999): region, date of birth, serial, ISO/IEC 7064 MOD 11-2.
fn resident_id_cn(n: &[u8]) -> bool {
    matches!(n[0], b'1'..=b'6' | b'8')
        && (n[17].is_ascii_digit() || n[17] == b'X')
        && matches!(value(&n[6..10]), 1850..=2099)
        && date(value(&n[6..10]), value(&n[10..12]), value(&n[12..14]))
        && mod_11_2(n)
}

/// The first generation of the same: fifteen digits, two of the year, no check digit.
fn resident_id_15_cn(n: &[u8]) -> bool {
    matches!(n[0], b'1'..=b'6' | b'8') && day_of_month(value(&n[8..10]), value(&n[10..12]))
}

/// 個人番号 (総務省令第85号 第5条): weights 6 5 4 3 2 7 6 5 4 3 2, eleven minus the rest, 0 for rests
/// of 0 and 1.
fn my_number_jp(n: &[u8]) -> bool {
    let rest = weighted(n, &[6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
    digit(n[11]) == if rest < 2 { 0 } else { 11 - rest } && !uniform(n)
}

/// 주민등록번호 (주민등록법 시행규칙): date of birth, then sex, century and nationality in one digit.
fn rrn_date_kr(n: &[u8]) -> bool {
    let century = match n[6] {
        b'1' | b'2' | b'5' | b'6' => 1900,
        b'3' | b'4' | b'7' | b'8' => 2000,
        _ => return false,
    };
    date(century + value(&n[..2]), value(&n[2..4]), value(&n[4..6]))
}

/// Its check digit: weights 2 to 9, 2 to 5, eleven minus the rest; two more for foreigners.
fn rrn_check_kr(n: &[u8]) -> bool {
    let sum = weighted(n, &[2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]) % 11;
    let foreign = if n[6] > b'4' { 2 } else { 0 };
    (11 - sum + foreign) % 10 == digit(n[12])
}

/// Aadhaar (UIDAI): twelve digits, the first from 2, Verhoeff's check.
fn aadhaar_in(n: &[u8]) -> bool {
    n[0] > b'1' && verhoeff(n) && !uniform(n) && !n.iter().eq(n.iter().rev())
}

/// Permanent account number (Income-tax Rules 114): the fourth letter is the kind of holder.
fn pan_in(n: &[u8]) -> bool {
    b"ABCFGHJLPTEK".contains(&n[3]) && &n[5..9] != b"0000"
}

/// Goods and services tax number: state, PAN, entity, Z, and a check character modulo 36.
fn gstin_in(n: &[u8]) -> bool {
    let rank = |b: u8| {
        if b.is_ascii_digit() {
            digit(b)
        } else {
            u32::from(b - b'A') + 10
        }
    };
    let each = |(i, &b): (usize, &u8)| {
        let product = rank(b) * if i % 2 == 0 { 1 } else { 2 };
        product / 36 + product % 36
    };
    let sum: u32 = n[..14].iter().enumerate().map(each).sum();
    matches!(value(&n[..2]), 1..=38 | 97 | 99)
        && n[13] == b'Z'
        && (36 - sum % 36) % 36 == rank(n[14])
}

/// NRIC and FIN (ICA): weights 2 7 6 5 4 3 2, an offset for the later series, a letter modulo 11.
fn nric_sg(n: &[u8]) -> bool {
    let (offset, letters) = match n[0] {
        b'S' => (0, b"JZIHGFEDCBA"),
        b'T' => (4, b"JZIHGFEDCBA"),
        b'F' => (0, b"XWUTRQPNMLK"),
        b'G' => (4, b"XWUTRQPNMLK"),
        b'M' => (3, b"KLJNPQRTUWX"),
        _ => return false,
    };
    let rest = (weighted(&n[1..], &[2, 7, 6, 5, 4, 3, 2]) + offset) % 11;
    let index = if n[0] == b'M' { 10 - rest } else { rest };
    letters[index as usize] == n[8]
}

/// Thai national identification number (Department of Provincial Administration): category 1 to 8,
/// weights 13 to 2 modulo 11.
fn id_th(n: &[u8]) -> bool {
    let rest = weighted(n, &[13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11;
    matches!(n[0], b'1'..=b'8') && n[1] != b'0' && (11 - rest) % 10 == digit(n[12]) && !uniform(n)
}

/// Taiwanese national identification number: the letter as two digits, weights 1 9 8 7 6 5 4 3 2 1 1.
fn id_tw(n: &[u8]) -> bool {
    let Some(place) = b"ABCDEFGHJKLMNPQRSTUVXYWZIO"
        .iter()
        .position(|&b| b == n[0])
    else {
        return false;
    };
    let letter = place as u32 + 10;
    let sum = letter / 10 + letter % 10 * 9 + weighted(&n[1..], &[8, 7, 6, 5, 4, 3, 2, 1, 1]);
    matches!(n[1], b'1' | b'2' | b'8' | b'9') && sum.is_multiple_of(10)
}

/// Nomor Induk Kependudukan: region, date of birth (day plus 40 for women), serial.
fn nik_id(n: &[u8]) -> bool {
    let day = value(&n[6..8]);
    day_of_month(value(&n[8..10]), if day > 40 { day - 40 } else { day })
        && matches!(value(&n[..2]), 11..=94)
}

/// South African identity number (Identification Act 68 of 1997): date of birth, sex, citizenship
/// 0 to 2, an 8 or 9 (0 to 9 before), Luhn.
fn id_za(n: &[u8]) -> bool {
    matches!(n[10], b'0'..=b'2')
        && matches!(n[11], b'8' | b'9')
        && (date(1900 + value(&n[..2]), value(&n[2..4]), value(&n[4..6]))
            || date(2000 + value(&n[..2]), value(&n[2..4]), value(&n[4..6])))
        && luhn(n)
}
