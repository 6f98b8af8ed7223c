#' Draw synthetic records from a fitted copula
#'
#' Synthetic records with the margins and pairwise dependence of the file, to
#' try out what an intruder or an estimator would see.
#'
#' A parametric margin's unseen categories have no values: their probability is
#' spread over the others here. Synthetic records are not anonymised data: they
#' keep the sample's values and two-way dependence.
#'
#' @section Memory:
#' Beyond the model, with five key variables and two threads: at most 60 bytes a record.
#'
#' @param object A result of [copula_fit()].
#' @param nsim Number of records.
#' @param seed A seed for [set.seed()], after which the generator is put back where
#'   it was, as by [stats::simulate()]; or `NULL` to go on with the present
#'   state of the generator.
#' @inheritParams sdcRisk-params
#' @param max_memory Bytes that the records may take while they are drawn, 16 for
#'   each value of a key variable.
#' @return A data frame of `nsim` rows with the key variables, in the classes of
#'   the data. Results do not depend on the number of threads. More memory than
#'   `max_memory` is an error of class `sdcRisk_error_too_large`, raised before
#'   any work.
#' @importFrom stats simulate
#' @export
#' @family copula
#' @examples
#' fit <- copula_fit(adult, c("age", "sex", "income"))
#' simulate(fit, 3, seed = 1)
simulate.sdc_copula_fit <- function(object, nsim = 1, seed = NULL, ...,
                                    max_memory = 2e9) {
  announce("simulate")
  check_no_dots(...)
  check_result(object)
  nsim <- check_whole(nsim, "nsim")
  check_simulable(nsim, length(object$shares), check_memory(max_memory))
  if (!is.null(seed)) {
    seed <- check_whole(seed, "seed", low = -.Machine$integer.max)
    # As simulate() of stats does: what comes after is as random as before.
    state <- get0(".Random.seed", globalenv(), inherits = FALSE)
    on.exit(restore_state(state), add = TRUE)
    set.seed(seed)
  }
  with_progress("Drawing records", {
    draw_records(object, nsim, draw_seed())
  })
}

restore_state <- function(state) {
  if (is.null(state)) {
    rm(".Random.seed", envir = globalenv())
  } else {
    assign(".Random.seed", state, envir = globalenv())
  }
}

# Bytes of one value on its way: twice in the core, as a code and as a value in R.
bytes_per_value <- 16

check_simulable <- function(nsim, n_keys, max_memory) {
  bytes <- as.double(nsim) * n_keys * bytes_per_value
  if (bytes > max_memory) {
    stop_sdc(
      "too_large", paste0("Drawing must not need more than ", format_count(max_memory), " bytes."),
      x = paste0(
        format_count(nsim), " records of ", plural(n_keys, "key variable"), " need ",
        format_count(bytes), "."
      ),
      i = "Draw fewer at a time, or raise `max_memory`."
    )
  }
}

# `n` records of a fit from eight 32-bit numbers.
draw_records <- function(fit, n, draws) {
  drawn <- core(
    rs_copula_simulate, c(observed_model(fit), list(correlation = as.double(fit$correlation))),
    list(n = n, seed = draws)
  )
  do.call(frame, Map(function(values, categories) values[categories], fit$levels, drawn))
}

# The margins and orders of categories that have a value.
observed_model <- function(fit) {
  n_known <- lengths(fit$levels)
  list(
    shares = Map(
      function(shares, n) shares[seq_len(n)] / sum(shares[seq_len(n)]), fit$shares, n_known
    ),
    orders = Map(function(places, n) as.integer(rank(places[seq_len(n)])), fit$orders, n_known)
  )
}
