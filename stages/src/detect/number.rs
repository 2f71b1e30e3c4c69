//! Numbers of JSON: no quotes, no separators, so only what is certain.

use super::rules::card;
use super::scan::Rules;
use super::{Category, Context, Finding};

/// A card number by its check digit and issuer, or what the field's name says.
pub(super) fn find(number: &str, _cx: Context<'_>, rules: &Rules) -> Option<Finding> {
    let text = number.as_bytes();
    if !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // Fifteen digits and more: shorter ones pass the check too often by chance.
    let hit = (rules.card && text.len() >= 15)
        .then(|| card::verdict(text, 0, text.len()))
        .flatten()?;
    Some(Finding {
        start: 0,
        end: text.len(),
        category: Category::CREDIT_CARD,
        confidence: hit.confidence,
        rule: hit.rule,
    })
}
