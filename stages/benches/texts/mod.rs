//! Texts of every kind, made up but always the same.

use std::fmt::{self, Write};

/// A kind of text.
#[derive(Clone, Copy)]
pub(crate) struct Kind(&'static str, fn(&mut Numbers, &mut String));

pub(crate) const KINDS: [Kind; 7] = [
    Kind("prose", prose),
    Kind("code", code),
    Kind("csv", csv),
    Kind("logs", logs),
    Kind("json", json),
    Kind("minified", minified),
    Kind("base64", base64),
];

/// A piece that makes a hard text when it is repeated.
#[derive(Clone, Copy)]
pub(crate) struct Hard(&'static str, pub(crate) &'static str);

pub(crate) const HARD: [Hard; 22] = [
    Hard("digits", "0"),
    Hard("letters", "a"),
    Hard("at signs", "@"),
    Hard("dots", "."),
    Hard("digit hyphen", "1-"),
    Hard("colons", ":"),
    Hard("hex colon", "a:"),
    Hard("open brackets", "("),
    Hard("brackets", "[]"),
    Hard("digits spaced", "12 "),
    Hard("digit dot", "1."),
    Hard("letter at", "a@"),
    Hard("addresses", "a@a."),
    Hard("letter dot", "a.a."),
    Hard("keys", "key=key="),
    Hard("key prefixes", "sk-"),
    Hard("token heads", "eyJ."),
    Hard("iban heads", "DE89 3"),
    Hard("card heads", "4111 "),
    Hard("phone heads", "+1"),
    Hard("pairs", "12 34 56 78 "),
    Hard("escapes", "%41\\u0041&#65;"),
];

impl fmt::Display for Hard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Kind {
    /// About `size` bytes of it.
    pub(crate) fn text(&self, size: usize) -> String {
        let mut numbers = Numbers(7);
        let mut text = String::with_capacity(size + 300);
        while text.len() < size {
            (self.1)(&mut numbers, &mut text);
        }
        text
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Numbers that look random (the 64-bit generator of Vigna's `xorshift*`).
pub(crate) struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % below
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.next(from.len() as u64) as usize]
    }
}

const WORDS: [&str; 32] = [
    "the", "river", "of", "and", "autumn", "garden", "to", "in", "market", "between", "a", "that",
    "was", "window", "with", "morning", "for", "as", "letter", "his", "winter", "they", "be", "at",
    "one", "harbour", "have", "this", "from", "bridge", "or", "had",
];
const GIVEN: [&str; 6] = ["Marie", "Jonas", "Amira", "Theo", "Lucia", "Pavel"];
const FAMILY: [&str; 6] = ["Keller", "Haddad", "Novak", "Moreau", "Rossi", "Lind"];

fn prose(n: &mut Numbers, out: &mut String) {
    for _ in 0..90 {
        out.push_str(n.pick(&WORDS));
        out.push_str(if n.next(9) == 0 { ", " } else { " " });
    }
    match n.next(3) {
        0 => writeln!(
            out,
            "write to {}.{}@example.org.",
            n.pick(&WORDS),
            n.pick(&WORDS)
        ),
        1 => writeln!(out, "call +1 415 555 {:04}.", n.next(10000)),
        _ => writeln!(out, "in {} there were {}.", 1900 + n.next(130), n.next(100)),
    }
    .unwrap();
}

const CODE: &str = include_str!("../../src/detect/mod.rs");

fn code(n: &mut Numbers, out: &mut String) {
    let lines: usize = CODE.lines().count();
    let from = n.next(lines as u64 - 40) as usize;
    for line in CODE.lines().skip(from).take(40) {
        out.push_str(line);
        out.push('\n');
    }
}

fn csv(n: &mut Numbers, out: &mut String) {
    let (given, family) = (n.pick(&GIVEN), n.pick(&FAMILY));
    if out.is_empty() {
        out.push_str("id,first_name,last_name,email,phone,card,ip\n");
    }
    writeln!(
        out,
        "{},{given},{family},{given}.{family}{}@example.com,+1 415 555 {:04},4111 1111 1111 1111,10.{}.{}.{}",
        100_000 + n.next(900_000),
        n.next(1000),
        n.next(10000),
        n.next(256),
        n.next(256),
        1 + n.next(250),
    )
    .unwrap();
}

fn logs(n: &mut Numbers, out: &mut String) {
    writeln!(
        out,
        "2026-03-{:02}T{:02}:{:02}:{:02}.{:03}Z INFO [worker-{}] request {:08x} GET /api/v1/items/{} took {}ms status={} bytes={}",
        1 + n.next(28), n.next(24), n.next(60), n.next(60), n.next(1000), n.next(16),
        n.next(u64::from(u32::MAX)), n.next(100_000), n.next(900), n.pick(&[200, 304, 404, 500]),
        n.next(1_000_000),
    )
    .unwrap();
    if n.next(12) == 0 {
        writeln!(
            out,
            "2026-03-01 10:00:00 WARN denied 10.1.{}.{}",
            n.next(256),
            n.next(256)
        )
        .unwrap();
    }
}

fn json(n: &mut Numbers, out: &mut String) {
    writeln!(
        out,
        r#"{{"id":{},"title":"{} {} {}","createdAt":"2026-02-{:02}T09:{:02}:00Z","score":{}.{:03},"author":{{"email":"{}.{}@example.com"}}}},"#,
        n.next(100_000_000), n.pick(&WORDS), n.pick(&WORDS), n.pick(&WORDS), 1 + n.next(28),
        n.next(60), n.next(100), n.next(1000), n.pick(&GIVEN), n.pick(&FAMILY),
    )
    .unwrap();
}

fn minified(n: &mut Numbers, out: &mut String) {
    write!(
        out,
        "function {}(t,e){{return t.{}&&(e[{}]=t.{}(e)),!0===e?null:{{a:t,b:e}}}}var n=r({});",
        n.pick(&["a", "bq", "Ze", "x1"]),
        n.pick(&WORDS),
        n.next(10),
        n.pick(&WORDS),
        n.next(1000),
    )
    .unwrap();
}

fn base64(n: &mut Numbers, out: &mut String) {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for _ in 0..76 {
        out.push(char::from(n.pick(LETTERS)));
    }
    out.push('\n');
}
