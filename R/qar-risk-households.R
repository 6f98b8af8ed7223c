# Households in qar_risk(): their compositions as keys.

# The analyses for households by their compositions, per p; NULL for a size with more key sets than
# are counted.
count_households <- function(table, settings, tail) {
  lapply(settings$p, function(size) {
    if (choose(length(table$keys), size) > tail$max_sets) {
      return(NULL)
    }
    tail$p <- size
    tail$households <- table$labels$households$pointer
    tail$complete_only <- settings$missing == "exclude"
    counted <- core(rs_qar_risk, table$pointer, tail)
    check_some_household(counted$n_households)
    counted$found
  })
}

# Households beside persons, in the rows of the same analysis and key set.
add_households <- function(x, of_homes) {
  estimates <- do.call(rbind, lapply(of_homes, `[[`, "estimates"))
  pick <- function(table, at, column) if (is.null(table)) NA_real_ else table[[column]][at]
  at <- match(paste(x$estimates$p, x$estimates$alpha), paste(estimates$p, estimates$alpha))
  x$estimates$household_risk <- pick(estimates, at, "risk")
  x$estimates$household_risk_empirical <- pick(estimates, at, "risk_empirical")
  x$estimates$n_households <- as.double(pick(estimates, at, "n_records"))
  if (!is.null(x$sets)) {
    sets <- do.call(rbind, lapply(of_homes, `[[`, "sets"))
    at <- match(paste(x$sets$p, x$sets$key_set), paste(sets$p, sets$key_set))
    x$sets$n_compositions <- pick(sets, at, "n_distinct")
    x$sets$n_unique_households <- pick(sets, at, "n_unique")
    x$sets$household_set_risk <- pick(sets, at, "set_risk")
  }
  x
}
