//! Values in disguise.

use std::sync::LazyLock;

use cloak_stages::detect::{Context, Detectors, Settings};

use crate::detect::assert_sound;
use crate::pieces::byte;

static DETECTORS: LazyLock<Detectors> =
    LazyLock::new(|| Detectors::new(&Settings::default()).expect("the settings are sound"));

const VALUES: [&str; 4] = [
    "marie.dupont@example.eu",
    "4111 1111 1111 1111",
    "521-44-9382",
    "DE89370400440532013000",
];

/// What stands around the value: text that has nothing to do with it.
const AROUND: [&str; 8] = [
    "",
    " ",
    "it is ",
    "(",
    "\n",
    "é ",
    "日本 ",
    "a b c d e f g h ",
];

/// A value is found exactly where it stands, however its characters are written.
pub fn views(mut input: &[u8]) {
    let value = VALUES[usize::from(byte(&mut input)) % VALUES.len()];
    let before = AROUND[usize::from(byte(&mut input)) % AROUND.len()];
    let after = AROUND[usize::from(byte(&mut input)) % AROUND.len()];
    let mut text = before.to_owned();
    let start = text.len();
    for (at, char) in value.char_indices() {
        disguise(char, byte(&mut input), at > 0, &mut text);
    }
    let end = text.len();
    if !after.is_empty() {
        text.push(' ');
        text.push_str(after);
    }
    let mut found = Vec::new();
    DETECTORS.find(&text, Context::default(), &mut found);
    assert_sound(&text, &found);
    let exact = found
        .iter()
        .any(|finding| (finding.start, finding.end) == (start, end));
    assert!(exact, "{:?} in {text:?}: {found:?}", &text[start..end]);
}

/// Writes a character in one of the ways that say the same; what has no width only `inside`, as it
/// belongs to nothing else.
fn disguise(char: char, way: u8, inside: bool, text: &mut String) {
    let code = u32::from(char);
    match way % 8 {
        1 => text.push_str(&format!("\\u{code:04x}")),
        // Nobody encodes letters and digits so: RFC 3986, 2.3.
        2 if !char.is_ascii_alphanumeric() => text.push_str(&format!("%{code:02X}")),
        3 => text.push_str(&format!("&#{code};")),
        4 => text.push_str(&format!("&#x{code:x};")),
        5 if char.is_ascii_alphanumeric() => text.extend(char::from_u32(code + 0xfee0)),
        6 if inside => text.extend(['\u{200b}', char]),
        _ => text.push(char),
    }
}
