//! The Americas: national, tax and health numbers.

use super::checks::{day_of_month, digit, luhn, luhn_sum, uniform, value, weighted};
use super::rule::{Rule, rule};

/// The rules of American countries.
#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    rule("us.itin", "ITIN_US", &["en", "us"],
        &[("999-99-9999", 85), ("999 99 9999", 70), ("999999999", 0), ("999-999999", 60), ("99999-9999", 0)], itin_us,
        &["itin", "taxpayeridentification", "individualtaxpayer", "taxid", "tin"]),
    rule("us.npi", "NPI_US", &["en", "us"],
        &[("9999999999", 0), ("9999-999-999", 60), ("9999 999 999", 55)], npi_us,
        &["npi", "nationalprovider", "provideridentifier", "providerid", "npinumber"]),
    rule("us.mbi", "MBI_US", &["en", "us"], &[("9AX9AX9AA99", 75), ("9AX9-AX9-AA99", 88)], mbi_us,
        &["mbi", "medicare", "medicareid", "beneficiary"]),
    rule("us.aba", "ABA_US", &["en", "us"], &[("999999999", 0), ("9999-9999-9", 60)], aba_us,
        &["aba", "routing", "routingnumber", "abarouting", "rtn", "abanumber"]),
    rule("ca.sin", "SIN_CA", &["en", "ca", "fr"],
        &[("999-999-999", 60), ("999 999 999", 0), ("999999999", 0)], sin_ca,
        &["sin", "nas", "socialinsurance", "socialinsurancenumber", "assurancesociale", "sinnumber"]),
    rule("br.cpf", "CPF_BR", &["pt", "br"],
        &[("999.999.999-99", 95), ("999999999-99", 85), ("999 999 999 99", 60), ("99999999999", 65)], cpf_br,
        &["cpf", "cadastrodepessoas", "cpfnumber", "contribuinte"]),
    rule("br.cnpj", "CNPJ_BR", &["pt", "br"],
        &[("99.999.999/9999-99", 95), ("99999999/9999-99", 88), ("99999999999999", 60)], cnpj_br,
        &["cnpj", "cadastronacional"]),
    rule("mx.curp", "CURP_MX", &["es", "mx"], &[("AAAA999999AAAAAAX9", 95)], curp_mx, &["curp"]),
    rule("mx.rfc", "RFC_MX", &["es", "mx"], &[("AAAA999999XXX", 70)],
        |n| day_of_month(value(&n[6..8]), value(&n[8..10])), &["rfc", "registrofederal"]),
    rule("cl.rut", "RUT_CL", &["es", "cl"],
        &[("99.999.999-X", 92), ("9.999.999-X", 90), ("99999999-X", 70), ("9999999-X", 0), ("99999999X", 0)], rut_cl,
        &["rut", "run", "rolúnico"]),
    rule("ar.cuit", "CUIT_AR", &["es", "ar"], &[("99-99999999-9", 90), ("99999999999", 0)], cuit_ar, &["cuit", "cuil"]),
];

/// Individual Taxpayer Identification Number (IRS): 9xx, groups 50–65, 70–88, 90–92, 94–99.
fn itin_us(n: &[u8]) -> bool {
    n[0] == b'9' && matches!(value(&n[3..5]), 50..=65 | 70..=88 | 90..=92 | 94..=99)
}

/// National Provider Identifier (45 CFR 162.406): Luhn over 80840 and the ten digits, whose first
/// is 1 or 2.
fn npi_us(n: &[u8]) -> bool {
    // The prefix 80840 adds 24 to the sum.
    matches!(n[0], b'1' | b'2') && (luhn_sum(n) + 24).is_multiple_of(10) && !uniform(&n[..9])
}

/// Medicare Beneficiary Identifier (CMS): a class of character for each place, no S L O I B Z.
fn mbi_us(n: &[u8]) -> bool {
    n[0] != b'0' && !n.iter().any(|b| b"SLOIBZ".contains(b))
}

/// ABA routing number: Federal Reserve prefix, weights 3 7 1 (ABA Routing Number Policy).
fn aba_us(n: &[u8]) -> bool {
    let prefix = matches!(value(&n[..2]), 1..=12 | 21..=32 | 61..=72 | 80);
    prefix && weighted(n, &[3, 7, 1, 3, 7, 1, 3, 7, 1]).is_multiple_of(10) && !uniform(n)
}

/// Social insurance number (Employment and Social Development Canada): Luhn, never beginning with
/// 0 or 8.
fn sin_ca(n: &[u8]) -> bool {
    !matches!(n[0], b'0' | b'8') && luhn(n) && !uniform(n)
}

/// Cadastro de Pessoas Físicas (Receita Federal): two check digits modulo 11.
fn cpf_br(n: &[u8]) -> bool {
    let rest = |sum: u32| sum * 10 % 11 % 10;
    let first = rest(weighted(n, &[10, 9, 8, 7, 6, 5, 4, 3, 2]));
    let second = rest(weighted(n, &[11, 10, 9, 8, 7, 6, 5, 4, 3, 2]));
    !uniform(n) && (first, second) == (digit(n[9]), digit(n[10]))
}

/// Cadastro Nacional da Pessoa Jurídica (Receita Federal): two check digits modulo 11.
fn cnpj_br(n: &[u8]) -> bool {
    let check = |sum: u32| if sum % 11 < 2 { 0 } else { 11 - sum % 11 };
    let first = check(weighted(n, &[5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]));
    let second = check(weighted(n, &[6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]));
    !uniform(n) && (first, second) == (digit(n[12]), digit(n[13]))
}

/// Clave Única de Registro de Población (RENAPO): names, date, sex, state, consonants, and a check
/// digit modulo 10 in which Ñ would be a rank of its own.
fn curp_mx(n: &[u8]) -> bool {
    let rank = |b: u8| match b {
        b'0'..=b'9' => digit(b),
        b'A'..=b'N' => u32::from(b - b'A') + 10,
        _ => u32::from(b - b'A') + 11,
    };
    let sum: u32 = n[..17]
        .iter()
        .zip((2..=18).rev())
        .map(|(&b, w)| rank(b) * w)
        .sum();
    matches!(n[10], b'H' | b'M' | b'X')
        && day_of_month(value(&n[6..8]), value(&n[8..10]))
        && (10 - sum % 10) % 10 == digit(n[17])
}

/// Rol Único Tributario: weights 2 to 7 from the right, modulo 11, K for 10.
fn rut_cl(n: &[u8]) -> bool {
    let Some((&check, body)) = n.split_last() else {
        return false;
    };
    let sum: u32 = body
        .iter()
        .rev()
        .zip((2..=7).cycle())
        .map(|(&b, w)| digit(b) * w)
        .sum();
    let want = match 11 - sum % 11 {
        11 => b'0',
        10 => b'K',
        d => b'0' + d as u8,
    };
    want == check && !uniform(body)
}

/// CUIT and CUIL (AFIP): kind of holder, number, check digit modulo 11.
fn cuit_ar(n: &[u8]) -> bool {
    let rest = 11 - weighted(n, &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
    matches!(
        &n[..2],
        b"20" | b"23" | b"24" | b"25" | b"26" | b"27" | b"30" | b"33" | b"34"
    ) && rest % 11 == digit(n[10])
}
