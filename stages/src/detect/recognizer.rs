//! Recognizers of a library user's own.

use super::{Category, Context, Finding};

/// One more way to recognise personal data, beside the built-in rules.
///
/// ```
/// use std::sync::Arc;
/// use cloak_stages::detect::{Category, Context, Detectors, Finding, Recognizer, Settings};
///
/// /// Badge numbers: `B-` and four digits.
/// struct Badges;
///
/// impl Recognizer for Badges {
///     fn categories(&self) -> Vec<String> {
///         vec!["BADGE".into()]
///     }
///     fn reach(&self) -> usize {
///         6
///     }
///     fn find(&self, text: &str, _: Context<'_>, categories: &[Category], out: &mut Vec<Finding>) {
///         for (start, _) in text.match_indices("B-") {
///             let digits = text.as_bytes().get(start + 2..start + 6);
///             if digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_digit)) {
///                 out.push(Finding {
///                     start,
///                     end: start + 6,
///                     category: categories[0],
///                     confidence: 80,
///                     rule: "badge",
///                 });
///             }
///         }
///     }
/// }
///
/// let detectors = Detectors::new(&Settings::default())?.with_recognizer(Arc::new(Badges));
/// let mut found = Vec::new();
/// detectors.find("badge B-1234", Context::default(), &mut found);
/// assert_eq!(detectors.name(found[0].category), "BADGE");
/// # Ok::<(), cloak_stages::detect::SettingsError>(())
/// ```
pub trait Recognizer: Send + Sync {
    /// The names of the categories it reports; a built-in name is that category.
    fn categories(&self) -> Vec<String>;

    /// How many bytes to either side of a finding its verdict may read.
    fn reach(&self) -> usize;

    /// Adds what is in the text. `categories` are those of [`categories`](Self::categories), in
    /// that order. Spans that are empty, cut a character or lie outside the text are dropped.
    fn find(&self, text: &str, cx: Context<'_>, categories: &[Category], out: &mut Vec<Finding>);
}
