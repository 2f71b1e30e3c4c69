//! Numbers of bytes as people write them.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// A number of bytes: `200`, `5KB`, `50MB`; a kilobyte is 1,000 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub(super) struct Size(pub(super) usize);

const UNITS: [(&str, usize); 3] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("KB", 1_000)];

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let upper = text.to_ascii_uppercase();
        let (number, unit) = UNITS
            .iter()
            .find_map(|(name, unit)| Some((upper.strip_suffix(name)?, *unit)))
            .unwrap_or_else(|| (upper.strip_suffix('B').unwrap_or(&upper), 1));
        let number: usize = number
            .trim()
            .parse()
            .map_err(|_| format!("{text:?} is no size; write 200, 5KB or 50MB"))?;
        number
            .checked_mul(unit)
            .map(Self)
            .ok_or_else(|| format!("{text} is more than this machine can count"))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, unit) = UNITS
            .into_iter()
            .find(|(_, unit)| self.0 >= *unit)
            .unwrap_or(("B", 1));
        let number = self.0 as f64 / unit as f64;
        let digits = usize::from(number < 10.0 && !self.0.is_multiple_of(unit));
        f.pad(&format!("{number:.digits$} {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_sizes() {
        for (text, bytes, shown) in [
            ("200", 200, "200 B"),
            ("5KB", 5_000, "5 KB"),
            ("1500", 1_500, "1.5 KB"),
            ("50 mb", 50_000_000, "50 MB"),
            ("7B", 7, "7 B"),
        ] {
            let size: Size = text.parse().unwrap();
            assert_eq!((size.0, &*size.to_string()), (bytes, shown));
        }
        for text in ["", "MB", "-1", "1.5MB", "99999999999999GB"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }
}
