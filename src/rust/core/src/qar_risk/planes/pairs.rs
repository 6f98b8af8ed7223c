//! Classes of all pairs of columns by tables of bytes: the quickest way where
//! no more than their number is wanted and columns have few values.

use crate::error::Result;
use crate::key_table::{Codes, KeyTable};
use crate::parallel::{self, Monitor};

/// Rows between two looks at whether there is anything left to see.
const ROWS_PER_LOOK: usize = 1 << 13;

/// Number of classes of every pair, in `combn()` order; nothing when a column
/// has more than 255 values.
pub fn pairs_distinct(table: &KeyTable, monitor: &Monitor) -> Option<Result<Vec<u32>>> {
    let columns: Option<Vec<(&[u8], usize)>> = table
        .columns()
        .iter()
        .map(|column| match column.codes() {
            Codes::U8(codes) => Some((codes.as_slice(), column.n_distinct() as usize)),
            _ => None,
        })
        .collect();
    let columns = columns?;
    let n = columns.len();
    let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
    let new_table = || vec![0u8; 1 << 16];
    let count = |cells: &mut Vec<u8>, (a, b): (usize, usize)| {
        let stride = table.columns()[b].n_values() as usize + 1;
        let n_cells = (table.columns()[a].n_values() as usize + 1) * stride;
        let all = columns[a].1 * columns[b].1;
        monitor.advance(1);
        pair_distinct(
            columns[a].0,
            columns[b].0,
            stride,
            all,
            &mut cells[..n_cells],
            monitor,
        )
    };
    Some(parallel::try_map_with(pairs, monitor, new_table, count))
}

/// Marks the cells that occur, until all of them do.
fn pair_distinct(
    a: &[u8],
    b: &[u8],
    stride: usize,
    all: usize,
    cells: &mut [u8],
    monitor: &Monitor,
) -> Result<u32> {
    cells.fill(0);
    let mut seen = 0;
    for (a, b) in a.chunks(ROWS_PER_LOOK).zip(b.chunks(ROWS_PER_LOOK)) {
        monitor.check()?;
        for (&a, &b) in a.iter().zip(b) {
            cells[usize::from(a) * stride + usize::from(b)] = 1;
        }
        seen = cells.iter().map(|&c| u32::from(c)).sum();
        if seen as usize == all {
            break;
        }
    }
    Ok(seen)
}
