//! Long work beside a watching main thread: progress and interrupts.
//!
//! The work runs on threads of its own and may borrow R's memory; the main
//! thread, the only one that may talk to R, looks up every 50 ms.

use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::time::Duration;

use extendr_api::prelude::*;
use sdcrisk_core::parallel::with_threads;
use sdcrisk_core::{Error, Monitor, Result};

use crate::r_api::interrupted;

const LOOK_UP: Duration = Duration::from_millis(50);

/// Runs `work` on `threads` threads. `tick`, an R function of steps done and
/// steps in all, or NULL, is told the progress and stops the work by
/// returning FALSE.
pub fn watched<T: Send>(
    threads: usize,
    tick: &Robj,
    work: impl FnOnce(&Monitor) -> Result<T> + Send,
) -> Result<T> {
    let monitor = Monitor::new();
    let tick = tick.as_function();
    std::thread::scope(|scope| {
        let (send, receive) = channel();
        let watched = &monitor;
        scope.spawn(move || {
            let outcome =
                catch_unwind(AssertUnwindSafe(|| with_threads(threads, || work(watched))));
            // The receiver lives until the outcome has come.
            let _ = send.send(outcome);
        });
        loop {
            match receive.recv_timeout(LOOK_UP) {
                Ok(Ok(outcome)) => return outcome,
                Ok(Err(panic)) => resume_unwind(panic),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::Internal("A thread ended without a result.".into()))
                }
                Err(RecvTimeoutError::Timeout) => {
                    if interrupted() || stopped_by(tick.as_ref(), &monitor) {
                        monitor.cancel();
                    }
                }
            }
        }
    })
}

fn stopped_by(tick: Option<&Function>, monitor: &Monitor) -> bool {
    let Some(tick) = tick else { return false };
    let (done, total) = monitor.progress();
    match tick.call(pairlist!(done as f64, total as f64)) {
        Ok(answer) => answer.as_bool() == Some(false),
        // An interrupt that hit R while it drew the bar.
        Err(_) => true,
    }
}
