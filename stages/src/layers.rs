//! Texts within texts: JSON in a string, base64 in a `data:` URI or in a blob.
//!
//! Whatever is done to text is done to the innermost, and each layer is written again the way it
//! was: escaped for as many strings as it stands in, or encoded.

use std::sync::LazyLock;

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use memchr::{memchr, memmem};

use crate::detect::Category;
use crate::json::{self, Offsets, Span};
use crate::places::{Visit, What, visit_text};
use crate::vouch::Reading;

/// Deepest nesting of JSON in strings that is looked into. Deeper, a text is taken as it reads.
pub(crate) const MAX_LAYERS: u8 = 4;

/// What stands before the data of a `data:` URI in base64.
const BASE64_MARK: &[u8] = b";base64,";

static BASE64_FINDER: LazyLock<memmem::Finder<'static>> =
    LazyLock::new(|| memmem::Finder::new(BASE64_MARK));

/// Whether a text may hold a `data:` URI in base64.
pub(crate) fn has_base64(text: &[u8]) -> bool {
    BASE64_FINDER.find(text).is_some()
}

/// A part of a text that shall read otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    /// Bytes of the text.
    pub(crate) at: Span,
    /// How many JSON strings, one in the other, the text at `at` stands in.
    pub(crate) layers: u8,
    pub(crate) new: New,
}

/// What a part of a text becomes.
#[derive(Clone, Debug)]
pub(crate) enum New {
    /// This. Needs no escaping in any layer.
    Put(&'static str),
    /// The token of the value that stands there.
    TokenOf(Category),
    /// The token, as a string, of the number that stands there.
    TokenOfNumber(Category),
    /// The value of this token.
    ValueOf(TokenAt),
    /// Base64 of this text with these changes.
    Recoded(Box<Recoded>),
}

/// A token where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenAt {
    pub(crate) category: u16,
    pub(crate) number: u64,
    /// Whether to percent-encode the value.
    pub(crate) percent: bool,
    /// Whether the token is a whole string, and `at` spans its quotes too.
    pub(crate) whole: bool,
}

/// Text out of base64.
#[derive(Clone, Debug)]
pub(crate) struct Recoded {
    pub(crate) text: String,
    pub(crate) changes: Vec<Change>,
    padded: bool,
}

/// What is known of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About<'a> {
    /// The nearest key.
    pub(crate) field: Option<&'a str>,
    /// How many JSON strings it stands in.
    pub(crate) layers: u8,
    pub(crate) what: What,
    pub(crate) edited: Option<Edited<'a>>,
}

/// Of a text that was looked through before: how it was read then, and where it was edited since.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edited<'a> {
    pub(crate) read: Reading,
    /// Spans of what the text stands in: the JSON text, or the text itself.
    pub(crate) at: &'a [Span],
}

impl<'a> About<'a> {
    /// Of what a string says, about which this is known.
    fn inside(self, edited: Option<Edited<'a>>) -> Self {
        Self {
            layers: self.layers + 1,
            edited,
            ..self
        }
    }
}

/// Finds what is to be changed in a text that holds no other.
pub(crate) trait Treat {
    /// Appends the changes, in order.
    fn text(&mut self, text: &str, about: About<'_>, changes: &mut Vec<Change>);

    /// What a JSON number becomes.
    fn number(&mut self, number: &str, field: Option<&str>) -> Option<New> {
        let _ = (number, field);
        None
    }

    /// Whether a text need not be looked into at all.
    fn passes(&self, text: &[u8], what: What) -> bool;

    /// Base64 was passed over.
    fn binary(&mut self) {}

    /// Buffers to decode into.
    fn buffers(&mut self) -> &mut Vec<Vec<u8>>;
}

/// Appends the changes of the string whose content stands at `at` in the JSON text `raw`, and tells
/// how it was read. `about.layers` counts the strings that `raw` stands in.
pub(crate) fn string(
    treat: &mut impl Treat,
    raw: &[u8],
    at: Span,
    about: About<'_>,
    changes: &mut Vec<Change>,
) -> Reading {
    let mut read = Reading::Text;
    let first = changes.len();
    let content = at.of(raw);
    if let What::Blob(mime) = about.what {
        blob(treat, content, &json::decode(mime.of(raw)), changes);
    } else if memchr(b'\\', content).is_none() {
        if treat.passes(content, about.what) {
            return read;
        }
        if let Ok(text) = simdutf8::basic::from_utf8(content) {
            let mut edits = Vec::new();
            let edited = about.edited.map(|edited| {
                let there = |place: u32| (place - at.start) as usize;
                let moved = |span: &Span| Span::new(there(span.start), there(span.end));
                edits.extend(edited.at.iter().map(moved));
                Edited {
                    at: &edits,
                    ..edited
                }
            });
            read = self::text(treat, text, about.inside(edited), changes);
        }
    } else {
        let mut buffer = treat.buffers().pop().unwrap_or_default();
        buffer.clear();
        let mut edits = Vec::new();
        let edited = about.edited.map(|edited| {
            decode_edited(content, at, edited.at, &mut buffer, &mut edits);
            Edited {
                at: &edits,
                ..edited
            }
        });
        if edited.is_none() {
            json::decode_into(content, &mut buffer);
        }
        if !treat.passes(&buffer, about.what)
            && let Ok(text) = simdutf8::basic::from_utf8(&buffer)
        {
            read = self::text(treat, text, about.inside(edited), changes);
            let mut offsets = Offsets::new(content);
            for change in &mut changes[first..] {
                let start = offsets.raw(change.at.start as usize);
                change.at = Span::new(start, offsets.raw(change.at.end as usize));
            }
        }
        treat.buffers().push(buffer);
    }
    shift(&mut changes[first..], at.start as usize);
    widen(&mut changes[first..], at);
    read
}

/// Appends what `content`, which stands at `at`, says, and where its edits stand in that. An edit
/// begins and ends between two characters.
fn decode_edited(
    content: &[u8],
    at: Span,
    edits: &[Span],
    text: &mut Vec<u8>,
    there: &mut Vec<Span>,
) {
    let mut done = 0;
    for edit in edits {
        let [start, end] = [edit.start, edit.end].map(|place| (place - at.start) as usize);
        json::decode_into(&content[done..start], text);
        let first = text.len();
        json::decode_into(&content[start..end], text);
        there.push(Span::new(first, text.len()));
        done = end;
    }
    json::decode_into(&content[done..], text);
}

/// Appends the change of the number at `at`.
pub(crate) fn number(
    treat: &mut impl Treat,
    raw: &[u8],
    at: Span,
    field: Option<&str>,
    layers: u8,
    changes: &mut Vec<Change>,
) {
    let number = std::str::from_utf8(at.of(raw)).unwrap_or_default();
    if let Some(new) = treat.number(number, field) {
        changes.push(Change { at, layers, new });
    }
}

/// A token that is all of a string may become a number.
fn widen(changes: &mut [Change], at: Span) {
    if let [change] = changes
        && change.at == at
        && let New::ValueOf(token) = &mut change.new
        && !token.whole
    {
        token.whole = true;
        change.layers -= 1;
        change.at = Span::new(at.start as usize - 1, at.end as usize + 1);
    }
}

fn shift(changes: &mut [Change], by: usize) {
    for change in changes {
        change.at = Span::new(change.at.start as usize + by, change.at.end as usize + by);
    }
}

fn text(
    treat: &mut impl Treat,
    text: &str,
    about: About<'_>,
    changes: &mut Vec<Change>,
) -> Reading {
    let first = changes.len();
    let data = matches!(about.what, What::Data | What::Uri);
    let read = if data && about.layers <= MAX_LAYERS && is_json(text.as_bytes()) {
        Reading::Json
    } else {
        Reading::Text
    };
    // What was read otherwise before is as good as new.
    let about = About {
        edited: about.edited.filter(|edited| edited.read == read),
        ..about
    };
    if read == Reading::Json {
        let mut inside = Inside {
            treat,
            text: text.as_bytes(),
            about,
            changes,
        };
        visit_text(text.as_bytes(), &mut inside);
        return read;
    }
    treat.text(text, about, changes);
    if data {
        data_uris(treat, text, about, first, changes);
    }
    read
}

/// Whether a text is JSON that may hold strings of its own.
fn is_json(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    let framed = matches!(
        (text.first(), text.last()),
        (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']')) | (Some(b'"'), Some(b'"'))
    );
    framed && text.len() > 2 && json::check(text).is_ok()
}

/// Looks into JSON that stands in a string. If it was looked at before, what was edited since is
/// looked at as a whole: it is mostly short.
struct Inside<'a, T> {
    treat: &'a mut T,
    text: &'a [u8],
    about: About<'a>,
    changes: &'a mut Vec<Change>,
}

impl<T> Inside<'_, T> {
    /// Whether something stands at `at` as it was when it was looked at.
    fn is_old(&self, at: Span) -> bool {
        self.about.edited.is_some_and(|edited| {
            let first = edited.at.partition_point(|edit| edit.end < at.start);
            edited.at.get(first).is_none_or(|edit| edit.start > at.end)
        })
    }
}

impl<T: Treat> Visit for Inside<'_, T> {
    fn string(&mut self, at: Span, field: Span, _: What) {
        if self.is_old(at) && self.is_old(field) {
            return;
        }
        let field = json::decode(field.of(self.text));
        let about = About {
            field: if field.is_empty() {
                self.about.field
            } else {
                Some(&field)
            },
            edited: None,
            ..self.about
        };
        string(self.treat, self.text, at, about, self.changes);
    }

    fn number(&mut self, at: Span, field: Span, _: What) {
        if !matches!(self.about.what, What::Data) || self.is_old(at) && self.is_old(field) {
            return;
        }
        let field = json::decode(field.of(self.text));
        number(
            self.treat,
            self.text,
            at,
            Some(&field),
            self.about.layers,
            self.changes,
        );
    }

    fn key(&mut self, at: Span, _: usize, _: What) {
        if self.is_old(at) {
            return;
        }
        let first = self.changes.len();
        let about = About {
            field: None,
            edited: None,
            ..self.about
        };
        string(self.treat, self.text, at, about, self.changes);
        narrow(&mut self.changes[first..]);
    }

    fn again(&mut self) {}
}

/// A key cannot become a number.
pub(crate) fn narrow(changes: &mut [Change]) {
    for change in changes {
        if let New::ValueOf(token) = &mut change.new
            && token.whole
        {
            token.whole = false;
            change.layers += 1;
            change.at = change.at.unquoted();
        }
    }
}

/// Adds changes in the base64 of `data:` URIs (RFC 2397), in place of any that reach into it.
fn data_uris(
    treat: &mut impl Treat,
    text: &str,
    about: About<'_>,
    first: usize,
    changes: &mut Vec<Change>,
) {
    /// Longest head of a URI that is looked for before its data.
    const HEAD: usize = 128;
    let bytes = text.as_bytes();
    let mut recoded: Vec<Change> = Vec::new();
    for mark in BASE64_FINDER.find_iter(bytes) {
        let head = &bytes[mark.saturating_sub(HEAD)..mark];
        let scheme = head
            .windows(5)
            .rposition(|five| five.eq_ignore_ascii_case(b"data:"));
        let Some(scheme) = scheme else { continue };
        let mime = String::from_utf8_lossy(&head[scheme + 5..]);
        if mime.contains([' ', '"', '\n', ',']) {
            continue;
        }
        let start = mark + BASE64_MARK.len();
        let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
        let length = bytes[start..]
            .iter()
            .position(|byte| !is_base64(byte))
            .unwrap_or(bytes.len() - start);
        let from = recoded.len();
        blob(treat, &bytes[start..start + length], &mime, &mut recoded);
        for change in &mut recoded[from..] {
            change.layers = about.layers;
        }
        shift(&mut recoded[from..], start);
    }
    if recoded.is_empty() {
        return;
    }
    let mut plain = changes.split_off(first);
    let mut inside = recoded.iter().peekable();
    plain.retain(|change| {
        while inside
            .next_if(|whole| whole.at.end <= change.at.start)
            .is_some()
        {}
        inside
            .peek()
            .is_none_or(|whole| whole.at.start >= change.at.end)
    });
    changes.append(&mut plain);
    changes.append(&mut recoded);
    changes[first..].sort_by_key(|change| change.at);
}

/// Appends the change of base64 as a whole.
fn blob(treat: &mut impl Treat, content: &[u8], mime: &str, changes: &mut Vec<Change>) {
    let textual = is_textual(mime);
    if !textual && !mime.is_empty() {
        return treat.binary();
    }
    let mut packed = content.to_vec();
    packed.retain(|byte| !byte.is_ascii_whitespace());
    let decoded = LENIENT.decode(&packed).ok().map(String::from_utf8);
    let Some(Ok(text)) = decoded else {
        return treat.binary();
    };
    if !textual && text.contains('\0') {
        return treat.binary();
    }
    let about = About {
        field: None,
        layers: 0,
        what: What::Data,
        edited: None,
    };
    let mut inner = Vec::new();
    self::text(treat, &text, about, &mut inner);
    if inner.is_empty() {
        return;
    }
    changes.push(Change {
        at: Span::new(0, content.len()),
        layers: 0,
        new: New::Recoded(Box::new(Recoded {
            text,
            changes: inner,
            padded: packed.ends_with(b"=") || packed.len().is_multiple_of(4),
        })),
    });
}

impl Recoded {
    /// Appends base64 of `text`, in the way this was encoded.
    pub(crate) fn encode(&self, text: &[u8], out: &mut Vec<u8>) {
        let engine = if self.padded { &PADDED } else { &BARE };
        let start = out.len();
        out.resize(start + text.len().div_ceil(3) * 4, 0);
        let written = engine
            .encode_slice(text, &mut out[start..])
            .expect("four bytes hold three");
        out.truncate(start + written);
    }
}

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);
const PADDED: GeneralPurpose =
    GeneralPurpose::new(&alphabet::STANDARD, GeneralPurposeConfig::new());
const BARE: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_encode_padding(false),
);

/// Whether a MIME type is one of text: `text/*`, structured syntaxes (RFC 6839), and those
/// applications that are text by their nature.
fn is_textual(mime: &str) -> bool {
    let kind = mime
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let Some((top, sub)) = kind.split_once('/') else {
        return false;
    };
    let syntax = sub.rsplit_once('+').map_or(sub, |(_, suffix)| suffix);
    top == "text"
        || matches!(
            syntax,
            "json"
                | "xml"
                | "yaml"
                | "x-yaml"
                | "toml"
                | "csv"
                | "javascript"
                | "ecmascript"
                | "typescript"
                | "x-sh"
                | "sql"
                | "ndjson"
                | "x-ndjson"
                | "jsonl"
                | "rtf"
                | "x-httpd-php"
                | "x-www-form-urlencoded"
                | "graphql"
                | "ld+json"
                | "markdown"
                | "html"
        )
        || top == "message"
}
