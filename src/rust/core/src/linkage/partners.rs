//! Links by a known id: the wave-1 record of every wave-2 record.

use super::NONE;
use crate::error::{Error, Result};
use crate::key_table::Column;

/// The records of the same persons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partners {
    /// Per wave-2 row the wave-1 row with the same id, or [`NONE`].
    pub rows: Vec<u32>,
    /// Rows of each wave whose id an earlier row has.
    pub n_repeated: (usize, usize),
}

/// Finds partners by ids coded with one dictionary. A missing id is nobody's.
pub fn partners(one: &Column, two: &Column) -> Result<Partners> {
    if one.n_values() != two.n_values() {
        return Err(Error::BadArgument(
            "The ids of both waves must be coded together.".into(),
        ));
    }
    let mut row_of = vec![NONE; one.n_values() as usize + 1];
    let mut repeated1 = 0;
    for row in 0..one.len() {
        let code = one.codes().get(row) as usize;
        if code != 0 {
            repeated1 += usize::from(row_of[code] != NONE);
            row_of[code] = row as u32;
        }
    }
    let mut seen = vec![false; row_of.len()];
    let mut repeated2 = 0;
    let rows = (0..two.len())
        .map(|row| {
            let code = two.codes().get(row) as usize;
            repeated2 += usize::from(code != 0 && seen[code]);
            seen[code] = true;
            row_of[code]
        })
        .collect();
    Ok(Partners {
        rows,
        n_repeated: (repeated1, repeated2),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_table::Codes;

    fn ids(codes: &[u32], n_values: u32) -> Column {
        Column::new(Codes::pack(n_values, codes.iter().copied()), n_values).unwrap()
    }

    #[test]
    fn partners_are_the_last_rows_with_the_id() {
        let one = ids(&[1, 2, 2, 0, 3], 4);
        let two = ids(&[3, 0, 2, 2, 4], 4);
        let found = partners(&one, &two).unwrap();
        assert_eq!(found.rows, [4, NONE, 2, 2, NONE]);
        assert_eq!(found.n_repeated, (1, 1));
    }

    #[test]
    fn ids_of_two_dictionaries_are_refused() {
        let error = partners(&ids(&[1], 1), &ids(&[1], 2)).unwrap_err();
        assert!(error.to_string().contains("must be coded together"));
    }
}
