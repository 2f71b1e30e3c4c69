//! What a text looks like: random, a word, a placeholder, a hash.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// Whether a text consists of the pairs of letters that words consist of, rather than of those
/// that chance brings: three quarters of the pairs are among the 303 that make up 95 % of the
/// words and identifiers of source code. Of random letters less than half are.
pub(super) fn wordy(text: &[u8]) -> bool {
    let (usual, all) = pairs(text);
    all >= 4 && usual * 4 >= all * 3
}

/// How many pairs of letters are usual in words, and how many there are.
pub(super) fn pairs(text: &[u8]) -> (usize, usize) {
    let letters = text
        .windows(2)
        .filter(|p| p[0].is_ascii_alphabetic() && p[1].is_ascii_alphabetic());
    letters.fold((0, 0), |(usual, all), pair| {
        let [a, b] = [pair[0], pair[1]].map(|b| b.to_ascii_lowercase() - b'a');
        (
            usual + usize::from(USUAL[usize::from(a)] >> b & 1 == 1),
            all + 1,
        )
    })
}

/// Pairs of letters that words consist of, a row for each first letter.
static USUAL: [u32; 26] = {
    const ROWS: [&[u8]; 26] = [
        b"abcdfgiklmnprstuvwxy",
        b"aceijlorsuy",
        b"acdefhiklmoprstuy",
        b"abcdefilorstu",
        b"abcdefgiklmnopqrstuvwxy",
        b"adefilorstu",
        b"aeghilnorsu",
        b"aeiortu",
        b"abcdefglmnoprstvxz",
        b"ae",
        b"aeis",
        b"adefilopstuy",
        b"abeilmopsuy",
        b"acdefgiklnopstuvy",
        b"abcdfgiklmnoprstuvwx",
        b"acehiloprstuy",
        b"u",
        b"acdefgiklmnoprstuvy",
        b"aceghiklmnoprstuy",
        b"acdefhilmoprstuy",
        b"abcdefgilmnprst",
        b"aeio",
        b"aehinor",
        b"ceipt",
        b"aenpst",
        b"aei",
    ];
    let mut table = [0; 26];
    let mut row = 0;
    while row < 26 {
        let mut i = 0;
        while i < ROWS[row].len() {
            table[row] |= 1 << (ROWS[row][i] - b'a');
            i += 1;
        }
        row += 1;
    }
    table
};

/// What kinds of bytes a text has.
#[derive(Clone, Copy, Default)]
pub(super) struct Kinds {
    pub(super) digits: usize,
    pub(super) lower: usize,
    pub(super) upper: usize,
    pub(super) other: usize,
    /// How often a digit and a letter stand side by side.
    pub(super) turns: usize,
    /// How many different bytes there are.
    pub(super) distinct: usize,
    /// The longest repetition of one byte.
    pub(super) longest_repeat: usize,
}

impl Kinds {
    pub(super) fn of(text: &[u8]) -> Self {
        let mut kinds = Self::default();
        let mut seen = [0u64; 4];
        let (mut before, mut repeat) = (0, 0);
        for &byte in text {
            match byte {
                b'0'..=b'9' => kinds.digits += 1,
                b'a'..=b'z' => kinds.lower += 1,
                b'A'..=b'Z' => kinds.upper += 1,
                _ => kinds.other += 1,
            }
            let turn = byte.is_ascii_digit() && u8::is_ascii_alphabetic(&before)
                || before.is_ascii_digit() && byte.is_ascii_alphabetic();
            kinds.turns += usize::from(turn);
            repeat = if byte == before { repeat + 1 } else { 1 };
            kinds.longest_repeat = kinds.longest_repeat.max(repeat);
            seen[usize::from(byte >> 6)] |= 1 << (byte & 63);
            before = byte;
        }
        kinds.distinct = seen.iter().map(|s| s.count_ones() as usize).sum();
        kinds
    }

    pub(super) fn letters(&self) -> usize {
        self.lower + self.upper
    }

    /// Whether the bytes are too much alike for a random text: `xxxxxxxx`, `00000000`, `ababab`.
    pub(super) fn monotonous(&self, len: usize) -> bool {
        self.distinct < 4.max(len.min(32) / 4) || self.longest_repeat >= 6.max(len / 4)
    }
}

/// Whether a text of at least sixteen bytes of `[A-Za-z0-9_.-]` and the like looks like it was drawn
/// at random, rather than composed of words and numbers.
pub(super) fn random(text: &[u8]) -> bool {
    let kinds = Kinds::of(text);
    if kinds.monotonous(text.len()) || sequential(text) {
        return false;
    }
    let (usual, all) = pairs(text);
    let words = all >= 6 && usual * 4 >= all * 3;
    if kinds.digits == 0 {
        // Letters alone have to be of both cases and improbable.
        return kinds.lower > 2 && kinds.upper > 1 && all >= 8 && usual * 10 < all * 7;
    }
    // Digits in many places are chance; a year or a version behind words is not.
    let scattered = kinds.turns >= 3.max(text.len() / 8);
    let improbable = kinds.upper > 2 && kinds.lower > 2 && all >= 8 && usual * 10 < all * 7;
    kinds.letters() > 0 && (scattered && (!words || kinds.turns >= text.len() / 5) || improbable)
}

/// Whether half of the text is the alphabet or the digits in their order: `0123456789abcdef`.
pub(super) fn sequential(text: &[u8]) -> bool {
    let ordered = text
        .windows(2)
        .filter(|p| p[1] == p[0].wrapping_add(1))
        .count();
    text.len() >= 12 && ordered * 10 > text.len() * 8
}

/// Whether a text is a UUID (RFC 9562).
pub(super) fn uuid(text: &[u8]) -> bool {
    text.len() == 36
        && text.iter().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => *b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

/// Whether a text is hexadecimal of the length of a digest: MD5, SHA-1, SHA-2.
pub(super) fn digest(text: &[u8]) -> bool {
    matches!(text.len(), 32 | 40 | 56 | 64 | 96 | 128) && text.iter().all(u8::is_ascii_hexdigit)
}

/// Finds what a placeholder has in it, in lower case.
#[rustfmt::skip]
static PARTS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    automaton(&[
        "changeme", "change_me", "change-me", "changethis", "replaceme", "replace_me", "replace-me", "replace-with", "placeholder", "xxxx", "your_", "your-", "yourpass",
        "yoursecret", "yourtoken", "yourapi", "yourkey", "_here", "-here", "insert_", "insert-", "dummy", "redacted", "****", "....", "example", "%(", "%s", "{0}", "[hidden]", "not-a-real", "notreal", "fake-", "fake_", "fakekey", "faketoken", "fakepass",
    ])
});

/// An automaton that finds any of a few short words.
pub(super) fn automaton(words: &[&str]) -> AhoCorasick {
    AhoCorasick::builder()
        .kind(Some(AhoCorasickKind::DFA))
        .build(words)
        .expect("a few short words make an automaton")
}

/// Whether a value stands for one: `changeme`, `<password>`, `${VAR}`, `xxx`, `your-key-here`.
pub(super) fn placeholder(value: &[u8]) -> bool {
    #[rustfmt::skip]
    const WHOLE: &[&str] = &[
        "true", "false", "null", "nil", "none", "undefined", "yes", "no", "on", "off", "string", "str", "int", "bool", "boolean",
        "number", "bytes", "any", "object", "text", "varchar", "required", "optional", "default", "empty", "unset", "missing",
        "password", "passwort", "passwd", "pass", "pwd", "secret", "token", "apikey", "key", "user", "username", "admin", "root",
        "guest", "test", "testing", "tester", "demo", "sample", "foo", "bar", "baz", "foobar", "example", "hello", "world", "value", "changeit", "todo",
        "tbd", "fixme", "abc", "abcdef", "qwerty", "letmein", "postgres", "mysql", "redis", "mongo", "rabbitmq", "localhost", "hidden",
        "private", "public", "basic", "bearer", "digest", "plain", "redacted", "masked", "encrypted", "env", "vault", "prompt", "stdin",
        "file", "keyring", "keychain", "hunter", "mypassword", "mysecret", "mytoken", "mykey", "secretkey", "supersecret", "topsecret",
        "somepassword", "somesecret", "sometoken", "somekey", "thepassword", "newpassword", "oldpassword", "wrongpassword", "passphrase",
        "testpassword", "testpass", "testsecret", "testtoken", "testkey", "dummy", "fake", "mock", "asdf", "qwertz", "notasecret", "anonymous", "development", "production",
    ];
    let mut lower = [0; 64];
    let cut = value.len().min(64);
    lower[..cut].copy_from_slice(&value[..cut]);
    let lower = &mut lower[..cut];
    lower.make_ascii_lowercase();
    // Digits and punctuation around a stock word leave it one: `Password123!`, `<secret>`.
    let edge = |b: &u8| !b.is_ascii_alphabetic();
    let from = lower.iter().position(|b| !edge(b));
    let Some(from) = from else {
        return numbers_only(value);
    };
    let to = lower.iter().rposition(|b| !edge(b)).map_or(0, |i| i + 1);
    let core = &lower[from..to];
    let kinds = Kinds::of(value);
    WHOLE.iter().any(|word| word.as_bytes() == core)
        || PARTS.is_match(&*lower)
        || kinds.distinct < 3
        || value.len() >= 12 && kinds.longest_repeat * 2 > value.len()
        || sequential(value)
}

/// A value without letters: a few digits are a number, many are as good a password as any.
fn numbers_only(value: &[u8]) -> bool {
    value
        .iter()
        .all(|b| b.is_ascii_digit() || !b.is_ascii_graphic())
        && value.len() < 6
        || Kinds::of(value).distinct < 3
}
