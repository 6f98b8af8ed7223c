//! How many random cases a property test draws.

use proptest::test_runner::Config;

/// `usual` cases, or as many as `PROPTEST_CASES` says: a campaign draws millions.
pub(crate) fn cases(usual: u32) -> Config {
    let asked = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|n| n.parse().ok());
    Config::with_cases(asked.unwrap_or(usual))
}
