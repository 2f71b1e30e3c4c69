//! What a token could violate in the schema of a tool's output.
//!
//! A client checks structured content against the schema that the tool advertised, and refuses the
//! whole answer if it does not fit (MCP 2025-06-18, "Structured content"). A token in place of an
//! address has no `format` of one, and a token in place of a card number is no integer. So those
//! keywords go, and nothing else changes: not one byte of a schema that tokens cannot violate.
//!
//! Keywords are those of JSON Schema 2020-12 and of the drafts before it. They are looked for only
//! where schemas stand: a property called `format` is not a keyword.

use crate::json::{self, Shape, Span};

/// Calls `edit` for each part of the schema at `at` that must read otherwise, and tells how many
/// keywords that concerns. `redact`: values that differ may become the same.
pub(crate) fn relax(
    raw: &[u8],
    at: Span,
    redact: bool,
    edit: &mut impl FnMut(Span, &[u8]),
) -> usize {
    let mut relax = Relax {
        raw,
        redact,
        refs: false,
        edits: Vec::new(),
        keywords: 0,
    };
    relax.schema(at.start as usize);
    if relax.keywords > 0 {
        // Something changes, so what a reference leads to may have changed.
        relax.refs = true;
        relax.edits.clear();
        relax.keywords = 0;
        relax.schema(at.start as usize);
    }
    for (span, with) in &relax.edits {
        edit(*span, with);
    }
    relax.keywords
}

struct Relax<'a> {
    raw: &'a [u8],
    redact: bool,
    /// Whether a `$ref` counts as a change.
    refs: bool,
    edits: Vec<(Span, Vec<u8>)>,
    keywords: usize,
}

/// A member of a schema.
struct Keyword {
    /// The key between its quotes.
    key: Span,
    value: Span,
    gone: bool,
}

impl Relax<'_> {
    /// Relaxes the schema at `at`, and tells whether it accepts more than before.
    fn schema(&mut self, at: usize) -> bool {
        if json::shape(self.raw, at) != Shape::Object {
            return false;
        }
        let mut all: Vec<_> = json::members(self.raw, at)
            .map(|(key, value)| Keyword {
                key,
                value: Span::new(value, json::skip(self.raw, value)),
                gone: false,
            })
            .collect();
        let raw = self.raw;
        let has = |all: &[Keyword], name: &str| {
            all.iter()
                .any(|keyword| json::same_text(keyword.key.of(raw), name.as_bytes()))
        };
        // Only where keys are not fixed can one be personal data, and be rewritten.
        let open_keys = has(&all, "patternProperties");
        let has_any_of = has(&all, "anyOf");
        let mut wider = false;
        // Whether a part was taken out that said which members are evaluated.
        let mut cut = open_keys;
        let mut more_contained = false;
        for keyword in &mut all {
            let Keyword { key, value, .. } = *keyword;
            let start = value.start as usize;
            let name = json::decode(key.of(raw));
            let mark = (self.edits.len(), self.keywords);
            let gone = match &*name {
                "format" | "pattern" | "minLength" | "maxLength" | "propertyNames" => true,
                "enum" | "const" => self.holds_text(start),
                "uniqueItems" => self.redact && value.of(raw) == b"true",
                "additionalProperties" if open_keys => value.of(raw) != b"true",
                "type" => {
                    wider |= self.allow_string(value);
                    false
                }
                "$ref" | "$dynamicRef" | "$recursiveRef" => {
                    wider |= self.refs;
                    false
                }
                // Wider inside is narrower outside, or another branch.
                "not" | "if" => {
                    let gone = self.schema(start);
                    cut |= gone;
                    gone
                }
                "oneOf" => {
                    let gone = self.list(start) && has_any_of;
                    cut |= gone;
                    if !gone && self.edits.len() + usize::from(self.refs) > mark.0 {
                        // More than one may fit now.
                        self.put(key, b"anyOf");
                    }
                    gone
                }
                "contains" => {
                    more_contained = self.schema(start);
                    wider |= more_contained;
                    false
                }
                "allOf" | "anyOf" | "prefixItems" => {
                    wider |= self.list(start);
                    false
                }
                "items" if json::shape(raw, start) == Shape::Array => {
                    wider |= self.list(start);
                    false
                }
                "items"
                | "additionalItems"
                | "additionalProperties"
                | "then"
                | "else"
                | "unevaluatedItems"
                | "unevaluatedProperties" => {
                    wider |= self.schema(start);
                    false
                }
                "properties" | "patternProperties" | "dependentSchemas" | "dependencies" => {
                    wider |= self.map(start);
                    false
                }
                "$defs" | "definitions" => {
                    self.map(start);
                    false
                }
                _ => false,
            };
            if gone {
                self.edits.truncate(mark.0);
                self.keywords = mark.1 + 1;
                keyword.gone = true;
                wider = true;
            } else {
                wider |= name == "oneOf" && self.edits.len() > mark.0;
            }
        }
        for keyword in &mut all {
            let name = keyword.key.of(raw);
            let unevaluated = json::same_text(name, b"unevaluatedProperties")
                || json::same_text(name, b"unevaluatedItems");
            let too_many = more_contained && json::same_text(name, b"maxContains");
            if too_many || (cut && unevaluated && keyword.value.of(raw) != b"true") {
                let inside = keyword.value;
                self.edits
                    .retain(|(at, _)| at.start < inside.start || at.end > inside.end);
                self.keywords += 1;
                keyword.gone = true;
                wider = true;
            }
        }
        self.cut_out(&all);
        wider
    }

    fn list(&mut self, at: usize) -> bool {
        let mut wider = false;
        for item in json::items(self.raw, at) {
            wider |= self.schema(item);
        }
        wider
    }

    fn map(&mut self, at: usize) -> bool {
        let mut wider = false;
        for (_, value) in json::members(self.raw, at) {
            wider |= self.schema(value);
        }
        wider
    }

    fn put(&mut self, at: Span, with: &[u8]) {
        self.edits.push((at, with.to_vec()));
        self.keywords += 1;
    }

    /// Allows strings where numbers are allowed.
    fn allow_string(&mut self, types: Span) -> bool {
        let raw = self.raw;
        let is = |at: usize, name: &[u8]| {
            json::shape(raw, at) == Shape::String
                && json::same_text(Span::new(at, json::skip(raw, at)).unquoted().of(raw), name)
        };
        let numeric = |at: usize| is(at, b"integer") || is(at, b"number");
        let start = types.start as usize;
        if numeric(start) {
            let widened = [b"[", types.of(raw), b",\"string\"]"].concat();
            self.put(types, &widened);
            return true;
        }
        let listed: Vec<_> = json::items(raw, start).collect();
        let (Some(&last), true) = (listed.last(), listed.iter().any(|&at| numeric(at))) else {
            return false;
        };
        if listed.iter().any(|&at| is(at, b"string")) {
            return false;
        }
        let end = json::skip(raw, last);
        self.put(Span::new(end, end), b",\"string\"");
        true
    }

    /// Whether a value is or holds a string, or a number that is long enough to become one.
    fn holds_text(&self, at: usize) -> bool {
        /// As for numbers in messages.
        const LONG: usize = 7;
        match json::shape(self.raw, at) {
            Shape::String => true,
            Shape::Number => json::skip(self.raw, at) - at >= LONG,
            Shape::Array => json::items(self.raw, at).any(|item| self.holds_text(item)),
            Shape::Object => json::members(self.raw, at).any(|(_, value)| self.holds_text(value)),
            Shape::Bool | Shape::Null => false,
        }
    }

    /// Takes the members that are gone out of their object, each with one comma.
    fn cut_out(&mut self, all: &[Keyword]) {
        let mut at = 0;
        while at < all.len() {
            if !all[at].gone {
                at += 1;
                continue;
            }
            let first = at;
            while all.get(at).is_some_and(|keyword| keyword.gone) {
                at += 1;
            }
            let quote = |keyword: &Keyword| keyword.key.start as usize - 1;
            let end = all[at - 1].value.end as usize;
            let span = match (first.checked_sub(1).map(|before| &all[before]), all.get(at)) {
                (Some(before), _) => Span::new(before.value.end as usize, end),
                (None, Some(next)) => Span::new(quote(&all[first]), quote(next)),
                (None, None) => Span::new(quote(&all[first]), end),
            };
            self.edits.push((span, Vec::new()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edits::Edits;

    fn relaxed(schema: &str) -> String {
        let mut edits = Edits::new();
        let at = Span::new(0, schema.len());
        relax(schema.as_bytes(), at, false, &mut |at, with| {
            edits.push(at, with)
        });
        edits.settle().unwrap();
        let mut out = Vec::new();
        edits.write(schema.as_bytes(), &mut out);
        assert_eq!(json::check(&out), Ok(()));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_a_token_violates_goes() {
        for (schema, wanted) in [
            (
                r#"{"type":"string","format":"email"}"#,
                r#"{"type":"string"}"#,
            ),
            (
                r#"{ "format" : "email", "type":"string" }"#,
                r#"{ "type":"string" }"#,
            ),
            (r#"{"pattern":"^a","maxLength":5,"minLength":1}"#, "{}"),
            (r#"{"enum":["a@b.co"]}"#, "{}"),
            (
                r#"{"enum":[1,2,null],"const":true}"#,
                r#"{"enum":[1,2,null],"const":true}"#,
            ),
            (r#"{"const":4111111111111111}"#, "{}"),
            (
                r#"{"type":"integer","minimum":3}"#,
                r#"{"type":["integer","string"],"minimum":3}"#,
            ),
            (
                r#"{"type":["number", "null" ]}"#,
                r#"{"type":["number", "null","string" ]}"#,
            ),
            (
                r#"{"type":["number","string"]}"#,
                r#"{"type":["number","string"]}"#,
            ),
            (
                r#"{"type":"object","propertyNames":{"format":"email"},"additionalProperties":true}"#,
                r#"{"type":"object","additionalProperties":true}"#,
            ),
            (
                r#"{"type":"object","patternProperties":{"@":{"type":"string"}},"additionalProperties":false}"#,
                r#"{"type":"object","patternProperties":{"@":{"type":"string"}}}"#,
            ),
            (
                r##"{"$ref":"#/$defs/a","$defs":{"a":{"items":[{"format":"x"}]}}}"##,
                r##"{"$ref":"#/$defs/a","$defs":{"a":{"items":[{}]}}}"##,
            ),
            (
                r#"{"allOf":[{"not":{"pattern":"x"},"title":"t"}]}"#,
                r#"{"allOf":[{"title":"t"}]}"#,
            ),
            (
                r#"{"if":{"properties":{"k":{"const":"a"}}},"then":{"required":["v"]}}"#,
                r#"{"then":{"required":["v"]}}"#,
            ),
            (
                r#"{"oneOf":[{"properties":{"k":{"const":"a"}}},{"properties":{"k":{"const":"b"}}}]}"#,
                r#"{"anyOf":[{"properties":{"k":{}}},{"properties":{"k":{}}}]}"#,
            ),
            (
                r##"{"oneOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"type":"number"}}}"##,
                r##"{"anyOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"type":["number","string"]}}}"##,
            ),
            (
                r#"{"oneOf":[{"format":"x"}],"anyOf":[{"type":"object"}],"unevaluatedProperties":false}"#,
                r#"{"anyOf":[{"type":"object"}]}"#,
            ),
            (
                r#"{"contains":{"const":"x"},"maxContains":1}"#,
                r#"{"contains":{}}"#,
            ),
        ] {
            assert_eq!(relaxed(schema), wanted, "{schema}");
        }
    }

    #[test]
    fn nothing_else_changes() {
        for schema in [
            r#"{"type":"object","properties":{"format":{"type":"string"},"enum":{"type":"boolean"}},"required":["format"],"additionalProperties":false}"#,
            r#"{"description":"{\"format\":1}","default":{"format":"email"},"examples":[{"pattern":"x"}]}"#,
            r#"{"oneOf":[{"type":"string"},{"type":"null"}],"not":{"type":"array"}}"#,
            r##"{"oneOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"type":"object"}}}"##,
            r#"{"uniqueItems":true,"minItems":1,"$schema":"https://json-schema.org/draft/2020-12/schema"}"#,
            "true",
        ] {
            assert_eq!(relaxed(schema), schema);
        }
    }

    #[test]
    fn values_that_become_the_same_need_not_be_unique() {
        let schema = br#"{"uniqueItems":true}"#;
        let mut edits = 0;
        relax(schema, Span::new(0, schema.len()), true, &mut |_, _| {
            edits += 1
        });
        assert_eq!(edits, 1);
    }
}
