//! Meaning of a missing value .

use std::str::FromStr;

use crate::error::{Error, Result};

/// Meaning of a missing value of a key variable .
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Missing {
    /// It can be any value, and so it matches every one.
    #[default]
    Wildcard,
    /// It is a value of its own, which matches itself only.
    Category,
    /// Its record is left out.
    Exclude,
}

impl Missing {
    /// The word users say.
    pub fn name(self) -> &'static str {
        match self {
            Missing::Wildcard => "wildcard",
            Missing::Category => "category",
            Missing::Exclude => "exclude",
        }
    }
}

impl FromStr for Missing {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        [Missing::Wildcard, Missing::Category, Missing::Exclude]
            .into_iter()
            .find(|rule| rule.name() == word)
            .ok_or_else(|| {
                Error::BadArgument(
                    "Missing values are a \"wildcard\", a \"category\", or \"exclude\" their \
                     record."
                        .into(),
                )
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_found_by_its_word() {
        for rule in [Missing::Wildcard, Missing::Category, Missing::Exclude] {
            assert_eq!(rule.name().parse(), Ok(rule));
        }
        assert!("ignore".parse::<Missing>().is_err());
    }
}
