//! What in a text is personal data, and of which kind.
//!
//! One pass over the bytes proposes places, small pure functions judge each of them, and one
//! sweep settles what overlaps. A verdict reads a bounded neighbourhood of its place, so the
//! answer is the same however the text is split over threads.
//!
//! ```
//! use cloak_stages::detect::{Category, Context, Detectors, Settings};
//!
//! let detectors = Detectors::new(&Settings::default())?;
//! let text = "Write to marie@example.eu or call +46 8 123 456 78.";
//! let mut found = Vec::new();
//! detectors.find(text, Context::default(), &mut found);
//!
//! let values: Vec<_> = found.iter().map(|f| (f.category, &text[f.start..f.end])).collect();
//! assert_eq!(values, [
//!     (Category::EMAIL, "marie@example.eu"),
//!     (Category::PHONE, "+46 8 123 456 78"),
//! ]);
//! # Ok::<(), cloak_stages::detect::SettingsError>(())
//! ```

#[allow(dead_code, reason = "the engine calls it")]
pub(crate) mod national;
#[allow(dead_code, unused_imports, reason = "the engine calls it")]
pub(crate) mod secret;
