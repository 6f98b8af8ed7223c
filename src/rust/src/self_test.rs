//! Failures, waiting, memory taken and random draws on purpose, so that tests can
//! see R survive them and `set.seed()` govern them.

#![allow(clippy::panic, reason = "a panic is what is tested here")]

use std::time::Duration;

use extendr_api::prelude::*;
use rand::Rng;
use sdcrisk_core::random::Streams;
use sdcrisk_core::{parallel, Error, Result};

use crate::convert::{self, count, text};
use crate::guard::{bad_call, guard};
use crate::r_api::protected;
use crate::watch::watched;

/// Fails in the way named by `how`; `message` is what the failure says.
#[extendr]
fn rs_fail(how: Robj, message: Robj) -> Robj {
    guard(|| {
        let message = text(&message, "message")?.to_owned();
        match text(&how, "how")? {
            "error" => Err(Error::BadArgument(message)),
            "panic" => std::panic::panic_any(message),
            "thread" => {
                watched(2, &r!(NULL), |_| -> Result<()> {
                    std::panic::panic_any(message)
                })?;
                Ok(r!(NULL))
            }
            // Names of the wrong length: an R error inside a Rust call.
            "r_error" => {
                let values = r!([1, 2, 3]);
                let names = r!(["a", "b", "c", "d"]);
                // SAFETY: both vectors are alive; the error is caught.
                protected(|| unsafe {
                    extendr_ffi::Rf_setAttrib(
                        values.get(),
                        extendr_ffi::R_NamesSymbol,
                        names.get(),
                    );
                })?;
                Ok(values)
            }
            _ => Err(bad_call("how")),
        }
    })
}

/// Works for `milliseconds`, in steps of one, to be interrupted.
#[extendr]
fn rs_wait(milliseconds: Robj, tick: Robj) -> Robj {
    guard(|| {
        let steps = count(&milliseconds, "milliseconds")?;
        watched(2, &tick, |monitor| {
            monitor.set_total(steps as u64);
            for _ in 0..steps {
                monitor.check()?;
                std::thread::sleep(Duration::from_millis(1));
                monitor.advance(1);
            }
            Ok(())
        })?;
        Ok(r!(true))
    })
}

/// Takes `pieces` times `bytes` of memory on two threads, in the way of the standard
/// library, which ends the process where there is none.
#[extendr]
fn rs_hoard(pieces: Robj, bytes: Robj) -> Robj {
    guard(|| {
        let pieces = count(&pieces, "pieces")?;
        let bytes = count(&bytes, "bytes")?;
        let held = watched(2, &r!(NULL), |monitor| {
            parallel::try_map(0..pieces, monitor, |_| Ok(vec![1u8; bytes]))
        })?;
        Ok(r!(held.iter().map(Vec::len).sum::<usize>() as f64))
    })
}

/// `n` random numbers between 0 and 1, drawn in blocks of 1024.
#[extendr]
fn rs_draws(seed: Robj, n: Robj, threads: Robj) -> Robj {
    guard(|| {
        let streams = Streams::new(convert::seed(&seed, "seed")?);
        let n = count(&n, "n")?;
        let threads = count(&threads, "threads")?;
        let draws = watched(threads, &r!(NULL), |_| {
            let mut draws = vec![0.0f64; n];
            parallel::for_each(draws.chunks_mut(1024).enumerate(), |(number, block)| {
                let mut rng = streams.block(number as u64);
                block.fill_with(|| rng.next_u32() as f64 / 4_294_967_296.0);
            });
            Ok(draws)
        })?;
        Ok(r!(draws))
    })
}

extendr_module! {
    mod self_test;
    fn rs_draws;
    fn rs_fail;
    fn rs_hoard;
    fn rs_wait;
}
