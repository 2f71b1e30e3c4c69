//! Known values, to prove at the start that every category is found.

use regex_syntax::hir::{Class, Hir, HirKind};

use super::samples::SAMPLES;
use super::{Category, Detectors};

/// A text with one known value in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// What the value is.
    pub category: Category,
    /// A text that holds it.
    pub text: String,
    /// The value.
    pub value: String,
}

/// Values that nobody has: of documentation ranges, test cards, reserved domains.
const BUILT_IN: &[(Category, &str, &str)] = &[
    (Category::EMAIL, "write to ", "self.test@example.com"),
    (Category::SSN, "on file: ", "521-44-9382"),
    (Category::CREDIT_CARD, "paid with ", "4111 1111 1111 1111"),
    (Category::IBAN, "account ", "DE89 3704 0044 0532 0130 00"),
    (Category::PHONE, "call ", "+1 415 555 2671"),
    (Category::IP_ADDRESS, "from ", "203.0.113.9"),
    (Category::MAC_ADDRESS, "device ", "00:00:5e:00:53:1f"),
    // The example of EIP-55.
    (
        Category::CRYPTO,
        "wallet ",
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    ),
    // In two pieces, so that nobody who looks for leaked keys in sources finds these.
    (
        Category::API_KEY,
        "key ",
        concat!("sk_live_", "4eC39HqLyjWDarjtT1zdp7dcTYooMQauvdEDq54N"),
    ),
    (
        Category::AWS_KEY,
        "key ",
        concat!("AKIA", "2OGYBAH6T7XWQMN5"),
    ),
    (
        Category::JWT,
        "token ",
        concat!(
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.",
            "eyJzdWIiOiIxMjM0NTY3ODkwIn0.",
            "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
        ),
    ),
    (
        Category::PRIVATE_KEY,
        "",
        concat!(
            "-----BEGIN PRIVATE ",
            "KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n",
            "-----END PRIVATE KEY-----"
        ),
    ),
    (Category::PERSON, "first_name: ", "Testperson"),
    (Category::ADDRESS, "address: ", "1 Nowhere Road"),
    (Category::POSTAL_CODE, "postal_code: ", "00501"),
    (Category::DATE_OF_BIRTH, "date of birth: ", "1900-01-01"),
    (Category::BANK_ACCOUNT, "account_number: ", "0012345678"),
    (Category::PASSWORD, "https://ci:", "zX81kkQ0p"),
    (
        Category::SECRET,
        "client_secret = ",
        "p8Zr3vQx7Lm2Wc9TnB4kYd6H",
    ),
];

pub(super) fn probes(detectors: &Detectors) -> Vec<Probe> {
    let built_in = BUILT_IN
        .iter()
        .filter(|(category, ..)| detectors.enabled[category.index()])
        .map(|&(category, before, value)| match category {
            Category::PASSWORD => Probe {
                text: format!("{before}{value}@example.com/"),
                ..probe(category, "", value)
            },
            _ => probe(category, before, value),
        });
    let national = SAMPLES.iter().filter_map(|&(name, word, value)| {
        let category = detectors
            .category(name)
            .filter(|c| detectors.enabled[c.index()])?;
        Some(probe(category, &format!("{word}: "), value))
    });
    let custom = detectors.patterns.iter().filter_map(|pattern| {
        let hir = regex_syntax::parse(&pattern.source).ok()?;
        let mut value = String::new();
        sample(&hir, &mut value)?;
        // A sample that the pattern's own neighbours would break stands alone.
        let mut found = Vec::new();
        ["", "x "].iter().find_map(|before| {
            let probe = probe(pattern.category, before, &value);
            found.clear();
            pattern.find(&probe.text, &mut found);
            let hit = found.first()?;
            Some(Probe {
                value: probe.text[hit.start..hit.end].to_owned(),
                ..probe
            })
        })
    });
    built_in.chain(national).chain(custom).collect()
}

fn probe(category: Category, before: &str, value: &str) -> Probe {
    Probe {
        category,
        text: format!("{before}{value}"),
        value: value.to_owned(),
    }
}

/// Appends a short text that matches; `None` where none can be built.
fn sample(hir: &Hir, out: &mut String) -> Option<()> {
    match hir.kind() {
        HirKind::Literal(literal) => out.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.ranges();
            let plain = ranges
                .iter()
                .flat_map(|range| range.start()..=range.end())
                .take(512);
            let first = ranges.first()?.start();
            out.push(
                plain
                    .into_iter()
                    .find(char::is_ascii_alphanumeric)
                    .unwrap_or(first),
            );
        }
        HirKind::Class(Class::Bytes(class)) => {
            let ranges = class.ranges();
            let byte = ranges
                .iter()
                .flat_map(|range| range.start()..=range.end())
                .find(u8::is_ascii_alphanumeric)
                .unwrap_or(ranges.first()?.start());
            out.push(byte.is_ascii().then_some(char::from(byte))?);
        }
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Repetition(repetition) => {
            let floor = u32::from(repetition.max != Some(0)).max(repetition.min);
            for _ in 0..floor.min(1000) {
                sample(&repetition.sub, out)?;
            }
        }
        HirKind::Capture(capture) => sample(&capture.sub, out)?,
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| sample(part, out))?,
        HirKind::Alternation(parts) => sample(parts.first()?, out)?,
    }
    Some(())
}
