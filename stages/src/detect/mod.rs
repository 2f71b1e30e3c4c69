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

mod bytes;
mod category;
mod context;
mod custom;
mod events;
mod explain;
mod fields;
pub mod jsonl;
mod lists;
mod masks;
mod national;
mod near;
mod number;
mod probe;
mod recognizer;
mod resolve;
mod rules;
mod samples;
mod scan;
mod secret;
mod settings;
mod tails;
mod views;

use std::fmt;
use std::sync::Arc;

use rayon::prelude::*;

pub use category::Category;
pub use explain::{Explanation, Reason, Rejected};
pub use probe::Probe;
pub use recognizer::Recognizer;
pub use settings::{Settings, SettingsError};

/// From this many bytes on [`Detectors::find_sharded`] uses more than one thread. On two cores that is
/// 1.1 times as fast in prose and 2.2 times in JSON; at half the size, .85 and .9 times: waking
/// another thread costs more than it saves.
const CROSSOVER: usize = 32 << 10;
/// The smallest piece worth a thread's time.
const SHARD_MIN: usize = 8 << 10;
/// The largest piece, so that threads finish together.
const SHARD_MAX: usize = 256 << 10;
/// Most categories that there can be.
const CATEGORIES_MAX: usize = 1000;

/// Personal data in a text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Finding {
    /// First byte, on a character boundary.
    pub start: usize,
    /// Byte behind the last, on a character boundary.
    pub end: usize,
    /// What it is.
    pub category: Category,
    /// How sure that is, 0 to 100.
    pub confidence: u8,
    /// The rule that found it.
    pub rule: &'static str,
}

/// What is known about a text beside its bytes.
#[derive(Clone, Copy, Default, Debug)]
pub struct Context<'a> {
    /// The key or column that the text is the value of.
    pub field: Option<&'a str>,
}

/// Everything that is looked for, compiled. Read only, to be shared between threads.
pub struct Detectors {
    names: Vec<String>,
    enabled: Vec<bool>,
    rules: scan::Rules,
    patterns: Vec<custom::Pattern>,
    deny: Option<lists::Deny>,
    allow: lists::Allow,
    min_confidence: u8,
    recognizers: Vec<(Arc<dyn Recognizer>, Vec<Category>)>,
}

impl Detectors {
    /// Compiles the settings.
    ///
    /// # Errors
    ///
    /// When a setting cannot be used; the error says which, its value, and what to do.
    pub fn new(settings: &Settings) -> Result<Self, SettingsError> {
        if settings.min_confidence > 100 {
            return Err(SettingsError::Confidence(settings.min_confidence));
        }
        let mut detectors = Self {
            names: category::NAMES
                .iter()
                .map(|name| (*name).to_owned())
                .collect(),
            enabled: vec![false; category::NAMES.len()],
            rules: scan::Rules {
                email: settings.detect_emails,
                ssn: settings.detect_ssns,
                card: settings.detect_credit_cards,
                iban: settings.detect_iban,
                phone: settings.detect_phones,
                ip: settings.detect_ip_addresses,
                mac: settings.detect_mac,
                crypto: settings.detect_crypto,
                secret: settings.detect_api_keys,
                fields: settings.detect_fields,
                regions: phone_regions(settings)?,
                packs: packs(settings)?,
                names: Vec::new(),
            },
            patterns: Vec::new(),
            deny: lists::Deny::new(&settings.deny)?,
            allow: lists::Allow::new(&settings.allow)?,
            min_confidence: settings.min_confidence,
            recognizers: Vec::new(),
        };
        detectors.register_rules();
        for (category, on) in [
            (Category::EMAIL, settings.detect_emails),
            (Category::SSN, settings.detect_ssns),
            (Category::CREDIT_CARD, settings.detect_credit_cards),
            (Category::IBAN, settings.detect_iban),
            (Category::PHONE, settings.detect_phones),
            (Category::IP_ADDRESS, settings.detect_ip_addresses),
            (Category::MAC_ADDRESS, settings.detect_mac),
            (Category::CRYPTO, settings.detect_crypto),
            (Category::API_KEY, settings.detect_api_keys),
            (Category::AWS_KEY, settings.detect_api_keys),
            (Category::JWT, settings.detect_api_keys),
            (Category::PRIVATE_KEY, settings.detect_api_keys),
            (Category::PASSWORD, settings.detect_api_keys),
            (Category::SECRET, settings.detect_api_keys),
            (Category::PERSON, settings.detect_fields),
            (Category::ADDRESS, settings.detect_fields),
            (Category::POSTAL_CODE, settings.detect_fields),
            (Category::DATE_OF_BIRTH, settings.detect_fields),
            (Category::PASSPORT, settings.detect_fields),
            (Category::DRIVER_LICENSE, settings.detect_fields),
            (Category::BANK_ACCOUNT, settings.detect_fields),
            (Category::DENIED, detectors.deny.is_some()),
        ] {
            detectors.enabled[category.index()] |= on;
        }
        for (name, source) in &settings.custom_patterns {
            if !custom::is_category_name(name) {
                return Err(SettingsError::CategoryName(name.clone()));
            }
            if detectors.names.len() >= CATEGORIES_MAX {
                return Err(SettingsError::TooManyCategories(CATEGORIES_MAX));
            }
            let category = detectors.enable(name);
            detectors
                .patterns
                .push(custom::Pattern::new(category, name, source)?);
        }
        Ok(detectors)
    }

    /// Adds a recognizer. Its findings give way to those of the built-in rules.
    #[must_use]
    pub fn with_recognizer(mut self, recognizer: Arc<dyn Recognizer>) -> Self {
        let names = recognizer.categories();
        let categories = names.iter().map(|name| self.enable(name)).collect();
        self.recognizers.push((recognizer, categories));
        self
    }

    /// The name of a category, as tokens carry it; `"UNKNOWN"` for one of other detectors.
    pub fn name(&self, category: Category) -> &str {
        self.names
            .get(category.index())
            .map_or("UNKNOWN", String::as_str)
    }

    /// The category of this name.
    pub fn category(&self, name: &str) -> Option<Category> {
        self.names
            .iter()
            .position(|known| known == name)
            .map(|index| Category(index as u16))
    }

    /// The categories that are looked for.
    pub fn categories(&self) -> impl Iterator<Item = Category> {
        let on = self.enabled.iter().enumerate().filter(|(_, on)| **on);
        on.map(|(index, _)| Category(index as u16))
    }

    /// How many bytes to either side of a finding decide about it, at most; `None` when there are
    /// patterns of the user's own, which may read everything.
    pub fn reach(&self) -> Option<usize> {
        let widest = self
            .recognizers
            .iter()
            .map(|(recognizer, _)| recognizer.reach())
            .max();
        self.patterns
            .is_empty()
            .then(|| widest.unwrap_or(0).max(scan::REACH))
    }

    /// Clears `out` and fills it with what is in the text: sorted, disjoint, on character
    /// boundaries. Works on the calling thread alone.
    pub fn find(&self, text: &str, cx: Context<'_>, out: &mut Vec<Finding>) {
        out.clear();
        let mut odd = Vec::new();
        scan::scan(text.as_bytes(), 0, text.len(), &self.rules, out, &mut odd);
        views::find(text, &odd, &self.rules, out);
        self.find_beside(text, cx, out);
        self.settle(text, out);
    }

    /// The same as [`find`](Self::find), over the threads of rayon from the size on where that
    /// is faster.
    pub fn find_sharded(&self, text: &str, cx: Context<'_>, out: &mut Vec<Finding>) {
        let threads = rayon::current_num_threads();
        if text.len() < CROSSOVER || threads == 1 {
            return self.find(text, cx, out);
        }
        let size = (text.len() / (4 * threads)).clamp(SHARD_MIN, SHARD_MAX);
        self.find_in_shards(text, cx, size, out);
    }

    /// The same as [`find`](Self::find), over threads in shards of `size` bytes (at least one)
    /// whatever the length of the text. A shard ends anywhere; the answer does not depend on it.
    pub fn find_in_shards(&self, text: &str, cx: Context<'_>, size: usize, out: &mut Vec<Finding>) {
        out.clear();
        let size = size.max(1);
        let shards = text.len().div_ceil(size);
        let scan_shard = |shard: usize| {
            let (mut found, mut odd) = (Vec::new(), Vec::new());
            let (low, high) = (shard * size, text.len().min((shard + 1) * size));
            scan::scan(
                text.as_bytes(),
                low,
                high,
                &self.rules,
                &mut found,
                &mut odd,
            );
            (found, odd)
        };
        let (found, beside) = rayon::join(
            || {
                (0..shards)
                    .into_par_iter()
                    .map(scan_shard)
                    .collect::<Vec<_>>()
            },
            || {
                let mut beside = Vec::new();
                self.find_beside(text, cx, &mut beside);
                beside
            },
        );
        out.reserve(found.iter().map(|(found, _)| found.len()).sum());
        let mut odd = Vec::new();
        for (found, places) in found {
            out.extend_from_slice(&found);
            odd.extend_from_slice(&places);
        }
        views::find(text, &odd, &self.rules, out);
        out.extend_from_slice(&beside);
        self.settle(text, out);
    }

    /// A number of JSON, whose digits alone must make it certain: a checksum or the field's name.
    pub fn find_number(&self, number: &str, cx: Context<'_>) -> Option<Finding> {
        let finding = number::find(number, cx, &self.rules)?;
        (finding.confidence >= self.min_confidence && !self.allow.allows(number)).then_some(finding)
    }

    /// A known value of every category that is looked for, to prove at the start that each of
    /// them works.
    pub fn probes(&self) -> Vec<Probe> {
        probe::probes(self)
    }

    /// What is not proposed by the scan: patterns, the deny list, recognizers.
    fn find_beside(&self, text: &str, cx: Context<'_>, out: &mut Vec<Finding>) {
        if self.rules.secret {
            let mut blocks = Vec::new();
            secret::blocks(text.as_bytes(), &mut blocks);
            out.extend(blocks.into_iter().map(|hit| Finding {
                start: hit.start,
                end: hit.end,
                category: Category::PRIVATE_KEY,
                confidence: hit.confidence,
                rule: hit.rule,
            }));
        }
        if self.rules.fields {
            fields::find_in_table(text, &self.rules, out);
            fields::find_in_sql(text, &self.rules, out);
            if let Some(field) = cx.field {
                fields::whole(text, field, &self.rules, out);
            }
        }
        for pattern in &self.patterns {
            pattern.find(text, out);
        }
        if let Some(deny) = &self.deny {
            deny.find(text, out);
        }
        for (recognizer, categories) in &self.recognizers {
            let first = out.len();
            recognizer.find(text, cx, categories, out);
            let sound = |f: &Finding| {
                text.get(f.start..f.end)
                    .is_some_and(|span| !span.is_empty())
            };
            let mut i = 0;
            out.retain(|finding| {
                i += 1;
                i <= first || sound(finding)
            });
        }
    }

    /// Drops what is not wanted and settles what overlaps.
    fn settle(&self, text: &str, out: &mut Vec<Finding>) {
        if self.min_confidence > 0 {
            out.retain(|finding| finding.confidence >= self.min_confidence);
        }
        if !self.allow.is_empty() {
            out.retain(|f| f.rule == lists::DENY_RULE || !self.allow.allows(&text[f.start..f.end]));
        }
        resolve::resolve(out, rank);
    }

    /// Gives every name that the national rules and those of secrets report its category.
    fn register_rules(&mut self) {
        for name in self.rules.packs.names() {
            self.enable(name);
        }
        let mut names: Vec<_> = national::keywords()
            .map(|(name, _)| name)
            .chain(secret::NAMES.iter().copied())
            .map(|name| (name, self.register(name)))
            .collect();
        names.sort_unstable();
        names.dedup();
        self.rules.names = names;
    }

    /// The category of this name, made if it is new, and looked for from now on.
    fn enable(&mut self, name: &str) -> Category {
        let category = self.register(name);
        self.enabled[category.index()] = true;
        category
    }

    /// The category of this name, made if it is new.
    fn register(&mut self, name: &str) -> Category {
        self.category(name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.enabled.push(false);
            Category((self.names.len() - 1) as u16)
        })
    }
}

/// The numbering plans of the settings; by default that of the United States and those of the
/// locales.
fn phone_regions(settings: &Settings) -> Result<Vec<rules::phone::Region>, SettingsError> {
    use rules::phone::{Region, region};
    let named = settings.phone_regions.iter();
    let mut regions = named
        .map(|id| region(id).ok_or_else(|| SettingsError::Region(id.clone())))
        .collect::<Result<Vec<Region>, _>>()?;
    if regions.is_empty() {
        let ids = rules::phone::regions_of(&settings.locale);
        regions.extend(std::iter::once("US").chain(ids).filter_map(region));
    }
    Ok(regions)
}

fn packs(settings: &Settings) -> Result<national::Packs, SettingsError> {
    let packs = match settings.detect_il_id {
        true => national::Packs::of_and(&settings.locale, &["il.id"]),
        false => national::Packs::of(&settings.locale),
    };
    packs.map_err(|error| SettingsError::Locale(error.to_string()))
}

impl fmt::Debug for Detectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self
            .categories()
            .map(|category| self.name(category))
            .collect();
        f.debug_struct("Detectors")
            .field("categories", &names)
            .finish_non_exhaustive()
    }
}

/// Who wins where findings overlap: the deny list, then patterns of one's own, then the built-in
/// rules by how much a value must look like one, then everything else.
fn rank(finding: &Finding) -> u8 {
    match finding.rule {
        lists::DENY_RULE => return 0,
        custom::RULE => return 1,
        rules::email::ACCOUNT_RULE => return 15,
        _ => {}
    }
    match finding.category {
        Category::PRIVATE_KEY => 2,
        Category::JWT | Category::AWS_KEY => 3,
        Category::API_KEY => 4,
        Category::IBAN | Category::CRYPTO => 5,
        Category::CREDIT_CARD => 6,
        Category::EMAIL => 7,
        Category::SSN => 8,
        Category::IP_ADDRESS => 9,
        Category::PASSWORD | Category::SECRET => 10,
        Category::PHONE => 20,
        Category::PERSON | Category::ORG | Category::GPE | Category::FAC | Category::NORP => 30,
        _ => 15,
    }
}

#[cfg(test)]
mod tests;
