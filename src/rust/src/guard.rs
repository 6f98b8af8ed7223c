//! Errors and panics become values, which R raises as conditions.
//!
//! extendr 0.9.0 hands messages to a C function as a printf format, so one
//! with a percent sign can crash R. Hence nothing here returns `Err` to
//! extendr, and no panic reaches it.

use std::any::Any;
use std::panic::{catch_unwind, AssertUnwindSafe};

use extendr_api::prelude::*;
use sdcrisk_core::{Error, Result};

use crate::allocator::Hold;
use crate::watch::take_condition;

/// Runs the body of an exported function.
pub fn guard(body: impl FnOnce() -> Result<Robj>) -> Robj {
    let mut body = Some(body);
    guarded(&mut || body.take().map_or(Ok(r!(NULL)), |body| body()))
}

/// [`guard`], compiled once for all bodies.
fn guarded(body: &mut dyn FnMut() -> Result<Robj>) -> Robj {
    match catch_unwind(AssertUnwindSafe(|| {
        let _hold = Hold::take()?;
        body()
    })) {
        Ok(Ok(value)) => value,
        Ok(Err(error)) => {
            let more = match &error {
                Error::BadColumn { column, .. } => {
                    column.map(|index| ("column", r!(index as i32 + 1)))
                }
                Error::Interrupted => take_condition().map(|c| ("condition", c)),
                _ => None,
            };
            error_value(error.kind(), &error.to_string(), more)
        }
        Err(panic) => error_value("internal", &panic_text(panic.as_ref()), None),
    }
}

/// Error value that R raises; `more` is the position of a column at fault, or the condition that
/// stopped the work.
fn error_value(kind: &str, message: &str, more: Option<(&str, Robj)>) -> Robj {
    // Text with a zero byte would be an R error.
    let message = message.replace('\0', " ");
    let mut fields = vec![("kind", r!(kind)), ("message", r!(message))];
    fields.extend(more);
    let mut value: Robj = List::from_pairs(fields).into();
    match value.set_class(["sdcRisk_rust_error"]) {
        Ok(value) => value.clone(),
        Err(_) => r!(NULL),
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|s| (*s).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    format!(
        "A computation failed unexpectedly: {}",
        text.as_deref().unwrap_or("no message")
    )
}

/// An argument that R should have checked and did not.
pub fn bad_call(argument: &str) -> Error {
    Error::Internal(format!(
        "`{argument}` reached the core in a form it does not know."
    ))
}
