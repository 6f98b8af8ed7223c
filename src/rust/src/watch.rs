//! Long work beside a watching main thread: progress and interrupts.
//!
//! The work runs on threads of its own and may borrow R's memory; the main
//! thread, the only one that may talk to R, looks up every 50 ms. What is over sooner
//! is done by the main thread itself ([`alone`]): of a thousand records, threads took
//! longer to start than their work.

use std::cell::{Cell, OnceCell};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::time::Duration;

use extendr_api::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use sdcrisk_core::parallel::{pool, with_threads};
use sdcrisk_core::{Error, Monitor, Result};

use crate::r_api::{asked_to_stop, tells_to_go_on, Left};

const LOOK_UP: Duration = Duration::from_millis(50);

thread_local! {
    /// The condition that stopped work, on its way to `guard`.
    static STOPPED_BY: Cell<Option<Robj>> = const { Cell::new(None) };
}

/// The condition that stopped the work that was last watched, where R told it.
pub fn take_condition() -> Option<Robj> {
    STOPPED_BY.take()
}

/// Work that leaves its result in a place of its own. Threads, channels and watch are compiled
/// once for it: for every type of result they were a third of the glue.
type Work<'a> = dyn FnMut(&Monitor) -> Result<()> + Send + 'a;

/// The result of `work`, which `run` does.
fn result_of<T: Send>(
    work: impl FnOnce(&Monitor) -> Result<T> + Send,
    run: impl FnOnce(&mut Work) -> Result<()>,
) -> Result<T> {
    let mut work = Some(work);
    let mut found = None;
    run(&mut |monitor| {
        found = work.take().map(|work| work(monitor)).transpose()?;
        Ok(())
    })?;
    found.ok_or_else(no_result)
}

fn no_result() -> Error {
    Error::Internal("A thread ended without a result.".into())
}

/// Runs `work` on this thread, with nobody watching: it must be over before anyone
/// would want to stop it.
pub fn alone<T: Send>(work: impl FnOnce(&Monitor) -> Result<T> + Send) -> Result<T> {
    result_of(work, run_alone)
}

fn run_alone(work: &mut Work) -> Result<()> {
    thread_local! {
        /// A pool of this thread and no other: nothing that a fork of R would miss.
        static POOL: OnceCell<Option<ThreadPool>> = const { OnceCell::new() };
    }
    let make = || {
        let pool = ThreadPoolBuilder::new().num_threads(1);
        pool.use_current_thread().build().ok()
    };
    POOL.with(|pool| match pool.get_or_init(make) {
        Some(pool) => pool.install(|| work(&Monitor::new())),
        None => with_threads(1, || work(&Monitor::new())),
    })
}

/// Runs `work` on `threads` threads. `tick`, an R function of steps done and
/// steps in all, or NULL, is told the progress and stops the work by
/// returning FALSE. If no thread can be started, as in a browser, the work runs [`alone`].
pub fn watched<T: Send>(
    threads: usize,
    tick: &Robj,
    work: impl FnOnce(&Monitor) -> Result<T> + Send,
) -> Result<T> {
    result_of(work, |work| run_watched(threads, tick, work))
}

fn run_watched(threads: usize, tick: &Robj, work: &mut Work) -> Result<()> {
    STOPPED_BY.set(None);
    let Ok(pool) = pool(threads) else {
        return run_alone(work);
    };
    let monitor = Monitor::new();
    let tick = tick.as_function();
    pool.in_place_scope(|scope| {
        let (send, receive) = channel();
        let watched = &monitor;
        scope.spawn(move |_| {
            let outcome = catch_unwind(AssertUnwindSafe(|| work(watched)));
            // The receiver lives until the outcome has come.
            let _ = send.send(outcome);
        });
        let mut stopped = false;
        loop {
            match receive.recv_timeout(LOOK_UP) {
                Ok(Err(panic)) => resume_unwind(panic),
                // Work that was done before it heard of the stop is stopped.
                Ok(Ok(_)) if stopped => return Err(Error::Interrupted),
                Ok(Ok(outcome)) => return outcome,
                Err(RecvTimeoutError::Disconnected) => return Err(no_result()),
                Err(RecvTimeoutError::Timeout) => {
                    let answer = look_up(tick.as_ref(), &monitor);
                    // Whatever comes after the first request belongs to it.
                    if let (Err(Left(condition)), false) = (answer, stopped) {
                        stopped = true;
                        monitor.cancel();
                        STOPPED_BY.set(condition);
                    }
                }
            }
        }
    })
}

/// Hears R and tells it the progress.
fn look_up(tick: Option<&Function>, monitor: &Monitor) -> std::result::Result<(), Left> {
    asked_to_stop()?;
    let Some(tick) = tick else { return Ok(()) };
    let (done, total) = monitor.progress();
    match tells_to_go_on(tick, done, total)? {
        true => Ok(()),
        false => Err(Left(None)),
    }
}
