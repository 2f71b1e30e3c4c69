//! Numbers of JSON: no quotes, no separators, so only what is certain.

use super::rules::card;
use super::scan::Rules;
use super::{Category, Context, Finding, fields, national};

/// A card number by its check digit and issuer, a national number by its check digits, or what
/// the field's name says.
pub(super) fn find(number: &str, cx: Context<'_>, rules: &Rules) -> Option<Finding> {
    let text = number.as_bytes();
    if !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    // Fifteen digits and more: shorter ones pass the check too often by chance.
    let card = (rules.card && text.len() >= 15)
        .then(|| card::verdict(text, 0, text.len()))
        .flatten()
        .map(|hit| (Category::CREDIT_CARD, hit.confidence, hit.rule));
    let national = || {
        let hit = national::number(number, &rules.packs, cx.field)?;
        Some((rules.category(hit.name)?, hit.confidence, hit.rule))
    };
    let named = || fields::number(number, cx.field?).filter(|(found, ..)| rules.reports(*found));
    let (category, confidence, rule) = card.or_else(national).or_else(named)?;
    Some(Finding {
        start: 0,
        end: text.len(),
        category,
        confidence,
        rule,
    })
}
