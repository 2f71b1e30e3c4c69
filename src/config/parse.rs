//! Typed values out of a JSON tree, each problem with its path.

use std::cell::RefCell;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

use super::json::join;
use super::nearest::{is_close, is_slip, nearest};

/// Longest time that can be set: a year.
const MAX_SECONDS: f64 = 31_536_000.0;

/// Why a configuration cannot be used: everything that is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Where the configuration was read from, for people.
    pub source: String,
    /// What is wrong, in the order in which it was found; never empty.
    pub problems: Vec<Problem>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where: `upstreams.files.args[0]`; empty for the whole.
    pub path: String,
    /// What is wrong and what to do. Never a value that could be secret.
    pub what: String,
}

impl ConfigError {
    pub(super) fn one(source: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            problems: vec![Problem {
                path: String::new(),
                what: what.into(),
            }],
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.what)
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.problems {
            [problem] => write!(f, "{}: {problem}", self.source),
            problems => {
                write!(f, "{}: {} problems", self.source, problems.len())?;
                problems
                    .iter()
                    .try_for_each(|problem| write!(f, "\n  {problem}"))
            }
        }
    }
}

impl std::error::Error for ConfigError {}

/// Where problems are collected while reading goes on.
#[derive(Debug, Default)]
pub(super) struct Problems(RefCell<Vec<Problem>>);

impl Problems {
    pub(super) fn add(&self, path: impl Into<String>, what: impl Into<String>) {
        let problem = Problem {
            path: path.into(),
            what: what.into(),
        };
        self.0.borrow_mut().push(problem);
    }

    pub(super) fn into_vec(self) -> Vec<Problem> {
        self.0.into_inner()
    }

    fn expected<T>(&self, path: &str, wanted: &str, found: &Value) -> Option<T> {
        let found = match found {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        self.add(path, format!("expected {wanted}, found {found}"));
        None
    }
}

/// A type that can be read from the configuration.
pub(super) trait Read: Sized {
    /// The value, or `None` once what is wrong with it has been added to `problems`.
    fn read(value: &Value, path: &str, problems: &Problems) -> Option<Self>;
}

/// The fields of one object. Which keys are known is what was asked for until [`Fields::finish`].
#[derive(Debug)]
pub(super) struct Fields<'a> {
    pub(super) path: String,
    pub(super) problems: &'a Problems,
    map: &'a Map<String, Value>,
    known: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// The fields of `value`, if it is an object.
    pub(super) fn of(value: &'a Value, path: &str, problems: &'a Problems) -> Option<Self> {
        match value {
            Value::Object(map) => Some(Self {
                path: path.to_owned(),
                problems,
                map,
                known: Vec::new(),
            }),
            other => problems.expected(path, "an object", other),
        }
    }

    pub(super) fn path_of(&self, key: &str) -> String {
        join(&self.path, key)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.map.contains_key(key)
    }

    /// The field as it stands.
    pub(super) fn raw(&mut self, key: &'static str) -> Option<&'a Value> {
        self.known.push(key);
        self.map.get(key)
    }

    /// The field, if it is there and right.
    pub(super) fn take<T: Read>(&mut self, key: &'static str) -> Option<T> {
        let value = self.raw(key)?;
        T::read(value, &self.path_of(key), self.problems)
    }

    /// The field, if it is there and right; `null` is the same as leaving it out.
    pub(super) fn optional<T: Read>(&mut self, key: &'static str) -> Option<T> {
        match self.map.get(key) {
            Some(Value::Null) => {
                self.known.push(key);
                None
            }
            _ => self.take(key),
        }
    }

    /// The field; a problem if it is not there.
    pub(super) fn require<T: Read>(&mut self, key: &'static str) -> Option<T> {
        if !self.has(key) {
            self.problems.add(self.path_of(key), "is missing");
        }
        self.take(key)
    }

    /// Overwrites `target` with the field, if it is there and right.
    pub(super) fn set<T: Read>(&mut self, key: &'static str, target: &mut T) {
        if let Some(value) = self.take(key) {
            *target = value;
        }
    }

    /// The fields of the object that stands in the field.
    pub(super) fn object(&mut self, key: &'static str) -> Option<Self> {
        let value = self.raw(key)?;
        Fields::of(value, &self.path_of(key), self.problems)
    }

    /// Every key with its value, for an object whose keys are names.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
        self.map.iter()
    }

    /// Refuses the keys that nobody asked for.
    pub(super) fn finish(self) {
        for key in self
            .map
            .keys()
            .filter(|key| !self.known.contains(&key.as_str()))
        {
            self.refuse(key);
        }
    }

    /// As [`finish`](Fields::finish), but only for keys that are one of ours, mistyped: the object
    /// is a client's, who has keys of its own.
    pub(super) fn finish_foreign(self) {
        for key in self
            .map
            .keys()
            .filter(|key| !self.known.contains(&key.as_str()))
        {
            if self.known.iter().any(|known| is_slip(key, known)) {
                self.refuse(key);
            }
        }
    }

    fn refuse(&self, key: &str) {
        let what = match nearest(key, &self.known) {
            Some(known) if is_close(key, known) => {
                format!("unknown key; did you mean {known:?}?")
            }
            Some(known) => format!(
                "unknown key; the nearest known one is {known:?}, and all of them are {}",
                self.known.join(", ")
            ),
            None => "unknown key; none is known here".to_owned(),
        };
        self.problems.add(self.path_of(key), what);
    }
}

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
pub(super) trait Keyword: Sized + Copy + 'static {
    /// The words and what they stand for.
    const WORDS: &'static [(&'static str, Self)];
}

impl<K: Keyword> Read for K {
    fn read(value: &Value, path: &str, problems: &Problems) -> Option<Self> {
        let words: Vec<&str> = K::WORDS.iter().map(|(word, _)| *word).collect();
        let wanted = format!("one of {}", words.join(", "));
        let Value::String(text) = value else {
            return problems.expected(path, &wanted, value);
        };
        let found = K::WORDS.iter().find(|(word, _)| word == text);
        if found.is_none() {
            let hint = nearest(text, &words)
                .filter(|word| is_close(text, word))
                .map(|word| format!("; did you mean {word:?}?"))
                .unwrap_or_default();
            problems.add(path, format!("{text:?} is not {wanted}{hint}"));
        }
        found.map(|(_, keyword)| *keyword)
    }
}

/// Writes the words of settings down once, for reading and for showing.
macro_rules! keywords {
    ($($name:ident { $($word:literal => $variant:ident),+ $(,)? })+) => {$(
        impl Keyword for $name {
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, Self::$variant)),+];
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $(Self::$variant => $word),+ })
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            /// Reads the word of the configuration file.
            fn from_str(word: &str) -> Result<Self, String> {
                let found = Self::WORDS.iter().find(|(known, _)| *known == word);
                found.map(|(_, keyword)| *keyword).ok_or_else(|| {
                    format!("expected one of {}", [$($word),+].join(", "))
                })
            }
        }
    )+};
}
pub(super) use keywords;
