# Text in any encoding: every function gives the figures that it gives where the same values
# are written in ASCII.

skip_on_cran()

# Three names in order, and how they are written; "z" and a letter with an accent.
spellings <- list(
  ascii = c("za", "ze", "zi"),
  utf8 = c("z\u00e1", "z\u00e9", "z\u00ed"),
  latin1 = iconv(c("z\u00e1", "z\u00e9", "z\u00ed"), "UTF-8", "latin1"),
  # As read.csv() reads a file in UTF-8: the same bytes, of unknown encoding.
  bytes = `Encoding<-`(c("z\u00e1", "z\u00e9", "z\u00ed"), "unknown"),
  apart = c("za\u0301", "ze\u0301", "zi\u0301")
)

spelled_file <- function(names, n = 240) {
  set.seed(11)
  city <- c("a", names)[sample(4, n, TRUE, c(4, 3, 2, 1))]
  data.frame(
    city = city, age = sample(20:60, n, TRUE), sex = sample(c("f", "m"), n, TRUE),
    job = factor(sample(names, n, TRUE), names),
    home = paste0(names, rep(seq_len(n / 3), each = 3))[sample(n)],
    person = paste0(names[[3]], seq_len(n)), weight = runif(n, 1, 9)
  )
}

# The numbers of a result, whatever text is beside them.
figures <- function(x) {
  numbers <- function(part) {
    if (is.data.frame(part)) unname(as.list(part[vapply(part, is.numeric, NA)]))
  }
  lapply(c("estimates", "records", "variables", "best", "cells"), function(name) {
    numbers(if (is.list(x)) x[[name]])
  })
}

text_keys <- c("city", "age", "sex", "job")

pram_of <- function(d) {
  set.seed(2)
  invariant_pram(d, text_keys, within = "sex", max_match_prob = 0.7)
}
qar_of <- function(d) qar_risk(d, text_keys, p = 2, pi_u = 0.4)
copula_of <- function(d) {
  set.seed(3)
  copula_fit(d, text_keys)
}
# Numbers of the groups that values have, whatever these are called.
groups_of <- function(columns) {
  list(estimates = as.data.frame(lapply(unname(as.list(columns)), function(x) match(x, unique(x)))))
}

# What every exported function makes of a file, the second part of it being another file.
text_calls <- list(
  n_matches = function(d) n_matches(d, text_keys, sensitive = "job"),
  n_matches_patterns = function(d) n_matches(d, text_keys, patterns = d[1:40, text_keys]),
  records_at_risk = function(d) {
    list(estimates = as.data.frame(records_at_risk(n_matches(d, text_keys), limit = 0.4)))
  },
  individual_risk = function(d) individual_risk(d, text_keys, "weight"),
  household_risk = function(d) household_risk(d, text_keys, hh_id = "home", weight_var = "weight"),
  qar_risk = qar_of,
  risk_contribution = function(d) risk_contribution(qar_of(d), d),
  removal_path = function(d) removal_path(qar_of(d), d, 5),
  removal_bound = function(d) removal_bound(qar_of(d), d, 3),
  loglinear_risk = function(d) loglinear_risk(d, text_keys, weight_var = "weight"),
  population_uniqueness = function(d) population_uniqueness(d, text_keys, 5000),
  key_overview = function(d) key_overview(d, text_keys),
  exhaustive_tabulation = function(d) exhaustive_tabulation(d, text_keys, dims = 1:2),
  uniqueness_by_size = function(d) uniqueness_by_size(copula_of(d), 3000),
  file_check = function(d) {
    file_check(d, text_keys, weight_var = "weight", hh_id = "home", sensitive = "job")
  },
  suppress_cells = function(d) suppress_cells(d, text_keys, k = 2),
  suppress_cells_strict = function(d) {
    suppress_cells(d, text_keys, k = 2, rule = "strict", hh_id = "home")
  },
  release_data = function(d) {
    released <- release_data(suppress_cells(d, text_keys, k = 2))
    list(estimates = n_matches(released, text_keys)$estimates)
  },
  utility_loss = function(d) utility_loss(d, suppress_cells(d, text_keys, k = 2)$data, text_keys),
  recode_search = function(d) recode_search(d, text_keys, suppress = 0.2),
  recode_search_cells = function(d) {
    recode_search(d, text_keys, suppress = 0.2, blanks = "cells", n_best = 2)
  },
  apply_recoding = function(d) {
    groups_of(apply_recoding(recode_search(d, text_keys, suppress = 0.2), d)[text_keys])
  },
  recoding_code = function(d) {
    found <- recode_search(d, text_keys, suppress = 0.2)
    env <- list2env(list(data = d))
    eval(parse(text = found$code[[1]]), env)
    groups_of(env$data[text_keys])
  },
  hierarchy = function(d) groups_of(as.data.frame(hierarchy(d$city))),
  hierarchy_rare = function(d) groups_of(as.data.frame(hierarchy(d$job, rare = 85))),
  hierarchy_digits = function(d) groups_of(as.data.frame(hierarchy(d$home, digits = 1, pad = ""))),
  invariant_pram = pram_of,
  pram_audit = function(d) {
    x <- pram_of(d)
    set.seed(5)
    pram_audit(x, d, n_sim = 20)
  },
  pram_variance = function(d) list(estimates = pram_variance(pram_of(d), d)),
  pram_variance_joint = function(d) {
    list(estimates = pram_variance(pram_of(d), d, c("city", "job")))
  },
  pram_transitions = function(d) list(estimates = pram_transitions(pram_of(d), 1, d)),
  link_attack = function(d) link_attack(d, d[c(1:100, 200:240), ], text_keys, id = "person"),
  longitudinal_link = function(d) longitudinal_link(d, d[240:50, ], text_keys, "person"),
  longitudinal_risk = function(d) {
    longitudinal_risk(
      d, d[240:50, ], text_keys, "age", c("city", "job"), id = "person", weight_var = "weight"
    )
  },
  key_stability = function(d) key_stability(d, d[240:50, ], text_keys, "person"),
  change_indicators = function(d) {
    list(estimates = change_indicators(d, transform(d, city = rev(city)), "city", "person"))
  },
  pattern_table = function(d) n_matches(update(pattern_table(d, text_keys), d[1:50, text_keys])),
  latest_values = function(d) groups_of(latest_values(list(d, d[1:50, ]), "person")),
  panel_members = function(d) {
    list(estimates = panel_members(d["person"], list(d[1:80, ], d[40:90, ]), "person"))
  },
  copula_uniqueness = function(d) copula_uniqueness(d, text_keys, 3000),
  predict = function(d) list(estimates = predict(copula_of(d), d[1:40, ], 3000)),
  uniqueness_profile = function(d) {
    x <- copula_of(d)
    uniqueness_profile(x, d[7, ], 3000, vary = "city")
  },
  candidates = function(d) {
    d$city <- candidates(ifelse(d$age > 50, paste0(d$city, "|a"), d$city), split = "|")
    n_matches(d, text_keys)
  },
  summary_by = function(d) {
    list(estimates = summary(n_matches(d, text_keys), by = d$city)$record_risk)
  }
)

figures_of <- function(names) {
  d <- spelled_file(names)
  lapply(text_calls, function(call) {
    tryCatch(figures(quietly(call(d))), error = function(e) conditionMessage(e))
  })
}

test_that("text of any encoding gives the figures of the same file in ASCII", {
  skip_if_not(l10n_info()[["UTF-8"]])
  ascii <- figures_of(spellings$ascii)
  # No call failed, and each gives numbers.
  expect_identical(names(Filter(is.character, ascii)), character())
  expect_true(all(vapply(ascii, function(f) is.numeric(unlist(f)), NA)))
  for (spelling in names(spellings)[-1]) {
    found <- figures_of(spellings[[spelling]])
    for (name in names(ascii)) {
      expect_equal(found[[name]], ascii[[name]], info = paste(name, spelling))
    }
  }
})

test_that("bytes that the locale knows no letters for are values, too", {
  ascii <- figures_of(spellings$ascii)
  old <- Sys.getlocale("LC_CTYPE")
  on.exit(Sys.setlocale("LC_CTYPE", old))
  Sys.setlocale("LC_CTYPE", "C")
  for (spelling in c("utf8", "bytes")) {
    found <- figures_of(spellings[[spelling]])
    for (name in names(ascii)) {
      expect_equal(found[[name]], ascii[[name]], info = paste(name, spelling))
    }
  }
})

# Two files, or a file and what is said about it.
text_pairs <- list(
  n_matches = function(d, e) n_matches(d, text_keys, patterns = e[1:40, text_keys]),
  link_attack = function(d, e) link_attack(d, e[c(1:100, 200:240), ], text_keys, id = "person"),
  longitudinal_link = function(d, e) longitudinal_link(d, e[240:50, ], text_keys, "person"),
  key_stability = function(d, e) key_stability(d, e[240:50, ], text_keys, "person"),
  change_indicators = function(d, e) {
    list(estimates = change_indicators(d, e, c("city", "job"), "person"))
  },
  update = function(d, e) n_matches(update(pattern_table(d, text_keys), e[1:50, text_keys])),
  update_remove = function(d, e) {
    n_matches(update(pattern_table(d, text_keys), e[1:50, text_keys], remove = TRUE))
  },
  latest_values = function(d, e) groups_of(latest_values(list(d, e[1:50, ]), "person")),
  panel_members = function(d, e) {
    list(estimates = panel_members(d["person"], list(e[1:80, ], d[40:90, ]), "person"))
  },
  predict = function(d, e) list(estimates = predict(copula_of(d), e[1:40, ], 3000)),
  uniqueness_profile = function(d, e) {
    x <- copula_of(d)
    uniqueness_profile(x, e[7, ], 3000, vary = "city")
  },
  validate_uniqueness = function(d, e) validate_uniqueness(copula_of(d), e),
  utility_loss = function(d, e) {
    utility_loss(d, suppress_cells(e, text_keys, k = 2)$data, text_keys)
  },
  same_data = function(d, e) {
    list(estimates = summary(n_matches(d, text_keys), by = "city", data = e)$record_risk)
  },
  hierarchies = function(d, e) {
    city <- hierarchy(e$city)
    recode_search(d, text_keys, list(city = city), suppress = 0.2)
  },
  table_of_levels = function(d, e) {
    city <- hierarchy(data.frame(sort(unique(e$city)), c("1", "1", "2", "2")))
    found <- recode_search(d, "city", list(city = city), keep = list(city = 1), n_best = 1)
    c(found["best"], groups_of(apply_recoding(found, d)["city"]))
  },
  forbid = function(d, e) {
    set.seed(2)
    pairs <- list(city = matrix(unique(e$city)[1:2], ncol = 2))
    invariant_pram(d, text_keys, forbid = pairs, max_match_prob = 0.7)
  },
  mixed_file = function(d, e) n_matches(rbind(d, e), text_keys),
  mixed_search = function(d, e) {
    found <- recode_search(rbind(d, e), text_keys, suppress = 0.2)
    c(found["best"], groups_of(apply_recoding(found, rbind(d, e))[text_keys]))
  }
)

pair_figures <- function(one, other) {
  d <- spelled_file(one)
  e <- spelled_file(other)
  lapply(text_pairs, function(call) {
    tryCatch(figures(quietly(call(d, e))), error = function(e) conditionMessage(e))
  })
}

test_that("the same text in two encodings is the same value on both sides", {
  skip_if_not(l10n_info()[["UTF-8"]])
  ascii <- pair_figures(spellings$ascii, spellings$ascii)
  expect_identical(names(Filter(is.character, ascii)), character())
  pairs <- list(c("utf8", "bytes"), c("bytes", "utf8"), c("utf8", "latin1"), c("bytes", "latin1"))
  for (pair in pairs) {
    found <- pair_figures(spellings[[pair[[1]]]], spellings[[pair[[2]]]])
    for (name in names(ascii)) {
      expect_equal(found[[name]], ascii[[name]], info = paste(c(name, pair), collapse = " "))
    }
  }
})

# The figures of the same file in ASCII, or an error that names the encoding or the values.
expect_known_or_refused <- function(calls, ascii, ..., info) {
  outcomes <- vapply(names(calls), function(name) {
    found <- tryCatch(figures(quietly(calls[[name]](...))), error = identity)
    if (inherits(found, "error")) {
      expect_s3_class(found, "sdcRisk_error")
      return("refused")
    }
    expect_equal(found, ascii[[name]], info = paste(name, info))
    "equal"
  }, "")
  expect_true("refused" %in% outcomes, info = info)
  invisible(outcomes)
}

test_that("text that is marked as bytes is refused by name or changes nothing", {
  skip_if_not(l10n_info()[["UTF-8"]])
  marked <- `Encoding<-`(`Encoding<-`(spellings$utf8, "unknown"), "bytes")
  ascii <- figures_of(spellings$ascii)
  expect_known_or_refused(text_calls, ascii, spelled_file(marked), info = "file")
  pairs <- text_pairs[setdiff(names(text_pairs), "table_of_levels")]
  known <- pair_figures(spellings$ascii, spellings$ascii)
  for (other in spellings[c("utf8", "latin1", "bytes")]) {
    one <- spelled_file(marked)
    two <- spelled_file(other)
    expect_known_or_refused(pairs, known, one, two, info = "first")
    expect_known_or_refused(pairs, known, two, one, info = "second")
  }
  expect_error(
    n_matches(one, text_keys),
    "\"city\" has text that is marked as bytes.\n.*Encoding\\(data\\$city\\) <- \"UTF-8\"",
    class = "sdcRisk_error_bad_column"
  )
  expect_error(hierarchy(marked), "marked as bytes", class = "sdcRisk_error_bad_column")
  expect_error(
    hierarchy(data.frame(marked, "1")), "marked as bytes", class = "sdcRisk_error_bad_column"
  )
  expect_error(
    candidates(marked, spellings$utf8), "encoding that is known",
    class = "sdcRisk_error_bad_argument"
  )
})

test_that("in the C locale text of unknown encoding is not compared with known text", {
  known <- pair_figures(spellings$ascii, spellings$ascii)
  old <- Sys.getlocale("LC_CTYPE")
  on.exit(Sys.setlocale("LC_CTYPE", old))
  Sys.setlocale("LC_CTYPE", "C")
  one <- spelled_file(spellings$utf8)
  two <- spelled_file(spellings$bytes)
  outcomes <- expect_known_or_refused(text_pairs, known, one, two, info = "C")
  expect_identical(outcomes[["link_attack"]], "refused")
  expect_error(
    n_matches(rbind(one, two), text_keys), "and other text, and the locale is C",
    class = "sdcRisk_error_bad_column"
  )
})

test_that("texts that differ only in spelling are counted, not merged", {
  one <- data.frame(city = c("M\u00fcnchen", "Bonn", "Ulm", "Ulm"), n = 1:4)
  two <- data.frame(city = c("Mu\u0308nchen", "BONN", "Ulm ", "Ulm"), n = 1:4)
  calls <- list(
    function() n_matches(one, "city", patterns = two), function() link_attack(one, two, "city"),
    function() longitudinal_link(one, two, "city", "n"),
    function() key_stability(one, two, id = "n"),
    function() update(pattern_table(one, "city"), two)
  )
  for (call in calls) {
    said <- list()
    withCallingHandlers(
      suppressWarnings(call()),
      message = function(m) {
        if (inherits(m, "sdcRisk_message_similar_text")) said <<- c(said, list(m))
        invokeRestart("muffleMessage")
      }
    )
    expect_length(said, 1)
    expect_identical(said[[1]]$columns, "city")
    # M\u00fcnchen and Bonn in both, and "Ulm ", whose equal is in both.
    expect_identical(said[[1]]$n_values, 5L)
    expect_match(conditionMessage(said[[1]]), "5 values of \"city\"", fixed = TRUE)
    expect_no_match(conditionMessage(said[[1]]), "Ulm|BONN|nchen")
  }
  expect_equal(quietly(n_matches(one, "city", patterns = two))$records$n_matches, c(0, 0, 0, 2))
  expect_no_message(n_matches(one, "city", patterns = one), class = "sdcRisk_message_similar_text")
  set.seed(1)
  file <- data.frame(
    city = rep(one$city, 50), a = sample(5, 200, TRUE), b = sample(letters[1:4], 200, TRUE)
  )
  fit <- quietly(copula_fit(file))
  new <- data.frame(city = "bonn ", a = 1, b = "a")
  expect_message(
    suppressMessages(predict(fit, new, pop_size = 2000), "sdcRisk_message_unseen_categories"),
    class = "sdcRisk_message_similar_text"
  )
  expect_message(
    latest_values(
      list(data.frame(id = c("a1", "b1"), x = 1:2), data.frame(id = c("A1", "b1"), x = 3:4)), "id"
    ),
    "2 values of \"id\"", fixed = TRUE, class = "sdcRisk_message_similar_text"
  )
})

test_that("spellings within a file are counted on its page", {
  set.seed(1)
  data <- data.frame(
    city = sample(c("KOELN", "Koeln", "Koeln ", "Bonn", "Z\u00fcrich", "Zu\u0308rich"), 300, TRUE),
    job = factor(sample(c("a b", "a\u00a0b", "c"), 300, TRUE)), age = sample(30, 300, TRUE)
  )
  file <- sdc_file(data, names(data))
  seen <- sdcRisk:::look_at_columns(sdcRisk:::as_file(file, "data"))
  expect_identical(seen$n_alike, c(5L, 2L, 0L))
  words <- paste(
    "Spelling: 5 values of \"city\", 2 values of \"job\" differ only by case, blanks or",
    "Unicode form. Each is a value of its own."
  )
  check <- quietly(file_check(file))
  expect_identical(check$roles$n_alike, c(5L, 2L, 0L))
  for (x in list(summary(file), check)) {
    shown <- paste(trimws(utils::capture.output(print(x))), collapse = " ")
    expect_match(shown, words, fixed = TRUE)
  }
})

test_that("text that begins with a letter of another encoding is no number", {
  skip_if_not(l10n_info()[["UTF-8"]])
  region <- rep(c("\u00cele-de-France", "Rh\u00f4ne", "12"), each = 8)
  latin1 <- iconv(region, "UTF-8", "latin1")
  bytes <- latin1
  Encoding(bytes) <- "unknown"
  for (x in list(region, latin1, bytes, factor(latin1))) {
    expect_identical(sdcRisk:::as_number(x), rep(c(NA, NA, 12), each = 8))
  }
  figures <- lapply(list(region, latin1), function(region) {
    data <- data.frame(region = replace(region, 3, NA), sex = rep(1:2, 12))
    quietly(list(
      file_check(data, c("region", "sex"), k = 2)$estimates,
      suppress_cells(data, c("region", "sex"), k = 6)$estimates,
      utility_loss(data, global_recode(data, region = list(North = unique(region)[1:2])))$estimates
    ))
  })
  expect_identical(figures[[2]], figures[[1]])
})
