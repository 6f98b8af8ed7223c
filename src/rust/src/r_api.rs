//! The functions of R that extendr does not bind, and safe ways to call R.

use std::ffi::{c_char, c_int, c_void, CStr};
use std::panic::{catch_unwind, AssertUnwindSafe};

use extendr_api::prelude::*;
use extendr_ffi::{cetype_t, R_NilValue, Rboolean, SEXP};
use sdcrisk_core::{Error, Result};

#[allow(improper_ctypes, reason = "SEXP is opaque, as in extendr-ffi itself")]
extern "C" {
    fn R_tryCatchError(
        body: extern "C" fn(*mut c_void) -> SEXP,
        body_data: *mut c_void,
        handler: extern "C" fn(SEXP, *mut c_void) -> SEXP,
        handler_data: *mut c_void,
    ) -> SEXP;
    fn R_ToplevelExec(fun: extern "C" fn(*mut c_void), data: *mut c_void) -> Rboolean;
    fn R_CheckUserInterrupt();
    fn Rf_getCharCE(x: SEXP) -> cetype_t;
    fn Rf_translateCharUTF8(x: SEXP) -> *const c_char;
}

struct Call<F, T> {
    work: Option<F>,
    outcome: Option<std::thread::Result<T>>,
    message: Option<String>,
}

/// Runs `work`, which may raise an R error; the error comes back as a value.
/// `work` must own nothing that needs dropping when R jumps out of it.
pub fn protected<T, F: FnOnce() -> T>(work: F) -> Result<T> {
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
        // SAFETY: as in `body`; the condition is a list whose first element is
        // its message, by R's own construction of errors.
        let call = unsafe { &mut *data.cast::<Call<F, T>>() };
        let condition = unsafe { Robj::from_sexp(condition) };
        call.message = condition
            .as_list()
            .and_then(|l| l.values().next())
            .and_then(|m| m.as_str().map(str::to_owned));
        unsafe { R_NilValue }
    }
    let mut call = Call {
        work: Some(work),
        outcome: None,
        message: None,
    };
    let data = std::ptr::from_mut(&mut call).cast();
    // SAFETY: both callbacks only touch `call`, which outlives them.
    unsafe { R_tryCatchError(body::<T, F>, data, handler::<T, F>, data) };
    match call.outcome {
        Some(Ok(value)) => Ok(value),
        Some(Err(panic)) => std::panic::resume_unwind(panic),
        None => Err(Error::Internal(format!(
            "R raised an error: {}",
            call.message.as_deref().unwrap_or("(no message)")
        ))),
    }
}

/// Whether the user asked to stop. The question takes the request off R's
/// list: whoever hears `true` must raise it again.
pub fn interrupted() -> bool {
    extern "C" fn ask(_: *mut c_void) {
        // SAFETY: called on R's thread, jumps only out of `R_ToplevelExec`.
        unsafe { R_CheckUserInterrupt() }
    }
    // SAFETY: `ask` owns nothing, so jumping out of it leaks nothing.
    let finished: c_int = unsafe { R_ToplevelExec(ask, std::ptr::null_mut()) } as c_int;
    finished == 0
}

/// The bytes that stand for a text: UTF-8 wherever the text has an encoding.
/// Text marked as bytes keeps them behind a byte no UTF-8 text begins with.
pub fn text_bytes(text: SEXP) -> Result<Vec<u8>> {
    // SAFETY: `text` is an element of a live character vector.
    let (raw, encoding) = unsafe {
        let pointer = extendr_ffi::R_CHAR(text);
        (CStr::from_ptr(pointer).to_bytes(), Rf_getCharCE(text))
    };
    if raw.is_ascii() || encoding == cetype_t::CE_UTF8 {
        return Ok(raw.to_vec());
    }
    if encoding == cetype_t::CE_BYTES {
        return Ok([&[0xFF], raw].concat());
    }
    // SAFETY: R owns the translation until the end of the call from R.
    let translated = protected(|| unsafe { Rf_translateCharUTF8(text) })?;
    Ok(unsafe { CStr::from_ptr(translated) }.to_bytes().to_vec())
}
