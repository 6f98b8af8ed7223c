//! One pass over a small table gives what cells give one by one.

use super::fitted::{Fitted, Sample};
use super::model::Model;
use super::risk::{measures, Measures};
use super::tests::{cells_of, close, sample_of};
use super::*;
use proptest::prelude::*;

/// Both measures of a fit: by one pass, and cell by cell.
fn both_measures(cells: &Cells, terms: &[Vec<usize>]) -> [Measures; 2] {
    let monitor = Monitor::new();
    let mut sample = sample_of(cells, 0.1);
    assert!(sample.places.is_some());
    let model = Model::new(cells.sizes(), terms).unwrap();
    let fitted = Fitted::new(&sample, model, TOLERANCE, &monitor).unwrap();
    let of = |sample: &Sample| {
        let expected = fitted.expected(sample, &monitor).unwrap();
        measures(&fitted, sample, &expected, &monitor).unwrap()
    };
    let by_pass = of(&sample);
    sample.places = None;
    [by_pass, of(&sample)]
}

fn assert_same([a, b]: [Measures; 2]) {
    for i in 0..2 {
        assert!(close(a.tau[i], b.tau[i], 1e-10), "{a:?} {b:?}");
        assert!(close(a.v[i], b.v[i], 1e-9), "{a:?} {b:?}");
        // B is a difference: its error is a share of its spread.
        assert!(
            (a.b[i] - b.b[i]).abs() <= 1e-9 * (b.v[i].sqrt() + b.b[i].abs()),
            "{a:?} {b:?}"
        );
    }
    assert!(
        close(a.expected_uniques, b.expected_uniques, 1e-10),
        "{a:?} {b:?}"
    );
}

#[test]
fn many_uniques_have_the_same_sums_in_bins() {
    let cells = cells_of(&[4, 9, 12, 14, 16], 28_000, 3);
    assert!(cells.uniques().len() > 10_000, "{}", cells.uniques().len());
    for terms in [
        vec![],
        vec![vec![0, 1], vec![1, 2], vec![0, 2]],
        vec![vec![3, 4]],
    ] {
        assert_same(both_measures(&cells, &terms));
    }
}

proptest! {
    #![proptest_config(crate::cases::cases(48))]

    #[test]
    fn a_pass_agrees_with_single_cells(
        sizes in proptest::collection::vec(1u32..5, 3..6),
        seed in 0u32..1000,
        joined in proptest::collection::vec((0usize..6, 0usize..6), 0..6),
    ) {
        // So many records that nearly all cells have one.
        let n = 6 * sizes.iter().product::<u32>() as usize;
        let cells = cells_of(&sizes, n, seed);
        let d = sizes.len();
        let terms: Vec<Vec<usize>> = joined.iter().map(|&(a, b)| vec![a % d, b % d]).collect();
        if cells.n_table() <= 8.0 * cells.len() as f64 {
            assert_same(both_measures(&cells, &terms));
        }
    }
}
