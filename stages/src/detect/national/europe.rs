//! Europe: national, tax, health and social-security numbers.

use super::checks::{
    date, day_of_month, digit, long_value, luhn, mod_11_10, uniform, value, weighted,
};
use super::rule::{Rule, SUSPECT, rule};

/// The rules of European countries.
#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    rule("de.vat", "VAT_DE", &["de"],
        &[("DE999999999", 90), ("DE 999999999", 85), ("DE 999 999 999", 85)], vat_de,
        &["vat", "vatid", "ustid", "ustidnr", "umsatzsteuerid", "umsatzsteueridentifikationsnummer", "uid", "taxid"]),
    rule("de.tax-id", "TAX_ID_DE", &["de"],
        &[("99999999999", SUSPECT), ("99 999 999 999", 60), ("99/999/999/999", 0)], tax_id_de,
        &["steuerid", "steueridnr", "steuernummer", "steueridentifikationsnummer", "identifikationsnummer",
          "idnr", "tin", "taxid", "taxnumber", "steuernr"]),
    rule("de.social-security", "SSN_DE", &["de"],
        &[("99999999A999", 85), ("99 999999 A 999", 90), ("99 999999A999", 85)], social_security_de,
        &["rvnr", "rentenversicherungsnummer", "sozialversicherungsnummer", "svnummer", "svnr", "sozialversicherungsausweis", "rentenversicherung"]),
    Rule { alone: |n| matches!(n[0], b'1' | b'2') && value(&n[3..5]) <= 12, ..rule("fr.nir", "NIR_FR", &["fr"],
        &[("999999999999999", 85), ("9 99 99 99 999 999 99", 95), ("9 99 99 99 999 999-99", 95),
          ("9-99-99-99-999-999-99", 90), ("9.99.99.99.999.999.99", 90), ("9999999999999 99", 85),
          ("999999A99999999", 90), ("9 99 99 9A 999 999 99", 95)], nir_fr,
        &["nir", "insee", "sécuritésociale", "securitesociale", "sécu", "numérodesécu", "cartevitale", "numss", "nss"]) },
    rule("es.dni", "DNI_ES", &["es"],
        &[("99999999A", 88), ("99999999-A", 88), ("99.999.999-A", 92), ("99.999.999A", 90),
          ("9999999A", 60), ("9999999-A", 60)], dni_es,
        &["dni", "nif", "documentonacionaldeidentidad", "documentodeidentidad", "identificaciónfiscal"]),
    rule("es.nie", "NIE_ES", &["es"],
        &[("A9999999A", 88), ("A9999999-A", 90), ("A-9999999-A", 92), ("A-9999999A", 88)], nie_es,
        &["nie", "nif", "extranjero", "extranjería", "identidaddeextranjero"]),
    rule("nl.bsn", "BSN_NL", &["nl"],
        &[("999999999", SUSPECT), ("9999.99.999", 60), ("9999 99 999", 50)], bsn_nl,
        &["bsn", "burgerservicenummer", "sofinummer", "sofi", "bsnnummer", "persoonsnummer"]),
    rule("nl.postal", "POSTAL_NL", &["nl"],
        &[("9999 AA", 0), ("9999AA", 0)], postal_nl,
        &["postcode", "postalcode", "zip", "zipcode", "postleitzahl", "adres", "address", "straat"]),
    rule("it.fiscal-code", "CODICE_FISCALE_IT", &["it"],
        &[("AAAAAAXXAXXAXXXA", 95), ("AAAAAA 99A99 A999A", 92)], fiscal_code_it,
        &["codicefiscale", "cf", "codfisc", "fiscalcode", "codicefisc"]),
    rule("it.vat", "VAT_IT", &["it"],
        &[("IT99999999999", 85), ("99999999999", 0)], |n| { let n = &n[n.len() - 11..]; luhn(n) && !uniform(n) },
        &["partitaiva", "piva", "iva", "vat"]),
    rule("it.identity-card", "ID_IT", &["it"],
        &[("AA99999AA", 50), ("AA9999999", 0), ("AA 9999999", 0), ("9999999AA", 0)], |_| true,
        &["cartadidentità", "cartaidentità", "cartadidentita", "cartaidentita", "cie", "identitycard", "documento"]),
    rule("pl.pesel", "PESEL_PL", &["pl"], &[("99999999999", 70)], pesel_pl,
        &["pesel", "numerpesel", "nrpesel"]),
    rule("pl.nip", "NIP_PL", &["pl"],
        &[("999-999-99-99", 85), ("999-99-99-999", 85), ("999 999 99 99", 55), ("9999999999", SUSPECT),
          ("PL9999999999", 88), ("PL 9999999999", 85), ("PL 999-999-99-99", 92)], nip_pl,
        &["nip", "numernip", "nrnip", "vat", "identyfikacjipodatkowej"]),
    rule("pl.identity-card", "ID_PL", &["pl"], &[("AAA999999", 0), ("AAA 999999", 0)], identity_card_pl,
        &["dowód", "dowodu", "dowódosobisty", "dowoduosobistego", "seriainumer", "identitycard"]),
    Rule { alone: |n| n[0] != b'0', ..rule("ru.snils", "SNILS_RU", &["ru"],
        &[("999-999-999 99", 95), ("999-999-999-99", 85), ("999 999 999 99", 80), ("99999999999", 50)], snils_ru,
        &["снилс", "snils", "страховойномер"]) },
    rule("ru.inn-person", "INN_RU", &["ru"], &[("999999999999", 65)], inn_person_ru,
        &["инн", "inn", "налогоплательщика", "taxid"]),
    rule("ru.inn-company", "INN_RU", &["ru"], &[("9999999999", 0)], inn_company_ru,
        &["инн", "inn", "налогоплательщика", "taxid"]),
    rule("uk.nino", "NINO_UK", &["en", "uk", "gb"],
        &[("AA999999A", 85), ("AA 99 99 99 A", 92), ("AA-99-99-99-A", 90), ("AA 999999 A", 85),
          ("AA 999999A", 80), ("AA999999 A", 70)], nino_uk,
        &["nino", "ni", "nationalinsurance", "ninumber", "nationalinsurancenumber", "insurance"]),
    rule("uk.nhs", "NHS_UK", &["en", "uk", "gb"], &[("999 999 9999", 0), ("999-999-9999", 0), ("9999999999", 0)], nhs_uk,
        &["nhs", "nhsnumber", "nhsno", "nhsnr", "healthservice"]),
    // Grouped, without a word: numbers given to people since 1996 begin with 4, 6 or 7.
    rule("uk.nhs-grouped", "NHS_UK", &["en", "uk", "gb"], &[("999 999 9999", 60)],
        |n| matches!(n[0], b'4' | b'6' | b'7') && nhs_uk(n), &[]),
    rule("uk.utr", "UTR_UK", &["uk", "gb"], &[("9999999999", 0), ("99999 99999", 0)], utr_uk,
        &["utr", "uniquetaxpayerreference", "taxpayerreference"]),
    rule("ch.avs", "AVS_CH", &["en", "ch", "de", "fr", "it"],
        &[("756.9999.9999.99", 95), ("756 9999 9999 99", 90), ("7569999999999", 75)], ean,
        &["ahv", "avs", "ahvnr", "ahvnummer", "numéroavs", "navs", "oasi", "sozialversicherungsnummer", "ssn"]),
    rule("tr.tckn", "TCKN_TR", &["tr"], &[("99999999999", 70), ("999 999 999 99", 50)], tckn_tr,
        &["tckn", "tckimlik", "tckimlikno", "kimlik", "kimliknumarası", "kimlikno", "türkkimlik", "tcno", "turkishid"]),
    // Named, a Turkish number is one whatever packs are on.
    rule("tr.tckn-named", "TCKN_TR", &["en"], &[("99999999999", 0)], tckn_tr,
        &["tckn", "tckimlik", "tckimlikno", "turkishid"]),
    rule("fi.hetu", "HETU_FI", &["fi"],
        &[("999999-999X", 92), ("999999+999X", 92), ("999999A999X", 92)], hetu_fi,
        &["hetu", "henkilötunnus", "personbeteckning", "identitycode", "sosiaaliturvatunnus"]),
    rule("se.personnummer", "PNR_SE", &["sv", "se"],
        &[("99999999-9999", 85), ("999999-9999", 70), ("999999+9999", 70), ("999999999999", 75), ("9999999999", SUSPECT)],
        personnummer_se,
        &["personnummer", "pnr", "samordningsnummer", "personid", "personalidentity", "identitycode"]),
    rule("dk.cpr", "CPR_DK", &["da", "dk"], &[("999999-9999", 0), ("9999999999", 0)],
        |n| day_of_month(value(&n[2..4]), value(&n[..2])),
        &["cpr", "cprnummer", "cprnr", "personnummer"]),
    rule("no.fnr", "FNR_NO", &["no", "nb", "nn"], &[("99999999999", 75), ("999999 99999", 80)], fnr_no,
        &["fødselsnummer", "fodselsnummer", "fnr", "personnummer"]),
    rule("be.nrn", "NRN_BE", &["be", "nl", "fr"],
        &[("99.99.99-999.99", 95), ("99.99.99-999-99", 90), ("99999999999", 70)], nrn_be,
        &["rijksregisternummer", "insz", "niss", "registrenational", "numéronational", "nationalnumber"]),
    rule("at.svnr", "SVNR_AT", &["at", "de"], &[("9999 999999", 65), ("9999999999", SUSPECT)], svnr_at,
        &["svnr", "sozialversicherungsnummer", "svnummer", "versicherungsnummer"]),
    rule("pt.nif", "NIF_PT", &["pt"], &[("999999999", SUSPECT), ("999 999 999", 0), ("PT999999999", 85)], nif_pt,
        &["nif", "contribuinte", "numerodecontribuinte", "númerodecontribuinte", "nipc"]),
    rule("cz.birth-number", "RC_CZ", &["cs", "cz", "sk"], &[("999999/9999", 85), ("9999999999", 0)], birth_number_cz,
        &["rodnéčíslo", "rodnecislo", "rč", "birthnumber"]),
    rule("ie.pps", "PPS_IE", &["ie"], &[("9999999A", 60), ("9999999AA", 60)], pps_ie,
        &["pps", "ppsn", "ppsnumber", "personalpublicservice"]),
    rule("ro.cnp", "CNP_RO", &["ro"], &[("9999999999999", 75)], cnp_ro, &["cnp", "codnumericpersonal"]),
    rule("hr.oib", "OIB_HR", &["hr"], &[("99999999999", 0)], |n| mod_11_10(n) && !uniform(n), &["oib", "osobniidentifikacijskibroj"]),
    rule("bg.egn", "EGN_BG", &["bg"], &[("9999999999", 0)], egn_bg, &["егн", "egn"]),
    rule("ee.isikukood", "ISIKUKOOD_EE", &["et", "ee", "lt"], &[("99999999999", 65)], isikukood_ee,
        &["isikukood", "asmenskodas", "personalcode"]),
];

/// Umsatzsteuer-Identifikationsnummer (§ 27a UStG): nine digits, ISO/IEC 7064 MOD 11,10, the first
/// not 0 (Bundeszentralamt für Steuern, algorithm as used by VIES).
fn vat_de(number: &[u8]) -> bool {
    let digits = &number[2..];
    digits[0] != b'0' && mod_11_10(digits)
}

/// Steuerliche Identifikationsnummer (§ 139b AO): eleven digits, MOD 11,10, the first not 0; of the
/// first ten one digit stands there two or three times, and test numbers have none twice
/// (Bundeszentralamt für Steuern).
fn tax_id_de(n: &[u8]) -> bool {
    let mut count = [0u8; 10];
    n[..10].iter().for_each(|&b| count[digit(b) as usize] += 1);
    let repeated = count.iter().filter(|&&c| c > 1).count();
    n[0] != b'0' && repeated <= 1 && count.iter().all(|&c| c <= 3) && mod_11_10(n)
}

/// Versicherungsnummer of the German pension insurance (§ 147 SGB VI, VKVV § 4): area, date of
/// birth, letter, serial, check digit over all with the letter as two digits; the weights are
/// 2 1 2 5 7 1 2 1 2 1 2 1 and each product counts by its cross sum.
fn social_security_de(n: &[u8]) -> bool {
    const WEIGHTS: [u32; 12] = [2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1];
    if !n[8].is_ascii_uppercase() {
        return false;
    }
    let letter = u32::from(n[8] - b'A') + 1;
    let mut digits = [0; 12];
    n[..8]
        .iter()
        .zip(&mut digits)
        .for_each(|(&b, to)| *to = digit(b));
    (digits[8], digits[9], digits[10], digits[11]) =
        (letter / 10, letter % 10, digit(n[9]), digit(n[10]));
    let cross = |n: u32| n / 10 + n % 10;
    let sum: u32 = digits.iter().zip(WEIGHTS).map(|(d, w)| cross(d * w)).sum();
    let day = value(&n[2..4]);
    day_of_month(value(&n[4..6]), if day > 50 { day - 50 } else { day }) && sum % 10 == digit(n[11])
}

/// Numéro d'inscription au répertoire (INSEE, décret 82-103): sex, year, month (or 20 to 42 and 50
/// to 99 where it is unknown), department, municipality, serial, and 97 minus the rest as the key;
/// Corsica's 2A and 2B count as 19 and 18.
fn nir_fr(n: &[u8]) -> bool {
    let mut body = [0; 13];
    body.copy_from_slice(&n[..13]);
    match (body[5], body[6]) {
        (b'2', b'A') => body[6] = b'9',
        (b'2', b'B') => (body[5], body[6]) = (b'1', b'8'),
        (_, letter) if letter.is_ascii_alphabetic() => return false,
        _ => {}
    }
    let month = matches!(value(&n[3..5]), 1..=12 | 20 | 30..=42 | 50..=99);
    let key = value(&n[13..15]);
    matches!(n[0], b'1'..=b'4' | b'7' | b'8')
        && month
        && &body[5..7] != b"00"
        && u64::from(key) == 97 - long_value(&body) % 97
}

/// The letter of DNI and NIE: the number modulo 23 (Real Decreto 1553/2005; Orden INT/2058/2008).
fn spanish_letter(number: u32) -> u8 {
    b"TRWAGMYFPDXBNJZSQVHLCKE"[number as usize % 23]
}

/// Documento nacional de identidad: seven or eight digits and the letter.
fn dni_es(n: &[u8]) -> bool {
    let Some((&letter, digits)) = n.split_last() else {
        return false;
    };
    value(digits) > 0 && spanish_letter(value(digits)) == letter
}

/// Número de identidad de extranjero: X, Y, Z count as 0, 1, 2 before the digits.
fn nie_es(n: &[u8]) -> bool {
    let lead = match n[0] {
        letter @ b'X'..=b'Z' => u32::from(letter - b'X'),
        _ => return false,
    };
    spanish_letter(lead * 10_000_000 + value(&n[1..8])) == n[8]
}

/// Burgerservicenummer: the elfproef with weights 9 to 2 and -1 (Besluit burgerservicenummer).
fn bsn_nl(n: &[u8]) -> bool {
    let sum = weighted(&n[..8], &[9, 8, 7, 6, 5, 4, 3, 2]) + 11 * 9 - digit(n[8]);
    sum.is_multiple_of(11) && !uniform(n)
}

/// Dutch postal code: four digits from 1000, two letters that are not SA, SD or SS (PostNL).
fn postal_nl(n: &[u8]) -> bool {
    n[0] != b'0' && !matches!(&n[4..], b"SA" | b"SD" | b"SS")
}

/// Codice fiscale (D.M. 23 dicembre 1976): consonants of the names, year, month letter, day (plus
/// 40 for women), municipality, check letter; digits may be letters in case of namesakes
/// (omocodia).
fn fiscal_code_it(n: &[u8]) -> bool {
    const ODD: [u32; 26] = [
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24,
        23,
    ];
    const REPLACED: &[u8] = b"LMNPQRSTUV";
    let digit_at = |i: usize| match n[i] {
        b @ b'0'..=b'9' => Some(digit(b)),
        b => REPLACED.iter().position(|&r| r == b).map(|d| d as u32),
    };
    let day = digit_at(9).zip(digit_at(10)).map_or(0, |(a, b)| a * 10 + b);
    let digits = [6, 7, 12, 13, 14].iter().all(|&i| digit_at(i).is_some());
    let rank = |b: u8| {
        if b.is_ascii_digit() {
            digit(b)
        } else {
            u32::from(b - b'A')
        }
    };
    let each = |(i, &b): (usize, &u8)| {
        if i % 2 == 0 {
            ODD[rank(b) as usize]
        } else {
            rank(b)
        }
    };
    let sum: u32 = n[..15].iter().enumerate().map(each).sum();
    digits
        && b"ABCDEHLMPRST".contains(&n[8])
        && matches!(day, 0..=31 | 41..=71)
        && sum % 26 == u32::from(n[15] - b'A')
}

/// PESEL (ustawa o ewidencji ludności): date of birth with the century in the month, serial, check
/// digit with weights 1 3 7 9.
fn pesel_pl(n: &[u8]) -> bool {
    let month = value(&n[2..4]);
    let Some(century) = [1900, 2000]
        .get(month as usize / 20)
        .copied()
        .or_else(|| (month > 80).then_some(1800))
    else {
        return false;
    };
    let sum = weighted(n, &[1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]);
    date(century + value(&n[..2]), month % 20, value(&n[4..6])) && sum.is_multiple_of(10)
}

/// Numer identyfikacji podatkowej: weights 6 5 7 2 3 4 5 6 7 modulo 11, never 10.
fn nip_pl(number: &[u8]) -> bool {
    let n = &number[number.len() - 10..];
    weighted(n, &[6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11 == digit(n[9]) && n[0] != b'0' && !uniform(n)
}

/// Polish identity card: weights 7 3 1 with A as 10, the check digit being the first digit.
fn identity_card_pl(n: &[u8]) -> bool {
    let rank = |b: u8| {
        if b.is_ascii_digit() {
            digit(b)
        } else {
            u32::from(b - b'A') + 10
        }
    };
    let sum: u32 = n
        .iter()
        .zip([7, 3, 1, 9, 7, 3, 1, 7, 3])
        .map(|(&b, w)| rank(b) * w)
        .sum();
    sum.is_multiple_of(10)
}

/// СНИЛС: weights 9 to 1, modulo 101, 100 counting as 00; numbers up to 001-001-998 have no check
/// (Постановление Правления ПФР 192п).
fn snils_ru(n: &[u8]) -> bool {
    let sum = weighted(n, &[9, 8, 7, 6, 5, 4, 3, 2, 1]) % 101 % 100;
    value(&n[..9]) > 1_001_998 && sum == value(&n[9..11])
}

/// ИНН of a person: twelve digits, the last two checked modulo 11 modulo 10 (Приказ ФНС
/// ЯК-7-6/559@).
fn inn_person_ru(n: &[u8]) -> bool {
    let first = weighted(n, &[7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10;
    let second = weighted(n, &[3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10;
    &n[..2] != b"00" && (first, second) == (digit(n[10]), digit(n[11]))
}

/// ИНН of an organisation or sole trader's employer: ten digits, one checked.
fn inn_company_ru(n: &[u8]) -> bool {
    &n[..2] != b"00" && weighted(n, &[2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10 == digit(n[9])
}

/// National Insurance number (HMRC manual NIM39110): two prefix letters, none of D F I Q U V, the
/// second not O, some pairs never given; six digits; A to D.
fn nino_uk(n: &[u8]) -> bool {
    let never: &[&[u8]] = &[b"BG", b"GB", b"KN", b"NK", b"NT", b"TN", b"ZZ"];
    !b"DFIQUV".contains(&n[0])
        && !b"DFIOQUV".contains(&n[1])
        && !never.contains(&&n[..2])
        && matches!(n[8], b'A'..=b'D')
}

/// NHS number: weights 10 to 2, eleven minus the rest, never 10 (NHS Data Dictionary).
fn nhs_uk(n: &[u8]) -> bool {
    let rest = weighted(n, &[10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11;
    (11 - rest) % 11 == digit(n[9]) && !uniform(n)
}

/// Unique Taxpayer Reference: the first digit checks the others, modulo 11 (HMRC).
fn utr_uk(n: &[u8]) -> bool {
    let rest = weighted(&n[1..], &[6, 7, 8, 9, 10, 5, 4, 3, 2]) % 11;
    digit(b"21987654321"[rest as usize]) == digit(n[0])
}

/// EAN-13, as the Swiss AHV/AVS number uses it with the country prefix 756 (AHVV Art. 133).
fn ean(n: &[u8]) -> bool {
    weighted(n, &[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]).is_multiple_of(10)
}

/// T.C. kimlik numarası: the tenth digit is 7 × the odd places less the even ones, the eleventh the
/// sum of the ten (5490 sayılı Nüfus Hizmetleri Kanunu; NVİ).
fn tckn_tr(n: &[u8]) -> bool {
    let odd = weighted(n, &[1, 0, 1, 0, 1, 0, 1, 0, 1]);
    let even = weighted(n, &[0, 1, 0, 1, 0, 1, 0, 1]);
    let sum: u32 = n[..10].iter().map(|&b| digit(b)).sum();
    n[0] != b'0' && (odd * 7 + 100 - even) % 10 == digit(n[9]) && sum % 10 == digit(n[10])
}

/// Henkilötunnus (Väestötietojärjestelmälaki, DVV): date, century sign, serial from 002, and the
/// number of date and serial modulo 31.
fn hetu_fi(n: &[u8]) -> bool {
    // A sign that is no letter is a separator and not part of the number.
    let (sign, rest) = if n.len() == 10 {
        (b'-', &n[6..])
    } else {
        (n[6], &n[7..])
    };
    let serial = value(&rest[..3]);
    let check =
        b"0123456789ABCDEFHJKLMNPRSTUVWXY"[((value(&n[..6]) * 1000 + serial) % 31) as usize];
    b"-ABCDEFUVWXY".contains(&sign)
        && day_of_month(value(&n[2..4]), value(&n[..2]))
        && (2..=999).contains(&serial)
        && check == rest[3]
}

/// Personnummer and samordningsnummer (Folkbokföringslag 18 §; day plus 60): Luhn over ten digits.
fn personnummer_se(n: &[u8]) -> bool {
    let short = &n[n.len() - 10..];
    let day = value(&short[4..6]);
    let century = n.len() == 10 || matches!(&n[..2], b"18" | b"19" | b"20");
    let day_known = if day > 60 { day - 60 } else { day };
    century && day_of_month(value(&short[2..4]), day_known) && luhn(short)
}

/// Fødselsnummer: date of birth and two check digits modulo 11 (Folkeregisterforskriften; D-number:
/// day plus 40).
fn fnr_no(n: &[u8]) -> bool {
    let day = value(&n[..2]);
    let first = weighted(n, &[3, 7, 6, 1, 8, 9, 4, 5, 2, 1]);
    let second = weighted(n, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]);
    day_of_month(value(&n[2..4]), if day > 40 { day - 40 } else { day })
        && first.is_multiple_of(11)
        && second.is_multiple_of(11)
}

/// Belgian national register number (KB 3 april 1984): date, serial, 97 minus the rest, with a 2
/// before those born from 2000.
fn nrn_be(n: &[u8]) -> bool {
    let (body, check) = (long_value(&n[..9]), u64::from(value(&n[9..11])));
    day_of_month(value(&n[2..4]), value(&n[4..6]))
        && (97 - body % 97 == check || 97 - (2_000_000_000 + body) % 97 == check)
}

/// Austrian social-security number: serial, check digit, date of birth; weights 3 7 9 . 5 8 4 2 1 6
/// (ASVG; Dachverband der Sozialversicherungsträger).
fn svnr_at(n: &[u8]) -> bool {
    let sum = weighted(n, &[3, 7, 9, 0, 5, 8, 4, 2, 1, 6]);
    n[0] != b'0' && day_of_month(value(&n[6..8]), value(&n[4..6])) && sum % 11 == digit(n[3])
}

/// Portuguese número de identificação fiscal: weights 9 to 2, modulo 11 (Decreto-Lei 14/2013).
fn nif_pt(number: &[u8]) -> bool {
    let n = &number[number.len() - 9..];
    let rest = weighted(n, &[9, 8, 7, 6, 5, 4, 3, 2]) % 11;
    n[0] != b'0' && digit(n[8]) == if rest < 2 { 0 } else { 11 - rest } && !uniform(n)
}

/// Rodné číslo (zákon 133/2000 Sb.): date of birth, month plus 50 for women (and plus 20), all ten
/// digits divisible by eleven.
fn birth_number_cz(n: &[u8]) -> bool {
    let month = value(&n[2..4]) % 50;
    day_of_month(if month > 20 { month - 20 } else { month }, value(&n[4..6]))
        && long_value(n).is_multiple_of(11)
}

/// Personal Public Service number (Social Welfare Consolidation Act 2005): weights 8 to 2, a second
/// letter times 9, modulo 23.
fn pps_ie(n: &[u8]) -> bool {
    let second = n
        .get(8)
        .map_or(0, |&b| u32::from(b.wrapping_sub(b'@')) % 23 * 9);
    let sum = weighted(n, &[8, 7, 6, 5, 4, 3, 2]) + second;
    b"WABCDEFGHIJKLMNOPQRSTUV"[(sum % 23) as usize] == n[7]
        && matches!(n.get(8), None | Some(b'A'..=b'I' | b'W'))
}

/// Cod numeric personal (Legea 105/1996): sex and century, date, county, serial, check digit.
fn cnp_ro(n: &[u8]) -> bool {
    let check = weighted(n, &[2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11;
    matches!(n[0], b'1'..=b'8')
        && day_of_month(value(&n[3..5]), value(&n[5..7]))
        && matches!(value(&n[7..9]), 1..=52)
        && check.min(if check == 10 { 1 } else { 10 }) == digit(n[12])
}

/// Единен граждански номер (Закон за гражданската регистрация): date with the century in the month,
/// weights 2 4 8 5 10 9 7 3 6 modulo 11 modulo 10.
fn egn_bg(n: &[u8]) -> bool {
    let sum = weighted(n, &[2, 4, 8, 5, 10, 9, 7, 3, 6]);
    day_of_month(value(&n[2..4]) % 20, value(&n[4..6])) && sum % 11 % 10 == digit(n[9])
}

/// Isikukood and asmens kodas (EVS 585:2007): sex and century, date, serial, check digit modulo 11
/// with a second row of weights.
fn isikukood_ee(n: &[u8]) -> bool {
    let first = weighted(n, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 1]) % 11;
    let second = weighted(n, &[3, 4, 5, 6, 7, 8, 9, 1, 2, 3]) % 11 % 10;
    matches!(n[0], b'1'..=b'8')
        && day_of_month(value(&n[3..5]), value(&n[5..7]))
        && digit(n[10]) == if first < 10 { first } else { second }
}
