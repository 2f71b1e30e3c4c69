//! The types that values of the configuration have.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::nearest::{is_close, nearest};
use super::parse::{Problems, Read};

/// Longest time that can be set: a year.
const MAX_SECONDS: f64 = 31_536_000.0;

impl Read for bool {
    fn read(value: &Value, path: &str, problems: &Problems) -> Option<Self> {
        match value {
            Value::Bool(value) => Some(*value),
            other => problems.expected(path, "true or false", other),
        }
    }
}

impl Read for String {
    fn read(value: &Value, path: &str, problems: &Problems) -> Option<Self> {
        match value {
            Value::String(text) if text.contains('\0') => {
                problems.add(path, "contains the character U+0000; remove it");
                None
            }
            Value::String(text) => Some(text.clone()),
            other => problems.expected(path, "a string", other),
        }
    }
}

impl Read for PathBuf {
    fn read(value: &Value, path: &str, problems: &Problems) -> Option<Self> {
        let text = Filled::read(value, path, problems)?;
        Some(text.0.into())
    }
}

impl<T: Read> Read for Vec<T> {
    fn read(value: &Value, path: &str, problems: &Problems) -> Option<Self> {
        let Value::Array(items) = value else {
            return problems.expected(path, "a list", value);
        };
        let read = |(index, item)| T::read(item, &format!("{path}[{index}]"), problems);
        // All are read, so that all that is wrong is found.
        let items: Vec<_> = items.iter().enumerate().map(read).collect();
        items.into_iter().collect()
    }
}

/// A string that says something.
#[derive(Debug)]
pub(super) struct Filled(pub(super) String);

impl Read for Filled {
    fn read(value: &Value, path: &str, problems: &Problems) -> Option<Self> {
        let text = String::read(value, path, problems)?;
        if text.trim().is_empty() {
            problems.add(path, "is blank");
            return None;
        }
        Some(Self(text))
    }
}

/// A list of strings, where a single one may stand for itself.
#[derive(Debug)]
pub(super) struct OneOrMore(pub(super) Vec<String>);

impl Read for OneOrMore {
    fn read(value: &Value, path: &str, problems: &Problems) -> Option<Self> {
        let filled = match value {
            Value::Array(_) => Vec::<Filled>::read(value, path, problems)?,
            Value::String(_) => vec![Filled::read(value, path, problems)?],
            other => return problems.expected(path, "a string or a list of strings", other),
        };
        Some(Self(filled.into_iter().map(|text| text.0).collect()))
    }
}

/// Seconds, whole or not.
impl Read for Duration {
    fn read(value: &Value, path: &str, problems: &Problems) -> Option<Self> {
        let Some(seconds) = value.as_f64() else {
            return problems.expected(path, "a number of seconds", value);
        };
        // Whoever writes a time shorter than a nanosecond means none.
        let time = Self::try_from_secs_f64(seconds).unwrap_or_default();
        if time.is_zero() || seconds > MAX_SECONDS {
            problems.add(
                path,
                format!("{seconds} is no time to wait; write seconds, more than 0 and at most {MAX_SECONDS}"),
            );
            return None;
        }
        Some(time)
    }
}

/// A whole number that is not negative.
#[derive(Debug)]
pub(super) struct Count(pub(super) u32);

impl Read for Count {
    fn read(value: &Value, path: &str, problems: &Problems) -> Option<Self> {
        match value.as_u64().map(u32::try_from) {
            Some(Ok(count)) => Some(Self(count)),
            _ if value.is_number() => {
                problems.add(
                    path,
                    format!("{value} is not a whole number from 0 to {}", u32::MAX),
                );
                None
            }
            _ => problems.expected(path, "a whole number", value),
        }
    }
}

/// A number of bytes: plain, or as `"64 MiB"`.
#[derive(Debug)]
pub(super) struct Size(pub(super) usize);

/// Below this a gateway could not even pass a short list of tools on.
const MIN_SIZE: usize = 4 << 10;

impl Read for Size {
    fn read(value: &Value, path: &str, problems: &Problems) -> Option<Self> {
        let wanted = "a number of bytes, or a string such as \"64 MiB\"";
        let bytes = match value {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => in_bytes(text),
            other => return problems.expected(path, wanted, other),
        };
        match bytes.map(usize::try_from) {
            Some(Ok(bytes)) if bytes >= MIN_SIZE => Some(Self(bytes)),
            _ => {
                problems.add(
                    path,
                    format!("{value} is not {wanted}, of at least {MIN_SIZE} bytes"),
                );
                None
            }
        }
    }
}

fn in_bytes(text: &str) -> Option<u64> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let unit = match text[digits..].trim() {
        "" | "B" => 1,
        "kB" | "KB" => 1_000,
        "KiB" => 1 << 10,
        "MB" => 1_000_000,
        "MiB" => 1 << 20,
        "GB" => 1_000_000_000,
        "GiB" => 1 << 30,
        _ => return None,
    };
    text[..digits].parse::<u64>().ok()?.checked_mul(unit)
}

/// A setting that is one of a few words.
pub(crate) trait Keyword: Copy + PartialEq + 'static {
    /// The words and what they stand for.
    const WORDS: &'static [(&'static str, Self)];

    /// The word for it.
    fn word(self) -> &'static str {
        let found = Self::WORDS.iter().find(|(_, keyword)| *keyword == self);
        found.map_or("", |(word, _)| word)
    }

    /// What a word stands for.
    fn from_word(word: &str) -> Option<Self> {
        let found = Self::WORDS.iter().find(|(known, _)| *known == word);
        found.map(|(_, keyword)| *keyword)
    }
}

impl<K: Keyword> Read for K {
    fn read(value: &Value, path: &str, problems: &Problems) -> Option<Self> {
        let words: Vec<&str> = K::WORDS.iter().map(|(word, _)| *word).collect();
        let wanted = format!("one of {}", words.join(", "));
        let Value::String(text) = value else {
            return problems.expected(path, &wanted, value);
        };
        let found = K::from_word(text);
        if found.is_none() {
            let hint = nearest(text, &words)
                .filter(|word| is_close(text, word))
                .map(|word| format!("; did you mean {word:?}?"))
                .unwrap_or_default();
            problems.add(path, format!("{text:?} is not {wanted}{hint}"));
        }
        found
    }
}

/// Writes the words of settings down once, for reading and for showing.
macro_rules! keywords {
    ($($name:ident { $($word:literal => $variant:ident),+ $(,)? })+) => {$(
        impl Keyword for $name {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),+];
        }
    )+};
}
pub(super) use keywords;
