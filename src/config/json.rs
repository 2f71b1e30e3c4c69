//! JSON into a tree, with every key of an object that stands there twice reported.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The tree of `text`, and the paths of keys that are written twice.
///
/// A byte order mark before the text is passed over.
///
/// # Errors
///
/// What is not JSON, with its line and column.
pub(super) fn read(text: &str) -> Result<(Value, Vec<String>), serde_json::Error> {
    let twice = RefCell::new(Vec::new());
    let mut json = serde_json::Deserializer::from_str(text.trim_start_matches('\u{feff}'));
    let tree = Tree {
        path: "",
        twice: &twice,
    }
    .deserialize(&mut json)?;
    json.end()?;
    Ok((tree, twice.into_inner()))
}

/// `key` inside of `path`, as it is shown in messages.
pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

#[derive(Clone, Copy)]
struct Tree<'a> {
    path: &'a str,
    twice: &'a RefCell<Vec<String>>,
}

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let path = join(self.path, &key);
            let value = entries.next_value_seed(Tree {
                path: &path,
                ..self
            })?;
            if map.insert(key, value).is_some() {
                self.twice.borrow_mut().push(path);
            }
        }
        Ok(Value::Object(map))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        loop {
            let path = format!("{}[{}]", self.path, list.len());
            match items.next_element_seed(Tree {
                path: &path,
                ..self
            })? {
                Some(item) => list.push(item),
                None => return Ok(Value::Array(list)),
            }
        }
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("a number is too large"))?;
        Ok(Value::Number(number))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_what_serde_reads() {
        let text = r#"{"a": [1, -2, 1.5, true, null, "x\u00e9"], "b": {"c": {}}}"#;
        let (tree, twice) = read(text).unwrap();
        assert_eq!(tree, serde_json::from_str::<Value>(text).unwrap());
        assert!(twice.is_empty());
        assert_eq!(read("\u{feff}{}").unwrap().0, Value::Object(Map::new()));
    }

    #[test]
    fn tells_where_a_key_stands_twice() {
        let (_, twice) =
            read(r#"{"a": 1, "b": [{"c": 1, "\u0063": 2}], "a": {"d": 1, "d": 1}}"#).unwrap();
        assert_eq!(twice, ["b[0].c", "a.d", "a"]);
    }

    #[test]
    fn what_is_not_json_is_an_error() {
        for bad in [
            "",
            "{",
            "{} {}",
            "{\"a\": 1e999}",
            "// c\n{}",
            &"[".repeat(10_000),
        ] {
            assert!(read(bad).is_err());
        }
    }
}
