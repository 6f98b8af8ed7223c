# Generators of texts that others may have written: logs of reports, and formulas.

# Logs of a small file, made once, without a draw of the case's own.
logs <- new.env()
small_logs <- function() {
  if (length(logs$texts)) return(logs)
  state <- get(".Random.seed", globalenv())
  on.exit(assign(".Random.seed", state, globalenv()))
  set.seed(1)
  n <- 30
  logs$data <- data.frame(
    a = sample(c("x", "y", "z"), n, TRUE), b = sample(4, n, TRUE), c = sample(2, n, TRUE),
    w = stats::runif(n, 1, 9), hh = sample(12, n, TRUE), id = seq_len(n)
  )
  keys <- c("a", "b", "c")
  logs$texts <- quiet({
    risk <- qar_risk(logs$data, keys, p = 2, pi_u = 0.4)
    later <- logs$data[-1, ]
    results <- list(
      risk, n_matches(logs$data, list(one = "a", all = keys), weight_var = "w"),
      loglinear_risk(logs$data, keys, weight_var = "w", model = ~ a * b),
      removal_path(risk, logs$data, 3), suppress_cells(logs$data, keys, k = 2),
      longitudinal_link(logs$data, later, keys, "id"), population_uniqueness(logs$data, keys, 900),
      individual_risk(sdc_file(logs$data, keys, weight_var = "w", hh_id = "hh")),
      key_overview(logs$data, keys), uniqueness_by_size(
        copula_fit(logs$data, keys, min_records = 2), 900, n_sim = 1
      ),
      utility_loss(logs$data, replace(logs$data, "a", "x"), keys),
      recode_search(logs$data, keys, constraint = list(k = 2))
    )
    logs$several <- list(wave1 = logs$data, wave2 = later, before = logs$data,
      after = replace(logs$data, "a", "x"))
    vapply(results, function(x) {
      file <- tempfile(fileext = ".html")
      sdc_report(x, file = file, internal = TRUE, pictures = FALSE)
      paste(readLines(sub("html$", "json", file)), collapse = "\n")
    }, "")
  })
  logs
}

# Every place in a list of lists, as paths.
places_in <- function(x, path = integer()) {
  if (!is.list(x)) return(list(path))
  c(list(path), unlist(lapply(seq_along(x), function(i) places_in(x[[i]], c(path, i))), FALSE))
}

odd_json <- function() {
  switch(sample(20, 1),
    NULL, TRUE, NA, 0, -1, 1e308, 2.5, "", "NaN", "Inf", "x", "list", list(), list(NULL), list(1, "a"),
    list(type = "double", values = list(1)), list(type = "list", values = list(list(type = "list"))),
    list(type = "formula", text = pick(c("~a", "~system('true')", "a~b", "~~", "quit()", "~(", "~a %in% b"))),
    pick(c("system", "file.remove", "sdc_report", "replay", "n_matches", "stop", "sdcRisk::qar_risk")),
    strrep("[", 50)
  )
}

# A node lost, doubled, renamed, or another in its place.
spoil_tree <- function(tree) {
  paths <- places_in(tree)
  # A figure is a leaf among thousands: all depths alike.
  depth <- lengths(paths)
  path <- pick(paths[depth == pick(unique(depth[depth > 0]))])[[1]]
  parent <- utils::head(path, -1)
  at <- utils::tail(path, 1)
  own <- if (length(parent)) tree[[parent]] else tree
  own <- switch(sample(5, 1),
    own[-at], c(own, own[at]), {
      if (!is.null(names(own))) names(own)[[at]] <- pick(c("", "type", "values", "x", names(own)))
      own
    }, replace(own, at, list(odd_json())), replace(own, at, own[sample(length(own), 1)])
  )
  if (length(parent)) tree[[parent]] <- own else tree <- own
  tree
}

spoil_bytes <- function(text) {
  bytes <- charToRaw(text)
  for (i in seq_len(sample(3, 1))) {
    at <- sample(length(bytes), 1)
    bytes <- switch(sample(4, 1),
      bytes[-at], replace(bytes, at, as.raw(sample(255, 1))), append(bytes, bytes[at], at),
      append(bytes, charToRaw(pick(c("{", "}", "[", "]", "\"", ",", "-", "1e999", "null"))), at)
    )
  }
  bytes
}

draws$random_log <- function() {
  source <- small_logs()
  text <- pick(source$texts)
  kind <- sample(8, 1)
  bytes <- if (kind == 1) {
    charToRaw(text)
  } else if (kind <= 3) {
    spoil_bytes(text)
  } else {
    tree <- jsonlite::fromJSON(text, simplifyVector = FALSE)
    for (i in seq_len(sample(c(1, 1, 2), 1))) tree <- spoil_tree(tree)
    charToRaw(as.character(jsonlite::toJSON(tree, auto_unbox = TRUE, null = "null", digits = NA)))
  }
  file <- tempfile(fileext = ".json")
  writeBin(bytes, file)
  data <- if (chance(0.7) && !grepl("wave_fingerprints|\"after\"", text)) source$data else source$several
  check <- if (kind == 1) function(x) if (any(x$equal %in% FALSE)) "figures are not those of the log"
  case("replay", list(log = file, data = data), check = check, p_spoilt = 0)
}

# A formula in words: of key variables, of others, and of what no model has.
random_formula <- function(keys, odd, depth = sample(0:4, 1)) {
  if (depth == 0) {
    return(if (odd && chance(0.2)) {
      pick(c("0", "1", "-1", ".", "x", "\"a\"", "I(a)", "log(a)", "offset(a)", "`a b`", "1e9", "NULL",
        "a[1]", "stop()", "(function() 1)()", "..1", "TRUE", "a$b"))
    } else {
      pick(keys)
    })
  }
  part <- function() random_formula(keys, odd, depth - 1)
  switch(sample(if (odd) 8 else 5, 1),
    paste(part(), "+", part()), paste0(part(), ":", part()), paste(part(), "*", part()),
    paste0("(", part(), ")"), paste0("(", part(), " + ", part(), ")^", sample(3, 1)),
    paste(part(), "-", part()), paste(part(), pick(c("%in%", "/", "|", "&", "==", "%o%")), part()),
    paste0(part(), "^", pick(c("0", "-1", "1.5", "a", "99")))
  )
}

draws$random_formula <- function() {
  n <- sample(c(4, 12, 40), 1)
  keys <- c("a", "b", "c", "d")[seq_len(sample(4, 1))]
  data <- as.data.frame(lapply(stats::setNames(keys, keys), function(v) {
    sample(3, n, TRUE, prob = c(3, 2, 1))
  }))
  data$w <- round(stats::runif(n, 2, 9), 2)
  odd <- chance(0.5)
  text <- paste(if (odd && chance(0.1)) "a", "~", random_formula(keys, odd))
  formula <- tryCatch(stats::as.formula(text, env = globalenv()), error = function(e) text)
  # Terms of a sum, every interaction with all that it implies, by R's own reading.
  check <- if (!odd) {
    function(x) {
      factors <- attr(stats::terms(formula), "factors")
      margins <- c(
        as.list(seq_along(keys)),
        lapply(seq_len(ncol(factors)), function(j) match(rownames(factors)[factors[, j] > 0], keys))
      )
      fraction <- n / sum(data$w)
      slow <- oracle_loglinear(oracle_table(data, keys, data$w, margins, fraction), fraction)
      found <- unlist(utils::tail(x$estimates, 1)[c("tau1", "tau2")])
      differs("tau", found, c(slow$tau1, slow$tau2), 1e-4)
    }
  }
  case("loglinear_risk", list(
    data = data, key_vars = keys, weight_var = "w",
    model = maybe(0.2, list("independence", formula), formula), interval = "none"
  ), check = if (!odd) check, p_spoilt = 0)
}
