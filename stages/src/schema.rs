//! What a token could violate in the schema of a tool's output.

use crate::json::Span;

/// Calls `edit` for each part of the schema at `at` that must read otherwise, and tells how many
/// keywords that concerns.
pub(crate) fn relax(raw: &[u8], at: Span, edit: &mut impl FnMut(Span, &str)) -> usize {
    let _ = (raw, at, edit);
    0
}
