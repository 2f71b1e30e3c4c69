//! What is looked for: plain settings, named as in the configuration file.

use thiserror::Error;

/// The switches of the detection. [`Default`] is what the gateway starts with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// E-mail addresses.
    pub detect_emails: bool,
    /// Telephone numbers.
    pub detect_phones: bool,
    /// Social security numbers of the United States.
    pub detect_ssns: bool,
    /// Payment card numbers.
    pub detect_credit_cards: bool,
    /// Keys, tokens, passwords and private key blocks.
    pub detect_api_keys: bool,
    /// IPv4 and IPv6 addresses.
    pub detect_ip_addresses: bool,
    /// International bank account numbers.
    pub detect_iban: bool,
    /// Israeli identity numbers.
    pub detect_il_id: bool,
    /// Hardware addresses.
    pub detect_mac: bool,
    /// Cryptocurrency addresses.
    pub detect_crypto: bool,
    /// Values whose field, key or column says that they are personal (names, addresses, dates of
    /// birth and the like).
    pub detect_fields: bool,
    /// Locale packs, by name (`"de"`, `"fr"`, …), or `"all"`.
    pub locale: Vec<String>,
    /// Regions whose national way of writing a phone number is known, ISO 3166 alpha-2. Empty
    /// means `US` and the regions of the locale packs.
    pub phone_regions: Vec<String>,
    /// Patterns of one's own: a category name (`[A-Z][A-Z0-9_]{0,39}`) and a regular expression
    /// in the syntax of the `regex` crate.
    pub custom_patterns: Vec<(String, String)>,
    /// Values that are never personal. An entry that begins with `@` is the domain of e-mail
    /// addresses, an entry between slashes (`/…/`) is a regular expression that must match the
    /// whole value; all else is compared without regard to ASCII case.
    pub allow: Vec<String>,
    /// Values that always are: customers, code names. Compared without regard to case, whole
    /// words only.
    pub deny: Vec<String>,
    /// Findings below this confidence, 0 to 100, are dropped.
    pub min_confidence: u8,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            detect_emails: true,
            detect_phones: true,
            detect_ssns: true,
            detect_credit_cards: true,
            detect_api_keys: true,
            detect_ip_addresses: true,
            detect_iban: true,
            detect_il_id: false,
            detect_mac: false,
            detect_crypto: false,
            detect_fields: true,
            locale: Vec::new(),
            phone_regions: Vec::new(),
            custom_patterns: Vec::new(),
            allow: Vec::new(),
            deny: Vec::new(),
            min_confidence: 0,
        }
    }
}

/// A setting that cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The category of a custom pattern breaks the grammar of tokens.
    #[error(
        "custom_patterns: {0:?} cannot be a category; \
         write a capital letter, then at most 39 capitals, digits or underscores"
    )]
    CategoryName(String),
    /// A regular expression does not compile.
    #[error(
        "{setting}: the pattern {pattern:?}{} is not a regular expression of the `regex` crate \
         (look-around and back-references are not among them): {reason}",
        name.as_ref().map(|name| format!(" of {name}")).unwrap_or_default()
    )]
    Pattern {
        /// The setting it stands in.
        setting: &'static str,
        /// The category it stands under, if it has one.
        name: Option<String>,
        /// The pattern.
        pattern: String,
        /// What the compiler says.
        reason: String,
    },
    /// A pattern matches the empty text, so it would match everywhere.
    #[error(
        "custom_patterns: the pattern {pattern:?} of {name} matches the empty text, \
         so it would match everywhere; let it require at least one character"
    )]
    EmptyMatch {
        /// The category.
        name: String,
        /// The pattern.
        pattern: String,
    },
    /// An entry of a list is empty or only white space.
    #[error("{setting}: entry {index} is empty; remove it")]
    EmptyEntry {
        /// The setting it stands in.
        setting: &'static str,
        /// Its place in the list, from 1.
        index: usize,
    },
    /// The deny list is too large to be compiled.
    #[error("deny: {entries} entries cannot be compiled: {reason}; shorten the list")]
    DenyList {
        /// How many entries there are.
        entries: usize,
        /// What the compiler says.
        reason: String,
    },
    /// A confidence above 100.
    #[error("min_confidence: {0} is above 100; it is a percentage")]
    Confidence(u8),
    /// A locale there is no pack for.
    #[error("locale: {0}")]
    Locale(String),
    /// A phone region there is no numbering plan for.
    #[error(
        "phone_regions: {0:?} is no region with a numbering plan; write ISO 3166 codes such as \"US\""
    )]
    Region(String),
    /// More categories than a token can count.
    #[error("custom_patterns: more than {0} categories; merge some")]
    TooManyCategories(usize),
}
