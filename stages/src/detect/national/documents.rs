//! Passports, driving licences and bank accounts: numbers of hundreds of shapes, few with a check
//! digit, that only a word directly before them tells from any other number.

use super::context::SMALL_WORDS;
use super::rule::{Rule, rule};

/// The rules of documents.
#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    Rule { close_words: true, ..rule("passport", "PASSPORT", &["en"],
        &[("XXXXXX", 0), ("XXXXXXX", 0), ("XXXXXXXX", 0), ("XXXXXXXXX", 0), ("XXXXXXXXXX", 0), ("AA 999999", 0), ("AA 9999999", 0),
          ("A 9999999", 0), ("A 99999999", 0), ("99 9999999", 0), ("99 99 999999", 0), ("9999 999999", 0), ("99AA99999", 0)], mostly_digits,
        PASSPORT_WORDS) },
    Rule { close_words: true, ..rule("driver-license", "DRIVER_LICENSE", &["en"],
        &[("XXXXX", 0), ("XXXXXX", 0), ("XXXXXXX", 0), ("XXXXXXXX", 0), ("XXXXXXXXX", 0), ("XXXXXXXXXX", 0), ("XXXXXXXXXXX", 0),
          ("XXXXXXXXXXXX", 0), ("XXXXXXXXXXXXX", 0), ("XXXXXXXXXXXXXX", 0), ("XXXXXXXXXXXXXXX", 0), ("XXXXXXXXXXXXXXXX", 0),
          ("9999-99-9999", 0), ("999-999-999", 0), ("999 999 999", 0), ("99-999-9999", 0), ("999-99-9999", 0), ("A999-9999-9999", 0),
          ("A999-999-99-999-9", 0), ("A999-9999-9999-99", 0), ("A99-99-9999", 0), ("A9999-99999-99999", 0), ("AA99 99999999999", 0)],
        mostly_digits, LICENCE_WORDS) },
    Rule { close_words: true, ..rule("bank-account", "BANK_ACCOUNT", &["en"],
        &[("99999999", 0), ("999999999", 0), ("9999999999", 0), ("99999999999", 0), ("999999999999", 0), ("9999999999999", 0),
          ("99999999999999", 0), ("999999999999999", 0), ("9999999999999999", 0), ("99999999999999999", 0)], |_| true,
        ACCOUNT_WORDS) },
    // South Korea, since 2021: a letter between the digits, like nothing else (외교부).
    rule("kr.passport", "PASSPORT", &["ko", "kr"], &[("A999A9999", 50)], |n| b"MSRODG".contains(&n[0]), PASSPORT_WORDS),
];

const PASSPORT_WORDS: &[&str] = &[
    "passport",
    "passports",
    "passportno",
    "passportnumber",
    "passportnr",
    "ppt",
    "traveldocument",
    "travelpassport",
    "reisepass",
    "reisepassnummer",
    "passnr",
    "passnummer",
    "pass",
    "ausweisnummer",
    "personalausweis",
    "ausweisnr",
    "passeport",
    "pasaporte",
    "passaporto",
    "passaporte",
    "paspoort",
    "paspoortnummer",
    "паспорт",
    "paszport",
    "paszportu",
    "pasaport",
    "护照",
    "護照",
    "旅券",
    "パスポート",
    "여권",
    "여권번호",
    "דרכון",
    "पासपोर्ट",
];

const LICENCE_WORDS: &[&str] = &[
    "driverlicense",
    "driverslicense",
    "driverslicence",
    "driverlicence",
    "drivinglicence",
    "drivinglicense",
    "dlnumber",
    "dlno",
    "dl",
    "licensenumber",
    "licencenumber",
    "permitnumber",
    "führerschein",
    "führerscheinnummer",
    "fuehrerschein",
    "permisdeconduire",
    "carnetdeconducir",
    "permisodeconducir",
    "patente",
    "patentediguida",
    "rijbewijs",
    "rijbewijsnummer",
    "cnh",
    "cartadecondução",
    "prawojazdy",
    "водительскоеудостоверение",
    "驾驶证",
    "驾照",
    "運転免許証",
    "運転免許",
    "운전면허",
    "운전면허번호",
    "רישיוןנהיגה",
];

const ACCOUNT_WORDS: &[&str] = &[
    "bankaccount",
    "accountnumber",
    "accountno",
    "acctno",
    "acctnumber",
    "accountnr",
    "kontonummer",
    "kontonr",
    "numérodecompte",
    "númerodecuenta",
    "numerodecuenta",
    "contocorrente",
    "rekeningnummer",
    "numerkonta",
    "номерсчёта",
    "номерсчета",
    "银行账号",
    "口座番号",
    "계좌번호",
];

/// At least half of a document's number is digits, and at least four.
fn mostly_digits(n: &[u8]) -> bool {
    let digits = n.iter().filter(|b| b.is_ascii_digit()).count();
    digits >= 4 && 2 * digits >= n.len()
}

/// The last two letters of every word above, so that most numbers cost no more than a look at the
/// word before them.
pub(super) static WORD_ENDS: [u32; 26] = ends(&[PASSPORT_WORDS, LICENCE_WORDS, ACCOUNT_WORDS]);

/// The same and those of the small words.
pub(super) static ENDS: [u32; 26] =
    ends(&[PASSPORT_WORDS, LICENCE_WORDS, ACCOUNT_WORDS, SMALL_WORDS]);

const fn ends(lists: &[&[&str]]) -> [u32; 26] {
    let mut table = [0; 26];
    let mut list = 0;
    while list < lists.len() {
        let mut word = 0;
        while word < lists[list].len() {
            if let [.., a @ b'a'..=b'z', b @ b'a'..=b'z'] = lists[list][word].as_bytes() {
                table[(*a - b'a') as usize] |= 1 << (*b - b'a');
            }
            word += 1;
        }
        list += 1;
    }
    table
}
