# Cells blanked and seconds, beside sdcMicro's localSuppression. Targets: "own"
# about the cells of sdcMicro (median at most 1.02 times, never above 1.08),
# "shared" at most half (median), "strict" at most 1.3 times, all at least 20
# times as fast with the bound; 10^5 x 8 in 2 s where less than a fifth of the
# records violates, 10^6 x 8 in 30 s. The check value is the number of cells, with
# the lower bound after a colon; suppress-cells.csv compares it with sdcMicro's.
# Where the peer stands in a library of its own, R_LIBS names both.

suppress_keys <- list(
  testdata = c("urbrur", "roof", "walls", "water", "electcon", "relat", "sex"),
  adult5 = c("age5", "education_num", "marital_status", "race", "sex"),
  adult7 = c("age5", "education_num", "marital_status", "race", "sex", "workclass", "occupation")
)

# People of the R package laeken, where it is installed.
eusilc_file <- function() {
  if (!requireNamespace("laeken", quietly = TRUE)) {
    return(NULL)
  }
  held <- new.env()
  utils::data("eusilc", package = "laeken", envir = held)
  people <- held$eusilc[c("db040", "hsize", "rb090", "pb220a", "pl030")]
  people[stats::complete.cases(people), ]
}

fixtures$suppress <- function(name) {
  data <- switch(name,
    testdata = real_file("testdata"), eusilc = eusilc_file(), real_file("adult")
  )
  if (is.null(data)) {
    return(NULL)
  }
  if (startsWith(name, "adult")) data$age5 <- data$age %/% 5
  if (name %in% names(suppress_keys)) data <- data[suppress_keys[[name]]]
  data[] <- lapply(data, function(x) as.integer(factor(x)))
  data
}

# Eight keys with 2 to 12 values that depend on 40 latent classes; the larger
# `peaked`, the fewer records stand out.
fixtures$classes <- function(n, peaked) {
  set.seed(20261122)
  n <- as.numeric(n)
  class <- floor(40 * stats::runif(n)^2) + 1
  data <- lapply(c(2, 3, 4, 5, 6, 8, 10, 12), function(levels) {
    chances <- matrix(stats::rexp(40 * levels)^as.numeric(peaked), 40)
    upper <- t(apply(chances, 1, cumsum)) / rowSums(chances)
    1L + as.integer(rowSums(stats::runif(n) > upper[class, -levels, drop = FALSE]))
  })
  names(data) <- sprintf("v%d", seq_along(data))
  as.data.frame(data)
}

suppress_rules <- c("own", "shared", "strict")

for (k in c(2, 3, 5)) {
  for (rule in suppress_rules) {
    local({
      rule <- rule
      k <- k
      runs[[paste0("suppress_", rule, "_", k, "@sdcRisk")]] <<- function() {
        found <- suppress_cells(data, k = k, rule = rule)$estimates
        paste0(found$n_suppressed, ":", found$lower_bound)
      }
    })
  }
  local({
    k <- k
    runs[[paste0("suppress_", k, "@sdcMicro")]] <<- function() {
      if (!requireNamespace("sdcMicro", quietly = TRUE)) {
        return(NA)
      }
      given <- as.data.frame(data)
      found <- sdcMicro::localSuppression(given, keyVars = seq_along(given), k = k)
      sum(is.na(found$xAnon)) - sum(is.na(given))
    }
  })
}

suppress_tasks <- function(fixture, k, repeats, peer = TRUE) {
  ours <- lapply(suppress_rules, function(rule) {
    c(paste0("suppress_", rule, "_", k, "@sdcRisk"), fixture, 2, repeats)
  })
  rbind(
    do.call(rbind, ours),
    if (peer) c(paste0("suppress_", k, "@sdcMicro"), fixture, 2, 1)
  )
}

tasks$suppress <- rbind(
  suppress_tasks("suppress:testdata", 2, 5), suppress_tasks("suppress:testdata", 3, 5),
  suppress_tasks("suppress:testdata", 5, 5), suppress_tasks("suppress:eusilc", 2, 5),
  suppress_tasks("suppress:eusilc", 3, 5), suppress_tasks("suppress:eusilc", 5, 5),
  suppress_tasks("suppress:adult5", 2, 3), suppress_tasks("suppress:adult5", 3, 3),
  suppress_tasks("suppress:adult5", 5, 3), suppress_tasks("suppress:adult7", 3, 1, peer = FALSE),
  suppress_tasks("classes:1e5:4", 3, 3, peer = FALSE),
  suppress_tasks("classes:1e6:3", 3, 1, peer = FALSE)
)

# One row per file and k: cells, and both as shares of the peer's.
suppress_table <- function(rows) {
  check <- strsplit(as.character(rows$check), ":", fixed = TRUE)
  part <- function(i) suppressWarnings(as.numeric(vapply(check, `[`, "", i)))
  words <- regmatches(rows$task, regexec("^suppress_([a-z]*)_?([0-9]+)@(.*)$", rows$task))
  word <- function(i) vapply(words, `[`, "", i)
  rows <- data.frame(
    fixture = rows$fixture, k = as.numeric(word(3)),
    rule = ifelse(word(4) == "sdcMicro", "sdcMicro", word(2)),
    cells = part(1), bound = part(2), seconds = rows$median_s
  )
  out <- unique(rows[c("fixture", "k")])
  at <- function(rule, column) {
    key <- paste(rows$fixture, rows$k)[rows$rule == rule]
    rows[rows$rule == rule, column][match(paste(out$fixture, out$k), key)]
  }
  peer <- at("sdcMicro", "cells")
  peer_seconds <- at("sdcMicro", "seconds")
  out$sdcMicro <- peer
  for (rule in suppress_rules) {
    out[[rule]] <- at(rule, "cells")
    out[[paste0(rule, "_of_sdcMicro")]] <- round(at(rule, "cells") / peer, 3)
    out[[paste0(rule, "_above_bound")]] <- round(at(rule, "cells") / at(rule, "bound") - 1, 4)
    out[[paste0(rule, "_times_as_fast")]] <- round(peer_seconds / at(rule, "seconds"), 1)
  }
  rownames(out) <- NULL
  out
}

summaries$suppress <- function(rows) {
  out <- suppress_table(rows)
  write_results(out, result_file("suppress-cells"))
  ratios <- function(rule, what, worst, name) {
    all <- stats::na.omit(out[[paste0(rule, what)]])
    if (length(all)) {
      message(
        rule, ": ", name, " median ", signif(stats::median(all), 3), ", worst ",
        signif(worst(all), 3), " of ", length(all), " problems"
      )
    }
  }
  for (rule in suppress_rules) {
    ratios(rule, "_of_sdcMicro", max, "cells over sdcMicro's,")
    ratios(rule, "_times_as_fast", min, "times as fast as sdcMicro,")
    ratios(rule, "_above_bound", max, "share above the lower bound,")
  }
}
