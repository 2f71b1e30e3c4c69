//! Canonical JSON as the CloakLLM SDK defines it: keys sorted, no spaces, UTF-8, whole numbers
//! without a fraction.
//!
//! The writer emits members in the order they are given and asserts in debug builds that they are
//! sorted; so canonical form costs nothing at run time. All texts come from types that need no
//! escape. Everything is inlined, since the keys are constants then: half the time of a line.

use data_encoding::BASE64;

use super::entry::Fact;
use super::name::{Digest, Id, Name, Token};

/// An object that is being written.
pub(super) struct Object<'a> {
    out: &'a mut Vec<u8>,
    empty: bool,
    #[cfg(debug_assertions)]
    last_key: String,
}

impl<'a> Object<'a> {
    #[inline]
    pub(super) fn open(out: &'a mut Vec<u8>) -> Self {
        out.push(b'{');
        Self {
            out,
            empty: true,
            #[cfg(debug_assertions)]
            last_key: String::new(),
        }
    }

    #[inline]
    pub(super) fn close(self) {
        self.out.push(b'}');
    }

    /// Writes the key; the value is to be pushed onto what is returned.
    #[inline]
    pub(super) fn key(&mut self, key: &str) -> &mut Vec<u8> {
        #[cfg(debug_assertions)]
        {
            assert!(
                self.empty || self.last_key.as_str() < key,
                "{key} is out of order"
            );
            key.clone_into(&mut self.last_key);
        }
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        text(self.out, key);
        self.out.push(b':');
        self.out
    }

    #[inline]
    pub(super) fn null(&mut self, key: &str) {
        self.key(key).extend_from_slice(b"null");
    }

    #[inline]
    pub(super) fn text(&mut self, key: &str, value: &str) {
        text(self.key(key), value);
    }

    #[inline]
    pub(super) fn text_or_null(&mut self, key: &str, value: Option<&str>) {
        match value {
            Some(value) => self.text(key, value),
            None => self.null(key),
        }
    }

    /// Leaves the member out if there is no value.
    #[inline]
    pub(super) fn name(&mut self, key: &str, value: Option<&Name>) {
        if let Some(value) = value {
            self.text(key, value.as_str());
        }
    }

    #[inline]
    pub(super) fn number(&mut self, key: &str, value: u64) {
        number(self.key(key), value);
    }

    /// Leaves the member out if it is zero.
    #[inline]
    pub(super) fn count(&mut self, key: &str, value: u64) {
        if value > 0 {
            self.number(key, value);
        }
    }

    /// Microseconds, written as milliseconds with at most three decimals.
    #[inline]
    pub(super) fn millis(&mut self, key: &str, micros: u64) {
        millis(self.key(key), micros);
    }

    /// The 64 digits, or the empty text where there is no digest, as the SDK has it.
    #[inline]
    pub(super) fn digest(&mut self, key: &str, value: Option<&Digest>) {
        let out = self.key(key);
        out.push(b'"');
        if let Some(digest) = value {
            out.extend_from_slice(&digest.hex());
        }
        out.push(b'"');
    }

    #[inline]
    pub(super) fn id(&mut self, key: &str, value: Option<&Id>) {
        match value {
            Some(Id::Number(id)) => self
                .key(key)
                .extend_from_slice(itoa::Buffer::new().format(*id).as_bytes()),
            Some(Id::Name(id)) => self.text(key, id.as_str()),
            None => {}
        }
    }

    #[inline]
    pub(super) fn tokens(&mut self, key: &str, tokens: &[Token]) {
        list(self.key(key), tokens, |out, token| {
            out.extend_from_slice(b"\"[");
            out.extend_from_slice(token.category.as_str().as_bytes());
            out.push(b'_');
            number(out, token.number);
            out.extend_from_slice(b"]\"");
        });
    }

    #[inline]
    pub(super) fn fact(&mut self, key: &Name, fact: &Fact) {
        let out = self.key(key.as_str());
        match fact {
            Fact::Number(value) => {
                out.extend_from_slice(itoa::Buffer::new().format(*value).as_bytes())
            }
            Fact::Name(value) => text(out, value.as_str()),
            Fact::Names(values) => {
                let few = &values[..values.len().min(super::Entry::MAX_FACTS)];
                list(out, few, |out, name| text(out, name.as_str()));
            }
            Fact::Digest(value) => {
                out.push(b'"');
                out.extend_from_slice(&value.hex());
                out.push(b'"');
            }
            Fact::Key(value) => text(out, &value.to_string()),
            Fact::Session(value) => text(out, &value.to_string()),
            Fact::Signature(value) => text(out, &BASE64.encode(&value.0)),
        }
    }
}

#[inline]
pub(super) fn number(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

#[inline]
fn text(out: &mut Vec<u8>, value: &str) {
    debug_assert!(
        value
            .bytes()
            .all(|byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\')
    );
    out.push(b'"');
    out.extend_from_slice(value.as_bytes());
    out.push(b'"');
}

fn list<T>(out: &mut Vec<u8>, items: &[T], item: impl Fn(&mut Vec<u8>, &T)) {
    out.push(b'[');
    for (at, value) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        item(out, value);
    }
    out.push(b']');
}

/// Below 10¹⁵ a decimal of three places is what every language prints for the nearest double.
fn millis(out: &mut Vec<u8>, micros: u64) {
    let micros = micros.min(MOST_MICROS);
    number(out, micros / 1000);
    let rest = micros % 1000;
    let decimals = [rest / 100, rest / 10 % 10, rest % 10].map(|digit| b'0' + digit as u8);
    if let Some(last) = decimals.iter().rposition(|digit| *digit != b'0') {
        out.push(b'.');
        out.extend_from_slice(&decimals[..=last]);
    }
}

const MOST_MICROS: u64 = 1_000_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_are_written_as_the_shortest_decimal() {
        for (micros, want) in [
            (0, "0"),
            (1, "0.001"),
            (57, "0.057"),
            (100, "0.1"),
            (120, "0.12"),
            (1000, "1"),
            (1_234_560, "1234.56"),
        ] {
            let mut out = Vec::new();
            millis(&mut out, micros);
            assert_eq!(String::from_utf8(out).unwrap(), want);
        }
    }

    #[test]
    fn any_duration_reads_back_as_the_same_text() {
        for micros in (0..2_000_000)
            .step_by(7)
            .chain([MOST_MICROS - 1, MOST_MICROS, u64::MAX])
        {
            let mut out = Vec::new();
            millis(&mut out, micros);
            let text = String::from_utf8(out).unwrap();
            assert_eq!(text.parse::<f64>().unwrap().to_string(), text);
        }
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "out of order")]
    fn unsorted_keys_are_a_bug() {
        let mut out = Vec::new();
        let mut object = Object::open(&mut out);
        object.null("b");
        object.null("a");
    }
}
