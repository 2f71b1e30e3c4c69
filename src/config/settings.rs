//! What is looked for: plain settings, named as in the configuration file.

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
