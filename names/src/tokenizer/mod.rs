//! spaCy's rule-based English tokenizer, token for token.
//!
//! Text is split at white space; prefixes and suffixes are taken off each word, what remains is
//! looked up among the exceptions ("don't" is "do" and "n't"), kept if it is a web address, or else
//! split at infixes. Exceptions that hold an affix themselves ("a.m.", ":-)") are found afterwards
//! in the row of tokens. Each step reads a word once, so the whole is linear.

mod affix;
mod classes;
mod url;

use std::collections::BTreeMap;
use std::ops::Range;

use hashbrown::HashMap;
use serde::Deserialize;

use affix::AfterDigit;
pub(crate) use classes::{Classes, DIGIT, LETTER, UPPERCASE, WORD};

/// A piece of text that the model sees as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// First byte.
    pub(crate) start: usize,
    /// The byte after the last.
    pub(crate) end: usize,
    /// The normal form that an exception gives it, else [`Tokenizer::NO_NORM`].
    pub(crate) norm: u16,
    pub(crate) is_space: bool,
}

/// Where a run of characters without white space is one word to the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Split {
    /// Always, as in spaCy.
    Words,
    /// Only between the characters that structure data, so that `{"n":1,"name":"Ann` is not one.
    Fields,
}

/// The rules, as `models/export.py` writes them.
#[derive(Deserialize)]
pub(crate) struct Rules {
    classes: BTreeMap<String, Vec<u32>>,
    after_digit: Vec<String>,
    exceptions: BTreeMap<String, Vec<(String, Option<String>)>>,
    late: BTreeMap<String, Vec<String>>,
}

pub(crate) struct Tokenizer {
    pub(crate) classes: Classes,
    after_digit: AfterDigit,
    /// The tokens of an exception: length in bytes and norm.
    exceptions: HashMap<Box<str>, Box<[(usize, u16)]>>,
    longest_exception: usize,
    /// By their first token: exceptions to be found in the row of tokens, the longest first.
    late: HashMap<Box<str>, Vec<Late>>,
    norms: Vec<Box<str>>,
}

struct Late {
    tokens: Box<[Box<str>]>,
    exception: Box<str>,
}

/// An exception found in the row of tokens.
struct Found<'a> {
    first: usize,
    end: usize,
    exception: &'a str,
}

impl Tokenizer {
    pub(crate) const NO_NORM: u16 = u16::MAX;

    pub(crate) fn new(rules: Rules) -> Result<Self, String> {
        let mut norms = Vec::new();
        let mut exceptions: HashMap<Box<str>, Box<[_]>> = HashMap::new();
        let mut numbers: HashMap<String, u16> = HashMap::new();
        for (text, tokens) in rules.exceptions {
            if tokens
                .iter()
                .map(|(orth, _)| orth.as_str())
                .collect::<String>()
                != text
            {
                return Err(format!("the tokens of exception {text:?} do not spell it"));
            }
            let tokens = tokens.into_iter().map(|(orth, norm)| {
                let norm = norm.map_or(Self::NO_NORM, |norm| {
                    *numbers.entry(norm).or_insert_with_key(|norm| {
                        norms.push(norm.as_str().into());
                        (norms.len() - 1) as u16
                    })
                });
                (orth.len(), norm)
            });
            let tokens = tokens.collect();
            exceptions.insert(text.into(), tokens);
        }
        let mut late: HashMap<Box<str>, Vec<Late>> = HashMap::new();
        for (text, tokens) in rules.late {
            let tokens: Box<[Box<str>]> = tokens.into_iter().map(Into::into).collect();
            match tokens.first() {
                Some(first) if exceptions.contains_key(text.as_str()) => {
                    let found = Late {
                        tokens: tokens.clone(),
                        exception: text.into(),
                    };
                    late.entry(first.clone()).or_default().push(found);
                }
                _ => return Err(format!("late exception {text:?} is not an exception")),
            }
        }
        let longest_exception = exceptions
            .keys()
            .map(|text| str::len(text))
            .max()
            .unwrap_or(0);
        Ok(Self {
            classes: Classes::new(&rules.classes)?,
            after_digit: AfterDigit::new(rules.after_digit),
            longest_exception,
            exceptions,
            late,
            norms,
        })
    }

    /// The norm that an exception gives a token, if it does.
    pub(crate) fn norm(&self, token: &Token) -> Option<&str> {
        self.norms.get(usize::from(token.norm)).map(|norm| &**norm)
    }

    /// Appends the tokens of `text[start..end]`, as if nothing stood around it.
    pub(crate) fn tokenize(
        &self,
        text: &str,
        Range { start, end }: Range<usize>,
        split: Split,
        out: &mut Vec<Token>,
    ) {
        let first = out.len();
        let mut suffixes = Vec::new();
        let mut from = start;
        let mut in_space = None;
        for (at, c) in text[start..end].char_indices() {
            let at = start + at;
            let space = is_space(c);
            if in_space.is_some_and(|before| before != space) {
                self.run(text, from..at, !space, split, &mut suffixes, out);
                // One plain space after a word belongs to the word and is no token.
                from = if c == ' ' { at + 1 } else { at };
            }
            in_space = Some(space);
        }
        self.run(
            text,
            from..end,
            in_space == Some(true),
            split,
            &mut suffixes,
            out,
        );
        self.join_late(text, first, out);
    }

    /// A run of white space, which is one token, or a word.
    fn run(
        &self,
        text: &str,
        Range { start, end }: Range<usize>,
        is_space: bool,
        split: Split,
        suffixes: &mut Vec<Token>,
        out: &mut Vec<Token>,
    ) {
        if start == end {
        } else if is_space {
            out.push(Token {
                start,
                end,
                norm: Self::NO_NORM,
                is_space,
            });
        } else if split == Split::Words || self.exception(&text[start..end]).is_some() {
            self.word(text, start, end, suffixes, out);
        } else {
            for piece in pieces(&text[start..end]) {
                self.word(text, start + piece.start, start + piece.end, suffixes, out);
            }
        }
    }

    fn word(
        &self,
        text: &str,
        mut start: usize,
        mut end: usize,
        suffixes: &mut Vec<Token>,
        out: &mut Vec<Token>,
    ) {
        while start < end && self.exception(&text[start..end]).is_none() {
            let prefix = affix::prefix(&self.classes, &text[start..end]);
            if prefix > 0 && self.exception(&text[start + prefix..end]).is_some() {
                out.push(plain(start, start + prefix));
                start += prefix;
                break;
            }
            let suffix =
                affix::suffix(&self.classes, &self.after_digit, &text[start + prefix..end]);
            if suffix > 0 && self.exception(&text[start..end - suffix]).is_some() {
                suffixes.push(plain(end - suffix, end));
                end -= suffix;
                break;
            }
            if prefix == 0 && suffix == 0 {
                break;
            }
            if prefix > 0 {
                out.push(plain(start, start + prefix));
            }
            if suffix > 0 {
                suffixes.push(plain(end - suffix, end));
            }
            start += prefix;
            end -= suffix;
        }
        self.core(text, start, end, out);
        out.extend(suffixes.drain(..).rev());
    }

    /// What remains of a word without its affixes.
    fn core(&self, text: &str, start: usize, end: usize, out: &mut Vec<Token>) {
        let word = &text[start..end];
        if let Some(tokens) = self.exception(word) {
            push_exception(tokens, start, out);
        } else if url::is_url(&self.classes, word) {
            out.push(plain(start, end));
        } else {
            let (mut done, mut search) = (0, 0);
            while let Some((from, to)) = affix::infix(&self.classes, word, search) {
                search = to;
                if from == 0 {
                    continue;
                }
                if done < from {
                    out.push(plain(start + done, start + from));
                }
                out.push(plain(start + from, start + to));
                done = to;
            }
            if done < word.len() {
                out.push(plain(start + done, end));
            }
        }
    }

    fn exception(&self, word: &str) -> Option<&[(usize, u16)]> {
        if word.len() > self.longest_exception {
            return None;
        }
        self.exceptions.get(word).map(|tokens| &**tokens)
    }

    /// Replaces the tokens from `first` on that spell a late exception: of those that overlap, the
    /// one of most tokens, then the earliest.
    fn join_late(&self, text: &str, first: usize, out: &mut Vec<Token>) {
        let mut found = Vec::new();
        for (index, token) in out.iter().enumerate().skip(first) {
            let Some(candidates) = self.late.get(&text[token.start..token.end]) else {
                continue;
            };
            for late in candidates {
                let end = index + late.tokens.len();
                let here = out.get(index..end).is_some_and(|tokens| {
                    let texts = tokens.iter().map(|token| &text[token.start..token.end]);
                    texts.eq(late.tokens.iter().map(|token| &**token))
                });
                if here {
                    found.push(Found {
                        first: index,
                        end,
                        exception: &late.exception,
                    });
                }
            }
        }
        if found.is_empty() {
            return;
        }
        found.sort_by_key(|f| (std::cmp::Reverse(f.end - f.first), f.first));
        let mut taken = vec![false; out.len() - first];
        found.retain(|f| {
            let free = !taken[f.first - first] && !taken[f.end - 1 - first];
            taken[f.first - first..f.end - first].fill(true);
            let spelt = &text[out[f.first].start..out[f.end - 1].end];
            free && spelt == f.exception
        });
        found.sort_by_key(|f| f.first);
        let tail = out.split_off(first);
        let mut copied = first;
        for f in found {
            out.extend_from_slice(&tail[copied - first..f.first - first]);
            push_exception(
                &self.exceptions[f.exception],
                tail[f.first - first].start,
                out,
            );
            copied = f.end;
        }
        out.extend_from_slice(&tail[copied - first..]);
    }
}

/// The pieces of a run of characters: those that structure data, and what is between them. An
/// address on the web is one piece, and so is a number with its separators.
fn pieces(run: &str) -> impl Iterator<Item = Range<usize>> {
    let is_address = run.contains("://");
    let mut before = ' ';
    let cuts = run.char_indices().filter(move |(at, c)| {
        let digits =
            before.is_ascii_digit() && run.as_bytes().get(at + 1).is_some_and(u8::is_ascii_digit);
        before = *c;
        let separates = matches!(
            c,
            '"' | '=' | '&' | '|' | ';' | '{' | '}' | '[' | ']' | '(' | ')' | '<' | '>' | '#' | '?'
        ) || matches!(c, ',' | ':') && !digits;
        separates && !is_address
    });
    let mut start = 0;
    let ends = cuts
        .map(|(at, _)| (at, at + 1))
        .chain([(run.len(), run.len())]);
    ends.flat_map(move |(at, end)| {
        let pieces = [start..at, at..end];
        start = end;
        pieces
    })
    .filter(|piece| !piece.is_empty())
}

fn plain(start: usize, end: usize) -> Token {
    Token {
        start,
        end,
        norm: Tokenizer::NO_NORM,
        is_space: false,
    }
}

fn push_exception(tokens: &[(usize, u16)], mut start: usize, out: &mut Vec<Token>) {
    for (length, norm) in tokens {
        out.push(Token {
            start,
            end: start + length,
            norm: *norm,
            is_space: false,
        });
        start += length;
    }
}

/// White space for the tokenizer: Unicode's, and the four separators of ASCII.
fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_split() {
        for (run, expected) in [
            (
                "{\"n\":1,\"name\":\"Ann",
                &[
                    "{", "\"", "n", "\"", ":", "1", ",", "\"", "name", "\"", ":", "\"", "Ann",
                ][..],
            ),
            ("1,200", &["1,200"]),
            ("10:30", &["10:30"]),
            ("7,Ann", &["7", ",", "Ann"]),
            ("http://a.b/?x=1", &["http://a.b/?x=1"]),
            ("don't", &["don't"]),
            ("(a)", &["(", "a", ")"]),
        ] {
            let found: Vec<_> = pieces(run).map(|piece| &run[piece]).collect();
            assert_eq!(found, expected);
        }
    }
}
