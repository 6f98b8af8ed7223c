# The parts of a result of qar_risk().

# Shares of key sets above the threshold at which its influence is shown.
threshold_grid <- seq(2, 20) / 100

# Key sets that identify every record and are named.
most_listed <- 20L

# Key sets the core draws a sample from.
most_sets <- 1e8

check_p <- function(p, n_keys) {
  if (any(p > n_keys)) {
    stop_argument(
      "p", paste0("be at most the number of key variables (", n_keys, ")")
    )
  }
  n_sets <- choose(n_keys, p)
  if (any(n_sets > most_sets)) {
    stop_sdc(
      "too_large",
      c(
        "There must not be more key sets than can be sampled.",
        x = paste0(
          n_keys, " key variables have ", format(max(n_sets), digits = 4, big.mark = big_mark()),
          " key sets of size ", p[[which.max(n_sets)]], "; the limit is ",
          format_count(most_sets), "."
        ),
        i = "Take a smaller `p` or fewer `key_vars`."
      ),
      n_sets = max(n_sets)
    )
  }
}

new_qar_risk <- function(counted, settings, key_names, n_records, sets, this_call) {
  estimates <- bind_rows(counted, settings$p, function(found, p) {
    estimate_frame(found$estimates, p, settings$alpha, n_records)
  })
  sampled <- vapply(counted, function(found) !is.null(found$exact), NA)
  without_one <- bind_rows(counted, settings$p, function(found, p) {
    n <- length(found$without_theta_one$risk)
    estimate_frame(found$without_theta_one, rep(p, n), utils::head(settings$alpha, n), n_records)
  })
  listed <- bind_rows(counted, settings$p, function(found, p) {
    set_frame(found, p, key_names, n_records)
  })
  listed <- numbered_rows(listed, order(-listed$n_distinct))
  identifying <- listed$key_set[listed$n_distinct == n_records]
  fit <- c("largest", "feasible", "beyond", "equal")
  new_sdc_result(
    "sdc_qar_risk",
    estimates = estimates[setdiff(names(estimates), fit)], records = NULL,
    settings = settings,
    diagnostics = list(
      threshold = if (sets) {
        bind_rows(counted[!sampled], settings$p[!sampled], sensitivity_frame, settings$alpha)
      },
      sampling = bind_rows(
        counted[sampled], settings$p[sampled], sampling_frame, settings$alpha
      ),
      identifying_sets = utils::head(identifying, most_listed),
      identifying = bind_rows(counted, settings$p, identifying_frame, listed, n_records),
      identifying_variables = bind_rows(
        counted, settings$p, identifying_variable_frame, key_names
      ),
      without_theta_one = without_one[setdiff(names(without_one), fit[fit != "feasible"])],
      fit = estimates[c("p", "alpha", fit)],
      feasible = estimates[c("p", "alpha", "feasible")],
      share_counted = rlang::set_names(vapply(counted, share_counted, 0), settings$p),
      n_excluded = settings$n - n_records,
      n_distinct = rlang::set_names(counted[[1]]$key_distinct, key_names)
    ),
    call = this_call,
    sets = if (sets) listed,
    variables = if (sets) {
      bind_rows(
        counted[!sampled], settings$p[!sampled], variable_frame, settings$alpha, key_names
      )
    }
  )
}

# Share of the key sets that were counted.
share_counted <- function(found) {
  if (is.null(found$share_counted)) {
    if (is.null(found$exact)) 1 else length(found$distinct) / found$n_sets
  } else {
    found$share_counted
  }
}

bind_rows <- function(counted, p, make, ...) {
  stack_frames(Map(function(found, size) make(found, size, ...), counted, p))
}

estimate_frame <- function(found, p, alpha, n_records) {
  frame(
    p = rep(p, length.out = length(alpha)), alpha = alpha, risk = found$risk,
    risk_empirical = found$risk_empirical, threshold = found$threshold,
    shape = found$shape, scale = found$scale,
    n_exceedances = as.integer(found$n_exceedances),
    n_sets = as.integer(found$n_sets),
    n_records = rep(n_records, length(alpha)), status = found$status,
    largest = found$largest, feasible = found$feasible,
    # A share of the key sets that is less than one of them.
    beyond = found$status %in% c("ok", "few") & alpha * found$n_sets < 1 - 1e-9,
    equal = found$equal
  )
}

# How many key sets identify every record; none where the core stopped looking,
# as it goes on whenever one does.
identifying_frame <- function(found, p, listed, n_records) {
  none <- is.null(found$n_identifying)
  frame(
    p = p, n_identifying = if (none) 0 else found$n_identifying,
    key_set = listed$key_set[listed$p == p & listed$n_distinct == n_records][1],
    n_counted = if (is.null(found$exact)) found$n_sets else as.double(length(found$distinct)),
    all_known = none || found$all_identifying
  )
}

# Which key variables they contain, most often first.
identifying_variable_frame <- function(found, p, key_names) {
  n <- if (is.null(found$n_identifying)) numeric(length(key_names)) else found$identifying_by
  order <- order(-n)
  order <- order[n[order] > 0]
  frame(p = rep(p, length(order)), variable = key_names[order], n_identifying = n[order])
}

# The key sets that were listed; none where those that matter sufficed.
set_frame <- function(found, p, key_names, n_records) {
  n <- length(found$distinct)
  members <- matrix(key_names[found$members], ncol = p)
  columns <- lapply(seq_len(p), function(i) members[, i])
  frame(
    key_set = do.call(paste, c(columns, sep = " + ")), p = rep(p, n),
    n = rep(n_records, n), n_distinct = as.integer(found$distinct),
    n_unique = as.integer(found$unique), n_pairs = as.integer(found$pairs),
    set_risk = as.integer(found$distinct) / n_records
  )
}

variable_frame <- function(found, p, alpha, key_names) {
  n_keys <- length(key_names)
  n <- n_keys * length(alpha)
  frame(
    p = rep(p, n), alpha = rep(alpha, each = n_keys),
    variable = rep(key_names, length(alpha)),
    n_distinct = rep(found$key_distinct, length(alpha)),
    share_top = rep(found$share_top, length(alpha)),
    # The core lists all levels of one key variable after the other.
    risk_without = as.vector(matrix(found$risk_without, nrow = n_keys, byrow = TRUE))
  )
}

sampling_frame <- function(found, p, alpha) {
  n <- length(alpha)
  frame(
    p = rep(p, n), alpha = alpha, n_sets = rep(found$n_sets, n),
    n_counted = rep(length(found$distinct), n), n_complete = rep(found$n_complete, n),
    exact = rep(found$exact, n), risk_se = found$risk_se
  )
}

sensitivity_frame <- function(found, p, alpha) {
  n <- length(alpha) * length(threshold_grid)
  of <- function(name) unlist(lapply(found$sensitivity, `[[`, name))
  frame(
    p = rep(p, n), alpha = rep(alpha, length(threshold_grid)),
    pi_u = rep(threshold_grid, each = length(alpha)),
    risk = of("risk"), threshold = of("threshold"), shape = of("shape"),
    n_exceedances = as.integer(of("n_exceedances")), status = of("status")
  )
}
