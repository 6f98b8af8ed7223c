# Households by the risks of their members, for methods whose risks are of persons:
# the chance that at least one member is found, 1 - prod(1 - r).

# The position of the household column, which is no key variable.
household_column <- function(hh_id, data, key_vars) {
  if (is.null(hh_id)) {
    return(NULL)
  }
  at <- check_column(hh_id, data, "hh_id")
  check_no_roles(data, key_vars, at)
  at
}

# Per column of `risks`, what follows for households: `risk` per record, `expected`
# households with a member found, `n_households`. A record without a risk adds
# nothing, and has none of its household.
members_risks <- function(data, hh_at, risks) {
  table <- key_table(data, hh_at)
  check_every_household(table)
  lapply(risks, function(risk) {
    known <- !is.na(risk)
    found <- core(rs_members_risk, table$pointer, ifelse(known, risk, 0))
    found$risk[!known] <- NA
    found
  })
}

# Households beside persons in every fit of loglinear_risk().
add_household_tau <- function(x, data, hh_at) {
  for (i in seq_along(x$fits)) {
    found <- members_risks(data, hh_at, x$fits[[i]]$records[c("tau1", "tau2")])
    for (tau in names(found)) {
      x$fits[[i]]$records[[paste0("household_", tau)]] <- found[[tau]]$risk
      x$estimates[i, paste0("households_", tau)] <- found[[tau]]$expected
    }
    x$estimates[i, "n_households"] <- found$tau1$n_households
  }
  x$records <- x$fits[[1]]$records
  x
}

# The records of an argument that may be a fit, which has none.
bare_records <- function(data) {
  if (inherits(data, "sdc_copula_fit")) {
    stop_argument(
      "hh_id", "be given with records", found = "A fit has none.",
      advice = "Give the released file as `newdata`."
    )
  }
  data
}

# Households by the scores of their members in copula_uniqueness().
add_household_scores <- function(x, released, hh_at) {
  if (is.null(x$records)) {
    return(x)
  }
  found <- members_risks(released, hh_at, x$records[c("xi", "kappa")])
  x$records$household_xi <- found$xi$risk
  x$records$household_kappa <- found$kappa$risk
  x$diagnostics$households <- frame(
    n_households = found$xi$n_households, expected_unique = found$xi$expected,
    expected_correct = found$kappa$expected
  )
  x
}

check_some_household <- function(n_complete) {
  if (n_complete == 0) {
    stop_sdc(
      "bad_data", "At least one household must be complete on all key variables.",
      x = "In every household a member misses a value.",
      i = "Use `missing = \"category\"`, or leave out the emptiest key variables."
    )
  }
}

# The key variables of a file as codes, with its households if it has some.
household_table <- function(ask, key_vars, roles, ...) {
  table <- key_table(
    ask$file, key_vars, ...,
    labels = list(households = roles$hh_at),
    roles = role_columns(ask$data, list(weight_var = roles$weight_at, hh_id = roles$hh_at))
  )
  check_every_household(table$labels$households)
  table
}

check_every_household <- function(households) {
  if (is.null(households) || households$n_missing == 0) {
    return(invisible())
  }
  stop_sdc(
    "bad_data", "Every record must have a household.",
    x = paste0(
      "The household is missing in ", plural(households$n_missing, "record"), " (",
      quote_names(households$variables), ")."
    ),
    i = "Give people without a household identifiers of their own.",
    names = households$variables
  )
}
