//! What the protection tells about its work: kinds and counts, never a value.

/// Is told what the protection does. Called from several threads, outside of any lock.
pub trait Observer: Send + Sync + 'static {
    /// Something happened with a message of `method` (empty if unknown) from or to `upstream`.
    fn note(&self, upstream: &str, method: &str, note: &Note<'_>);
}

/// Tells nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn note(&self, _: &str, _: &str, _: &Note<'_>) {}
}

/// What happened. Holds names of categories, tokens and tools, and counts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note<'a> {
    /// A message was looked through. Said of every one, after what it came to.
    Looked {
        /// The strings that were looked at.
        strings: usize,
        /// The strings that were changed.
        changed: usize,
        /// The tokens that were put in or taken out, each once: category and number. At most
        /// [`MAX_USED`].
        tokens: Vec<(&'a str, u64)>,
        /// Uses of tokens that are not among them.
        more: usize,
    },
    /// Values became tokens on the way to the model: how many of each category.
    Sanitized(Vec<(&'a str, usize)>),
    /// Tokens became values on the way to an upstream: how many of each category.
    Restored(Vec<(&'a str, usize)>),
    /// Text that looked like tokens was neutralised.
    Muted(usize),
    /// Base64 that is not text, or could not be read as text, passed as it was.
    Binary(usize),
    /// Tokens of values that another upstream returned went to this one, or were refused to it.
    CrossUpstream {
        /// The tokens, at most [`MAX_NAMED`].
        tokens: Vec<String>,
        /// Whether the message was refused.
        refused: bool,
    },
    /// The model wrote personal values of its own: how many of each category.
    FreshValues {
        /// The categories.
        found: Vec<(&'a str, usize)>,
        /// Whether the message was refused.
        refused: bool,
    },
    /// A message was refused because of tokens that only another session can resolve.
    StaleTokens(Vec<String>),
    /// Constraints that a token would violate were taken out of a tool's output schema. Said once
    /// for each tool.
    SchemaRelaxed {
        /// The tool.
        tool: String,
        /// How many.
        keywords: usize,
    },
    /// A request or notification that the table does not know was refused or dropped.
    UnknownMethod,
    /// Looking into a message failed, and it was kept back. The text holds no value.
    Failed(String),
    /// The tripwire found personal data that got past everything else.
    Tripped {
        /// The category.
        category: &'a str,
        /// Where.
        place: Place,
        /// How many, this time.
        count: usize,
        /// Whether it is the first time for this category and place.
        first: bool,
    },
    /// The tripwire itself failed. The message went out as it was.
    TripwireFailed(String),
}

/// Where the tripwire found something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// In a string or number; it was replaced.
    Value,
    /// In an object's key; it was replaced.
    Key,
    /// In a schema, which has to stay as it is.
    Schema,
}

/// Most tokens that a note about something wrong names.
pub const MAX_NAMED: usize = 5;

/// Most tokens that [`Note::Looked`] names.
pub const MAX_USED: usize = 64;
