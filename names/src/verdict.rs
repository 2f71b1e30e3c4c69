//! Judging what the model found: what is around a name is trimmed off, code is rejected.
//!
//! The model was trained on news and telephone talk. In code, logs and tables it takes identifiers
//! and keywords for names; most are told by their letters and by the characters that touch them.

use std::ops::Range;

use crate::{Label, Name};

/// The name without what does not belong to it; `None` if it is none. Offsets are those in the
/// window.
pub(crate) fn judge(window: &str, name: Name) -> Option<Name> {
    let span = if has_numbers(name.label) {
        let span = trim(window, name.start..name.end);
        (!span.is_empty()).then_some(span)?
    } else {
        best_segment(window, name.start..name.end).filter(|span| !touches_code(window, span))?
    };
    Some(Name {
        start: span.start,
        end: span.end,
        ..name
    })
}

/// Whether it is usual for such a thing to have digits and signs in it.
fn has_numbers(label: Label) -> bool {
    label >= Label::Date
}

/// The longest part of a span that no quotation mark, bracket or operator interrupts and whose
/// words all look like names.
fn best_segment(window: &str, span: Range<usize>) -> Option<Range<usize>> {
    let mut best: Option<Range<usize>> = None;
    let mut start = span.start;
    let text = &window[span.clone()];
    let cuts = text.char_indices().filter(|(_, c)| cuts(*c));
    let ends = cuts
        .map(|(at, c)| (span.start + at, c.len_utf8()))
        .chain([(span.end, 0)]);
    for (end, length) in ends {
        let segment = trim(window, start..end);
        let words = window[segment.clone()].split_whitespace();
        let longer = best.as_ref().is_none_or(|best| segment.len() > best.len());
        // One letter of an alphabet is no name; one character of another script can be.
        let enough = segment.len() > '\u{7ff}'.len_utf8()
            || window[segment.clone()].chars().nth(1).is_some();
        if enough && longer && words.clone().all(is_name_word) {
            best = Some(segment);
        }
        start = end + length;
    }
    best
}

/// What no name contains.
fn cuts(c: char) -> bool {
    matches!(
        c,
        '"' | '“'
            | '”'
            | '„'
            | '«'
            | '»'
            | '('
            | ')'
            | '['
            | ']'
            | '{'
            | '}'
            | '<'
            | '>'
            | '='
            | ':'
            | ';'
            | ','
            | '|'
            | '&'
            | '\t'
            | '\n'
            | '\r'
    )
}

/// Without what is not a letter at either end, and without a possessive.
fn trim(window: &str, span: Range<usize>) -> Range<usize> {
    let text = &window[span.clone()];
    let tail = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let start = span.start + text.len() - tail.len();
    let text = tail.trim_end_matches(|c: char| !c.is_alphanumeric() && !is_mark(c));
    let text = ["'s", "’s", "'S", "’S"]
        .iter()
        .find_map(|s| text.strip_suffix(s))
        .unwrap_or(text);
    start..start + text.len()
}

/// A word that can be part of a name: letters, with apostrophes, hyphens and dots between them, and
/// capitals only where names have them.
fn is_name_word(word: &str) -> bool {
    let allowed =
        |c: char| c.is_alphabetic() || is_mark(c) || matches!(c, '\'' | '’' | '-' | '.' | '·');
    word.chars().all(allowed) && !is_camel_case(word)
}

/// Combining marks and joiners, which scripts write within words.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{65f}'
        | '\u{900}'..='\u{dff}' | '\u{e31}'..='\u{e4e}' | '\u{200c}' | '\u{200d}')
}

/// A capital after a small letter, but for `McDonald`, `DeVito` and their like.
fn is_camel_case(word: &str) -> bool {
    const PARTICLES: [&str; 19] = [
        "Mc", "Mac", "De", "Di", "Da", "Du", "La", "Le", "Lo", "Van", "Von", "Vander", "Fitz",
        "Al", "El", "St", "San", "Ap", "Ó",
    ];
    word.split(['-', '\'', '’', '.']).any(|part| {
        let mut before = None;
        let mut capitals = part.char_indices().filter(|(_, c)| {
            let capital = c.is_uppercase() && before.is_some_and(char::is_lowercase);
            before = Some(*c);
            capital
        });
        capitals
            .next()
            .is_some_and(|(at, _)| !PARTICLES.contains(&&part[..at]))
            || capitals.next().is_some()
    })
}

/// Whether what stands directly before or after makes it part of an identifier, a path, a call or
/// an address.
fn touches_code(window: &str, span: &Range<usize>) -> bool {
    let mut back = window[..span.start].chars().rev();
    let mut ahead = window[span.end..].chars();
    let (before, before2) = (back.next(), back.next());
    let (after, after2) = (ahead.next(), ahead.next());
    let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let code_before = match before {
        Some(
            '_' | '.' | '/' | '\\' | '$' | '@' | '#' | '%' | '&' | '~' | '+' | '^' | '!' | '`',
        ) => true,
        Some('-') => before2.is_some_and(|c| !c.is_whitespace()),
        Some('*') => after != Some('*'),
        Some(':') => before2 == Some(':'),
        Some('(' | '[' | '{' | '<') => {
            word(before2) || matches!(before2, Some('!' | ':' | '&' | '(' | '['))
        }
        c => word(c),
    };
    let code_after = match after {
        Some(
            '(' | '[' | '{' | '_' | '=' | '/' | '\\' | '@' | '#' | '$' | '%' | '^' | '+' | '~'
            | '!' | '`',
        ) => true,
        Some('.') => word(after2) || matches!(after2, Some('.' | '_' | '/' | '*')),
        Some('-') => word(after2) || after2 == Some('>'),
        Some('*') => before != Some('*'),
        Some(':') => after2 == Some(':'),
        Some('<') => after2 != Some('/'),
        c => word(c),
    };
    code_before || code_after
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of the part of `text` between `«` and `»`, which themselves are taken out.
    fn check(text: &str, expected: Option<&str>) {
        let start = text.find('«').unwrap();
        let end = text.find('»').unwrap() - '«'.len_utf8();
        let window = text.replace(['«', '»'], "");
        let judged = judge(
            &window,
            Name {
                start,
                end,
                label: Label::Person,
                score: 1.0,
            },
        );
        assert_eq!(
            judged.map(|name| &window[name.start..name.end]),
            expected,
            "{text}"
        );
    }

    #[test]
    fn names_are_trimmed() {
        check("by «Ann Lee»,", Some("Ann Lee"));
        check("«\"Ann Lee\"»", Some("Ann Lee"));
        check("«Ann Lee's» car", Some("Ann Lee"));
        check("«name=Ann Lee»&x", Some("Ann Lee"));
        check("«Ann Lee (CEO»)", Some("Ann Lee"));
        check("«- Ann Lee,»", Some("Ann Lee"));
        check("**«Ann Lee»**", Some("Ann Lee"));
        check("<td>«Ann Lee»</td>", Some("Ann Lee"));
    }

    #[test]
    fn names_of_all_kinds_stay() {
        for name in [
            "Seán Ó Briain",
            "Conan O'Brien",
            "Ewan McGregor",
            "J. R. R. Tolkien",
            "Anne-Marie",
            "毛笔",
            "आशा",
        ] {
            check(&format!("by «{name}» now"), Some(name));
        }
    }

    #[test]
    fn code_is_rejected() {
        for text in [
            "std::«Vec»",
            "«Vec»::new()",
            "«Box»<dyn Error>",
            "#[derive(«Debug»)]",
            "self.«name»",
            "«foo»(1)",
            "a/«Main»/b",
            "«snake_case»",
            "«camelCase» is",
            "«x86» is",
            "@«Override»",
            "`«Debug»`",
            "&«Path»",
            "«Main».java",
            "«key»=1",
            "«a = b + c»",
        ] {
            check(text, None);
        }
    }
}
