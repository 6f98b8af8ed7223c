//! Memory that may not be there.
//!
//! If the standard library finds no memory it ends the process, and R with
//! it. So vectors as long as the data are made here, where no memory is an
//! error; and work that makes many of them asks for room before it begins.
//! Whoever calls the core may hold memory in reserve for all others, and
//! says here when it is used: the work then ends at its next look at the
//! monitor.

use std::hash::{BuildHasher, Hash};
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};

use hashbrown::HashMap;

use crate::error::{Error, Result};

/// True if an allocation was given what was held in reserve.
static RESERVE_IS_USED: AtomicBool = AtomicBool::new(false);

/// Says whether the reserve is used: work that goes on must end.
pub fn use_reserve(used: bool) {
    RESERVE_IS_USED.store(used, Ordering::Relaxed);
}

/// True if the reserve is used.
#[inline]
pub fn reserve_is_used() -> bool {
    RESERVE_IS_USED.load(Ordering::Relaxed)
}

/// Error for an allocation of `bytes` that failed.
pub fn too_large(bytes: usize) -> Error {
    Error::too_large(
        "The computation must find the memory that it needs.",
        &format!(
            "{:.1} MB more in one step are not there.",
            bytes as f64 / 1e6
        ),
        "Free memory, or take fewer records or key variables.",
    )
}

/// An empty vector with room for `n` values.
pub fn reserved<T>(n: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    values
        .try_reserve_exact(n)
        .map_err(|_| too_large(n.saturating_mul(size_of::<T>())))?;
    Ok(values)
}

/// `n` times `value`.
pub fn filled<T: Clone>(value: T, n: usize) -> Result<Vec<T>> {
    let mut values = reserved(n)?;
    values.resize(n, value);
    Ok(values)
}

/// The values of an iterator of at most `n`.
pub fn collected<T>(values: impl Iterator<Item = T>, n: usize) -> Result<Vec<T>> {
    let mut all = reserved(n)?;
    all.extend(values.take(n));
    Ok(all)
}

/// Empties a vector and makes room in it for `n` values.
pub fn room_of<T>(values: &mut Vec<T>, n: usize) -> Result<()> {
    values.clear();
    values
        .try_reserve_exact(n)
        .map_err(|_| too_large(n.saturating_mul(size_of::<T>())))
}

/// Adds a value to a vector whose length nobody knows beforehand.
#[inline]
pub fn push<T>(values: &mut Vec<T>, value: T) -> Result<()> {
    if values.len() == values.capacity() {
        values
            .try_reserve(1)
            .map_err(|_| too_large((2 * values.len() + 1) * size_of::<T>()))?;
    }
    values.push(value);
    Ok(())
}

/// Adds values to a vector whose length nobody knows beforehand.
pub fn append<T: Copy>(values: &mut Vec<T>, more: &[T]) -> Result<()> {
    values
        .try_reserve(more.len())
        .map_err(|_| too_large(2 * (values.len() + more.len()) * size_of::<T>()))?;
    values.extend_from_slice(more);
    Ok(())
}

/// Room in a map for one key more.
#[inline]
pub fn map_room<K: Eq + Hash, V, S: BuildHasher>(map: &mut HashMap<K, V, S>) -> Result<()> {
    if map.len() == map.capacity() {
        let doubled = 2 * map.len() * (size_of::<(K, V)>() + 1);
        map.try_reserve(1).map_err(|_| too_large(doubled))?;
    }
    Ok(())
}

/// True if `bytes` can be had now, in one piece. Nothing is kept: what is made
/// of many pieces on several threads asks before the first of them.
pub fn room_for(bytes: usize) -> Result<()> {
    // Less than this is there, or nothing is.
    const ALWAYS: usize = 1 << 23;
    if bytes > ALWAYS {
        // Looked at, or the compiler would leave it out.
        black_box(reserved::<u8>(bytes).map_err(|_| too_large(bytes))?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_had_is_an_error() {
        let beyond = usize::MAX / 32;
        assert_eq!(filled(1u64, beyond).unwrap_err().kind(), "too_large");
        assert_eq!(reserved::<u8>(beyond).unwrap_err().kind(), "too_large");
        assert_eq!(room_for(beyond).unwrap_err().kind(), "too_large");
        assert_eq!(filled(7u8, 3).unwrap(), [7, 7, 7]);
        assert_eq!(collected(0..5, 5).unwrap(), [0, 1, 2, 3, 4]);
        room_for(1 << 24).unwrap();
    }
}
