//! Glue between R and `sdcrisk-core`: convert, call, convert.
//!
//! Every exported body runs inside [`guard::guard`]; nothing here decides
//! anything about data.

mod allocator;
mod attack;
mod columns;
mod contribution;
mod convert;
mod copula;
mod exhaustive;
mod guard;
mod household_risk;
mod individual_risk;
mod key_overview;
mod key_table;
mod linkage;
mod loglinear;
mod n_matches;
mod population_risk;
mod pram;
mod qar_risk;
mod r_api;
mod recode;
mod removal;
mod scores;
mod self_test;
mod suppress;
mod watch;

use extendr_api::prelude::*;

extendr_module! {
    mod sdcrisk;
    use attack;
    use contribution;
    use copula;
    use exhaustive;
    use household_risk;
    use individual_risk;
    use key_overview;
    use key_table;
    use linkage;
    use loglinear;
    use n_matches;
    use population_risk;
    use pram;
    use qar_risk;
    use recode;
    use removal;
    use scores;
    use self_test;
    use suppress;
}
