# Objects made by the package that a user passes back: files with roles, pattern tables,
# hierarchies, columns of candidates. Saved ones may be older, or have lost parts. check_result()
# checks results.

check_whole_file <- function(x) check_fields(x, c("data", "roles"), "file of sdc_file()")

check_whole_patterns <- function(x) {
  check_fields(x, c("patterns", "key_vars", "n_records"), "pattern table")
}

check_whole_hierarchy <- function(x) {
  check_fields(x, c("name", "kind", "values", "steps", "labels"), "hierarchy")
}

# Objects that have lost parts are refused; edited values are not detected.
check_fields <- function(x, fields, what) {
  if (!all(fields %in% names(unclass(x)))) stop_not_whole(what)
  invisible(x)
}

# The names of the roles, which are arguments of the functions that use them.
role_names <- c(
  "key_vars", "weight_var", "hh_id", "strata_var", "sensitive", "pop_size",
  "sampling_fraction", "key_groups", "missing"
)

# Roles that only the file itself uses.
file_roles <- c("id_vars", "num_vars", "cluster", "prob_attempt")

# An open file, see sdc-file.R. `codes` is the place where the coded key variables are kept.
new_file <- function(data, roles) {
  structure(
    list(
      data = data, roles = roles[!vapply(roles, is.null, NA)],
      codes = new.env(parent = emptyenv())
    ),
    class = "sdc_open_file"
  )
}

hierarchy_kinds <- c(
  proposal = "proposed from frequencies alone: check that the groups make sense",
  proposed_order = "proposed: only neighbours are merged, those that are rarest together first",
  proposed_codes = "proposed: neighbouring codes are merged; check that their order has a meaning",
  proposed_prefix = "proposed: codes with the same first characters are merged",
  proposed_levels = "proposed from the range and form of the values",
  table = "from a table", widths = "bands of a width", breaks = "bands between breaks",
  digits = "leading characters of a code", units = "units of time",
  rare = "rare values merged", ends = "top and bottom coding"
)

# The fields of a result and of its parts, by which check_result() knows it again.
# Some results have columns of their estimates behind `$`.
fields_of <- function(result) {
  x <- unclass(result)
  c(list(result = names(x)), lapply(x[c("estimates", "settings", "diagnostics")], names))
}

# The first line of a verb of results.
enter_verb <- function(name, x, at = sys.parent()) {
  force(at)
  announce(name, at)
  check_result(x)
}

# A result of this version that still has its fields. Records may be let go, but for those of
# contributions, whose words are about them.
check_result <- function(result) {
  fields <- attr(result, "fields")
  x <- unclass(result)
  whole <- all_hold(
    is.list(x), is.list(fields), is.data.frame(x[["estimates"]]), is.list(x[["settings"]]),
    !inherits(result, "sdc_risk_contribution") || is.data.frame(x[["records"]]),
    is.null(x[["records"]]) || is.data.frame(x[["records"]]),
    all(unlist(Map(function(has, had) all(had %in% has), fields_of(result), fields)))
  )
  if (whole) {
    return(invisible(result))
  }
  version <- if (is.list(x) && is.list(x$settings)) x$settings$version
  stop_sdc(
    "damaged_result", "The result must be whole, as it was made by this version.",
    x = if (is_one_text(version) && version != own_version()) {
      paste0("It was made by version ", version, " of sdcRisk.")
    } else {
      "It has lost fields, or they have been changed, or it is not a result."
    },
    i = "Compute it again. unclass(x) shows its contents."
  )
}
