# Generators of extreme risk, of copulas, of perturbation and of protections.

quiet <- function(code) suppressMessages(suppressWarnings(code))

draws$qar_risk <- function() {
  file <- draw_file(n_keys = sample(1:6, 1))
  v <- length(file$keys)
  p <- sample(v, sample(c(1, 1, min(2, v)), 1))
  levels <- list(
    missing = pick(c("category", "exclude")), pwm = pick(c("plotting", "unbiased")),
    theta_one = pick(c("one", "clamp", "exclude")), alpha = pick(c(0.01, 0.05, 0.2)),
    pi_u = pick(c(0.2, 0.3, 0.5))
  )
  args <- c(list(data = some_data(file), key_vars = file$keys, p = p), levels)
  bare <- as.data.frame(file$data)[file$keys]
  used <- if (levels$missing == "exclude") stats::complete.cases(bare) else rep(TRUE, file$n)
  check <- if (file$plain && any(used)) {
    function(x) {
      slow <- oracle_qar(
        bare, p, levels$alpha, levels$pi_u, levels$missing, levels$pwm, levels$theta_one
      )
      same <- c("risk", "risk_empirical", "threshold", "n_sets", "n_records", "n_exceedances")
      c(
        unlist(lapply(same, function(v) differs(v, x$estimates[[v]], slow$estimates[[v]]))),
        differs("n_distinct", x$sets$n_distinct, slow$sets$n_distinct)
      )
    }
  }
  case("qar_risk", args, check = check, steady = TRUE)
}

some_qar <- function(n = sample(c(3, 8, 20), 1)) {
  file <- draw_file(n = n, n_keys = sample(2:5, 1))
  p <- sample(min(2, length(file$keys)), 1)
  alpha <- pick(c(0.05, 0.1))
  x <- quiet(qar_risk(file$data, file$keys, p = p, alpha = alpha, pi_u = 0.4))
  list(file = file, x = x, p = p, alpha = alpha, bare = as.data.frame(file$data)[file$keys])
}

draws$risk_contribution <- function() {
  s <- some_qar()
  check <- if (s$file$plain && s$file$n > 2) {
    function(x) {
      slow <- slow_contribution(s$bare, s$p, s$alpha, 0.4)
      # Where every set is certain, the rest is a rule, not a count.
      if (!anyNA(slow)) differs("contribution", x$records$contribution, slow, 1e-6)
    }
  }
  case("risk_contribution", drop_null(list(
    x = s$x, data = s$file$data, entropy = maybe(0.2, TRUE)
  )), s$file$n, check)
}

draws$removal_path <- function() {
  s <- some_qar()
  by <- pick(c(
    "top_count", "u_plus_updated", "u_plus", "u_star", "contribution", "proper", "surprisal",
    "random", "pls", "entropy"
  ))
  if (by == "pls" && !requireNamespace("pls", quietly = TRUE)) by <- "u_plus"
  n <- sample(max(1, s$file$n - 2), 1)
  check <- if (s$file$plain && by != "random") {
    function(x) {
      gone <- x$path$record
      if (anyDuplicated(gone) || !all(gone %in% seq_len(s$file$n))) return("wrong records")
      left <- s$bare[-gone, , drop = FALSE]
      slow <- slow_tail(left, s$p, s$alpha, 0.4)[["risk"]]
      if (!is.na(slow)) differs("risk", utils::tail(x$path$risk, 1), slow, 1e-6)
    }
  }
  case("removal_path", drop_null(list(
    x = s$x, data = s$file$data, n = n, by = by, n_sim = if (by == "random") 3
  )), check = check)
}

draws$removal_bound <- function() {
  s <- some_qar()
  case("removal_bound", list(x = s$x, data = s$file$data, n = sample(max(1, s$file$n - 2), 1)))
}

draws$copula_fit <- function() {
  file <- draw_file(n = sample(c(5, 20, 60, 150), 1), n_keys = sample(1:4, 1))
  case("copula_fit", drop_null(list(
    data = some_data(file), key_vars = file$keys, min_records = maybe(0.9, 2),
    marginals = maybe(0.3, pick(c("empirical", "auto"))),
    order = maybe(0.4, pick(c("scaling", "natural", "random", "frequency"))),
    missing = maybe(0.3, pick(c("category", "exclude")))
  )))
}

draws$copula_uniqueness <- function() {
  file <- draw_file(n = sample(c(5, 20, 60, 150, 1200), 1), n_keys = sample(1:4, 1))
  case("copula_uniqueness", drop_null(list(
    data = file$data, key_vars = file$keys, min_records = maybe(0.9, 2),
    pop_size = file$n * sample(c(1, 3, 50), sample(2, 1)),
    score = maybe(0.5, pick(c("tree", "copula", "placement"))),
    given_sample = maybe(0.2, TRUE), calibrate = maybe(0.2, chance(0.5)),
    missing = maybe(0.2, pick(c("category", "exclude"))), weight_var = maybe(0.1, ".w"),
    limit = maybe(0.1, 0.9)
  )), file$n)
}

some_fit <- function() {
  file <- draw_file(n = sample(c(5, 20, 60), 1), n_keys = sample(1:4, 1))
  list(file = file, fit = quiet(copula_fit(file$data, file$keys, min_records = 2)))
}

draws$uniqueness_profile <- function() {
  s <- some_fit()
  record <- as.data.frame(s$file$data)[sample(s$file$n, 1), s$file$keys, drop = FALSE]
  case("uniqueness_profile", drop_null(list(
    x = s$fit, record = record, pop_size = s$file$n * sample(c(1, 10, 1000), 1),
    vary = maybe(0.3, s$file$keys[1]), score = maybe(0.2, pick(c("tree", "copula")))
  )), keep = "record")
}

draws$uniqueness_by_size <- function() {
  s <- some_fit()
  case("uniqueness_by_size", drop_null(list(
    x = s$fit, pop_size = s$file$n * sample(c(1, 10, 1000), 1), n_sim = sample(1:4, 1),
    sizes = maybe(0.5, seq_len(sample(length(s$file$keys), 1)))
  )))
}

draws$validate_uniqueness <- function() {
  file <- draw_file(n = sample(c(20, 60, 150), 1), n_keys = sample(1:4, 1))
  data <- as.data.frame(file$data)
  part <- data[seq_len(file$n %/% 3), , drop = FALSE]
  fit <- quiet(copula_fit(part, file$keys, min_records = 2))
  check <- if (file$plain) {
    function(x) {
      key <- do.call(paste, c(lapply(data[file$keys], as.character), sep = "\r"))
      alone <- !(duplicated(key) | duplicated(key, fromLast = TRUE))
      differs("unique", as.logical(x$records$unique), alone)
    }
  }
  case("validate_uniqueness", list(x = fit, population = data), file$n, check)
}

draws$pram_match_prob <- function() {
  counts <- sample(12, sample(2:4, 1), TRUE)
  if (chance(0.5)) counts <- pmin(counts, 2)[seq_len(min(3, length(counts)))]
  theta <- stats::runif(1)
  args <- list(counts = counts, theta = theta, a = maybe(0.3, 1:3, 1))
  check <- function(x) if (any(x < 0 | x > 1)) "not a probability"
  case("pram_match_prob", args, check = check)
}

draws$pram_theta <- function() {
  bound <- stats::runif(1, 0.3, 1)
  counts <- maybe(0.7, sample(9, sample(2:9, 1), TRUE))
  check <- if (!is.null(counts)) {
    function(x) {
      if (length(x) == 1 && is.finite(x) && x <= min(counts)) {
        worst <- max(quiet(pram_match_prob(counts, x, a = 1:5)))
        if (worst > max(bound, 0) + 1e-6) "the bound is exceeded"
      }
    }
  }
  case("pram_theta", drop_null(list(max_match_prob = bound, counts = counts)), check = check)
}

draws$invariant_pram <- function() {
  file <- draw_file(n_keys = sample(1:4, 1))
  hh <- chance(0.1)
  check <- function(x) {
    if (!identical(dim(x$data), dim(file$data))) return("another size")
    rest <- setdiff(names(file$data), if (hh) ".hr" else file$keys)
    same <- vapply(rest, function(v) identical(x$data[[v]], file$data[[v]]), NA)
    if (!all(same)) "columns that are no key variables were changed"
  }
  case("invariant_pram", drop_null(list(
    data = file$data, key_vars = if (hh) ".hr" else file$keys,
    max_match_prob = maybe(0.5, stats::runif(1, 0.3, 1)), within = maybe(0.1, ".region"),
    scope = maybe(0.3, pick(c("all", "risky"))),
    prefer = maybe(0.3, pick(c("fewest_changes", "nearest"))),
    unprotected = pick(c("keep", "merge", "keep")), hh_id = if (hh) ".home",
    hh_vars = if (hh) ".hr", weight_var = maybe(0.2, ".w")
  )), file$n, check)
}

some_pram <- function() {
  repeat {
    file <- draw_file(n = sample(c(10, 40, 80), 1), n_keys = sample(1:3, 1))
    x <- tryCatch(
      quiet(invariant_pram(file$data, file$keys, unprotected = "keep")), error = function(e) NULL
    )
    if (!is.null(x)) return(list(file = file, x = x))
  }
}

draws$pram_audit <- function() {
  s <- some_pram()
  case("pram_audit", drop_null(list(
    x = s$x, data = s$file$data, n_sim = sample(c(0, 1, 20), 1),
    known_keys = maybe(0.3, s$file$keys[1])
  )), s$file$n)
}

draws$pram_variance <- function() {
  s <- some_pram()
  check <- function(x) if (any(x$se_inflation < 1 - 1e-9, na.rm = TRUE)) "variance fell"
  case("pram_variance", drop_null(list(
    x = s$x, data = s$file$data, vars = maybe(0.5, s$file$keys[1])
  )), check = check)
}

draws$pram_transitions <- function() {
  s <- some_pram()
  check <- function(x) differs("sums", unname(as.vector(tapply(x$prob, x$from, sum))), 1)
  case("pram_transitions", drop_null(list(
    x = s$x, cell = sample(nrow(s$x$cells), 1), data = maybe(0.3, s$file$data)
  )), check = check)
}

draws$release_data <- function() {
  s <- some_pram()
  x <- if (chance(0.5)) s$x else quiet(suppress_cells(s$file$data, s$file$keys, k = 2))
  # Columns that look like identifiers are left out.
  check <- function(out) {
    c(
      if (nrow(out) != s$file$n) "another number of records",
      if (!all(s$file$keys %in% names(out)) || !all(names(out) %in% names(s$file$data))) {
        "other columns"
      }
    )
  }
  case("release_data", list(x = x), check = check, keep = if (chance(0.8)) "x")
}

draws$suppress_cells <- function() {
  file <- draw_file(n = sample(c(2, 5, 12, 40, 80), 1), n_keys = sample(1:4, 1))
  k <- sample(1:4, 1)
  rule <- pick(c("own", "shared", "strict"))
  args <- drop_null(list(
    data = file$data, key_vars = file$keys, k = k, rule = rule,
    importance = maybe(0.2, stats::setNames(sample(9, 1), file$keys[1])),
    strata_var = maybe(0.1, ".region"), hh_id = maybe(0.1, ".home"),
    weight_var = maybe(0.2, ".w"), n_rounds = maybe(0.2, sample(5, 1))
  ))
  check <- if (file$plain && is.null(args$strata_var) && is.null(args$hh_id)) {
    function(x) {
      before <- as.data.frame(file$data)[file$keys]
      after <- as.data.frame(x$data)[file$keys]
      text <- function(d) lapply(d, as.character)
      kept <- mapply(function(a, b) all(is.na(b) | (!is.na(a) & a == b)), text(before), text(after))
      if (!all(kept)) return("a value was changed")
      if (rule == "strict") {
        key <- do.call(paste, c(lapply(after, function(v) {
          ifelse(is.na(v), "(missing)", as.character(v))
        }), sep = "\r"))
        if (min(table(key)) < k) return("a released record has too few equals")
      } else {
        in_file <- if (rule == "own") before else after
        fits <- oracle_match_matrix(in_file, after)
        if (min(rowSums(fits)) < k) return("a released record has too few matches")
      }
      NULL
    }
  }
  case("suppress_cells", args, file$n, check)
}

draws$hierarchy <- function() {
  n <- sample(c(1, 5, 40), 1)
  args <- switch(sample(8, 1),
    list(x = sample(99, n, TRUE), widths = c(5, 10)),
    list(x = stats::rnorm(n, 20, 9), breaks = list(c(0, 20, 40), 20)),
    list(x = sprintf("%04d", sample(9999, n, TRUE)), digits = c(3, 1)),
    list(x = as.Date("2000-01-01") + sample(9999, n, TRUE), units = c("month", "year")),
    list(x = factor(sample(letters[1:6], n, TRUE)), rare = c(2, 4)),
    list(x = sample(99, n, TRUE), top = 80, bottom = 10, widths = 10),
    list(x = key_column(n, pick(plain_kinds))),
    list(x = key_column(n))
  )
  check <- function(h) {
    table <- as.data.frame(h)
    if (anyDuplicated(table[[1]])) return("a value has two rows")
    for (l in seq_along(table)[-1]) {
      groups <- tapply(
        as.character(table[[l]]), as.character(table[[l - 1]]), function(g) length(unique(g))
      )
      if (any(groups > 1)) return("levels are not nested")
    }
    NULL
  }
  case("hierarchy", args, check = check)
}

draws$recode_search <- function() {
  file <- draw_file(n = sample(c(5, 20, 60), 1), n_keys = sample(1:3, 1))
  k <- sample(1:4, 1)
  suppress <- maybe(0.5, sample(c(0.05, 0.2), 1), 0)
  blanks <- pick(c("records", "records", "cells"))
  check <- if (file$plain && blanks == "records" && suppress == 0) {
    function(x) {
      out <- quiet(apply_recoding(x, file$data))
      key <- do.call(paste, c(lapply(as.data.frame(out)[file$keys], function(v) {
        ifelse(is.na(v), "(missing)", as.character(v))
      }), sep = "\r"))
      c(
        differs("k", as.numeric(min(table(key))), as.numeric(x$best$k[[1]])),
        if (min(table(key)) < k) "the constraint does not hold"
      )
    }
  }
  case("recode_search", drop_null(list(
    data = file$data, key_vars = file$keys, constraint = list(k = k), suppress = suppress,
    blanks = blanks, cost = maybe(0.4, pick(c("entropy", "loss", "levels"))), max_seconds = 5
  )), check = check, keep = "max_seconds")
}

draws$apply_recoding <- function() {
  repeat {
    file <- draw_file(n = sample(c(10, 40), 1), n_keys = sample(1:3, 1))
    x <- tryCatch(
      quiet(recode_search(file$data, file$keys, constraint = list(k = 2), suppress = 0.1)),
      error = function(e) NULL
    )
    if (!is.null(x)) break
  }
  check <- function(out) if (!identical(dim(out), dim(file$data))) "another size"
  case("apply_recoding", drop_null(list(
    x = x, data = file$data, which = maybe(0.3, sample(nrow(x$best), 1))
  )), check = check)
}

# Recodings by hand: other columns and the number of records stay.
draw_recoding <- function(fun, numbers) {
  file <- draw_file(n = sample(c(10, 40), 1), n_keys = sample(1:3, 1))
  data <- as.data.frame(file$data)
  data$.age <- sample(90, nrow(data), TRUE)
  check <- function(out) {
    c(
      if (!identical(dim(out), dim(data))) "another size",
      if (!identical(out[[file$keys[1]]], data[[file$keys[1]]])) "another column changed",
      if (is.null(summary(out)$history)) "no history"
    )
  }
  case(fun, list(data = data, .age = numbers), check = check)
}
draws$global_recode <- function() {
  draw_recoding("global_recode", pick(list(c(0, 15, 65), 40, list(old = "50"))))
}
draws$top_code <- function() draw_recoding("top_code", pick(c(5, 60, 100)))
draws$bottom_code <- function() draw_recoding("bottom_code", pick(c(5, 60, 100)))
