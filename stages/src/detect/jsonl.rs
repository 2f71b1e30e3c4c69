//! Detection line by line, for scorers and scripts: `{"id": …, "text": "…"}` in,
//! `{"id": …, "spans": [{"start", "end", "label", "score"}], "ns": …}` out.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Context, Detectors, Finding};

#[derive(Deserialize)]
struct Question<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow)]
    text: Cow<'a, str>,
    #[serde(default, borrow)]
    field: Option<Cow<'a, str>>,
}

#[derive(Serialize)]
struct Answer<'a> {
    id: &'a RawValue,
    spans: Vec<Span<'a>>,
    ns: u64,
}

#[derive(Serialize)]
struct Span<'a> {
    start: usize,
    end: usize,
    label: &'a str,
    score: f32,
}

/// Answers one line. Offsets count Unicode code points; `ns` is what `clock`, in nanoseconds
/// since any fixed point, says the detection alone took. A `field` beside the text is the key it
/// stands under. `found` is a buffer to be used again.
///
/// # Errors
///
/// When the line is not such a JSON object.
pub fn answer(
    detectors: &Detectors,
    line: &str,
    found: &mut Vec<Finding>,
    mut clock: impl FnMut() -> u64,
) -> Result<String, serde_json::Error> {
    let question: Question<'_> = serde_json::from_str(line)?;
    let text = &*question.text;
    let begin = clock();
    detectors.find(
        text,
        Context {
            field: question.field.as_deref(),
        },
        found,
    );
    let ns = clock().saturating_sub(begin);

    let (mut bytes, mut points) = (0, 0);
    let mut code_points = |to: usize| {
        points += text[bytes..to].chars().count();
        bytes = to;
        points
    };
    let spans = found
        .iter()
        .map(|finding| Span {
            start: code_points(finding.start),
            end: code_points(finding.end),
            label: detectors.name(finding.category),
            score: f32::from(finding.confidence) / 100.0,
        })
        .collect();
    serde_json::to_string(&Answer {
        id: question.id,
        spans,
        ns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detect::Settings;

    #[test]
    fn offsets_are_code_points() {
        let detectors = Detectors::new(&Settings::default()).unwrap();
        let line = r#"{"id": [7], "text": "é😀 a@b.org, 203.0.113.9"}"#;
        let mut ticks = 0;
        let answer = answer(&detectors, line, &mut Vec::new(), || {
            ticks += 5;
            ticks
        });
        assert_eq!(
            answer.unwrap(),
            r#"{"id":[7],"spans":[{"start":3,"end":10,"label":"EMAIL","score":0.95},{"start":12,"end":23,"label":"IP_ADDRESS","score":0.9}],"ns":5}"#
        );
    }

    #[test]
    fn what_is_no_question_is_an_error() {
        let detectors = Detectors::new(&Settings::default()).unwrap();
        for line in ["", "{}", "[1]", r#"{"id": 1, "text": 2}"#] {
            assert!(
                answer(&detectors, line, &mut Vec::new(), || 0).is_err(),
                "{line}"
            );
        }
    }
}
