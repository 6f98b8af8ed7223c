//! The functions of R that extendr does not bind, and safe ways to call R.

use std::ffi::{c_char, c_void, CStr};
use std::panic::{catch_unwind, AssertUnwindSafe};

use extendr_api::prelude::*;
use extendr_ffi::{cetype_t, R_GlobalEnv, R_NilValue, Rboolean, SEXP};
use sdcrisk_core::memory::append;
use sdcrisk_core::{Error, Result};

#[allow(improper_ctypes, reason = "SEXP is opaque, as in extendr-ffi itself")]
extern "C" {
    fn R_tryCatch(
        body: extern "C" fn(*mut c_void) -> SEXP,
        body_data: *mut c_void,
        classes: SEXP,
        handler: extern "C" fn(SEXP, *mut c_void) -> SEXP,
        handler_data: *mut c_void,
        finally: Option<extern "C" fn(*mut c_void)>,
        finally_data: *mut c_void,
    ) -> SEXP;
    fn R_ToplevelExec(fun: extern "C" fn(*mut c_void), data: *mut c_void) -> Rboolean;
    fn R_CheckUserInterrupt();
    fn Rf_eval(expression: SEXP, environment: SEXP) -> SEXP;
    fn Rf_getCharCE(x: SEXP) -> cetype_t;
    fn Rf_translateCharUTF8(x: SEXP) -> *const c_char;
}

/// Why R left a piece of work before its end: the condition that was raised,
/// where R told it.
#[derive(Debug)]
pub struct Left(pub Option<Robj>);

struct Call<F, T> {
    classes: Robj,
    work: Option<F>,
    outcome: Option<std::thread::Result<T>>,
    condition: Option<Robj>,
}

/// Runs `work`, out of which R may jump: by an error, an interrupt, or its time
/// limit, which is an error. What was raised comes back as it is.
/// `work` must own nothing that needs dropping when R jumps out of it.
pub fn caught<T, F: FnOnce() -> T>(work: F) -> std::result::Result<T, Left> {
    #[allow(improper_ctypes_definitions)]
    extern "C" fn body<T, F: FnOnce() -> T>(data: *mut c_void) -> SEXP {
        // SAFETY: `data` is the `Call` below, alive and unshared during the call.
        let call = unsafe { &mut *data.cast::<Call<F, T>>() };
        if let Some(work) = call.work.take() {
            call.outcome = Some(catch_unwind(AssertUnwindSafe(work)));
        }
        // SAFETY: a constant of R.
        unsafe { R_NilValue }
    }
    #[allow(improper_ctypes_definitions)]
    extern "C" fn handler<T, F>(condition: SEXP, data: *mut c_void) -> SEXP {
        // SAFETY: as in `body`.
        let call = unsafe { &mut *data.cast::<Call<F, T>>() };
        call.condition = Some(unsafe { Robj::from_sexp(condition) });
        unsafe { R_NilValue }
    }
    #[allow(improper_ctypes_definitions)]
    extern "C" fn attempt<T, F: FnOnce() -> T>(data: *mut c_void) {
        // SAFETY: both callbacks only touch the `Call`, which outlives them.
        unsafe {
            let classes = (*data.cast::<Call<F, T>>()).classes.get();
            R_tryCatch(
                body::<T, F>,
                data,
                classes,
                handler::<T, F>,
                data,
                None,
                std::ptr::null_mut(),
            )
        };
    }
    let mut call = Call {
        classes: r!(["error", "interrupt"]),
        work: Some(work),
        outcome: None,
        condition: None,
    };
    let data = std::ptr::from_mut(&mut call).cast();
    // Jumps that no handler of a condition sees, such as a restart the user chose in the debugger,
    // end here at the latest. SAFETY: `attempt` owns nothing, so jumping out of it leaks nothing.
    unsafe { R_ToplevelExec(attempt::<T, F>, data) };
    match call.outcome {
        Some(Ok(value)) => Ok(value),
        Some(Err(panic)) => std::panic::resume_unwind(panic),
        None => Err(Left(call.condition)),
    }
}

/// Runs `work`, which may raise an R error; the error comes back as a value.
/// `work` must own nothing that needs dropping when R jumps out of it.
pub fn protected<T>(work: impl FnOnce() -> T) -> Result<T> {
    caught(work).map_err(|Left(condition)| {
        // The first element of a condition is its message, by R's own
        // construction of errors.
        let message = condition
            .and_then(|c| c.as_list())
            .and_then(|l| l.values().next())
            .and_then(|m| m.as_str().map(str::to_owned));
        Error::Internal(format!(
            "R raised an error: {}",
            message.as_deref().unwrap_or("(no message)")
        ))
    })
}

/// True if R asks to stop: because the user interrupted, or because a time
/// limit was reached. The question takes the request off R's list: whoever
/// hears `Err` must raise it again.
pub fn asked_to_stop() -> std::result::Result<(), Left> {
    // SAFETY: called on R's thread, and `caught` ends every jump.
    caught(|| unsafe { R_CheckUserInterrupt() })
}

/// True if `tick`, an R function, wants work to go on that has done `done` of
/// `total` steps.
pub fn tells_to_go_on(tick: &Function, done: u64, total: u64) -> std::result::Result<bool, Left> {
    let call = Robj::from(Language::from_values([
        Robj::from(tick.clone()),
        r!(done as f64),
        r!(total as f64),
    ]));
    // SAFETY: the call is alive, and `caught` ends every jump out of it.
    let answer = caught(|| unsafe { Rf_eval(call.get(), R_GlobalEnv) })?;
    // SAFETY: taken before R gets a chance to collect it.
    Ok(unsafe { Robj::from_sexp(answer) }.as_bool() != Some(false))
}

/// Appends the bytes that stand for a text: UTF-8 wherever the text has an
/// encoding. Text marked as bytes keeps them behind a byte no UTF-8 text begins
/// with.
pub fn append_text(text: SEXP, bytes: &mut Vec<u8>) -> Result<()> {
    // SAFETY: `text` is an element of a live character vector.
    let (raw, encoding) = unsafe {
        let pointer = extendr_ffi::R_CHAR(text);
        (CStr::from_ptr(pointer).to_bytes(), Rf_getCharCE(text))
    };
    if raw.is_ascii() || encoding == cetype_t::CE_UTF8 {
        return append(bytes, raw);
    }
    if encoding == cetype_t::CE_BYTES {
        append(bytes, &[0xFF])?;
        return append(bytes, raw);
    }
    // SAFETY: R owns the translation until the end of the call from R.
    let translated = protected(|| unsafe { Rf_translateCharUTF8(text) })?;
    append(bytes, unsafe { CStr::from_ptr(translated) }.to_bytes())
}
