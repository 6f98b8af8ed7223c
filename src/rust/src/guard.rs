//! Errors and panics become values, which R raises as conditions.
//!
//! extendr 0.9.0 hands messages to a C function as a printf format, so one
//! with a percent sign can crash R. Hence nothing here returns `Err` to
//! extendr, and no panic reaches it.

use std::any::Any;
use std::panic::{catch_unwind, AssertUnwindSafe};

use extendr_api::prelude::*;
use sdcrisk_core::{Error, Result};

/// Runs the body of an exported function.
pub fn guard(body: impl FnOnce() -> Result<Robj>) -> Robj {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => value,
        Ok(Err(error)) => {
            let column = match &error {
                Error::BadColumn { column, .. } => column.map(|index| index as i32 + 1),
                _ => None,
            };
            error_value(error.kind(), &error.to_string(), column)
        }
        Err(panic) => error_value("internal", &panic_text(panic.as_ref()), None),
    }
}

/// What R raises; `column` is the position of a column at fault.
fn error_value(kind: &str, message: &str, column: Option<i32>) -> Robj {
    // Text with a zero byte would be an R error.
    let message = message.replace('\0', " ");
    let mut value: Robj = match column {
        Some(column) => list!(kind = kind, message = message, column = column).into(),
        None => list!(kind = kind, message = message).into(),
    };
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
