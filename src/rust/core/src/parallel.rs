//! Threads, progress and cancellation.
//!
//! Work runs in a pool made for one call, so that no global state outlives it.
//! A [`Monitor`] is shared between the worker threads and the thread that
//! watches them: workers report steps done and ask whether to stop.

use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Error, Result};
use crate::memory::{reserve_is_used, reserved};

/// Rows a worker may treat between two looks at the cancel flag: far below
/// half a second of work on any machine.
pub const ROWS_PER_CHECK: usize = 1 << 20;

/// Rows that a thread takes at once if the work on a row is short: enough to be worth a
/// lock, few enough to keep all threads busy.
pub const ROWS_PER_BLOCK: usize = 1 << 10;

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
            // A panic was already reported by the caller that submitted the work.
            let _ = thread.join();
        }
    }
}

thread_local! {
    /// Has the C library set a thread's own memory aside, with an end to run: if it finds none
    /// later, once others have taken all, it ends the process.
    static OWN: Box<()> = Box::default();
}

/// A pool of `threads` threads, at least one, all of which have started.
pub fn pool(threads: usize) -> Result<Pool> {
    let mut joined = Joined::default();
    let (started, starts) = channel();
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads.max(1))
        .spawn_handler(|thread| {
            let started = started.clone();
            let run = move || {
                let _ = OWN.with(|_| started.send(()));
                drop(started);
                thread.run();
            };
            joined.0.push(Builder::new().spawn(run)?);
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
    // Until each has the memory of its own.
    drop(started);
    starts.iter().for_each(drop);
    Ok(Pool {
        pool,
        _threads: joined,
    })
}

/// Runs `work` on every thread of the pool, but on no more than `n`. The parallel code
/// of rayon is compiled here once: at every place of use it was a third of the core.
fn on_threads(n: usize, work: &(dyn Fn() + Sync)) {
    match n.min(rayon::current_num_threads()) {
        0 | 1 => work(),
        n => (0..n).into_par_iter().for_each(|_| work()),
    }
}

/// Items to work on, handed out in order, and the results so far in the order of the items.
struct Queue<I, R> {
    items: I,
    results: Vec<Option<Result<R>>>,
    failed: bool,
}

impl<I: Iterator, R> Queue<I, R> {
    /// Stores a result and takes the next item, with a place for its result. There is none
    /// after a failure.
    fn next(this: &Mutex<Self>, done: Option<(usize, Result<R>)>) -> Option<(usize, I::Item)> {
        // Poisoned if an item panicked while it was made. The pool passes that on.
        let mut queue = this.lock().ok()?;
        if let Some((at, result)) = done {
            queue.failed |= result.is_err();
            queue.results[at] = Some(result);
        }
        if queue.failed {
            return None;
        }
        let item = queue.items.next()?;
        queue.results.push(None);
        Some((queue.results.len() - 1, item))
    }
}

/// The results of `work` in the order of the items. Each thread takes the next item when
/// it is free, looks at the monitor, and keeps a state that `begin` makes. An item must be
/// worth a lock: some microseconds of work, such as a block of rows.
///
/// # Errors
///
/// That of the first item that fails. All items before it were taken earlier and are
/// finished, so that it does not depend on the threads.
pub fn try_map_with<I: IntoIterator<IntoIter: Send>, S, R: Send>(
    items: I,
    monitor: &Monitor,
    begin: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, I::Item) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let items = items.into_iter();
    let most = items.size_hint().1;
    let n = most.unwrap_or(usize::MAX);
    let queue = Mutex::new(Queue {
        items,
        results: reserved(most.unwrap_or(0))?,
        failed: false,
    });
    on_threads(n, &|| {
        let Some((mut at, mut item)) = Queue::next(&queue, None) else {
            return;
        };
        let mut state = begin();
        loop {
            let result = monitor.check().and_then(|()| work(&mut state, item));
            match Queue::next(&queue, Some((at, result))) {
                Some(next) => (at, item) = next,
                None => return,
            }
        }
    });
    let queue = queue.into_inner().unwrap_or_else(PoisonError::into_inner);
    all_or_first_error(queue.results)
}

fn all_or_first_error<R>(results: Vec<Option<Result<R>>>) -> Result<Vec<R>> {
    let mut all = Vec::with_capacity(results.len());
    for result in results.into_iter().flatten() {
        all.push(result?);
    }
    Ok(all)
}

/// [`try_map_with`] without a state.
pub fn try_map<I: IntoIterator<IntoIter: Send>, R: Send>(
    items: I,
    monitor: &Monitor,
    work: impl Fn(I::Item) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    try_map_with(items, monitor, || (), |(), item| work(item))
}

/// [`try_map`] of work without a result.
pub fn try_for_each<I: IntoIterator<IntoIter: Send>>(
    items: I,
    monitor: &Monitor,
    work: impl Fn(I::Item) -> Result<()> + Sync,
) -> Result<()> {
    try_map(items, monitor, work).map(drop)
}

/// [`try_map`] of work that cannot fail and is too short to be interrupted.
pub fn map<I: IntoIterator<IntoIter: Send>, R: Send>(
    items: I,
    work: impl Fn(I::Item) -> R + Sync,
) -> Vec<R> {
    // A monitor of its own is never cancelled.
    try_map(items, &Monitor::new(), |item| Ok(work(item))).unwrap_or_default()
}

/// The numbers below `n` in ranges of `size` of them.
pub fn blocks(n: usize, size: usize) -> impl Iterator<Item = Range<usize>> + Send {
    let size = size.max(1);
    (0..n)
        .step_by(size)
        .map(move |start| start..(start + size).min(n))
}

/// The result of `of` for every number below `n`, block by block.
pub fn map_rows<T: Send>(
    n: usize,
    monitor: &Monitor,
    of: impl Fn(usize) -> T + Sync,
) -> Result<Vec<T>> {
    let mut all = reserved(n)?;
    let parts = try_map(blocks(n, ROWS_PER_BLOCK), monitor, |rows| {
        Ok(rows.map(&of).collect::<Vec<T>>())
    })?;
    all.extend(parts.into_iter().flatten());
    Ok(all)
}

/// [`map`] of work without a result.
pub fn for_each<I: IntoIterator<IntoIter: Send>>(items: I, work: impl Fn(I::Item) + Sync) {
    map(items, work);
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::Arc;

    use super::{blocks, map_rows, try_map_with, with_threads, Monitor};
    use crate::error::Error;

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

    #[test]
    fn results_and_the_first_error_do_not_depend_on_threads() {
        let fail = |at: usize| Err(Error::Internal(at.to_string()));
        for threads in [1, 2, 7] {
            let found = with_threads(threads, || {
                let squares = try_map_with(0..1000, &Monitor::new(), Vec::new, |seen, i| {
                    seen.push(i);
                    Ok(i * i)
                })?;
                assert_eq!(squares, (0..1000).map(|i| i * i).collect::<Vec<usize>>());
                assert_eq!(
                    map_rows(5000, &Monitor::new(), |i| i)?,
                    Vec::from_iter(0..5000)
                );
                let blocks: Vec<_> = blocks(5, 2).collect();
                assert_eq!(blocks, [0..2, 2..4, 4..5]);
                try_map_with(
                    0..1000,
                    &Monitor::new(),
                    || (),
                    |(), i| match i % 7 {
                        5 => fail(i),
                        _ => Ok(()),
                    },
                )
            });
            assert!(matches!(found, Err(Error::Internal(at)) if at == "5"));
        }
    }

    #[test]
    fn a_cancelled_monitor_ends_the_work() {
        let monitor = Monitor::new();
        let found = with_threads(2, || {
            super::try_for_each(0.., &monitor, |i| {
                if i == 100 {
                    monitor.cancel();
                }
                Ok(())
            })
        });
        assert!(matches!(found, Err(Error::Interrupted)));
    }
}
