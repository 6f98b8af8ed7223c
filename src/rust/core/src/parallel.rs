//! Threads, progress and cancellation.
//!
//! Work runs in a pool made for one call, so that no global state outlives it.
//! A [`Monitor`] is shared between the worker threads and the thread that
//! watches them: workers report steps done and ask whether to stop.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::error::{Error, Result};
use crate::memory::reserve_is_used;

/// Rows a worker may treat between two looks at the cancel flag: far below
/// half a second of work on any machine.
pub const ROWS_PER_CHECK: usize = 1 << 20;

/// Progress and cancellation of one computation.
#[derive(Debug, Default)]
pub struct Monitor {
    done: AtomicU64,
    total: AtomicU64,
    cancelled: AtomicBool,
}

impl Monitor {
    /// A monitor with nothing done and nothing asked.
    pub fn new() -> Self {
        Self::default()
    }

    /// States how many steps the work has.
    pub fn set_total(&self, steps: u64) {
        self.total.store(steps, Ordering::Relaxed);
    }

    /// Reports `steps` more steps as done.
    pub fn advance(&self, steps: u64) {
        self.done.fetch_add(steps, Ordering::Relaxed);
    }

    /// Steps done and steps in all.
    pub fn progress(&self) -> (u64, u64) {
        (
            self.done.load(Ordering::Relaxed),
            self.total.load(Ordering::Relaxed),
        )
    }

    /// Asks the workers to stop.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// `Err(Interrupted)` once [`Monitor::cancel`] was called, and another error
    /// once memory has run out.
    pub fn check(&self) -> Result<()> {
        if self.cancelled.load(Ordering::Relaxed) {
            Err(Error::Interrupted)
        } else if reserve_is_used() {
            Err(Error::too_large(
                "The computation must find the memory that it needs.",
                "There was none left while it ran.",
                "Free memory, or take fewer records or key variables.",
            ))
        } else {
            Ok(())
        }
    }
}

/// Runs `work` in a pool of `threads` threads made for this call.
pub fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    pool(threads)?.install(work)
}

/// A pool of `threads` threads, at least one.
pub fn pool(threads: usize) -> Result<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.max(1))
        .build()
        .map_err(|e| {
            Error::too_large(
                "The computation must be able to start its threads.",
                &format!("The system said: {e}."),
                "Free memory, or take fewer threads: `options(sdcRisk.threads = 1)`.",
            )
        })
}
