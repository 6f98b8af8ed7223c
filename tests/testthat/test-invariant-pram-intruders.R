# The promise of invariant_pram() against every intruder that its print does not
# exclude. All releases of small files are enumerated, so nothing is simulated.

skip_on_cran()

subsets_of <- function(x) {
  unlist(lapply(seq_along(x), function(m) utils::combn(x, m, simplify = FALSE)), FALSE)
}

# A small file and what is asked of it. Cells hold one to four records.
small_question <- function(seed) {
  set.seed(seed)
  pick <- function(x) x[[sample(length(x), 1)]]
  kind <- pick(c("records", "records", "households", "members"))
  n <- sample(3:6, 1)
  data <- data.frame(
    a = sample(c("p", "q", "r", NA), n, TRUE, c(4, 3, 2, 1)),
    b = sample(1:2, n, TRUE, c(3, 1)), g = sample(c("u", "v"), n, TRUE, c(3, 1)),
    w = sample(1:9, n, TRUE)
  )
  within <- pick(list(NULL, "g", "b", c("g", "b")))
  ask <- list(
    key_vars = c("a", "b"), max_match_prob = pick(c(0.35, 0.5, 0.6, 0.8, 0.8, 0.95)),
    within = within, scope = pick(c("all", "risky")),
    unprotected = pick(c("error", "merge", "merge"))
  )
  if (kind == "households") {
    size <- sample(1:2, n, TRUE)
    data <- data[rep(seq_len(n), size), ]
    data$hh <- rep(seq_len(n), size)
    ask$hh_id <- "hh"
    ask$hh_vars <- c("a", "b")
  } else if (kind == "members") {
    data$hh <- sort(sample(n, n, TRUE))
    data$a <- data$a[match(data$hh, data$hh)]
    ask$hh_id <- "hh"
    ask$hh_vars <- "a"
  } else {
    if (seed %% 5 == 0 && all(c("p", "q") %in% data$a)) {
      ask$forbid <- list(a = matrix(c("p", "q"), ncol = 2))
    }
    if (seed %% 3 == 0) {
      ask$weight_var <- "w"
      ask$prefer <- "similar_weights"
    } else if (seed %% 3 == 1) {
      ask$prefer <- "nearest"
    }
  }
  if (ask$max_match_prob >= 0.5 && seed %% 7 == 0) ask$calibration <- "paper"
  rownames(data) <- NULL
  list(kind = kind, data = data, ask = ask)
}

asked <- function(question) {
  tryCatch(
    quietly(suppressWarnings(do.call(invariant_pram, c(list(question$data), question$ask)))),
    sdcRisk_error_unprotectable = function(e) NULL
  )
}

check_intruders <- function(x, question, info) {
  data <- question$data
  kind <- question$kind
  unit <- if (kind == "households") data$hh else seq_len(nrow(data))
  own <- data["g"]
  if (kind != "records") own$size <- stats::ave(data$w, data$hh, FUN = length)
  all <- all_releases(x, data, unit, own)
  expect_equal(sum(all$prob), 1, info = info)
  bound <- x$estimates$worst_match_prob + 1e-9
  expect_lte(bound, question$ask$max_match_prob + 1e-8)
  # What a release shows of who does not move: non-keys of `within`, the size.
  may_know <- c(if ("g" %in% question$ask$within) "g", if (kind != "records") "size")
  ways <- list(c("records", "person"))
  if (kind == "households") {
    ways <- c(ways, list(c("records", "household"), c("households", "household")))
  }
  worst <- 0
  for (own_known in c(list(NULL), subsets_of(may_know))) {
    for (way in ways) {
      found <- intruder_worst(all, c("a", "b"), own_known, way[[1]], way[[2]])
      expect_lte(found, bound)
      worst <- max(worst, found)
      # Who knows fewer keys is covered from 1/2 on.
      if (question$ask$max_match_prob >= 0.5) {
        for (known in list("a", "b")) {
          expect_lte(intruder_worst(all, known, own_known, way[[1]], way[[2]]), bound)
        }
      }
    }
  }
  # The printed number is reached, not only kept.
  expect_equal(worst, x$estimates$worst_match_prob, tolerance = 1e-9, info = info)
  check_audit(x, question, all, info)
  check_all_counts(x, question, all, info)
}

# The audit computes the same intruders, who see the household's size.
check_audit <- function(x, question, all, info) {
  kind <- question$kind
  size <- if (kind != "records") "size"
  count <- if (kind == "households") c("households", "household") else c("records", "person")
  for (known in list("a", "b", c("a", "b"))) {
    expect_equal(
      pram_audit(x, question$data, 0, known)$estimates$worst_match_prob,
      intruder_worst(all, known, size, count[[1]], count[[2]]), tolerance = 1e-9, info = info
    )
  }
}

check_all_counts <- function(x, question, all, info) {
  if (question$ask$max_match_prob >= 0.5 && !identical(question$ask$calibration, "paper")) {
    expect_equal(
      x$estimates$all_counts_prob, all_counts_worst(all, nrow(x$cells)), tolerance = 1e-6,
      info = info
    )
  }
  if (question$ask$scope == "risky" && all(x$blocks$n_cells < 3)) {
    expect_lte(x$estimates$all_counts_prob, x$estimates$worst_match_prob + 1e-9)
  }
}

test_that("the printed bound holds in all releases of small files, for every intruder", {
  done <- c(records = 0, households = 0, members = 0)
  merged <- 0
  for (seed in 1:260) {
    question <- small_question(seed)
    x <- asked(question)
    if (is.null(x)) next
    check_intruders(x, question, paste(seed, question$kind))
    done[question$kind] <- done[question$kind] + 1
    merged <- merged + (x$diagnostics$n_merged > 0)
  }
  expect_true(all(done >= 15))
  expect_gte(sum(done), 100)
  expect_gte(merged, 3)
})
