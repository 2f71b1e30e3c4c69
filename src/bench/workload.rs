//! Texts as tools return them: invented, and the same for the same seed on every machine.

use std::fmt::{self, Write};

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// A kind of text.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ValueEnum, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// Sentences; some 3 values in 1,000 words
    Prose,
    /// A program; an address in a comment every 60 lines or so
    Code,
    /// A table of customers: six values in each line of about 130 bytes
    Csv,
    /// Records as a JSON array; two values in each of about 190 bytes
    Json,
    /// Lines of a web server; a network address in each twelfth
    Logs,
}

impl Kind {
    /// All of them.
    pub(super) const ALL: [Self; 5] = [Self::Prose, Self::Code, Self::Csv, Self::Json, Self::Logs];

    /// `size` bytes of such a text, to the byte. Same seed, same text; what a smaller size gives
    /// is the beginning of what a larger one does, but for a letter that was cut at the end.
    #[must_use]
    pub(super) fn text(self, size: usize, seed: u64) -> String {
        let mut dice = Dice::new(seed ^ (self as u64) << 56);
        let mut text = String::with_capacity(size + 4096);
        text.push_str(match self {
            Self::Csv => "id,first_name,last_name,email,phone,card,iban,ip\n",
            Self::Json => "[\n",
            _ => "",
        });
        while text.len() < size {
            match self {
                Self::Prose => prose(&mut dice, &mut text),
                Self::Code => code(&mut dice, &mut text),
                Self::Csv => csv(&mut dice, &mut text),
                Self::Json => json(&mut dice, &mut text),
                Self::Logs => logs(&mut dice, &mut text),
            }
            .expect("a string takes whatever is written");
        }
        while !text.is_char_boundary(size) {
            let last = text.floor_char_boundary(size);
            text.replace_range(last.., "    ");
        }
        text.truncate(size);
        text
    }

    /// The usual ending of such a file's name.
    #[must_use]
    pub(super) fn extension(self) -> &'static str {
        match self {
            Self::Prose => "txt",
            Self::Code => "rs",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Logs => "log",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Prose => "prose",
            Self::Code => "code",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Logs => "logs",
        })
    }
}

/// Numbers that look random: Vigna's `SplitMix64`.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `limit`, which is small against 2⁶⁴.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }
}

const WORDS: [&str; 48] = [
    "the", "river", "of", "and", "autumn", "garden", "to", "in", "market", "between", "a", "that",
    "was", "window", "with", "morning", "for", "as", "letter", "his", "winter", "they", "be", "at",
    "one", "harbour", "have", "this", "from", "bridge", "or", "had", "by", "lantern", "but",
    "some", "what", "there", "we", "meadow", "other", "were", "all", "your", "when", "use", "word",
    "station",
];
const GIVEN: [&str; 12] = [
    "Marie", "Jonas", "Amira", "Theo", "Lucia", "Pavel", "Ingrid", "Tariq", "Noemi", "Emil",
    "Saskia", "Bruno",
];
const FAMILY: [&str; 12] = [
    "Keller", "Haddad", "Novak", "Moreau", "Rossi", "Lind", "Okafor", "Brandt", "Silva", "Weiss",
    "Dubois", "Horvat",
];
/// Domains that nobody can register (RFC 2606).
const DOMAINS: [&str; 4] = ["example.com", "example.org", "example.net", "mail.example"];

fn email(dice: &mut Dice, out: &mut String) -> fmt::Result {
    let (given, family) = (dice.pick(&GIVEN), dice.pick(&FAMILY));
    let (number, domain) = (dice.below(10_000), dice.pick(&DOMAINS));
    write!(
        out,
        "{}.{}{number}@{domain}",
        given.to_ascii_lowercase(),
        family.to_ascii_lowercase()
    )
}

/// A number of the range that is kept for fiction in North America.
fn phone(dice: &mut Dice, out: &mut String) -> fmt::Result {
    let area = dice.pick(&["202", "212", "312", "415", "617"]);
    write!(out, "+1 {area} 555 01{:02}", dice.below(100))
}

/// A card number whose check digit is right (ISO/IEC 7812).
fn card(dice: &mut Dice, out: &mut String) -> fmt::Result {
    let body = 411_111_000_000_000 + dice.below(1_000_000_000);
    let mut sum = 0;
    let (mut rest, mut double) = (body, true);
    while rest > 0 {
        let digit = rest % 10;
        sum += match digit * 2 {
            _ if !double => digit,
            two @ 10.. => two - 9,
            two => two,
        };
        (rest, double) = (rest / 10, !double);
    }
    let all = format!("{body}{}", (10 - sum % 10) % 10);
    write!(
        out,
        "{} {} {} {}",
        &all[..4],
        &all[4..8],
        &all[8..12],
        &all[12..]
    )
}

/// A German account number whose check digits are right (ISO 13616).
fn iban(dice: &mut Dice, out: &mut String) -> fmt::Result {
    let account = format!("50010517{:010}", dice.below(10_000_000_000));
    // "DE" is 13 and 14; the check digits count as 00.
    let rest = format!("{account}131400")
        .bytes()
        .fold(0, |rest, digit| (rest * 10 + u64::from(digit - b'0')) % 97);
    write!(out, "DE{:02}{account}", 98 - rest)
}

fn prose(dice: &mut Dice, out: &mut String) -> fmt::Result {
    for sentence in 0..6 {
        for word in 0..8 + dice.below(14) {
            let next = dice.pick(&WORDS);
            if word == 0 {
                out.push_str(&next[..1].to_ascii_uppercase());
                out.push_str(&next[1..]);
            } else {
                out.push_str(if dice.below(11) == 0 { ", " } else { " " });
                out.push_str(next);
            }
        }
        out.push_str(match (sentence, dice.below(9)) {
            (5, _) => ".\n\n",
            (_, 0) => " – „so it was“. ",
            (_, 1) => " (\"as they say\"). ",
            _ => ". ",
        });
    }
    match dice.below(4) {
        0 => {
            out.push_str("Write to ");
            email(dice, out)?;
            out.push_str(" before noon. ");
        }
        1 => {
            out.push_str("Call ");
            phone(dice, out)?;
            out.push_str(" if it rains. ");
        }
        2 => write!(
            out,
            "In {} there were {}. ",
            1900 + dice.below(130),
            dice.below(1000)
        )?,
        _ => {}
    }
    Ok(())
}

fn code(dice: &mut Dice, out: &mut String) -> fmt::Result {
    let (noun, other) = (dice.pick(&WORDS[32..]), dice.pick(&WORDS[..32]));
    let number = dice.below(1000);
    write!(
        out,
        "/// The {noun} of the {other}, as of version {}.{}.{}.\n\
         pub(super) fn {noun}_{other}_{number}(input: &[u8], limit: usize) -> Result<Vec<u8>, Error> {{\n    \
             let mut {other} = Vec::with_capacity(limit.min({}));\n    \
             for (index, byte) in input.iter().enumerate() {{\n        \
                 if index >= limit || *byte == b'\\\\' {{\n            \
                     return Err(Error::new(\"{noun} at {{index}}: \\\"{other}\\\"\"));\n        \
                 }}\n        \
                 {other}.push(byte.wrapping_mul({}) ^ 0x{:02x});\n    \
             }}\n    \
             tracing::debug!(len = {other}.len(), \"{noun}\");\n    \
             Ok({other})\n\
         }}\n\n",
        dice.below(9),
        dice.below(30),
        dice.below(30),
        1 << dice.below(16),
        dice.below(256),
        dice.below(256),
    )?;
    if dice.below(5) == 0 {
        out.push_str("// Asked for by ");
        email(dice, out)?;
        out.push('\n');
    }
    Ok(())
}

fn csv(dice: &mut Dice, out: &mut String) -> fmt::Result {
    let (given, family) = (dice.pick(&GIVEN), dice.pick(&FAMILY));
    write!(out, "{},{given},{family},", 100_000 + dice.below(900_000))?;
    email(dice, out)?;
    out.push(',');
    phone(dice, out)?;
    out.push(',');
    card(dice, out)?;
    out.push(',');
    iban(dice, out)?;
    writeln!(
        out,
        ",10.{}.{}.{}",
        dice.below(256),
        dice.below(256),
        1 + dice.below(254)
    )
}

fn json(dice: &mut Dice, out: &mut String) -> fmt::Result {
    write!(
        out,
        "  {{\"id\":{},\"title\":\"{} {} {}\",\"createdAt\":\"2026-02-{:02}T09:{:02}:00Z\",\
         \"score\":{}.{:03},\"author\":{{\"name\":\"{} {}\",\"email\":\"",
        dice.below(100_000_000),
        dice.pick(&WORDS),
        dice.pick(&WORDS),
        dice.pick(&WORDS),
        1 + dice.below(28),
        dice.below(60),
        dice.below(100),
        dice.below(1000),
        dice.pick(&GIVEN),
        dice.pick(&FAMILY),
    )?;
    email(dice, out)?;
    out.push_str("\"}},\n");
    Ok(())
}

fn logs(dice: &mut Dice, out: &mut String) -> fmt::Result {
    write!(
        out,
        "2026-03-{:02}T{:02}:{:02}:{:02}.{:03}Z INFO [worker-{}] request {:08x} \
         GET /api/v1/items/{} took {}ms status={} bytes={}",
        1 + dice.below(28),
        dice.below(24),
        dice.below(60),
        dice.below(60),
        dice.below(1000),
        dice.below(16),
        dice.below(1 << 32),
        dice.below(100_000),
        dice.below(900),
        dice.pick(&["200", "304", "404", "500"]),
        dice.below(1_000_000),
    )?;
    if dice.below(12) == 0 {
        write!(out, " client=203.0.113.{}", 1 + dice.below(254))?;
    }
    out.push('\n');
    Ok(())
}

#[cfg(test)]
mod tests {
    use cloak_stages::detect::{Context, Detectors, Settings};

    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_text_of_the_size_that_was_asked_for() {
        for kind in Kind::ALL {
            let text = kind.text(10_000, 1);
            assert_eq!(text.len(), 10_000, "{kind}");
            assert!(kind.text(10_000, 1) == text);
            assert!(kind.text(10_000, 2) != text);
            assert!(text.starts_with(&kind.text(500, 1)), "{kind}");
        }
    }

    /// The workloads hold what their descriptions say, as the detection sees it.
    #[test]
    fn values_are_as_dense_as_is_said() {
        let detectors = Detectors::new(&Settings::default()).unwrap();
        let per_100_kb = |kind: Kind| {
            let mut found = Vec::new();
            detectors.find(&kind.text(100_000, 1), Context::default(), &mut found);
            found.len()
        };
        let [prose, code, csv, json, logs] = Kind::ALL.map(per_100_kb);
        assert!((10..200).contains(&prose), "{prose}");
        assert!((10..200).contains(&code), "{code}");
        assert!((2_500..7_000).contains(&csv), "{csv}");
        assert!((400..2_000).contains(&json), "{json}");
        assert!((20..200).contains(&logs), "{logs}");
    }
}
