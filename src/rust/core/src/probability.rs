//! A probability strictly between zero and one.

use crate::error::{Error, Result};

/// A number strictly between 0 and 1. NaN is not one.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Probability(f64);

impl Probability {
    /// Checks and wraps `value`; `name` is the argument the message speaks of.
    pub fn new(value: f64, name: &str) -> Result<Self> {
        if value > 0.0 && value < 1.0 {
            Ok(Self(value))
        } else {
            Err(Error::BadArgument(format!(
                "`{name}` must lie strictly between 0 and 1."
            )))
        }
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_inside_the_unit_interval_are_probabilities() {
        for bad in [0.0, 1.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert_eq!(
                Probability::new(bad, "alpha").map_err(|e| e.kind()),
                Err("bad_argument")
            );
        }
        assert_eq!(
            Probability::new(0.25, "alpha").map(Probability::get),
            Ok(0.25)
        );
    }
}
