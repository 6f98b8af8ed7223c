# Results whose estimates have one row per key variable: key_overview() and
# key_stability(). Their columns are reached as those of a data frame are.

new_variables_result <- function(class, estimates, settings, diagnostics, call) {
  new_sdc_result(
    c(class, "sdc_variables"), estimates,
    records = NULL, settings = settings, diagnostics = diagnostics, call = call
  )
}

#' @export
`$.sdc_variables` <- function(x, name) {
  fields <- unclass(x)
  if (name %in% names(fields)) fields[[name]] else fields$estimates[[name]]
}

#' @export
`[.sdc_variables` <- function(x, ...) {
  x$estimates[...]
}

#' @export
dim.sdc_variables <- function(x) dim(x$estimates)

#' @export
as.data.frame.sdc_variables <- function(x, ...) enter_verb("as.data.frame", x)$estimates

#' @export
tidy.sdc_variables <- function(x, ...) {
  enter_verb("tidy", x)
  tidy_variables(x$estimates, terms_of(x))
}
