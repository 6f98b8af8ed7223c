//! Numbers that are equal but for the order in which their terms were added.

/// Values closer than this differ by rounding only.
const NOISE: f64 = 1e-12;

/// Makes values equal that lie in one run of neighbours closer than rounding
/// can tell: all become the smallest of the run. The values, of order one to a
/// hundred, are means or sums of few terms, whose rounding stays a hundred times
/// below [`NOISE`].
pub fn merge_ties(values: &mut [f64]) {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let mut first_of_run: Vec<f64> = Vec::new();
    let mut before = f64::NEG_INFINITY;
    for value in sorted {
        if value - before > NOISE {
            first_of_run.push(value);
        }
        before = value;
    }
    for value in values {
        let run = first_of_run.partition_point(|first| first <= value);
        *value = first_of_run[run - 1];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_no_difference_and_anything_else_is() {
        let third = 0.1 + 0.2;
        let mut values: [f64; 7] = [third, 0.3, 0.3 + 1e-9, 2.0, 0.3, 2.0 + 4e-16, 0.0];
        assert_ne!(values[0].to_bits(), values[1].to_bits());
        merge_ties(&mut values);
        let merged: [f64; 7] = [0.3, 0.3, 0.3 + 1e-9, 2.0, 0.3, 2.0, 0.0];
        assert_eq!(values.map(f64::to_bits), merged.map(f64::to_bits));
        merge_ties(&mut []);
    }
}
