//! Tokens as they stand in a text, and texts that only look like one.
//!
//! A token is `[CATEGORY_N]` or `[CATEGORY_REDACTED]`: a category of at most [`MAX_CATEGORY`]
//! capitals, digits and underscores, and a decimal number without leading zeros. Models write them
//! in any letter case, with the backslashes of Markdown (`\[EMAIL\_0\]`), and with the brackets
//! percent-encoded in a URI (`%5BEMAIL_0%5D`, RFC 3986 section 2.1). One reader, [`looks`], knows
//! all of these, so that what is restored and what is neutralised cannot drift apart.
//!
//! A look-alike in the words of an upstream is neutralised on its way to the model: its brackets
//! become full-width (U+FF3B, U+FF3D). What has full-width brackets already gets a full-width low
//! line (U+FF3F) behind the opening one. [`mute`] does either and [`unmute`] undoes it, exactly,
//! for every text: each step replaces or inserts at one place that it alone determines, whatever
//! stands around the look-alike.

use memchr::memchr3;

/// Longest category name, in bytes.
pub const MAX_CATEGORY: usize = 40;

/// The marker of a value that cannot be restored.
pub const REDACTED: &str = "REDACTED";

/// Something in a text that has the shape of a token.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// First byte of the opening bracket.
    pub start: usize,
    /// One past the closing bracket.
    pub end: usize,
    /// What it names.
    pub name: Name,
    /// How it is written.
    pub form: Form,
    /// Whether its brackets are full-width.
    pub muted: bool,
    /// Whether the closing bracket is escaped with a backslash.
    escaped: bool,
    /// Whether full-width low lines stand behind the opening bracket.
    counted: bool,
}

/// How the brackets of a token are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As characters.
    Plain,
    /// Percent-encoded, as in a URI.
    Percent,
}

/// The category and the number in a look-alike. The category is in capitals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    category: [u8; MAX_CATEGORY],
    length: u8,
    /// `None` for [`REDACTED`].
    pub number: Option<u64>,
}

impl Name {
    /// The category, in capitals.
    #[must_use]
    pub fn category(&self) -> &str {
        std::str::from_utf8(&self.category[..usize::from(self.length)]).unwrap_or_default()
    }
}

/// Replace the bytes from `.0` up to `.1` by `.2`.
pub type Change = (usize, usize, &'static str);

impl Look {
    /// The first byte of what a token written like this stands for: a backslash before the opening
    /// bracket belongs to it if the closing one has its own.
    #[must_use]
    pub fn replaced_from(&self, text: &[u8]) -> usize {
        let escaped = self.escaped && self.start > 0 && text[self.start - 1] == b'\\';
        self.start - usize::from(escaped)
    }

    fn brackets(&self, text: &[u8]) -> (usize, usize) {
        let (open, close) = match (self.form, self.muted) {
            (Form::Plain, false) => (1, 1),
            (Form::Plain, true) => (3, 3),
            (Form::Percent, false) => (3, 3),
            (Form::Percent, true) => (9, 9),
        };
        debug_assert!(self.end <= text.len());
        (self.start + open, self.end - close)
    }
}

/// The changes that neutralise a look-alike, in order.
#[must_use]
pub fn mute(look: &Look, text: &[u8]) -> [Option<Change>; 2] {
    let (open, close) = look.brackets(text);
    match (look.form, look.muted) {
        (Form::Plain, false) => [
            Some((look.start, open, "［")),
            Some((close, look.end, "］")),
        ],
        (Form::Plain, true) => [Some((open, open, "＿")), None],
        (Form::Percent, false) => {
            let spell = |at: usize, upper, lower| match text[at] {
                b'B' | b'D' => upper,
                _ => lower,
            };
            let first = spell(open - 1, "%EF%BC%BB", "%ef%bc%bb");
            let last = spell(look.end - 1, "%EF%BC%BD", "%ef%bc%bd");
            [
                Some((look.start, open, first)),
                Some((close, look.end, last)),
            ]
        }
        (Form::Percent, true) => [Some((open, open, "%EF%BC%BF")), None],
    }
}

/// The changes that undo [`mute`], in order. None for what is not muted.
#[must_use]
pub fn unmute(look: &Look, text: &[u8]) -> [Option<Change>; 2] {
    let (open, close) = look.brackets(text);
    match (look.form, look.muted, look.counted) {
        (_, false, _) => [None, None],
        (Form::Plain, true, true) => [Some((open, open + "＿".len(), "")), None],
        (Form::Percent, true, true) => [Some((open, open + "%EF%BC%BF".len(), "")), None],
        (Form::Plain, true, false) => [Some((look.start, open, "[")), Some((close, look.end, "]"))],
        (Form::Percent, true, false) => {
            let spell = |at: usize, upper, lower| match text[at] {
                b'B' | b'D' => upper,
                _ => lower,
            };
            let first = spell(open - 1, "%5B", "%5b");
            let last = spell(look.end - 1, "%5D", "%5d");
            [
                Some((look.start, open, first)),
                Some((close, look.end, last)),
            ]
        }
    }
}

/// All that looks like a token in `text`, in order.
pub fn looks(text: &[u8]) -> impl Iterator<Item = Look> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(more) = memchr3(b'[', b'%', 0xef, text.get(at..)?) {
            at += more;
            if let Some(look) = look(text, at) {
                at = look.end;
                return Some(look);
            }
            at += 1;
        }
        at = text.len();
        None
    })
}

/// Whether `text` may hold anything that [`looks`] finds.
#[must_use]
pub fn may_look(text: &[u8]) -> bool {
    memchr3(b'[', b'%', 0xef, text).is_some()
}

/// Appends the token of a category and a number.
pub fn write(category: &str, number: u64, out: &mut Vec<u8>) {
    out.push(b'[');
    out.extend_from_slice(category.as_bytes());
    out.push(b'_');
    let mut digits = [0; 20];
    let mut first = digits.len();
    let mut rest = number;
    loop {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[first..]);
    out.push(b']');
}

/// Appends the marker of a value that cannot be restored.
pub fn write_redacted(category: &str, out: &mut Vec<u8>) {
    out.push(b'[');
    out.extend_from_slice(category.as_bytes());
    out.push(b'_');
    out.extend_from_slice(REDACTED.as_bytes());
    out.push(b']');
}

/// The look-alike whose opening bracket starts at `at`.
fn look(text: &[u8], at: usize) -> Option<Look> {
    let rest = &text[at..];
    let (form, muted) = match rest {
        [b'[', ..] => (Form::Plain, false),
        [0xef, 0xbc, 0xbb, ..] => (Form::Plain, true),
        [b'%', b'5', b'B' | b'b', ..] => (Form::Percent, false),
        [b'%', ..] if starts_with(rest, b"%EF%BC%BB") => (Form::Percent, true),
        _ => return None,
    };
    let (open, low_line, close): (usize, &[u8], &[u8]) = match (form, muted) {
        (Form::Plain, false) => (1, b"", b"]"),
        (Form::Plain, true) => (3, "＿".as_bytes(), "］".as_bytes()),
        (Form::Percent, false) => (3, b"", b"%5D"),
        (Form::Percent, true) => (9, b"%EF%BC%BF", b"%EF%BC%BD"),
    };
    let mut core = at + open;
    while muted && starts_with(&text[core..], low_line) {
        core += low_line.len();
    }
    let counted = core > at + open;
    let (name, length) = name(&text[core..])?;
    let mut end = core + length;
    let escaped = text.get(end) == Some(&b'\\');
    end += usize::from(escaped);
    if !starts_with(text.get(end..)?, close) {
        return None;
    }
    Some(Look {
        start: at,
        end: end + close.len(),
        name,
        form,
        muted,
        escaped,
        counted,
    })
}

/// Whether `text` starts with `wanted`, without regard to ASCII case.
fn starts_with(text: &[u8], wanted: &[u8]) -> bool {
    text.get(..wanted.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(wanted))
}

/// Reads a category, an underscore and a number or [`REDACTED`]; tells how long that was.
fn name(text: &[u8]) -> Option<(Name, usize)> {
    const LONGEST: usize = MAX_CATEGORY + 1 + 20;
    if !text.first()?.is_ascii_alphabetic() {
        return None;
    }
    let mut core = [0; LONGEST];
    let mut length = 0;
    let mut at = 0;
    loop {
        let byte = match text.get(at) {
            Some(b'\\') if text.get(at + 1) == Some(&b'_') => {
                at += 1;
                b'_'
            }
            Some(byte) if byte.is_ascii_alphanumeric() || *byte == b'_' => {
                byte.to_ascii_uppercase()
            }
            _ => break,
        };
        if length == LONGEST {
            return None;
        }
        core[length] = byte;
        length += 1;
        at += 1;
    }
    let core = &core[..length];
    let split = core.iter().rposition(|&byte| byte == b'_')?;
    let (category, number) = (&core[..split], &core[split + 1..]);
    if category.is_empty() || category.len() > MAX_CATEGORY {
        return None;
    }
    let number = match number {
        b"REDACTED" => None,
        b"0" => Some(0),
        [b'1'..=b'9', ..] => Some(std::str::from_utf8(number).ok()?.parse().ok()?),
        _ => return None,
    };
    let mut name = Name {
        category: [0; MAX_CATEGORY],
        length: category.len() as u8,
        number,
    };
    name.category[..category.len()].copy_from_slice(category);
    Some((name, at))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rewrite(text: &str, change: impl Fn(&Look, &[u8]) -> [Option<Change>; 2]) -> String {
        let mut out = String::new();
        let mut done = 0;
        for look in looks(text.as_bytes()) {
            for (start, end, with) in change(&look, text.as_bytes()).into_iter().flatten() {
                out.push_str(&text[done..start]);
                out.push_str(with);
                done = end;
            }
        }
        out + &text[done..]
    }

    fn names(text: &str) -> Vec<(String, Option<u64>)> {
        looks(text.as_bytes())
            .map(|look| (look.name.category().to_owned(), look.name.number))
            .collect()
    }

    #[test]
    fn every_spelling_is_read() {
        for text in [
            "[EMAIL_0]",
            "a [email_0] b",
            r"\[EMAIL\_0\]",
            r"[EMAIL\_0]",
            "x%5BEMAIL_0%5D",
            "%5bEmail_0%5d",
            "［EMAIL_0］",
            "［＿＿EMAIL_0］",
            "%EF%BC%BBEMAIL_0%ef%bc%bd",
            "[[EMAIL_0]]",
            "[a_[EMAIL_0]",
        ] {
            assert_eq!(names(text), [("EMAIL".to_owned(), Some(0))], "{text}");
        }
        assert_eq!(
            names("[IP_ADDRESS_12]")[0],
            ("IP_ADDRESS".to_owned(), Some(12))
        );
        assert_eq!(names("[EMAIL_REDACTED]")[0], ("EMAIL".to_owned(), None));
    }

    #[test]
    fn other_things_are_not() {
        for text in [
            "[EMAIL_]",
            "[_0]",
            "[EMAIL_01]",
            "[EMAIL 0]",
            "[EMAIL_0",
            "EMAIL_0]",
            "[0_0]",
            "[EMAIL_0］",
            "[EMAIL_99999999999999999999999]",
            "%5BEMAIL_0]",
            "[＿EMAIL_0]",
            "[EMAIL]",
        ] {
            assert_eq!(names(text), [], "{text}");
        }
        let long = format!("[{}_0]", "A".repeat(MAX_CATEGORY + 1));
        assert_eq!(names(&long), []);
    }

    #[test]
    fn a_backslash_belongs_to_a_token_only_if_both_brackets_have_one() {
        let from = |text: &str| {
            looks(text.as_bytes())
                .next()
                .map(|look| (look.replaced_from(text.as_bytes()), look.end))
        };
        assert_eq!(from(r"C:\[EMAIL_0]"), Some((3, 12)));
        assert_eq!(from(r"C:\[EMAIL_0\]"), Some((2, 13)));
    }

    #[test]
    fn muted_twice_and_back() {
        let once = rewrite("［[EMAIL_0]］ %5bEMAIL_0%5D", mute);
        assert_eq!(once, "［［EMAIL_0］］ %ef%bc%bbEMAIL_0%EF%BC%BD");
        let twice = rewrite(&once, mute);
        assert_eq!(
            twice,
            "［［＿EMAIL_0］］ %ef%bc%bb%EF%BC%BFEMAIL_0%EF%BC%BD"
        );
        assert_eq!(rewrite(&twice, unmute), once);
    }

    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "[",
            "]",
            "［",
            "］",
            "＿",
            "%5B",
            "%5d",
            "%5b",
            "%5D",
            "%EF%BC%BB",
            "%ef%Bc%bD",
            "%ef%bc%bf",
            "EMAIL_0",
            "email\\_12",
            "A_REDACTED",
            "\\",
            "_",
            "x",
            "%",
            "é",
            "％",
        ]);
        prop::collection::vec(piece, 0..24).prop_map(|all| all.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn unmute_undoes_mute(text in pieces()) {
            let muted = rewrite(&text, mute);
            prop_assert!(looks(muted.as_bytes()).all(|look| look.muted), "{muted}");
            prop_assert_eq!(rewrite(&muted, unmute), text);
        }

        #[test]
        fn what_is_written_is_read(number in any::<u64>()) {
            let mut out = Vec::new();
            write("IP_ADDRESS", number, &mut out);
            let text = String::from_utf8(out).unwrap();
            prop_assert_eq!(names(&text), [("IP_ADDRESS".to_owned(), Some(number))]);
        }
    }
}
