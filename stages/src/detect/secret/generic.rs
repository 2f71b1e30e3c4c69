//! Keys of no known issuer that say themselves what they are: `api_key_7fA2…`, `sk-…`, `token.…`.

use super::Hit;
use super::charset::{ALNUM, DASH, UNDER, has, span};
use super::texture::{Kinds, digest, pairs, placeholder, random, sequential, uuid};

/// The shortest and the longest body of a key.
const BODY: std::ops::RangeInclusive<usize> = 20..=512;

/// Words that a key may begin with.
#[rustfmt::skip]
const WORDS: &[&str] = &["api_key", "api-key", "apikey", "sk", "pk", "rk", "api", "key", "token", "secret", "bearer"];

/// The key that starts at `start`: a word, perhaps a separator, and at least twenty characters that
/// no program's identifier and no phrase has.
pub(super) fn at(text: &[u8], start: usize, run_end: usize) -> Option<Hit> {
    if start > 0 && has(ALNUM | UNDER | DASH, text[start - 1])
        || !matches!(
            text[start],
            b's' | b'p'
                | b'r'
                | b'a'
                | b'k'
                | b't'
                | b'b'
                | b'S'
                | b'P'
                | b'A'
                | b'K'
                | b'T'
                | b'B'
        )
    {
        return None;
    }
    let run = &text[start..run_end.min(start + 16 + BODY.end())];
    let word = WORDS.iter().find(|word| {
        run.len() > word.len() && run[..word.len()].eq_ignore_ascii_case(word.as_bytes())
    })?;
    let separators = span(DASH | UNDER, &run[word.len()..], 1);
    let body = &run[word.len() + separators..];
    // `PK70DBAG…` is an account, `KEYBOARD…` a constant.
    let shouted = separators == 0 && run[..word.len()].iter().any(u8::is_ascii_uppercase);
    if shouted || !BODY.contains(&body.len()) || uuid(body) {
        return None;
    }
    let confidence = judge(body, separators > 0)?;
    Some(Hit {
        start,
        end: start + word.len() + separators + body.len(),
        name: "API_KEY",
        confidence,
        rule: "key",
    })
}

/// How sure a body is a key's.
fn judge(body: &[u8], separated: bool) -> Option<u8> {
    let kinds = Kinds::of(body);
    if sequential(body) && body.len() < 40 {
        return Some(55);
    }
    if kinds.monotonous(body.len()) || placeholder(body) {
        return None;
    }
    // `key-<digest>` names a cache entry or an asset at least as often as a key.
    if digest(body) {
        return None;
    }
    if random(body) {
        return Some(if separated { 85 } else { 70 });
    }
    // Words with numbers in several places, without a separator: no identifier is written so.
    if kinds.other == 0 && kinds.digits >= 6 && kinds.turns >= 3 {
        return Some(60);
    }
    // Letters alone: of random ones less than half of the pairs are usual in words.
    let (usual, all) = pairs(body);
    (kinds.digits == 0 && all >= 18 && usual * 10 < all * 7 && kinds.upper > 0 && kinds.other < 2)
        .then_some(60)
}
