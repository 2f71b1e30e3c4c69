//! The name of a field, as it stands before a `:` or `=`, in a header, or in JSON.

use super::dictionary::{Kind, NAME_MAX, kind};

/// Most words of a name that count.
const WORDS: usize = 6;

/// A name in the form of the dictionary.
pub(super) struct Name {
    bytes: [u8; NAME_MAX],
    length: usize,
    /// Where each word begins.
    words: [u8; WORDS],
    count: usize,
}

impl Name {
    /// Reads the last words of `text`, which ends with the name; `None` when it holds none.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut name = Self {
            bytes: [0; NAME_MAX],
            length: 0,
            words: [0; WORDS],
            count: 0,
        };
        let mut last = ' ';
        for c in text.chars() {
            if !c.is_alphanumeric() {
                last = c;
                continue;
            }
            // A word begins behind a separator and at a hump: `first_name`, `firstName`.
            if !last.is_alphanumeric() || last.is_lowercase() && c.is_uppercase() {
                name.begin_word();
            }
            last = c;
            if c.is_ascii() {
                name.push(&[c.to_ascii_lowercase() as u8])?;
                continue;
            }
            for c in c.to_lowercase() {
                let mut utf8 = [0; 4];
                name.push(c.encode_utf8(&mut utf8).as_bytes())?;
            }
        }
        (name.count > 0).then_some(name)
    }

    fn begin_word(&mut self) {
        if self.count == WORDS {
            let dropped = usize::from(self.words[1]);
            self.bytes.copy_within(dropped..self.length, 0);
            self.length -= dropped;
            self.words.rotate_left(1);
            self.count -= 1;
            self.words[..self.count]
                .iter_mut()
                .for_each(|word| *word -= dropped as u8);
        }
        self.words[self.count] = self.length as u8;
        self.count += 1;
    }

    fn push(&mut self, bytes: &[u8]) -> Option<()> {
        let end = self.length + bytes.len();
        self.bytes.get_mut(self.length..end)?.copy_from_slice(bytes);
        self.length = end;
        Some(())
    }

    /// What it says, by as many of its last words as possible.
    pub(super) fn kind(&self) -> Option<Kind> {
        let starts = &self.words[..self.count];
        starts.iter().find_map(|&start| {
            let rest = &self.bytes[usize::from(start)..self.length];
            let found = kind(std::str::from_utf8(rest).ok()?)?;
            // `file_name`, `host_name`, `ip_to`: the word before says that it is no person.
            (found != Kind::Role || start == 0).then_some(found)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str) -> Option<Kind> {
        Name::read(name)?.kind()
    }

    #[test]
    fn spellings_of_a_name() {
        for name in [
            "first_name",
            "firstName",
            "First Name",
            "FIRST-NAME",
            "user.first_name",
            "Prénom",
        ] {
            assert_eq!(kind(name), Some(Kind::Person), "{name}");
        }
        assert_eq!(
            kind("a b c d e f g billing phone number"),
            Some(Kind::Phone)
        );
        assert_eq!(kind("Reviewer"), Some(Kind::Role));
        for name in [
            "",
            "__",
            "file_name",
            "hostname",
            "cardinality",
            &"x".repeat(99),
        ] {
            assert_eq!(kind(name), None, "{name}");
        }
    }
}
