//! The verdicts: small pure functions that read a bounded neighbourhood of one place.

pub(super) mod card;
pub(super) mod crypto;
pub(super) mod email;
pub(super) mod iban;
pub(super) mod ip;
pub(super) mod mac;
pub(super) mod phone;
pub(super) mod spelled;
pub(super) mod ssn;

/// What a rule refuses after a closer look, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Miss {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) reason: &'static str,
}

/// What a rule found: bytes, confidence and its own name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hit {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) confidence: u8,
    pub(super) rule: &'static str,
}
