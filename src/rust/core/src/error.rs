//! Errors, in words a statistician can act on.

use thiserror::Error as ThisError;

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Every failure of this crate. [`Error::kind`] is the name of the condition
/// class under which the failure reaches the user.
#[derive(Debug, Clone, PartialEq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// Input that is not what its type promises, such as a factor code
    /// without a level.
    #[error("{message}")]
    BadColumn {
        /// Requirement.
        message: String,
        /// Column, if the caller knows it.
        column: Option<usize>,
    },
    /// An argument outside its domain.
    #[error("{0}")]
    BadArgument(String),
    /// Weights that cannot be the numbers of people records stand for.
    #[error("{0}")]
    BadWeights(String),
    /// Work or memory beyond a stated limit, found before it is attempted.
    #[error("{0}")]
    TooLarge(String),
    /// An iteration that did not reach its tolerance.
    #[error("{0}")]
    NotConverged(String),
    /// A protection that cannot be reached on this file.
    #[error("{0}")]
    Unprotectable(String),
    /// The user asked to stop.
    #[error("The computation was interrupted.")]
    Interrupted,
    /// The operating system refused something the computation needs.
    #[error("{0}")]
    Internal(String),
}

impl Error {
    /// More than a stated limit: what must hold, what was found, what to do.
    pub(crate) fn too_large(must: &str, found: &str, advice: &str) -> Self {
        Error::TooLarge(in_lines(must, found, advice))
    }

    /// A column that is not what its type promises.
    pub(crate) fn bad_column(message: &str) -> Self {
        Error::BadColumn {
            message: message.to_owned(),
            column: None,
        }
    }

    /// Names column `index` if the failure is about a column.
    pub fn at_column(self, index: usize) -> Self {
        match self {
            Error::BadColumn { message, .. } => Error::BadColumn {
                message,
                column: Some(index),
            },
            other => other,
        }
    }

    /// The kind of condition: one of the words users can catch.
    pub fn kind(&self) -> &'static str {
        match self {
            Error::BadColumn { .. } => "bad_column",
            Error::BadArgument(_) => "bad_argument",
            Error::BadWeights(_) => "bad_weights",
            Error::TooLarge(_) => "too_large",
            Error::NotConverged(_) => "not_converged",
            Error::Unprotectable(_) => "unprotectable",
            Error::Interrupted => "interrupted",
            Error::Internal(_) => "internal",
        }
    }
}

/// Message in lines: requirement, finding and advice.
pub(crate) fn in_lines(must: &str, found: &str, advice: &str) -> String {
    format!("{must}\n{found}\n> {advice}")
}
