//! What can be wrong with a model.

use std::path::PathBuf;

/// Why a model cannot be used. Every message names the file; none holds text that was searched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The file is absent or unreadable.
    #[error("{}: cannot be read: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not what its name says: truncated, corrupt, or another format.
    #[error("{}: not a valid {format} file: {reason}", file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// The format it should have.
        format: &'static str,
        /// Where the reading stopped.
        reason: String,
    },
    /// The folder holds a model of a kind that this build does not run.
    #[error("{}: a model of architecture {found:?}; this build runs {supported}", file.display())]
    Architecture {
        /// The file that names the architecture.
        file: PathBuf,
        /// The architecture it names.
        found: String,
        /// The architectures that would do.
        supported: &'static str,
    },
    /// A tensor is not in the file.
    #[error("{}: tensor {tensor:?} is missing", file.display())]
    MissingTensor {
        /// The file.
        file: PathBuf,
        /// The tensor.
        tensor: String,
    },
    /// A tensor has another shape than the architecture asks for.
    #[error("{}: tensor {tensor:?} has shape {found:?} where {expected} is expected", file.display())]
    Shape {
        /// The file.
        file: PathBuf,
        /// The tensor.
        tensor: String,
        /// The shape that the architecture asks for; `n` stands for any length.
        expected: String,
        /// The shape in the file.
        found: Vec<usize>,
    },
    /// A tensor's numbers are of another type.
    #[error("{}: tensor {tensor:?} holds {found} where {expected} is expected", file.display())]
    Type {
        /// The file.
        file: PathBuf,
        /// The tensor.
        tensor: String,
        /// The types that would do.
        expected: &'static str,
        /// The type in the file.
        found: String,
    },
    /// A tensor holds a number that is infinite or not a number.
    #[error("{}: tensor {tensor:?} holds a number that is not finite", file.display())]
    NotFinite {
        /// The file.
        file: PathBuf,
        /// The tensor.
        tensor: String,
    },
}
