# One generator per exported function of files and their cells: each draws a call, and
# how its answer can be checked. `check` gives what is wrong with an answer, nothing
# where it is right by an independent count.

draws <- new.env()

# A call to be made. `n`: how many records must come back. `check`: an oracle, where
# arguments are sane. `steady`: the answer does not depend on the order of records, and
# `columns` of its records move with them.
case <- function(fun, args, n = NULL, check = NULL, steady = FALSE, keep = character(),
                 p_spoilt = 0.22, data = NULL) {
  if (is.null(data)) data <- args$data
  args <- spoil_arguments(fun, args, keep, p_spoilt)
  spoilt <- isTRUE(attr(args, "spoilt"))
  attr(args, "spoilt") <- NULL
  list(
    fun = fun, args = args, spoilt = spoilt, n = if (!spoilt) n,
    check = if (!spoilt) check, steady = steady && !spoilt, data = if (!spoilt) data
  )
}

drop_null <- function(x) x[!vapply(x, is.null, NA)]

# What differs, for a check; NULL where nothing does.
differs <- function(what, found, wanted, tolerance = 1e-8) {
  if (!isTRUE(all.equal(found, wanted, tolerance = tolerance, check.attributes = FALSE))) {
    paste(what, "differs from the oracle")
  }
}

role_arguments <- function(file) {
  drop_null(list(
    weight_var = maybe(0.4, ".w"), hh_id = maybe(0.2, ".home"),
    pop_size = maybe(0.2, file$n * sample(c(1, 5, 100.5), 1)),
    missing = maybe(0.3, pick(c("wildcard", "category", "exclude")))
  ))
}

some_data <- function(file) {
  if (chance(0.85)) file$data else sdc_file(file$data, file$keys)
}

draws$sdc_file <- function() {
  file <- draw_file(plain = FALSE)
  args <- c(list(data = file$data, key_vars = maybe(0.8, file$keys)), role_arguments(file))
  args$strata_var <- maybe(0.2, ".region")
  args$sensitive <- maybe(0.2, ".s")
  case("sdc_file", args)
}

draws$sdc_roles <- function() {
  file <- draw_file(plain = FALSE)
  made <- quiet(sdc_file(file$data, file$keys))
  case("sdc_roles", list(x = made), check = function(out) {
    if (!identical(out$key_vars, file$keys)) return("other key variables")
  })
}

draws$pattern_table <- function() {
  file <- draw_file(plain = chance(0.7))
  args <- drop_null(list(
    data = some_data(file), key_vars = file$keys, weight_var = maybe(0.4, ".w"),
    max_patterns = maybe(0.2, pick(c(1, 3, 1e6)))
  ))
  check <- if (file$plain) {
    function(x) {
      bare <- as.data.frame(file$data)[file$keys]
      counts <- as.vector(table(do.call(paste, c(lapply(bare, as.character), sep = "\r"))))
      c(
        differs("counts", sort(as.double(x$patterns$n)), sort(as.double(counts))),
        differs("records", as.double(x$n_records), file$n),
        if (!is.null(args$weight_var)) {
          differs("weights", sum(x$patterns$.w), sum(file$data$.w))
        }
      )
    }
  }
  case("pattern_table", args, check = check)
}

# Its window waits for somebody: what is refused before it opens.
draws$file_check_addin <- function() {
  case("file_check_addin", list(envir = pick(list(new.env(), NULL, 1, "text"))[[1]]))
}

# They need an editor: what is refused before that.
draws$language_server <- function() {
  case("language_server", list(time_limit = pick(list(0, -1, "text", NA))[[1]]), p_spoilt = 0)
}

draws$check_script_addin <- function() {
  case("check_script_addin", list(limit = pick(list(1, list(), "text", list(k = 2)))[[1]]))
}

# Scripts in pieces, most of which stop with an error. Only lines, codes and counts come back.
draws$check_script <- function() {
  pieces <- c(
    "library(sdcRisk)", "#| sdc: key_vars = c(GENDER, DAGE3)", "x <- nals_prison",
    "file <- sdc_file(nals_prison, c(GENDER, DAGE3))", "file$GENDER <- 1; y <- file",
    "y <- x[1:9, ]", "saveRDS(file, \"a.rds\")", "write.csv(x, \"a.csv\")", "rm(x)",
    "x <- merge(x, y)", "q()", "stop(1)", "released <- release_data(suppress_cells(file))",
    "#| sdc: GENDER", "names(x) <- NULL", "f <- function("
  )
  folder <- tempfile("script")
  dir.create(folder)
  path <- file.path(folder, "s.R")
  writeLines(sample(pieces, sample(0:12, 1), replace = TRUE), path)
  case("check_script", list(path = path, dir = folder, time_limit = 30), check = function(x) {
    if (!all(x$findings$code %in% sdcRisk:::script_codes()$code)) "a code that is not known"
  }, keep = c("path", "dir"), data = data.frame())
}

draws$quit_status <- function() {
  path <- tempfile(fileext = ".R")
  writeLines("f <- function(", path)
  case("quit_status", list(x = check_script(path)), check = function(status) {
    if (!identical(status, 1L)) "a syntax error has status 1"
  })
}

draws$write_findings <- function() {
  path <- tempfile(fileext = ".R")
  writeLines("f <- function(", path)
  file <- tempfile(fileext = sample(c(".sarif", ".xml", ".txt"), 1))
  case("write_findings", list(x = check_script(path), file = file), keep = "file")
}

draws$key_overview <- function() {
  file <- draw_file()
  check <- if (file$plain) {
    function(x) {
      slow <- oracle_key_overview(as.data.frame(file$data)[file$keys])
      found <- x$estimates[match(slow$variable, x$estimates$variable), ]
      same <- c("n_levels", "n_missing", "prop_missing", "n_unique_without", "unique_change")
      unlist(lapply(same, function(v) differs(v, found[[v]], slow[[v]])))
    }
  }
  case("key_overview", list(data = some_data(file), key_vars = file$keys), check = check)
}

draws$n_matches <- function() {
  candidate <- chance(0.15)
  file <- draw_file(n = sample(c(1, 2, 5, 10, 25), 1), candidate = candidate)
  sets <- maybe(0.15, list(one = file$keys[1], all = file$keys))
  missing <- pick(c("wildcard", "category", "exclude"))
  args <- drop_null(list(
    data = file$data, key_vars = if (is.null(sets)) file$keys else sets, missing = missing,
    rule = maybe(0.3, pick(c("first", "overlap", "mean"))),
    min_overlap = maybe(0.2, sample(0:3, 1)), partial_weight = maybe(0.2, pick(c(0, 0.5, 1))),
    weight_var = maybe(0.3, ".w"), hh_id = maybe(0.15, ".home"), sensitive = maybe(0.2, ".s"),
    pop_size = maybe(0.3, file$n * sample(1:9, 1)), level = maybe(0.1, 0.9),
    limit = maybe(0.1, 1 / 3)
  ))
  simple <- file$plain && !candidate && is.null(sets) && missing != "exclude" &&
    is.null(args$hh_id)
  check <- if (simple) {
    function(x) {
      pairs <- oracle_match_matrix(
        as.data.frame(file$data)[file$keys], NULL, "first", missing,
        if (is.null(args$min_overlap)) 0 else args$min_overlap,
        if (is.null(args$partial_weight)) 1 else args$partial_weight
      )
      c(
        differs("n_matches", as.numeric(x$records$n_matches), rowSums(pairs)),
        if (!is.null(args$weight_var)) {
          differs("weighted", x$records$n_matches_weighted, as.vector(pairs %*% file$data$.w))
        }
      )
    }
  }
  case("n_matches", args, file$n, check, steady = TRUE)
}

draws$household_risk <- function() {
  file <- draw_file(n = sample(c(1, 2, 5, 10, 25), 1))
  known <- pick(list("all", 1, 2))[[1]]
  args <- drop_null(list(
    data = file$data, key_vars = file$keys, hh_id = ".home", known = known,
    hh_vars = maybe(0.2, ".hr"), weight_var = maybe(0.2, ".hw"),
    pop_size = maybe(0.2, file$n * 10), missing = maybe(0.3, pick(c("category", "exclude")))
  ))
  check <- if (file$plain && is.null(args$hh_vars) && !identical(args$missing, "exclude")) {
    function(x) {
      shown <- as.data.frame(file$data)
      shown[file$keys] <- lapply(shown[file$keys], function(v) {
        ifelse(is.na(v), "(missing)", as.character(v))
      })
      slow <- oracle_household_matches(shown, file$keys, ".home", as.character(known))
      differs("n_matches", x$records$n_matches, slow)
    }
  }
  case("household_risk", args, file$n, check, steady = TRUE)
}

draws$individual_risk <- function() {
  file <- draw_file()
  args <- drop_null(list(
    data = file$data, key_vars = file$keys, weight_var = ".w", hh_id = maybe(0.4, ".home"),
    missing = maybe(0.3, pick(c("category", "exclude", "wildcard"))), limit = maybe(0.1, 0.05)
  ))
  simple <- file$plain && (is.null(args$missing) || args$missing == "category")
  check <- if (simple) {
    function(x) {
      data <- as.data.frame(file$data)
      hh <- if (is.null(args$hh_id)) seq_len(file$n) else data$.home
      slow <- slow_individual(data[file$keys], data$.w, hh)
      c(
        differs("risk", x$records$risk, slow$risk),
        if (!is.null(args$hh_id)) {
          differs("household_risk", x$records$household_risk, slow$household)
        }
      )
    }
  }
  case("individual_risk", args, file$n, check, steady = TRUE)
}

draws$special_uniques <- function() {
  file <- draw_file()
  missing <- maybe(0.6, pick(c("wildcard", "category", "exclude")))
  size <- sample(length(file$keys), 1)
  check <- if (file$plain && file$n <= 40) {
    function(x) {
      rule <- if (is.null(missing)) "wildcard" else missing
      slow <- slow_special(as.data.frame(file$data)[file$keys], size, rule)
      c(
        differs("n_msu", x$estimates$n_msu, slow$n_msu),
        differs("variables", x$records$variables, slow$variables),
        differs("score", x$records$score_elliot, slow$score)
      )
    }
  }
  case("special_uniques", drop_null(list(
    data = some_data(file), key_vars = file$keys, max_size = size, missing = missing,
    sampling_fraction = maybe(0.3, stats::runif(1)), limit = maybe(0.1, 0.5)
  )), file$n, check)
}

draws$attribute_risk <- function() {
  file <- draw_file(n = sample(c(2, 5, 10, 25), 1))
  missing <- pick(c("wildcard", "category", "exclude"))
  data <- as.data.frame(file$data)
  released <- maybe(0.4, data[sample(file$n, replace = TRUE), , drop = FALSE])
  check <- if (file$plain && missing != "exclude") {
    function(x) {
      slow <- suppressWarnings(
        slow_attribute(data, file$keys, ".s", missing, is.numeric(data$.s), released)
      )
      value <- function(measure) x$estimates$value[x$estimates$measure == measure]
      c(
        differs("posterior", x$records$posterior, slow$posterior),
        unlist(lapply(c("t", "alpha", "l_distinct", "dorig", "cap"), function(measure) {
          differs(measure, value(measure), slow[[measure]])
        }))
      )
    }
  }
  case("attribute_risk", drop_null(list(
    data = some_data(file), key_vars = file$keys, sensitive = ".s", missing = missing,
    released = released, limit = maybe(0.1, 0.5)
  )), file$n, check)
}

draws$attack_release <- function() {
  file <- draw_file(n = sample(c(2, 5, 10, 25), 1))
  data <- as.data.frame(file$data)
  part <- function() data[sample(file$n, replace = TRUE), , drop = FALSE]
  case("attack_release", drop_null(list(
    original = data, released = part(), key_vars = file$keys, sensitive = maybe(0.6, ".s"),
    control = maybe(0.4, part()), missing = maybe(0.5, pick(c("wildcard", "category", "exclude")))
  )), data = data)
}

draws$population_risk <- function() {
  file <- draw_file()
  size <- file$n * stats::runif(1, 1, 1000)
  args <- drop_null(list(
    data = file$data, key_vars = file$keys, hh_id = maybe(0.3, ".home"),
    missing = maybe(0.3, pick(c("category", "exclude", "wildcard"))), limit = maybe(0.1, 0.05)
  ))
  known <- sample(3, 1)
  if (known != 1) args$pop_size <- size
  if (known != 2) args$weight_var <- ".w"
  check <- function(x) {
    of <- function(column) x$estimates[[column]][3:5]
    agree <- !is.unsorted(of("value")) && !is.unsorted(of("low")) && !is.unsorted(of("high"))
    c(
      if (!agree) "tau1, tau2 and re-identifications are not in order",
      differs("reidentifications", sum(x$records$risk, na.rm = TRUE), of("value")[[3]])
    )
  }
  case("population_risk", args, file$n, check, steady = TRUE)
}

draws$exhaustive_tabulation <- function() {
  file <- draw_file(n = sample(c(1, 3, 10, 40), 1))
  v <- length(file$keys)
  dims <- sort(sample(seq_len(min(v, 3)), sample(seq_len(min(v, 3)), 1)))
  both <- sample(3, 1)
  args <- drop_null(list(
    data = file$data, key_vars = file$keys, dims = dims,
    weight_threshold = if (both != 1) stats::runif(1, 1, 90), combine = pick(c("or", "and")),
    weight_var = ".w", missing = pick(c("exclude", "category"))
  ))
  args["threshold"] <- list(if (both != 2) sample(1:4, 1))
  check <- if (file$plain) {
    function(x) {
      data <- as.data.frame(file$data)
      slow <- slow_tabulation(
        data[file$keys], dims, args$threshold, args$weight_threshold, args$combine, data$.w,
        args$missing
      )
      differs("n_violations", x$records$n_violations, slow$violations)
    }
  }
  case("exhaustive_tabulation", args, file$n, check, steady = TRUE)
}

draws$population_uniqueness <- function() {
  file <- draw_file()
  size <- file$n * stats::runif(1, 1, 1000)
  case("population_uniqueness", drop_null(list(
    data = some_data(file), key_vars = file$keys, pop_size = size,
    method = maybe(0.5, pick(c("pitman", "ewens", "zayatz", "snb", "dankar"))),
    missing = maybe(0.3, pick(c("category", "exclude")))
  )))
}

draws$file_check <- function() {
  file <- draw_file()
  args <- c(list(data = file$data, key_vars = maybe(0.9, file$keys)), role_arguments(file))
  args$limit <- maybe(0.2, list(k = sample(1:5, 1), journalist = 0.1))
  args$p <- maybe(0.3, sample(1:3, 1))
  args$models <- chance(0.3)
  check <- if (file$plain && !is.null(args$key_vars)) {
    function(x) {
      if (!is.null(x$records) && nrow(x$records) != file$n) "records are not those of the file"
    }
  }
  case("file_check", drop_null(args), check = check)
}

draws$utility_loss <- function() {
  file <- draw_file(n = sample(c(2, 10, 40), 1))
  data <- as.data.frame(file$data)
  after <- data
  for (v in file$keys) after[[v]][stats::runif(file$n) < 0.2] <- NA
  check <- if (file$plain) {
    function(x) {
      blank <- vapply(file$keys, function(v) sum(is.na(after[[v]]) & !is.na(data[[v]])), 0L)
      differs("blanks", x$variables$n_blank[match(file$keys, x$variables$variable)], unname(blank))
    }
  }
  case("utility_loss", drop_null(list(
    before = data, after = after, key_vars = file$keys, weight_var = maybe(0.3, ".w")
  )), check = check)
}

# Numbers with ties, missing values and large ones.
draw_numbers <- function(n, d) {
  as.data.frame(rlang::set_names(lapply(seq_len(d), function(v) {
    x <- pick(list(stats::rlnorm(n), sample(5, n, TRUE), round(stats::rnorm(n), 1), rep(2, n)))
    x <- x * pick(c(1, 1, 1e-300, 1e300))
    replace(x, stats::runif(n) < pick(c(0, 0, 0.1)), NA)
  }), paste0("x", seq_len(d))))
}

draws$interval_disclosure <- function() {
  data <- draw_numbers(sample(c(1, 2, 30), 1), sample(4, 1))
  after <- as.data.frame(lapply(data, function(x) x * sample(c(1, 1.1), length(x), TRUE)))
  check <- function(x) {
    e <- x$estimates
    c(
      if (any(e$n_within > e$n_values)) "more values disclosed than compared",
      if (any(e$n_all > e$n_any)) "more records with all values than with any"
    )
  }
  case("interval_disclosure", drop_null(list(
    original = data, released = after, vars = names(data),
    width = maybe(0.3, c(sd = 0.1, rank = 0.2))
  )), check = check)
}

draws$microaggregate <- function() {
  k <- sample(2:4, 1)
  data <- draw_numbers(sample(c(4, 30), 1), sample(3, 1))
  check <- function(out) {
    c(
      if (!identical(dim(out), dim(data))) "another size",
      unlist(lapply(names(data), function(v) {
        if (!identical(is.na(out[[v]]), is.na(data[[v]]))) "other missing values"
      })),
      if (is.null(summary(out)$history)) "no history"
    )
  }
  case("microaggregate", drop_null(list(
    data = data, vars = names(data), k = k, method = maybe(0.5, pick(c("mdav", "optimal")))
  )), check = check)
}

draws$candidates <- function() {
  n <- sample(0:6, 1)
  parts <- switch(sample(6, 1),
    list(lapply(seq_len(n), function(i) sample(9, sample(3, 1)))),
    list(sample(9, n, TRUE), sample(9, n, TRUE)),
    list(lapply(seq_len(n), function(i) pick(c("a", "b", NA), 2))),
    list(factor(pick(c("x", "y"), n)), factor(pick(c("y", "z"), n))),
    list(replace(paste0(sample(9, n, TRUE), "|", sample(9, n, TRUE)), 0, NA)),
    list(as.Date("2020-01-01") + seq_len(n))
  )
  if (chance(0.2)) parts$split <- "|"
  check <- function(x) {
    if (length(parts) == 1 && is.list(parts[[1]]) && length(x) != n) "length changed"
  }
  case("candidates", parts, check = check)
}

draws$candidate_interval <- function() {
  n <- sample(0:8, 1)
  lower <- sample(20, n, TRUE) / sample(c(1, 4), 1)
  if (chance(0.3)) lower <- as.Date("2020-01-01") + lower
  upper <- lower + sample(0:5, n, TRUE)
  check <- function(x) if (length(x) != n) "length changed"
  case("candidate_interval", list(lower = lower, upper = upper), check = check)
}

draws$birth_month <- function() {
  n <- sample(1:12, 1)
  born <- sample(12, 4, TRUE)
  data <- data.frame(
    id = sample(4, n, TRUE), year = 2010 + sample(0:3, n, TRUE), month = sample(12, n, TRUE)
  )
  data$age <- data$year - 1980 - (data$month < born[data$id])
  if (chance(0.3)) data$age[sample(n, 1)] <- sample(c(NA, 20L), 1)
  if (chance(0.5)) data$born <- 1980
  args <- drop_null(list(
    data = data, id = "id", year = "year", month = "month", age = "age",
    birth_year = if (!is.null(data$born)) "born"
  ))
  check <- function(x) {
    for (i in seq_len(nrow(x))) {
      own <- data[data$id == x$id[[i]] & !is.na(data$age), ]
      months <- oracle_months(own$year, own$month, own$age, if (is.null(data$born)) NULL else 1980)
      if (x$status[[i]] %in% c("unknown", "conflict")) next
      found <- sort(as.list(x$month)[[i]])
      wrong <- differs("months", as.numeric(found), as.numeric(months))
      if (!is.null(wrong)) return(wrong)
    }
    NULL
  }
  case("birth_month", args, check = check)
}

draws$latest_values <- function() {
  file <- draw_file(n = sample(c(1, 3, 12), 1))
  data <- as.data.frame(file$data)[c(file$keys, ".id")]
  later <- draw_later(list(data = cbind(data), keys = file$keys))
  later <- later[!duplicated(later$.id), ]
  waves <- list(a = data, b = later)
  check <- if (file$plain) {
    function(x) {
      ids <- unique(c(data$.id, later$.id))
      x <- as.data.frame(x)
      if (!identical(as.numeric(x$.id), as.numeric(ids))) return("ids differ from the oracle")
      for (v in file$keys) {
        new <- later[[v]][match(ids, later$.id)]
        old <- data[[v]][match(ids, data$.id)]
        wanted <- ifelse(is.na(new), as.character(old), as.character(new))
        if (!identical(as.character(x[[v]]), wanted)) return(paste("values", "differ"))
      }
      NULL
    }
  }
  case("latest_values", drop_null(list(
    waves = waves, id = ".id", origin = maybe(0.3, FALSE)
  )), check = check)
}

draws$panel_members <- function() {
  n <- sample(1:20, 1)
  background <- data.frame(id = sample(30, n), x = sample(c(NA, 1), n, TRUE))
  modules <- lapply(seq_len(sample(0:3, 1)), function(i) {
    data.frame(id = sample(30, 8), y = sample(c(NA, 1, 2), 8, TRUE))
  })
  check <- if (length(modules)) {
    function(x) {
      has <- background$id[!is.na(background$x)]
      module <- unlist(lapply(modules, function(m) m$id[!is.na(m$y)]))
      differs("members", sort(x$id[x$member]), sort(intersect(has, module)))
    }
  }
  case("panel_members", list(background = background, modules = modules, id = "id"), check = check)
}

draws$match_theta <- function() {
  unique <- sample(0:500, 1)
  pairs <- sample(0:300, 1)
  pi <- stats::runif(1)
  check <- function(x) {
    wanted <- pi * unique / (pi * unique + 2 * (1 - pi) * pairs)
    # Without either, theta is not estimated.
    if (unique > 0 && pairs > 0) differs("theta", x$theta, wanted)
  }
  case("match_theta", list(n_unique = unique, n_pairs = pairs, sampling_fraction = pi),
    check = check
  )
}

draws$uniqueness_to_correctness <- function() {
  xi <- stats::runif(sample(5, 1))
  size <- sample(c(1, 2, 50, 1e4, 1e10), 1)
  case("uniqueness_to_correctness", list(xi = xi, pop_size = size), check = function(x) {
    if (any(x < xi - 1e-9 | x > 1 + 1e-12)) "correctness is below uniqueness or above one"
  })
}

draws$sdc_threads <- function() case("sdc_threads", list(), p_spoilt = 0)
