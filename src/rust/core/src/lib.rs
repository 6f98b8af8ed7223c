//! The mathematics of sdcRisk, without R.
//!
//! Data enter as a [`KeyTable`]: columns of dense codes with missing values
//! explicit, each row standing for one or more records. Kernels take a
//! `KeyTable` and give back numbers and row indices, never values: whoever
//! holds the original columns finds the values by indexing them.
//!
//! | module | question |
//! |---|---|
//! | [`key_table`] | how are values coded, compared and grouped? |
//! | [`qar_risk`] | how large is the extreme risk over all key sets of size p? |
//! | [`key_overview`] | what does every key variable hold and add? |
//! | [`n_matches`] | with how many records does a record agree, values missing or uncertain? |
//! | [`association`] | how do two orders of the records agree? |
//! | [`parallel`] | how many threads work, how far are they, should they stop? |
//! | [`random`] | which random numbers belong to which block of work? |

#![deny(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod association;
pub mod error;
pub mod key_overview;
pub mod key_table;
pub mod n_matches;
pub mod parallel;
pub mod probability;
pub mod qar_risk;
pub mod random;

pub use error::{Error, Result};
pub use key_table::KeyTable;
pub use parallel::Monitor;
pub use probability::Probability;
