//! Kinds of names.

use std::fmt;
use std::str::FromStr;

/// What a name names: the kinds of OntoNotes 5, which English models are trained on, and those of
/// models that find personal data of other kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Label {
    /// People, also fictional.
    Person,
    /// Nationalities, religious and political groups.
    Norp,
    /// Buildings, airports, highways, bridges.
    Fac,
    /// Companies, agencies, institutions.
    Org,
    /// Countries, cities, states.
    Gpe,
    /// Other places: mountains, rivers.
    Loc,
    /// Objects, vehicles, foods.
    Product,
    /// Named storms, battles, wars, sports events.
    Event,
    /// Titles of books, songs, pictures.
    WorkOfArt,
    /// Laws.
    Law,
    /// Languages.
    Language,
    /// Dates and periods.
    Date,
    /// Times shorter than a day.
    Time,
    /// Percentages.
    Percent,
    /// Sums of money.
    Money,
    /// Measures of weight or distance.
    Quantity,
    /// "first", "second".
    Ordinal,
    /// Other numbers.
    Cardinal,
    /// Streets, house numbers, flats.
    Address,
    /// Postal codes.
    PostalCode,
    /// E-mail addresses.
    Email,
    /// Telephone numbers.
    Phone,
    /// Addresses of pages.
    Url,
    /// Names of user accounts.
    Username,
    /// Dates of birth.
    DateOfBirth,
    /// Numbers of passports.
    Passport,
    /// Numbers of driving licences.
    DriverLicense,
    /// Numbers that tax offices give.
    TaxId,
    /// Numbers that states give to people.
    NationalId,
    /// Numbers of bank accounts, and of banks.
    BankAccount,
    /// Names of other things.
    Misc,
}

impl Label {
    /// Every label.
    pub const ALL: [Self; 31] = [
        Self::Person,
        Self::Norp,
        Self::Fac,
        Self::Org,
        Self::Gpe,
        Self::Loc,
        Self::Product,
        Self::Event,
        Self::WorkOfArt,
        Self::Law,
        Self::Language,
        Self::Date,
        Self::Time,
        Self::Percent,
        Self::Money,
        Self::Quantity,
        Self::Ordinal,
        Self::Cardinal,
        Self::Address,
        Self::PostalCode,
        Self::Email,
        Self::Phone,
        Self::Url,
        Self::Username,
        Self::DateOfBirth,
        Self::Passport,
        Self::DriverLicense,
        Self::TaxId,
        Self::NationalId,
        Self::BankAccount,
        Self::Misc,
    ];

    /// The label as models spell it: `PERSON`, `WORK_OF_ART`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Person => "PERSON",
            Self::Norp => "NORP",
            Self::Fac => "FAC",
            Self::Org => "ORG",
            Self::Gpe => "GPE",
            Self::Loc => "LOC",
            Self::Product => "PRODUCT",
            Self::Event => "EVENT",
            Self::WorkOfArt => "WORK_OF_ART",
            Self::Law => "LAW",
            Self::Language => "LANGUAGE",
            Self::Date => "DATE",
            Self::Time => "TIME",
            Self::Percent => "PERCENT",
            Self::Money => "MONEY",
            Self::Quantity => "QUANTITY",
            Self::Ordinal => "ORDINAL",
            Self::Cardinal => "CARDINAL",
            Self::Address => "ADDRESS",
            Self::PostalCode => "POSTAL_CODE",
            Self::Email => "EMAIL",
            Self::Phone => "PHONE",
            Self::Url => "URL",
            Self::Username => "USERNAME",
            Self::DateOfBirth => "DATE_OF_BIRTH",
            Self::Passport => "PASSPORT",
            Self::DriverLicense => "DRIVER_LICENSE",
            Self::TaxId => "TAX_ID",
            Self::NationalId => "NATIONAL_ID",
            Self::BankAccount => "BANK_ACCOUNT",
            Self::Misc => "MISC",
        }
    }
}

#[cfg(feature = "transformer")]
impl Label {
    /// What a class of a token classifier stands for: `B-PER`, `I-GIVEN_NAME`, `STREET_NAME`. None
    /// for what is outside of names, and for classes that nobody here knows.
    pub(crate) fn of_class(class: &str) -> Option<Self> {
        let bare = match class.split_once(['-', '_']) {
            Some(("B" | "I" | "L" | "U" | "E" | "S", rest)) => rest,
            _ => class,
        };
        let bare = bare.to_uppercase().replace(['-', ' '], "_");
        Some(match &*bare {
            "PER" | "PERSNAME" | "PS" | "NAME" | "FULL_NAME" | "FULLNAME" | "PERSON_NAME"
            | "GIVEN_NAME" | "GIVENNAME" | "FIRST_NAME" | "FIRSTNAME" | "MIDDLE_NAME"
            | "MIDDLENAME" | "SURNAME" | "LAST_NAME" | "LASTNAME" => Self::Person,
            "ORGANIZATION" | "ORGANISATION" | "COMPANY" | "COMPANY_NAME" | "COMPANYNAME" => {
                Self::Org
            }
            "LOCATION" => Self::Loc,
            "CITY" | "STATE" | "COUNTRY" | "COUNTY" => Self::Gpe,
            "STREET" | "STREET_NAME" | "STREET_ADDRESS" | "BUILDING_NUMBER" | "BUILDINGNUM"
            | "BUILDINGNUMBER" | "SECONDARY_ADDRESS" | "SECONDARYADDRESS" => Self::Address,
            "ZIP" | "ZIP_CODE" | "ZIPCODE" | "POSTCODE" => Self::PostalCode,
            "EMAIL_ADDRESS" => Self::Email,
            "PHONE_NUMBER" | "PHONENUMBER" | "TELEPHONENUM" => Self::Phone,
            "USER_NAME" => Self::Username,
            "DOB" | "DATEOFBIRTH" => Self::DateOfBirth,
            "PASSPORT_NUMBER" => Self::Passport,
            "DRIVERS_LICENSE" | "DRIVERLICENSENUM" | "DRIVER_LICENSE_NUMBER" => Self::DriverLicense,
            "TAXNUM" | "TAX_NUMBER" => Self::TaxId,
            "GOVERNMENT_ID" | "IDCARDNUM" | "ID_CARD" => Self::NationalId,
            "ROUTING_NUMBER" | "ACCOUNTNUM" | "ACCOUNT_NUMBER" | "ACCOUNTNUMBER" => {
                Self::BankAccount
            }
            word => return word.parse().ok(),
        })
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is no label.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a kind of name; the kinds are {kinds}", kinds = Label::ALL.map(Label::as_str).join(", "))]
pub struct UnknownLabel(String);

impl FromStr for Label {
    type Err = UnknownLabel;

    fn from_str(word: &str) -> Result<Self, UnknownLabel> {
        let same = |label: &Self| label.as_str() == word;
        Self::ALL
            .into_iter()
            .find(same)
            .ok_or_else(|| UnknownLabel(word.to_owned()))
    }
}
