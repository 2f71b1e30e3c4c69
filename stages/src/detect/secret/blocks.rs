//! Armoured private keys: PEM (RFC 7468), OpenSSH, PGP (RFC 9580), PuTTY.

use memchr::memmem::Finder;

use super::Hit;

/// The longest block, from BEGIN to END: a 16384-bit RSA key has 12 KB.
const LONGEST: usize = 32 * 1024;
/// The longest line that a label may stand in.
const LONGEST_LABEL: usize = 80;

/// Adds the private-key blocks of `text` to `out`, in order. Line ends may be escaped, as in a JSON
/// string or an environment variable. A block whose end is missing is taken as far as its lines of
/// base64 reach.
pub(crate) fn blocks(text: &[u8], out: &mut Vec<Hit>) {
    let begin = Finder::new(b"-----BEGIN ");
    let mut from = 0;
    while let Some(found) = begin.find(&text[from..]) {
        let start = from + found;
        let label = start + 11;
        from = label;
        let Some(body) = label_end(text, label) else {
            continue;
        };
        let Some(end) = block_end(text, label, body) else {
            continue;
        };
        out.push(Hit {
            start,
            end,
            name: "PRIVATE_KEY",
            confidence: 99,
            rule: "private-key-block",
        });
        from = end;
    }
}

/// Where the label that starts at `label` ends, with its dashes, if it is that of a private key.
fn label_end(text: &[u8], label: usize) -> Option<usize> {
    let line = &text[label..text.len().min(label + LONGEST_LABEL)];
    let end = memchr::memmem::find(line, b"-----")?;
    let words = line[..end]
        .iter()
        .all(|b| matches!(b, b'A'..=b'Z' | b'0'..=b'9' | b' '));
    let private =
        line[..end].ends_with(b"PRIVATE KEY") || line[..end].ends_with(b"PRIVATE KEY BLOCK");
    (words && private).then_some(label + end + 5)
}

/// Where the block ends whose label and body start here: after its END line, or where base64 ends.
fn block_end(text: &[u8], label: usize, body: usize) -> Option<usize> {
    let block = &text[..text.len().min(body + LONGEST)];
    let mut at = body;
    let mut data = 0;
    let mut data_end = body;
    while at < block.len() {
        let rest = &block[at..];
        if rest.starts_with(b"-----END ") {
            let close = memchr::memmem::find(&rest[9..rest.len().min(9 + LONGEST_LABEL)], b"-----");
            let end = close.map_or(at + 9, |c| at + 9 + c + 5);
            let name = body - 5 - label;
            let known = rest.get(9..9 + name) == text.get(label..label + name);
            return (data >= 16).then_some(if known { end } else { data_end });
        }
        if rest.starts_with(b"-----BEGIN ") {
            break;
        }
        // One line, up to a real or an escaped line end.
        let end = rest
            .iter()
            .position(|b| matches!(b, b'\n' | b'\r' | b'\\' | b'"' | b'\'' | b'<'))
            .unwrap_or(rest.len());
        // A key on one line has its END mark in that line.
        let end = memchr::memmem::find(&rest[..end], b"-----").unwrap_or(end);
        let line = trim(&rest[..end]);
        let base64 = line
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || b"+/= ".contains(b));
        let header = memchr::memchr(b':', line).is_some_and(|c| {
            line[..c]
                .iter()
                .all(|b| b.is_ascii_alphanumeric() || *b == b'-')
        });
        if !base64 && !header {
            break;
        }
        if base64 && !line.is_empty() {
            data += line.len();
            data_end = at + end;
        }
        at += end;
        at += match &block[at..] {
            [b'\\', b'r' | b'n' | b't', ..] => 2,
            [b'\\', b'\\', b'n' | b'r', ..] => 3,
            [b'\\', b'\n', ..] => 2,
            [b'\n' | b'\r', ..] => 1,
            [b'-', ..] if block[at..].starts_with(b"-----END ") => 0,
            // String concatenation over lines of a program: `"…" +`, `'…'`.
            [b'"' | b'\'', ..] => match joint(&block[at..]) {
                Some(joint) => joint,
                None => break,
            },
            _ => break,
        };
    }
    (data >= 16).then_some(data_end)
}

/// Length of what joins two string literals that continue each other: quote, operators, quote.
fn joint(text: &[u8]) -> Option<usize> {
    let gap = text[1..]
        .iter()
        .take(60)
        .take_while(|b| {
            matches!(
                b,
                b' ' | b'\t' | b'\n' | b'\r' | b'+' | b'.' | b',' | b'\\' | b'&'
            )
        })
        .count();
    let closes = text.get(1 + gap).is_some_and(|b| matches!(b, b'"' | b'\'')) && gap > 0;
    closes.then_some(gap + 2)
}

fn trim(line: &[u8]) -> &[u8] {
    // Quoting marks of mail and log prefixes are not part of a key.
    let line = line.trim_ascii();
    line.strip_prefix(b"> ")
        .or_else(|| line.strip_prefix(b"# "))
        .unwrap_or(line)
}
