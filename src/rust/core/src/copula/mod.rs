//! A Gaussian copula for the key variables.

pub mod lanes;
pub mod rectangle;
