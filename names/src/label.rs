//! Kinds of names.

use std::fmt;
use std::str::FromStr;

/// What a name names: the kinds of OntoNotes 5, which English models are trained on.
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
}

impl Label {
    /// Every label.
    pub const ALL: [Self; 18] = [
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
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is no label.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a kind of name; the kinds are PERSON, NORP, FAC, ORG, GPE, LOC, PRODUCT, EVENT, \
    WORK_OF_ART, LAW, LANGUAGE, DATE, TIME, PERCENT, MONEY, QUANTITY, ORDINAL, CARDINAL"
)]
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
