//! The kinds of personal data there are.

/// What kind of personal data a finding is: an index into the names that a [`Detectors`] knows.
///
/// The built-in kinds are constants here and keep their index; the names of custom patterns and
/// of a library user's own recognizers follow in the order they were given.
///
/// [`Detectors`]: super::Detectors
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Category(pub(super) u16);

impl Category {
    /// The place of this category among all of its [`Detectors`](super::Detectors), from 0.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

macro_rules! categories {
    ($($(#[doc = $doc:literal])+ $name:ident),+ $(,)?) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        #[repr(u16)]
        enum Index { $($name),+ }

        impl Category {
            $($(#[doc = $doc])+ pub const $name: Self = Self(Index::$name as u16);)+
        }

        /// The names of the built-in categories, by index.
        pub(super) const NAMES: &[&str] = &[$(stringify!($name)),+];
    };
}

categories! {
    /// An e-mail address (RFC 5321, with the Unicode of RFC 6531).
    EMAIL,
    /// A social security number of the United States.
    SSN,
    /// A payment card number (ISO/IEC 7812).
    CREDIT_CARD,
    /// An international bank account number (ISO 13616).
    IBAN,
    /// A telephone number.
    PHONE,
    /// An IPv4 or IPv6 address.
    IP_ADDRESS,
    /// A key or token in the format of its vendor.
    API_KEY,
    /// An access key of Amazon Web Services, or its secret.
    AWS_KEY,
    /// A JSON web token (RFC 7519).
    JWT,
    /// A private key block (RFC 7468 and OpenSSH).
    PRIVATE_KEY,
    /// A password, in a connection string or under a name that says so.
    PASSWORD,
    /// A secret value under a name that says so.
    SECRET,
    /// A hardware address of a network device.
    MAC_ADDRESS,
    /// An address of a cryptocurrency wallet.
    CRYPTO,
    /// An Israeli identity number.
    IL_ID,
    /// The name of a person.
    PERSON,
    /// The name of an organisation.
    ORG,
    /// The name of a country, city or state.
    GPE,
    /// The name of a building, airport, bridge.
    FAC,
    /// A nationality, religious or political group.
    NORP,
    /// A street address.
    ADDRESS,
    /// A postal code.
    POSTAL_CODE,
    /// A date of birth.
    DATE_OF_BIRTH,
    /// The number of a passport.
    PASSPORT,
    /// The number of a driving licence.
    DRIVER_LICENSE,
    /// The number of a bank account that is not an IBAN.
    BANK_ACCOUNT,
    /// The name of a user account.
    USERNAME,
    /// A value of the deny list.
    DENIED,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_constants_agree() {
        assert_eq!(NAMES[Category::EMAIL.index()], "EMAIL");
        assert_eq!(NAMES[Category::DENIED.index()], "DENIED");
    }
}
