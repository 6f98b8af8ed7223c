//! Glue between R and `sdcrisk-core`: convert, call, convert.
//!
//! Every exported body runs inside [`guard::guard`]; nothing here decides
//! anything about data.

mod contribution;
mod convert;
mod guard;
mod key_overview;
mod key_table;
mod n_matches;
mod qar_risk;
mod r_api;
mod removal;
mod self_test;
mod watch;

use extendr_api::prelude::*;

extendr_module! {
    mod sdcrisk;
    use contribution;
    use key_overview;
    use key_table;
    use n_matches;
    use qar_risk;
    use removal;
    use self_test;
}
