//! Memory in reserve, so that too little of it ends a call and not R.
//!
//! If the standard library gets no memory it ends the process. Vectors as long as
//! the data are asked for by `sdcrisk_core::memory`, where no memory is an error; for
//! all that is small or grows bit by bit there are two reserves. Once the system has refused an
//! allocation, those of the core come from a block of its own, and the work ends in an
//! error at its next look at the monitor. Nothing of that block goes to the system's allocator,
//! which may give all of it to the arena of one thread. What each call holds of the system is
//! given back, for R and the C library, which end the process if a stack cannot grow.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr::{copy_nonoverlapping, null_mut, write_bytes, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use sdcrisk_core::memory::{reserve_is_used, too_large, use_reserve};
use sdcrisk_core::Result;

/// Address space alone until it is used.
const BYTES: usize = 32 << 20;

/// Blocks of more than 32 MB are those that glibc gives back to the system at once.
const HELD: Layout = match Layout::from_size_align(33 << 20, 16) {
    Ok(layout) => layout,
    Err(_) => Layout::new::<u8>(),
};

/// Held while a call of the core runs.
static HOLD: AtomicPtr<u8> = AtomicPtr::new(null_mut());

/// Memory held of the system, given back when this is dropped.
pub struct Hold(());

impl Hold {
    /// Takes it; if there is none, there is too little memory to begin.
    pub fn take() -> Result<Self> {
        // SAFETY: the layout has a size.
        let taken = unsafe { System.alloc(HELD) };
        let taken = NonNull::new(taken).ok_or_else(|| too_large(HELD.size()))?;
        use_reserve(false);
        // A call within a call has one already.
        give_back(HOLD.swap(taken.as_ptr(), Ordering::AcqRel));
        Ok(Self(()))
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        give_back(HOLD.swap(null_mut(), Ordering::AcqRel));
        use_reserve(false);
    }
}

fn give_back(held: *mut u8) {
    if !held.is_null() {
        // SAFETY: `take` allocated it with this layout, and who swapped it out owns it.
        unsafe { System.dealloc(held, HELD) };
    }
}

/// Blocks one behind the other, handed out from the start.
#[repr(align(64))]
struct Reserve {
    bytes: UnsafeCell<[u8; BYTES]>,
    /// Bytes handed out (upper half) and blocks (lower half), in one number that changes at once.
    state: AtomicU64,
}

// SAFETY: a byte belongs to one block at most, and a block to whoever asked for it.
unsafe impl Sync for Reserve {}

static RESERVE: Reserve = Reserve {
    bytes: UnsafeCell::new([0; BYTES]),
    state: AtomicU64::new(0),
};

impl Reserve {
    fn start(&self) -> *mut u8 {
        self.bytes.get().cast()
    }

    fn has(&self, memory: *mut u8) -> bool {
        (memory as usize).wrapping_sub(self.start() as usize) < BYTES
    }

    /// A block, and the work is told to end; null if there is too little left.
    #[cold]
    fn take(&self, layout: Layout) -> *mut u8 {
        // More than that is an error where the core asked, as for large vectors.
        if layout.size() > BYTES / 2 {
            return null_mut();
        }
        use_reserve(true);
        give_back(HOLD.swap(null_mut(), Ordering::AcqRel));
        let start = self.start();
        let place = |used: usize| {
            let end = start.wrapping_add(used);
            used + (end as usize).next_multiple_of(layout.align()) - end as usize
        };
        let taken = self.change(|used, blocks| {
            let end = place(used) + layout.size();
            (end <= BYTES).then_some((end, blocks + 1))
        });
        match taken {
            // SAFETY: the block ends within the reserve.
            Some(used) => unsafe { start.add(place(used)) },
            None => null_mut(),
        }
    }

    /// Takes a block back. The last one of all makes room, and so does the one at the end.
    #[cold]
    fn give_back(&self, memory: *mut u8, layout: Layout) {
        let at = memory as usize - self.start() as usize;
        self.change(|used, blocks| {
            Some(match blocks - 1 {
                0 => (0, 0),
                others if used == at + layout.size() => (at, others),
                others => (used, others),
            })
        });
    }

    /// Changes the bytes and blocks in use by `to`, and returns the bytes before.
    fn change(&self, to: impl Fn(usize, u64) -> Option<(usize, u64)>) -> Option<usize> {
        let parts = |state: u64| ((state >> 32) as usize, state & u64::from(u32::MAX));
        let changed = self
            .state
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |state| {
                let (used, blocks) = parts(state);
                to(used, blocks).map(|(used, blocks)| (used as u64) << 32 | blocks)
            });
        changed.ok().map(|state| parts(state).0)
    }
}

struct Reserving;

impl Reserving {
    /// Memory of the reserve if it is in use or the `system` has none.
    #[inline]
    fn ask(layout: Layout, system: impl Fn() -> *mut u8) -> *mut u8 {
        if reserve_is_used() {
            let memory = RESERVE.take(layout);
            if !memory.is_null() {
                return memory;
            }
        }
        let memory = system();
        if memory.is_null() {
            return RESERVE.take(layout);
        }
        memory
    }
}

#[global_allocator]
static ALLOCATOR: Reserving = Reserving;

// SAFETY: everything is of the system's allocator or a block of the reserve, and goes back to
// where it came from.
unsafe impl GlobalAlloc for Reserving {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::ask(layout, || System.alloc(layout))
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let memory = Self::ask(layout, || System.alloc_zeroed(layout));
        if RESERVE.has(memory) {
            write_bytes(memory, 0, layout.size());
        }
        memory
    }

    #[inline]
    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let new = Layout::from_size_align_unchecked(size, layout.align());
        let in_place = || System.realloc(old, layout, size);
        let is_ours = RESERVE.has(old);
        // A refusal has left `old` as it was.
        if !is_ours && (size <= layout.size() || !reserve_is_used()) {
            let memory = in_place();
            if !memory.is_null() {
                return memory;
            }
        }
        let mut memory = RESERVE.take(new);
        if memory.is_null() {
            if !is_ours {
                return in_place();
            }
            memory = System.alloc(new);
        }
        if !memory.is_null() {
            copy_nonoverlapping(old, memory, layout.size().min(size));
            self.dealloc(old, layout);
        }
        memory
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if RESERVE.has(memory) {
            RESERVE.give_back(memory, layout);
        } else {
            System.dealloc(memory, layout);
        }
    }
}
