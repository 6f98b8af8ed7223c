//! Memory in reserve, so that too little of it ends a call and not R.
//!
//! If the standard library gets no memory it ends the process. Vectors as long as
//! the data are asked for by `sdcrisk_core::memory`, where no memory is an error; for
//! all that is small or grows bit by bit, every call of the core holds a reserve. The
//! first allocation that fails gets it, and the work ends in an error at its next look
//! at the monitor.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::{null_mut, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::thread::yield_now;

use sdcrisk_core::memory::{too_large, use_reserve};
use sdcrisk_core::Result;

/// Address space alone: nobody writes to it. Blocks of more than 32 MB are those that
/// glibc gives back to the system at once.
const BYTES: usize = 48 << 20;

/// Held while a call of the core runs.
static RESERVE: AtomicPtr<u8> = AtomicPtr::new(null_mut());

const LAYOUT: Layout = match Layout::from_size_align(BYTES, 16) {
    Ok(layout) => layout,
    Err(_) => Layout::new::<u8>(),
};

/// The reserve, given back when this is dropped.
pub struct Reserve(());

impl Reserve {
    /// Takes the reserve; where there is none, there is too little memory to begin.
    pub fn take() -> Result<Self> {
        // SAFETY: the layout has a size.
        let taken = unsafe { System.alloc(LAYOUT) };
        let taken = NonNull::new(taken).ok_or_else(|| too_large(BYTES))?;
        use_reserve(false);
        // A call within a call has one already.
        give_back(RESERVE.swap(taken.as_ptr(), Ordering::AcqRel));
        Ok(Self(()))
    }
}

impl Drop for Reserve {
    fn drop(&mut self) {
        give_back(RESERVE.swap(null_mut(), Ordering::AcqRel));
        use_reserve(false);
    }
}

fn give_back(reserve: *mut u8) {
    if !reserve.is_null() {
        // SAFETY: `take` allocated it with this layout, and who swapped it out owns it.
        unsafe { System.dealloc(reserve, LAYOUT) };
    }
}

/// Asks again after an allocation of `bytes` failed, with the reserve given back.
#[cold]
fn again(bytes: usize, ask: impl Fn() -> *mut u8) -> *mut u8 {
    // More than that is not in it: an error where the core asked, as for large vectors.
    if bytes > BYTES / 2 {
        return null_mut();
    }
    use_reserve(true);
    give_back(RESERVE.swap(null_mut(), Ordering::AcqRel));
    // Another thread may be about to give it back.
    for _ in 0..100 {
        let memory = ask();
        if !memory.is_null() {
            return memory;
        }
        yield_now();
    }
    null_mut()
}

struct Reserving;

#[global_allocator]
static ALLOCATOR: Reserving = Reserving;

// SAFETY: everything is the system's allocator, asked again where it failed.
unsafe impl GlobalAlloc for Reserving {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let memory = System.alloc(layout);
        if memory.is_null() {
            return again(layout.size(), || System.alloc(layout));
        }
        memory
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let memory = System.alloc_zeroed(layout);
        if memory.is_null() {
            return again(layout.size(), || System.alloc_zeroed(layout));
        }
        memory
    }

    #[inline]
    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let memory = System.realloc(old, layout, size);
        if memory.is_null() {
            // What failed has left `old` as it was.
            return again(size, || System.realloc(old, layout, size));
        }
        memory
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        System.dealloc(memory, layout);
    }
}
