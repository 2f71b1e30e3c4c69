use super::*;

fn all() -> Packs {
    Packs::of(&["all"]).unwrap()
}

/// What is found at the first place of `text` where something is.
fn find(text: &str, packs: &Packs) -> Option<(&'static str, u8, String)> {
    let bytes = text.as_bytes();
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    (0..bytes.len())
        .filter(|&i| bytes[i].is_ascii_alphanumeric() && (i == 0 || !word(bytes[i - 1])))
        .find_map(|i| {
            at(bytes, i, packs).map(|h| (h.name, h.confidence, text[i..h.end].to_owned()))
        })
}

/// A correct number of each rule with a check, as its authority or the literature prints it, and the
/// word that names it.
#[rustfmt::skip]
const RIGHT: &[(&str, &str, &str)] = &[
    ("VAT_DE", "USt-IdNr.", "DE136695976"), ("TAX_ID_DE", "Steuer-ID", "86095742719"), ("SSN_DE", "RVNR", "15070649C103"),
    ("NIR_FR", "NIR", "2 55 08 14 168 025 38"), ("NIR_FR", "numéro de sécurité sociale", "255081416802538"),
    ("DNI_ES", "DNI", "12345678Z"), ("NIE_ES", "NIE", "X1234567L"), ("BSN_NL", "burgerservicenummer", "111222333"),
    ("CODICE_FISCALE_IT", "codice fiscale", "RSSMRA85T10A562S"), ("VAT_IT", "P.IVA", "IT00743110157"),
    ("PESEL_PL", "numer PESEL", "44051401458"), ("NIP_PL", "NIP", "123-456-32-18"), ("ID_PL", "dowód osobisty", "ABA300000"),
    ("SNILS_RU", "СНИЛС", "112-233-445 95"), ("INN_RU", "ИНН", "500100732259"), ("INN_RU", "ИНН", "7707083893"),
    ("NHS_UK", "NHS number", "943 476 5919"), ("AVS_CH", "AHV-Nr.", "756.9217.0769.85"), ("TCKN_TR", "TC Kimlik No", "10000000146"),
    ("HETU_FI", "henkilötunnus", "131052-308T"), ("PNR_SE", "personnummer", "811218-9876"), ("NRN_BE", "rijksregisternummer", "85.07.30-033.28"),
    ("SVNR_AT", "SVNR", "1237 010180"), ("NIF_PT", "contribuinte", "123456789"), ("RC_CZ", "rodné číslo", "736028/5163"),
    ("CNP_RO", "CNP", "1800101221144"), ("OIB_HR", "OIB", "94577403194"), ("EGN_BG", "ЕГН", "7523169263"), ("ISIKUKOOD_EE", "isikukood", "37605030299"),
    ("NATIONAL_ID_CN", "身份证号", "11010519491231002X"), ("MY_NUMBER_JP", "マイナンバー", "123456789018"), ("AADHAAR_IN", "Aadhaar", "2341 2341 2346"),
    ("GSTIN_IN", "GSTIN", "27AAPFU0939F1ZV"), ("IL_ID", "תעודת זהות", "123456782"), ("FIN_SG", "NRIC", "S1234567D"), ("TNIN_TH", "เลขประจำตัวประชาชน", "1234567890121"),
    ("ID_TW", "身分證字號", "A123456789"), ("ID_ZA", "RSA ID", "8001015009087"), ("NPI_US", "NPI", "1234567893"), ("ABA_US", "routing number", "021000021"),
    ("SIN_CA", "SIN", "130 692 544"), ("CPF_BR", "CPF", "529.982.247-25"), ("CNPJ_BR", "CNPJ", "11.222.333/0001-81"), ("CURP_MX", "CURP", "HEGG560427MVZRRL04"),
    ("RUT_CL", "RUT", "12.345.678-5"), ("CUIT_AR", "CUIT", "20-05536168-2"), ("TFN_AU", "TFN", "123 456 782"), ("ABN_AU", "ABN", "51 824 753 556"),
    ("ACN_AU", "ACN", "004 085 616"), ("MEDICARE_AU", "Medicare", "2123 45670 1"), ("IRD_NZ", "IRD number", "49-091-850"), ("UTR_UK", "UTR", "1123456789"),
];

#[test]
fn a_correct_number_is_found_where_a_word_names_it() {
    let packs = all();
    for &(name, word, number) in RIGHT {
        for text in [
            format!("{word}: {number}"),
            format!("{{\"{word}\": \"{number}\"}}"),
            format!("{word} {number}, ok"),
        ] {
            let found = find(&text, &packs);
            assert_eq!(found, Some((name, NAMED, number.to_owned())), "{text}");
        }
    }
}

#[test]
fn a_wrong_digit_is_noticed() {
    let packs = all();
    for &(name, word, number) in RIGHT {
        let (mut wrong, mut missed) = (0, 0);
        for (i, c) in number.char_indices().filter(|(_, c)| c.is_ascii_digit()) {
            let other = char::from((c as u8 - b'0' + 1) % 10 + b'0');
            let text = format!("{word}: {}{other}{}", &number[..i], &number[i + 1..]);
            wrong += 1;
            missed += usize::from(find(&text, &packs).is_some_and(|(found, ..)| found == name));
        }
        // A check modulo 11 that is written modulo 10 misses a few errors, and what a Medicare card's
        // issue number is, no digit checks.
        assert!(missed * 4 <= wrong, "{name}: {missed} of {wrong}");
    }
}

#[test]
fn digits_alone_are_nobody_where_the_check_is_weak() {
    let packs = all();
    for number in [
        "111222333",
        "123456782",
        "1234563218",
        "943 476 5919 12",
        "130 692 544",
        "1234567890121",
        "7707083893",
    ] {
        assert_eq!(find(&format!("42,{number},ok"), &packs), None, "{number}");
        assert_eq!(find(&format!("user_id={number}"), &packs), None, "{number}");
    }
}

#[test]
fn twelve_digits_with_a_check_are_somebodys_unless_another_name_claims_them() {
    let packs = all();
    assert!(find("42,123456789018,ok", &packs).is_some());
    for text in [
        "user_id=123456789018",
        "order 123456789018",
        "seq: 123456789018",
    ] {
        assert_eq!(find(text, &packs), None, "{text}");
    }
}

#[test]
fn suspects_are_reported_on_request_unless_another_name_claims_them() {
    let packs = all().with_suspects();
    assert_eq!(
        find("42,123456782,ok", &packs).map(|f| f.1),
        Some(rule::SUSPECT)
    );
    assert_eq!(find("order 123456782", &packs), None);
    assert_eq!(find("seq=123456782", &packs), None);
    assert_eq!(find("{\"tabId\":123456782}", &packs), None);
}

#[test]
fn strong_numbers_are_found_without_a_word() {
    let packs = all();
    for (name, number) in [
        ("PESEL_PL", "44051401458"),
        ("DNI_ES", "12345678Z"),
        ("NIR_FR", "255081416802538"),
        ("CPF_BR", "529.982.247-25"),
        ("CODICE_FISCALE_IT", "RSSMRA85T10A562S"),
        ("NATIONAL_ID_CN", "11010519491231002X"),
        ("VAT_DE", "DE136695976"),
        ("NINO_UK", "AB 12 34 56 C"),
        ("HETU_FI", "131052-308T"),
        ("MBI_US", "1EG4-TE5-MK73"),
        ("PAN_IN", "ABCPE1234F"),
        ("RRN_KR", "960121-1021413"),
        ("AVS_CH", "756.9217.0769.85"),
        ("INN_RU", "500100732259"),
    ] {
        let found = find(&format!("Record {number} was updated."), &packs);
        assert!(
            found
                .as_ref()
                .is_some_and(|f| f.0 == name && f.1 < NAMED && f.2 == number),
            "{number}: {found:?}"
        );
    }
}

#[test]
fn pieces_of_longer_numbers_are_left_alone() {
    let packs = all();
    for text in [
        "IBAN: DE97 5890 7204 1285 3166 68",
        "paid with 2600 0009 1375 5831 yesterday",
        "+14155552671",
        "3.44051401458",
        "44051401458.5",
        "684D:1111:222:3333:4444:5555:6:77",
        "/pages/44051401458/x",
        "x44051401458",
        "Ed25519ph",
        "a 12345678e b",
        "see 764623112.909, ratio",
        "5528e7f9-987e-4dee-aa14-0f1fda7739b5",
        "202511091430",
        "1548138160707",
        "402-118-2260",
    ] {
        assert_eq!(find(text, &packs), None, "{text}");
    }
}

#[test]
fn documents_need_a_word_directly_before() {
    let packs = Packs::of::<&str>(&[]).unwrap();
    for (name, text) in [
        ("PASSPORT", "my passport number is C01234565"),
        ("PASSPORT", "Reisepass C01X00T47"),
        ("PASSPORT", "{\"passport_no\": \"AB1234567\"}"),
        ("PASSPORT", "护照: G12345678"),
        (
            "DRIVER_LICENSE",
            "My driver's license number is F162823540116",
        ),
        ("DRIVER_LICENSE", "Führerschein: B072RRE2I55"),
        ("BANK_ACCOUNT", "account number: 945456787654"),
    ] {
        assert_eq!(find(text, &packs).map(|f| f.0), Some(name), "{text}");
    }
    for text in [
        "the passport office has 1234567 visitors",
        "AB1234567",
        "took 12345 ms",
        "pass 12345678 of them by",
    ] {
        assert_ne!(
            find(text, &packs).map(|f| f.0),
            Some("DRIVER_LICENSE"),
            "{text}"
        );
    }
    assert_eq!(find("took 1234567 ms", &packs), None);
}

#[test]
fn names_of_fields_name_numbers() {
    let packs = Packs::of(&["de", "nl", "pl"]).unwrap();
    for text in [
        "\"steuer_id\":\"86095742719\"",
        "steuerId=86095742719",
        "STEUER_ID: 86095742719",
        "<steuerId>86095742719</steuerId>",
    ] {
        assert_eq!(
            find(text, &packs).map(|f| (f.0, f.1)),
            Some(("TAX_ID_DE", NAMED)),
            "{text}"
        );
    }
    let number =
        |digits, field| number(digits, &packs, field).map(|hit| (hit.name, hit.confidence));
    assert_eq!(number("111222333", Some("bsn")), Some(("BSN_NL", NAMED)));
    assert_eq!(number("10000068", Some("customerBsn")), None);
    assert_eq!(number("111222333", Some("tabId")), None);
    assert_eq!(number("111222333", None), None);
    assert_eq!(
        in_field(b"111222333", 0, &packs, Some("BSN")).map(|h| h.name),
        Some("BSN_NL")
    );
    // A leading zero that JSON cannot have.
    assert_eq!(find("BSN: 010464554", &packs).map(|f| f.0), Some("BSN_NL"));
    assert_eq!(number("10464554", Some("bsn")), Some(("BSN_NL", NAMED)));
}

#[test]
fn a_word_names_only_its_own_number() {
    let packs = all();
    assert_eq!(find("PESEL is missing, phone 111222333", &packs), None);
    assert_eq!(find("BSN 12345, later 111222333", &packs), None);
    assert_eq!(find("using 130692544 rows", &packs), None);
    assert_eq!(find("a turnip 1234563218", &packs), None);
    assert_eq!(
        find("199109242397 är mitt pnr.", &packs).map(|f| f.1),
        Some(NAMED_AFTER)
    );
    assert_eq!(find("111222333, BSN: none", &packs), None);
}

#[test]
fn packs_are_selected_by_locale() {
    let german = Packs::of(&["de-AT"]).unwrap();
    assert!(find("Record DE136695976", &german).is_some());
    assert_eq!(find("PESEL: 44051401458", &german), None);
    assert!(find("Record 529.982.247-25", &Packs::of(&["pt-BR"]).unwrap()).is_some());
    assert!(find("NHS number 943 476 5919", &Packs::of::<&str>(&[]).unwrap()).is_some());
    let error = Packs::of(&["xx"]).unwrap_err().to_string();
    assert!(
        error.contains("`xx`") && error.contains("de, ") && error.contains("`all`"),
        "{error}"
    );
}

#[test]
fn every_mask_fits_its_limits() {
    for rule in packs::rules() {
        for (mask, _) in rule.formats {
            let format = Format::new(rule, mask, 0);
            assert!(
                format.first_run().0 <= 20 && mask.len() <= 24,
                "{}",
                rule.id
            );
            // A mask is text that has its own shape.
            let text: String = mask
                .chars()
                .map(|c| match c {
                    '9' | 'X' => '7',
                    'A' => 'Q',
                    c => c,
                })
                .collect();
            assert!(
                format.read(text.as_bytes(), 0).is_some(),
                "{}: {mask}",
                rule.id
            );
        }
        assert!(
            rule.keywords
                .iter()
                .all(|word| word.to_lowercase() == **word && !word.contains(' ')),
            "{}",
            rule.id
        );
    }
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Any text, any place: no panic, the end on a character's boundary, and the verdict is the
        /// same when only the declared neighbourhood is there.
        #[test]
        fn a_verdict_is_local(text in "[0-9A-Za-z .:/,\u{a0}ñБ号-]{0,200}", number in 0..RIGHT.len(), cut in 0..100usize) {
            let (_, word, value) = RIGHT[number];
            let text = format!("{text}{word} {value}{text}");
            let bytes = text.as_bytes();
            let packs = all().with_suspects();
            for i in 0..bytes.len() {
                let starts = bytes[i].is_ascii_alphanumeric() && (i == 0 || !bytes[i - 1].is_ascii_alphanumeric() && bytes[i - 1] != b'_');
                if !starts { continue }
                let whole = at(bytes, i, &packs);
                prop_assert!(whole.is_none_or(|hit| text.is_char_boundary(hit.end) && hit.end > i));
                let mut from = i.saturating_sub(REACH_LEFT + cut);
                while !text.is_char_boundary(from) { from -= 1 }
                let mut to = (i + REACH_RIGHT + cut).min(bytes.len());
                while !text.is_char_boundary(to) { to += 1 }
                let part = at(&bytes[from..to], i - from, &packs);
                prop_assert_eq!(whole, part.map(|hit| Hit { end: hit.end + from, ..hit }));
            }
        }
    }
}
