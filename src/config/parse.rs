//! Typed values out of a JSON tree, each problem with its path.

use std::cell::RefCell;
use std::fmt;

use serde_json::{Map, Value};

use super::json::join;
use super::nearest::{is_close, is_slip, nearest};

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
    pub(crate) fn one(source: impl Into<String>, what: impl Into<String>) -> Self {
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

    pub(super) fn expected<T>(&self, path: &str, wanted: &str, found: &Value) -> Option<T> {
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
