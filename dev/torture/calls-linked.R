# Generators of linkage, of log-linear models and of what goes around results.

draw_waves <- function() {
  file <- draw_file(n = sample(c(2, 5, 12, 25), 1))
  data <- as.data.frame(file$data)
  list(file = file, one = data, two = draw_later(file), keys = file$keys)
}

draws$longitudinal_link <- function() {
  w <- draw_waves()
  overlap <- sample(c(0, 0, 1, 2), 1)
  id <- maybe(0.8, ".id")
  check <- if (w$file$plain) {
    function(x) {
      slow <- slow_link(w$one, w$two, w$keys, id, overlap)
      same <- c("n_best", "match_prob", "n_diff")
      unlist(lapply(same, function(v) {
        differs(v, as.numeric(x$records[[v]]), as.numeric(slow[[v]]))
      }))
    }
  }
  case("longitudinal_link", drop_null(list(
    wave1 = w$one, wave2 = w$two, key_vars = w$keys, id = id, min_overlap = overlap,
    sensitivity = maybe(0.2, TRUE)
  )), nrow(w$two), check)
}

draws$link_attack <- function() {
  w <- draw_waves()
  by_value <- chance(0.5)
  weights <- pick(c("calibrated", "prior", "em", "count"))
  coverage <- maybe(0.5, 0.6, 1)
  check <- if (w$file$plain && weights == "calibrated") {
    function(x) {
      slow <- slow_attack(w$one, w$two, w$keys, ".id", by_value = by_value, coverage = coverage)
      c(
        differs("n_best", x$records$n_best, slow$n_best),
        differs("posterior", x$records$posterior, slow$posterior)
      )
    }
  }
  case("link_attack", drop_null(list(
    known = w$one, released = w$two, key_vars = w$keys, id = ".id", weights = weights,
    by_value = by_value, coverage = coverage, one_to_one = maybe(0.2, TRUE),
    sensitivity = maybe(0.2, TRUE), limit = maybe(0.1, 0.5)
  )), nrow(w$two), check)
}

draws$key_stability <- function() {
  w <- draw_waves()
  check <- if (w$file$plain) {
    function(x) {
      at <- match(w$two$.id, w$one$.id)
      changed <- vapply(x$estimates$variable, function(v) {
        sum(slow_differs(w$one[[v]][at], w$two[[v]]), na.rm = TRUE)
      }, 0)
      differs("n_changed", as.numeric(x$estimates$n_changed), unname(changed))
    }
  }
  case("key_stability", drop_null(list(
    wave1 = w$one, wave2 = w$two, key_vars = w$keys, id = ".id",
    steps = maybe(0.5, pick(c("stability", "greedy", "none")))
  )), check = check)
}

draws$change_indicators <- function() {
  w <- draw_waves()
  check <- if (w$file$plain) {
    function(x) {
      at <- match(w$two$.id, w$one$.id)
      unlist(lapply(w$keys, function(v) {
        wanted <- as.integer(slow_differs(w$one[[v]][at], w$two[[v]]) %in% TRUE)
        differs("changes", x[[paste0(v, "_changed")]], wanted)
      }))
    }
  }
  case("change_indicators", list(wave1 = w$one, wave2 = w$two, vars = w$keys, id = ".id"),
    check = check
  )
}

draws$change_moments <- function() {
  w <- draw_waves()
  case("change_moments", drop_null(list(
    waves = list(w$one, w$two), id = ".id", vars = w$keys, detail = maybe(0.3, "trajectory")
  )))
}

draws$perturbation_risk <- function() {
  file <- draw_file(n_keys = sample(1:3, 1))
  bare <- as.data.frame(file$data)
  name <- file$keys[[1]]
  values <- unique(as.character(bare[[name]]))
  values[is.na(values)] <- "NA"
  k <- length(values)
  move <- matrix(0.2 / k, k, k, dimnames = list(values, values)) + diag(0.8, k)
  case("perturbation_risk", drop_null(list(
    data = file$data, key_vars = file$keys, transition = rlang::set_names(list(move), name),
    pop_size = file$n * 10
  )), file$n)
}

draws$joint_release_risk <- function() {
  w <- draw_waves()
  releases <- list(first = w$one, second = w$two)
  if (chance(0.3)) releases$third <- w$one
  check <- if (w$file$plain) {
    function(x) {
      counts <- vapply(releases, function(data) {
        sum(slow_wildcard_matches(as.data.frame(data)[w$keys]) == 1)
      }, 0L)
      differs("n_unique", as.numeric(utils::head(x$estimates$n_unique, -1)), as.numeric(counts))
    }
  }
  case("joint_release_risk", drop_null(list(
    releases = releases, id = ".id", key_vars = w$keys, pop_size = maybe(0.3, 1000),
    link_vars = maybe(0.3, w$keys[[1]])
  )), check = check)
}

draws$loglinear_risk <- function() {
  file <- draw_file(n_keys = sample(1:4, 1))
  known <- sample(3, 1)
  args <- drop_null(list(
    data = file$data, key_vars = file$keys, weight_var = if (known > 1) ".w",
    pop_size = if (known < 3) file$n * sample(c(1, 2, 30), 1),
    model = maybe(0.6, pick(c("independence", "two_way", "search"))),
    sampling = maybe(0.4, pick(c("overall", "cell", "raked"))),
    missing = maybe(0.2, pick(c("category", "exclude"))),
    interval = maybe(0.3, pick(c("corrected", "none"))), limit = maybe(0.1, 0.5)
  ))
  bare <- as.data.frame(file$data)
  complete <- stats::complete.cases(bare[file$keys])
  check <- if (file$plain && any(complete) && known == 3) {
    function(x) {
      if (!identical(x$estimates$model[[1]], "independence")) return(NULL)
      if (!is.null(args$sampling) && args$sampling != "overall") return(NULL)
      if (identical(args$missing, "category")) return(NULL)
      used <- bare[complete, ]
      used[file$keys] <- lapply(used[file$keys], as.character)
      fraction <- nrow(used) / sum(used$.w)
      if (fraction >= 1) return(NULL)
      slow <- oracle_loglinear(
        oracle_table(used, file$keys, used$.w, as.list(seq_along(file$keys)), fraction), fraction
      )
      unlist(lapply(c("n", "n_cells", "n_unique", "tau1", "tau2"), function(v) {
        differs(v, as.numeric(x$estimates[[v]]), as.numeric(slow[[v]]), 1e-5)
      }))
    }
  }
  case("loglinear_risk", args, file$n, check)
}

draws$longitudinal_risk <- function() {
  w <- draw_waves()
  case("longitudinal_risk", drop_null(list(
    wave1 = w$one, wave2 = w$two, key_vars = w$keys, link_vars = w$keys,
    change_vars = w$keys[[1]], id = ".id", weight_var = ".w",
    model = maybe(0.6, pick(c("independence", "two_way"))),
    detail = maybe(0.3, pick(c("indicator", "previous_value"))),
    missing = maybe(0.3, pick(c("category", "exclude")))
  )))
}

# A result of a random function, and what it was made from. Its draws are asked until
# one is accepted.
result_makers <- c(
  "key_overview", "n_matches", "household_risk", "individual_risk", "exhaustive_tabulation",
  "population_uniqueness", "file_check", "utility_loss", "interval_disclosure",
  "qar_risk", "risk_contribution",
  "removal_path", "removal_bound", "copula_fit", "copula_uniqueness", "uniqueness_profile",
  "uniqueness_by_size", "validate_uniqueness", "invariant_pram", "pram_audit", "suppress_cells",
  "recode_search", "longitudinal_link", "link_attack", "key_stability", "loglinear_risk",
  "longitudinal_risk", "joint_release_risk"
)

some_result <- function(from = result_makers) {
  repeat {
    drawn <- tryCatch(draws[[pick(from)]](), error = function(e) NULL)
    if (is.null(drawn) || drawn$spoilt) next
    x <- tryCatch(quiet(do.call(drawn$fun, drawn$args)), error = function(e) NULL)
    if (!is.null(x)) return(list(x = x, args = drawn$args, data = drawn$data, fun = drawn$fun))
  }
}

draws$interpret <- function() case("interpret", list(x = some_result()$x), p_spoilt = 0.1)
# Generics of another package: what they are given decides whose they are.
draws$measures <- function() {
  case("measures", list(x = some_result()$x), check = function(x) {
    c(
      if (!all(nzchar(x$label))) "a figure without a label",
      if (!all(x$unit %in% c("matches", "count", "amount", "share", "risk"))) "an unknown unit",
      if (!all(x$verdict %in% c("ok", "above", "unclear", "not judged", "no limit"))) {
        "an unknown verdict"
      }
    )
  })
}
draws$tidy <- function() case("tidy", list(x = some_result()$x), keep = "x")
draws$glance <- function() case("glance", list(x = some_result()$x), keep = "x")
draws$augment <- function() {
  r <- some_result()
  data <- r$data
  if (inherits(data, "sdc_file") || is.null(data)) data <- draw_file()$data
  check <- function(out) if (nrow(out) != nrow(data)) "another number of records"
  case("augment", list(x = r$x, data = data), keep = "x", check = check)
}
draws$records_at_risk <- function() {
  limit <- stats::runif(1)
  check <- function(out) {
    if (is.numeric(out$risk) && any(out$risk <= limit, na.rm = TRUE)) "a record below the limit"
  }
  case("records_at_risk", list(x = some_result()$x, limit = limit), check = check)
}
draws$compare_risk <- function() {
  from <- pick(result_makers)
  a <- some_result(from)
  b <- maybe(0.8, some_result(from), a)
  case("compare_risk", list(before = a$x, after = b$x))
}
draws$sdc_report <- function() {
  n <- sample(3, 1)
  results <- lapply(seq_len(n), function(i) some_result()$x)
  if (chance(0.6)) results <- results[1]
  args <- c(results, list(
    file = tempfile("report", fileext = maybe(0.9, ".html", ".txt")),
    internal = chance(0.3), pictures = chance(0.1)
  ))
  case("sdc_report", drop_null(args))
}
draws$replay <- function() {
  r <- some_result()
  file <- tempfile("log", fileext = ".html")
  made <- tryCatch(
    quiet(sdc_report(r$x, file = file, internal = TRUE, pictures = FALSE)), error = function(e) NULL
  )
  log <- sub("html$", "json", file)
  if (!is.null(made) && chance(0.25)) spoil_log(log)
  files <- Filter(is.data.frame, r$args)
  data <- if (length(files) == 1) files[[1]] else files
  check <- if (!is.null(made) && !file.exists(paste0(log, ".spoilt"))) {
    function(x) if (any(x$equal %in% FALSE)) paste("figures of", r$fun, "are not those of the log")
  }
  case("replay", list(log = log, data = data), check = check)
}

# A byte of a log lost, doubled or changed.
spoil_log <- function(log) {
  bytes <- readBin(log, "raw", file.size(log))
  at <- sample(length(bytes), 1)
  bytes <- switch(sample(5, 1),
    bytes[-at], bytes[seq_len(at)], replace(bytes, at, as.raw(sample(33:126, 1))), raw(),
    charToRaw("[1, 2]")
  )
  writeBin(bytes, log)
  file.create(paste0(log, ".spoilt"))
}

# Objects of sdcMicro, where it is installed; all else is refused.
micro_object <- function() {
  if (!requireNamespace("sdcMicro", quietly = TRUE) || chance(0.1)) {
    return(awkward_value())
  }
  file <- draw_file(n = sample(c(10, 40), 1), plain = TRUE)
  tryCatch(
    quiet(sdcMicro::createSdcObj(
      as.data.frame(file$data), keyVars = file$keys, weightVar = ".w",
      hhId = maybe(0.3, ".home"), strataVar = maybe(0.2, ".region")
    )),
    error = function(e) NULL
  )
}
draws$store_result <- function() {
  case("store_result", list(object = micro_object(), some_result()$x))
}
draws$stored_results <- function() {
  object <- micro_object()
  stored <- tryCatch(quiet(store_result(object, n_matches(object))), error = function(e) object)
  case("stored_results", list(object = stored))
}
