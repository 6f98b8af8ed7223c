//! Threads, progress and cancellation.
//!
//! Work runs in a pool made for one call, so that no global state outlives it.
//! A [`Monitor`] is shared between the worker threads and the thread that
//! watches them: workers report steps done and ask whether to stop.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{Builder, JoinHandle};

use rayon::{ThreadPool, ThreadPoolBuilder};

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

/// A pool whose threads have ended once it is dropped. A pool of rayon's does not wait
/// for them, and while they live the C library gives each thread of the next call an
/// arena of its own, whose memory it keeps.
pub struct Pool {
    // Dropped first: it tells the threads to end.
    pool: ThreadPool,
    _threads: Joined,
}

impl Deref for Pool {
    type Target = ThreadPool;

    fn deref(&self) -> &ThreadPool {
        &self.pool
    }
}

/// Threads, waited for when this is dropped.
#[derive(Default)]
struct Joined(Vec<JoinHandle<()>>);

impl Drop for Joined {
    fn drop(&mut self) {
        for thread in self.0.drain(..) {
            // What panicked in a thread was told where its work was asked for.
            let _ = thread.join();
        }
    }
}

/// A pool of `threads` threads, at least one.
pub fn pool(threads: usize) -> Result<Pool> {
    let mut joined = Joined::default();
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads.max(1))
        .spawn_handler(|thread| {
            joined.0.push(Builder::new().spawn(|| thread.run())?);
            Ok(())
        })
        .build()
        .map_err(|e| {
            Error::too_large(
                "The computation must be able to start its threads.",
                &format!("The system said: {e}."),
                "Free memory, or take fewer threads: `options(sdcRisk.threads = 1)`.",
            )
        })?;
    Ok(Pool {
        pool,
        _threads: joined,
    })
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::Arc;

    use super::with_threads;

    /// Counts the ends of the threads that hold one.
    struct End(Arc<AtomicUsize>);

    impl Drop for End {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    thread_local! {
        static HELD: RefCell<Option<End>> = const { RefCell::new(None) };
    }

    #[test]
    fn a_call_returns_once_its_threads_have_ended() {
        for _ in 0..50 {
            let ended = Arc::new(AtomicUsize::new(0));
            let asked = with_threads(3, || {
                let hold = || HELD.with(|held| *held.borrow_mut() = Some(End(ended.clone())));
                Ok(rayon::broadcast(|_| hold()).len())
            });
            assert_eq!(asked.unwrap(), 3);
            assert_eq!(ended.load(Ordering::SeqCst), 3);
        }
    }
}
