//! Glue between R and `sdcrisk-core`: convert, call, convert.
//!
//! Every exported body runs inside [`guard::guard`]; nothing here decides
//! anything about data.

mod contribution;
mod convert;
mod copula;
mod guard;
mod key_table;
mod qar_risk;
mod r_api;
mod removal;
mod scores;
mod self_test;
mod watch;

use extendr_api::prelude::*;

extendr_module! {
    mod sdcrisk;
    use contribution;
    use copula;
    use key_table;
    use qar_risk;
    use removal;
    use scores;
    use self_test;
}
