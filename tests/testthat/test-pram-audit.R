released <- function(...) quietly(invariant_pram(...))

test_that("expected changes per variable follow from the transitions", {
  data <- adult[1:300, c("age", "sex", "race")]
  for (scope in c("all", "risky")) {
    x <- released(data, scope = scope)
    moves <- pram_transitions(x, seq_len(nrow(x$cells)), data)
    first <- data[match(seq_len(nrow(x$cells)), x$records$cell), ]
    for (v in names(data)) {
      differs <- as.character(moves[[v]]) != as.character(first[[v]])[moves$from]
      expect_equal(
        x$variables$expected_changed[x$variables$variable == v],
        sum((moves$prob * x$cells$count[moves$from])[differs])
      )
    }
    expect_equal(as.vector(rowsum(moves$prob, moves$from)), rep(1, nrow(x$cells)))
    # Invariance: T P = T.
    expect_equal(
      as.vector(rowsum(moves$prob * x$cells$count[moves$from], moves$to)), x$cells$count
    )
    expect_equal(
      moves$prob[moves$from == moves$to], x$cells$stay_prob[moves$from[moves$from == moves$to]]
    )
  }
})

test_that("the audit plays the intruder and meets the exact probabilities", {
  data <- repeated_levels(c(1, 1, 2, 3, 5), 40)
  x <- released(data, "key", within = "level", scope = "all")
  set.seed(1)
  audit <- pram_audit(x, data, 400)
  table <- audit$simulation
  exact <- pram_match_prob(c(1, 2, 3, 5, 1), x$blocks$theta[[1]], 1:2)
  for (i in seq_len(nrow(table))) {
    row <- table[i, ]
    if (row$found == "3+" || row$n_attempts < 200) next
    expected <- exact[match(as.numeric(row$count), c(1, 2, 3, 5)), as.numeric(row$found)]
    expect_lt(abs(row$hit_rate - expected), 4 * row$std_error)
    expect_lt(row$hit_rate, 0.8 + 3 * row$std_error)
  }
  expect_lte(audit$estimates$worst_match_prob, 0.8 + 1e-9)
  expect_identical(audit$estimates$n_above, 0L)
  expect_lte(length(format(audit)), 16)
  # Who knows the key and not the level finds hundreds.
  blind <- pram_audit(x, data, 20, "key")
  expect_lt(blind$estimates$worst_match_prob, 0.03)
  expect_s3_class(interpret(blind), "sdc_sentence")
})

test_that("bad arguments of the companions are refused", {
  data <- adult[1:80, c("age", "sex", "race")]
  x <- released(data)
  refused <- function(expr, class = "bad_argument") {
    expect_error(expr, class = paste0("sdcRisk_error_", class))
  }
  refused(pram_audit(data, data))
  refused(pram_audit(x, data[80:1, ]), "mismatched_data")
  for (n in list(-1, 1.5, NA, "5", 1:2)) refused(pram_audit(x, data, n))
  refused(pram_audit(x, data, 0, "height"), "unknown_key_var")
  refused(pram_audit(x, data, 0, character()))
  data$other <- 1
  refused(pram_audit(x, data, 0, "other"))
  refused(pram_variance(1, data))
  refused(pram_variance(x, data[1:3, ]), "mismatched_data")
  refused(pram_variance(x, data, "other"))
  refused(pram_transitions(x, 0))
  refused(pram_transitions(x, nrow(x$cells) + 1))
  refused(pram_transitions(x, "a"))
  refused(pram_transitions(x, 1, data[1:3, ]), "mismatched_data")
  refused(ggplot2::autoplot(x, "cells"))
})

test_that("the picture of an audit shows its groups and the bound", {
  skip_if_not_installed("ggplot2")
  data <- data.frame(a = c(1, 1, 2, 3, 4), b = c(1, 1, 1, 2, 2))
  audit <- pram_audit(invariant_pram(data), data, n_sim = 0, known_keys = "a")
  picture <- ggplot2::autoplot(audit)
  expect_equal(max(picture$data$y), max(audit$groups$match_prob))
  expect_identical(sum(picture$data$n), 4L)
  expect_match(picture$labels$subtitle, "knows 1 of 2 key variables")
})
