# What became of a call: "right" (an independent count agrees), "accepted" (the laws
# that hold for every answer hold), "refused" (an error of the package's own), or
# a failure: which, and in what words.

# Answers that are data, or hold values by their nature.
holds_data <- c(
  "candidates", "candidate_interval", "birth_month", "latest_values", "panel_members",
  "apply_recoding", "release_data", "change_indicators", "augment", "hierarchy", "simulate",
  "pram_transitions", "pram_variance"
)
# Functions whose print is the table of values that they were asked for.
prints_data <- c(
  holds_data, "autoplot", "coef", "exhaustive_tabulation", "tidy", "glance", "summary"
)

fail <- function(kind, where, text = "") {
  list(outcome = "failed", kind = kind, where = where, text = substr(text, 1, 300))
}

# Runs `code`; gives its value, or the failure. Texts of all conditions are kept.
attempt <- function(code, where, private = TRUE) {
  heard <- list(value = NULL, failure = NULL, refused = FALSE, texts = character())
  note <- function(kind, c) {
    if (is.null(heard$failure)) {
      heard$failure <<- fail(kind, where, paste(class(c)[[1]], conditionMessage(c)))
    }
  }
  # Whatever the words are, their bytes can be looked at.
  hear <- function(c) heard$texts <<- c(heard$texts, conditionMessage(c))
  shown <- utils::capture.output(type = "output", {
    value <- tryCatch(
      withCallingHandlers(
        list(code),
        warning = function(c) {
          hear(c)
          if (!inherits(c, "sdcRisk_warning")) note("foreign warning", c)
          tryInvokeRestart("muffleWarning")
        },
        message = function(c) {
          hear(c)
          if (!inherits(c, "sdcRisk_message")) note("foreign message", c)
          tryInvokeRestart("muffleMessage")
        },
        # Where it came from: the innermost calls, by name.
        error = function(c) {
          if (inherits(c, "sdcRisk_error")) return()
          names <- vapply(sys.calls(), function(call) deparse(call[[1]], nlines = 1)[[1]], "")
          own <- names[names %in% c(ls(asNamespace("sdcRisk"), all.names = TRUE))]
          heard$origin <<- paste(utils::tail(own, 3), collapse = " > ")
        }
      ),
      error = function(c) {
        hear(c)
        heard$refused <<- TRUE
        if (inherits(c, "sdcRisk_error_internal")) {
          note("internal error", c)
        } else if (!inherits(c, "sdcRisk_error")) {
          note("foreign error", c)
          heard$failure$text <<- paste0(heard$failure$text, " [", heard$origin, "]")
        } else if (private) {
          fields <- unlist(unclass(c)[setdiff(names(c), c("trace", "call", "parent"))])
          heard$texts <<- c(heard$texts, as.character(fields))
        }
        NULL
      },
      interrupt = function(c) {
        heard$refused <<- TRUE
        note("interrupt", simpleCondition("interrupted"))
        NULL
      }
    )
  })
  heard["value"] <- list(value[[1]])
  texts <- c(heard$texts, if (private) shown)
  leaked <- grep(canary, iconv(texts, "", "UTF-8", sub = "byte"), perl = TRUE, value = TRUE)
  if (length(leaked) && is.null(heard$failure)) {
    heard$failure <- fail("value told", where, leaked[[1]])
  }
  heard$shown <- shown
  heard
}

# Tables in a result, by name: data frames at most two lists deep.
tables_of <- function(x, path = "", depth = 0) {
  if (is.data.frame(x)) {
    return(stats::setNames(list(as.data.frame(x)), path))
  }
  if (!is.list(x) || depth > 2) {
    return(list())
  }
  skipped <- c("data", "call", "settings", "hierarchies", "model", "levels", "code")
  x <- unclass(x)
  inner <- x[setdiff(names(x), skipped)]
  unlist(
    lapply(names(inner), function(n) tables_of(inner[[n]], paste0(path, "$", n), depth + 1)),
    recursive = FALSE
  )
}

share_names <- paste0(
  "^(prob|xi|kappa|posterior|match_prob|match_prob_before|set_risk|prop_[a-z_0-9]+|",
  "household_risk|prosecutor_risk|journalist_risk|risk_max|risk_mean|risk_q9[59]|auc|",
  "population_uniqueness|population_correctness|uniqueness_(mean|min|max|median|q25|q75)|",
  "n?_?share|largest_share|tau[12]_rate|t_closeness|certainty|hit_rate)$"
)

# The laws: no NaN, shares within 0 and 1, intervals around their estimates, counts not
# below zero.
broken_laws <- function(x) {
  wrong <- character()
  # Documented: infinite where a parameter lies on its boundary.
  may_be_infinite <- "theta$|prob_shape$|[$]gap$|^[$]table[$]estimate$"
  tables <- tables_of(x)
  for (name in names(tables)) {
    table <- tables[[name]]
    # Values of key variables may be anything: they stand before the counts.
    if (grepl("patterns$", name)) table <- table[seq_along(table) >= match("n", names(table), 1)]
    for (column in names(table)) {
      v <- table[[column]]
      at <- paste0(name, "$", column)
      if (is.list(v) || !is.numeric(v)) next
      v <- as.numeric(v)
      if (any(is.nan(v))) wrong <- c(wrong, paste("NaN in", at))
      if (any(is.infinite(v)) && !grepl(may_be_infinite, at)) {
        wrong <- c(wrong, paste("infinite:", at))
      }
      finite <- v[is.finite(v)]
      if (grepl(share_names, column) && any(finite < -1e-12 | finite > 1 + 1e-9)) {
        wrong <- c(wrong, paste("not a share:", at))
      }
      if (grepl("^n(_|$)", column) && any(finite < 0)) wrong <- c(wrong, paste("negative:", at))
      low <- table[[paste0(column, "_low")]]
      high <- table[[paste0(column, "_high")]]
      # Of log-linear models the interval belongs to the corrected estimate.
      own <- table[[paste0(column, "_corrected")]]
      if (is.numeric(low) && is.numeric(high)) {
        centre <- if (is.null(own)) v else own
        slack <- 1e-9 * pmax(1, abs(centre))
        if (any(low > centre + slack | high < centre - slack, na.rm = TRUE)) {
          wrong <- c(wrong, paste("outside its interval:", at))
        }
      }
    }
  }
  wrong
}

strip <- function(x) {
  if (is.list(x) && !is.data.frame(x)) {
    x$call <- NULL
    # A query names a temporary table, which is another one each time.
    if (inherits(x$data, "tbl_lazy")) x$data <- NULL
  }
  x
}

run_call <- function(case) {
  fun <- if (case$fun == "autoplot") ggplot2::autoplot else get(case$fun)

  do.call(fun, case$args, quote = TRUE)
}

# The same with one thread, unless the clock ended a search.
check_threads <- function(case, x, seed) {
  if (is.list(x) && is.data.frame(x$estimates) && isFALSE(x$estimates$proven[[1]])) return(NULL)
  old <- options(sdcRisk.threads = 1)
  on.exit(options(old))
  set.seed(seed)
  again <- tryCatch(quiet(run_call(case)), error = function(e) NULL)
  if (!identical(strip(x), strip(again), ignore.environment = TRUE)) {
    fail("threads", "call", "one thread gives another answer")
  }
}

# The same records in another order.
check_order <- function(case, x) {
  data <- case$args$data
  if (!is.data.frame(data)) return(NULL)
  order <- sample(nrow(data))
  case$args$data <- as.data.frame(data)[order, , drop = FALSE]
  again <- tryCatch(quiet(run_call(case)), error = function(e) NULL)
  same <- function(a, b) isTRUE(all.equal(a, b, tolerance = 1e-9, check.attributes = FALSE))
  if (!same(x$estimates, again$estimates)) {
    return(fail("order", "estimates", "depend on the order of records"))
  }
  if (!is.null(x$records) && nrow(x$records) == nrow(data)) {
    moved <- x$records[order, setdiff(names(x$records), c("cell", "id")), drop = FALSE]
    if (!same(moved, again$records[names(moved)])) {
      return(fail("order", "records", "depend on the order of records"))
    }
  }
  NULL
}

# What every answer can be asked for.
verbs <- function(case, x) {
  private <- !case$fun %in% prints_data
  data <- case$data
  calls <- list(
    print = function() print(x), interpret = function() print(interpret(x)),
    format = function() format(x)
  )
  if (inherits(x, c("sdc_result", "sdc_comparison"))) {
    calls <- c(calls, list(
      tidy = function() tidy(x), glance = function() glance(x),
      frame = function() as.data.frame(x)
    ))
    if (chance(0.5)) calls$summary <- function() print(summary(x))
    if (chance(0.12)) calls$plot <- function() plot(x)
    if (chance(0.3)) calls$risks <- function() records_at_risk(x, 0.2)
    if (chance(0.3) && is.data.frame(data)) calls$augment <- function() augment(x, data)
    if (chance(0.3)) calls$compare <- function() print(compare_risk(x, x))
    if (chance(0.05)) {
      calls$report <- function() {
        file <- tempfile(fileext = ".html")
        internal <- chance(0.3)
        sdc_report(x, file = file, pictures = FALSE, internal = internal)
        if (!internal) {
          log <- sub("html$", "json", file)
          cat(c(readLines(file, warn = FALSE), readLines(log, warn = FALSE)), sep = "\n")
        }
      }
    }
  } else if (is.object(x) && inherits(x, "sdcMicroObj")) {
    # Its print is that of sdcMicro.
    calls <- list()
  } else if (!inherits(x, c("sdc_file", "sdc_candidates", "sdc_hierarchy", "sdc_panel_table"))) {
    calls <- calls["print"]
  } else {
    calls$interpret <- NULL
  }
  width <- sample(c(20, 80, 400), 1, prob = c(1, 3, 1))
  old <- options(
    width = width, OutDec = pick(c(".", ".", ",")), digits = sample(c(3, 7, 22), 1),
    # With a negative number pictures fail within grid.
    scipen = if (is.null(calls$plot) && !inherits(x, "ggplot")) sample(c(-9, 0, 99), 1) else 99
  )
  on.exit(options(old))
  for (verb in names(calls)) {
    # Tables are values to be used; only what is printed is looked at.
    heard <- attempt(calls[[verb]](), verb, private)
    if (!is.null(heard$failure)) {
      return(list(failure = heard$failure, n = length(calls)))
    }
  }
  list(failure = NULL, n = length(calls))
}

# Draws the case of a function and a seed, makes the call, looks at the answer. `brief`:
# nothing is asked of the answer but what the case itself checks.
judge <- function(name, seed, brief = FALSE) {
  set.seed(seed)
  options(sdcRisk.threads = 2)
  drawn <- tryCatch(draws[[name]](), error = identity)
  if (inherits(drawn, "error")) {
    # A result that a case needs could not be made: drawn by the package itself.
    kind <- if (inherits(drawn, "sdcRisk_error")) "undrawn" else "generator"
    if (kind == "undrawn") {
      return(list(outcome = "refused", n_verbs = 0, text = conditionMessage(drawn)))
    }
    return(fail(kind, "draw", conditionMessage(drawn)))
  }
  after_draw <- sample.int(1e6, 1)
  set.seed(after_draw)
  heard <- attempt(run_call(drawn), "call", !name %in% c("candidates", "hierarchy"))
  if (!is.null(heard$failure)) {
    return(heard$failure)
  }
  if (heard$refused) {
    return(list(outcome = "refused", n_verbs = 0, text = utils::tail(heard$texts, 1)))
  }
  x <- heard$value
  if (!drawn$fun %in% holds_data) {
    laws <- broken_laws(x)
    if (length(laws)) return(fail("law", "answer", paste(laws, collapse = "; ")))
  }
  if (!is.null(drawn$n) && is.list(x) && is.data.frame(x$records) && nrow(x$records) != drawn$n) {
    return(fail("records", "answer", paste(nrow(x$records), "for", drawn$n)))
  }
  right <- FALSE
  if (!is.null(drawn$check)) {
    wrong <- tryCatch(
      quiet(drawn$check(x)), error = function(e) paste("oracle:", conditionMessage(e))
    )
    if (length(wrong)) return(fail("wrong", "answer", paste(wrong, collapse = "; ")))
    right <- TRUE
  }
  if (brief) {
    return(list(outcome = if (right) "right" else "accepted", n_verbs = 0))
  }
  if (chance(0.25) && !drawn$fun %in% c("sdc_report", "autoplot", "sdc_file", "sdc_threads")) {
    wrong <- check_threads(drawn, x, after_draw)
    if (!is.null(wrong)) return(wrong)
  }
  if (drawn$steady && chance(0.4)) {
    wrong <- check_order(drawn, x)
    if (!is.null(wrong)) return(wrong)
  }
  asked <- verbs(drawn, x)
  if (!is.null(asked$failure)) {
    return(asked$failure)
  }
  list(outcome = if (right) "right" else "accepted", n_verbs = asked$n)
}
