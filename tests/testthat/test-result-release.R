test_that("the data alone are handed out, and the object is said to be confidential", {
  data <- adult[1:200, c("age", "sex", "income")]
  set.seed(1)
  x <- quietly(invariant_pram(data, c("age", "sex")))
  expect_identical(as.data.frame(release_data(x, shuffle = FALSE)), x$data)
  expect_error(release_data(data), class = "sdcRisk_error_bad_argument")
  expect_error(release_data(x, 1), class = "sdcRisk_error_bad_argument")
  said <- paste(lines_of(x), collapse = " ")
  expect_match(said, "release_data(x), and only this", fixed = TRUE)
  expect_match(said, "n_matches() and other risk measures do not hold", fixed = TRUE)
})

test_that("columns of candidates keep the sets that records have, and no others", {
  waves <- list(
    a = data.frame(id = 1:6, status = c("x", "y", "x", "y", "x", "y")),
    b = data.frame(id = c(1, 2), status = c("y", "y")),
    c = data.frame(id = 1:6, status = c("y", "y", "y", "x", "x", "x"))
  )
  data <- change_moments(waves, "id", "status")
  data$sex <- rep(c("f", "m"), 3)
  file <- sdc_file(data, c("status_moment", "sex"), id_vars = "id")
  recoded <- global_recode(file, sex = list(all = c("f", "m")))
  expect_identical(format(recoded$status_moment), format(data$status_moment))
  expect_identical(
    n_matches(recoded)$records$n_matches, n_matches(data, "status_moment")$records$n_matches
  )
  released <- quietly(release_data(recoded, shuffle = TRUE))
  expect_setequal(format(released$status_moment), format(data$status_moment))
  expect_output(print(released), "b|c", fixed = TRUE)
  # The order of the sets is that of the release, and the set of a lost record is gone.
  part <- as_released(data[data$id != 1, ], order = 5:1)
  expect_identical(format(part$status_moment), rev(format(data$status_moment[-1])))
  expect_false(list("b") %in% attr(part$status_moment, "sets"))
  expect_identical(unique(unclass(part$status_moment)[1:5]), seq_along(
    attr(part$status_moment, "sets")
  ))
  # Intervals too.
  ages <- data.frame(age = candidate_interval(c(1, 5, 9), c(4, 8, 9)), sex = "f")
  expect_identical(
    format(as_released(ages, 3:1)$age), rev(format(ages$age))
  )
})

test_that("a recoded file that its order reveals is released in a secret order", {
  data <- data.frame(age = sort(rep(1:80, 13)), sex = rep(c("f", "m"), 520))
  data$pay <- 1e3 + (seq_len(1040) * 7919) %% 1040
  file <- sdc_file(data, c("age", "sex"))
  recoded <- quietly(global_recode(file, age = c(0, 20, 40, 60)))
  told <- expect_message(
    released <- release_data(recoded, keep_ids = "pay"), class = "sdcRisk_message_shuffled"
  )
  expect_match(conditionMessage(told), "revealed protected values", fixed = TRUE)
  expect_setequal(released$pay, data$pay)
  age <- data$age[match(released$pay, data$pay)]
  # Ages in the order of the file, guessed by place.
  expect_lt(mean(abs(age - data$age) <= 2), 0.1)
  kept <- expect_no_message(
    release_data(recoded, shuffle = FALSE, keep_ids = "pay"), class = "sdcRisk_message_shuffled"
  )
  expect_identical(kept$pay, data$pay)
  # A later step without a reason of its own does not forget that of the first.
  expect_message(
    release_data(quietly(global_recode(recoded, sex = list(all = c("f", "m"))))),
    class = "sdcRisk_message_shuffled"
  )
  mixed <- sdc_file(data[order(data$pay), ], c("age", "sex"))
  expect_no_message(
    release_data(quietly(global_recode(mixed, age = c(0, 20, 40, 60)))),
    class = "sdcRisk_message_shuffled"
  )
  # A column that reveals the ages is named once more, unless it is left out.
  data$born <- 2020 - data$age
  both <- quietly(global_recode(sdc_file(data, c("age", "sex")), age = c(0, 20, 40, 60)))
  expect_message(release_data(both), class = "sdcRisk_message_determined_keys")
  expect_no_message(
    release_data(both, drop = "born"), class = "sdcRisk_message_determined_keys"
  )
})

test_that("an order for new numbers says so", {
  file <- sdc_file(people(200), "sex")
  file$hid <- rep(1:100, each = 2)
  recoded <- quietly(global_recode(file, sex = list(all = c("f", "m"))))
  told <- expect_message(
    release_data(recoded, new_ids = "hid"), class = "sdcRisk_message_shuffled"
  )
  expect_match(conditionMessage(told), "would reveal the old numbers", fixed = TRUE)
})

test_that("members of a household are not seen by their places", {
  set.seed(1)
  d <- home_members(1500)
  keys <- c("size", "region", "sex", "age")
  for (named in c(TRUE, FALSE)) {
    file <- sdc_file(if (named) d else d[-1], keys, hh_id = if (named) "home")
    x <- quietly(suppress_cells(file, k = 3, importance = c(region = 2)))
    blank <- is.na(x$data$size)
    runs <- rle(blank)
    guess <- rep(runs$lengths, runs$lengths)[blank]
    own <- subset(x$diagnostics$told_by_order, is.na(by) & variable == "size")
    expect_identical(own$n, sum(blank))
    if (named) {
      # Without a number of the household its members are neighbours who tell more.
      expect_identical(own$share, mean(guess == d$size[blank]))
      p <- mean(blank)
      m <- d$size[blank]
      expect_equal(own$chance, mean(m * p^(m - 1) * (1 - p)^2))
    }
    released <- quietly(release_data(x))
    expect_false("home" %in% names(released))
    # Beside members whose size is missing, too: 83% and 19% before, as many after by chance in
    # one of 10^5 orders.
    beside <- function(size) mean(diff(which(is.na(size))) == 1)
    expect_lt(beside(released$size), beside(x$data$size))
    expect_identical(page_verdict(released), "ok")
    expect_identical(page_verdict(quietly(release_data(x, shuffle = FALSE))), "unclear")
  }
})

test_that("a released household number reveals the size it counts", {
  set.seed(1)
  d <- home_members(1500)
  file <- sdc_file(d, c("size", "region", "sex", "age"), hh_id = "home")
  x <- quietly(suppress_cells(file, k = 3, importance = c(region = 2)))
  for (released in list(
    quietly(release_data(x, new_ids = "home")), quietly(release_data(x, keep_ids = "home"))
  )) {
    expect_length(rle(released$home)$lengths, 1500)
    expect_identical(page_verdict(released), "unclear")
  }
  # Numbers of persons are all different, and new ones reveal nothing.
  d$person[order(d$region)] <- seq_len(nrow(d))
  file <- sdc_file(d[-1], c("size", "region", "sex", "age"), id_vars = "person")
  x <- quietly(suppress_cells(file, k = 3, importance = c(size = 2)))
  expect_identical(page_verdict(quietly(release_data(x, new_ids = "person"))), "ok")
  expect_identical(page_verdict(quietly(release_data(x, keep_ids = "person"))), "unclear")
})

test_that("new numbers are judged without the order of the old ones", {
  set.seed(11)
  hid <- rep(1:900, sample(5, 900, TRUE))
  data <- data.frame(
    hid, region = sort(sample(40, 900, TRUE, (1:40)^1.5))[hid],
    age = sample(9, length(hid), TRUE), sex = sample(2, length(hid), TRUE)
  )
  x <- quietly(suppress_cells(
    data, c("region", "age", "sex"), hh_id = "hid", importance = c(region = 1, age = 5, sex = 5)
  ))
  told <- x$diagnostics$told_by_columns
  expect_identical(told$by, "hid")
  expect_gt(told$share, 0.5)
  # Whole households lose their region: only the order of their numbers reveals it.
  gone <- is.na(x$data$region)
  expect_false(any(hid[gone] %in% hid[!gone]))
  expect_identical(told$n_renumbered, 0L)
  expect_identical(page_verdict(quietly(release_data(x, keep_ids = "hid"))), "unclear")
  expect_identical(page_verdict(quietly(release_data(x, new_ids = "hid"))), "ok")
  # Without households, other members show the region.
  x <- quietly(suppress_cells(data, c("region", "age", "sex"), importance = c(region = 1, age = 5)))
  told <- x$diagnostics$told_by_columns
  gone <- which(is.na(x$data$region))
  shown <- vapply(gone, function(i) {
    others <- x$data$region[hid == hid[[i]] & !is.na(x$data$region)]
    length(others) > 0
  }, NA)
  expect_identical(told$n_renumbered[told$by == "hid" & told$variable == "region"], sum(shown))
  expect_identical(page_verdict(quietly(release_data(x, new_ids = "hid"))), "unclear")
})

test_that("an order by what is left out is not kept", {
  set.seed(5)
  size <- sample(6, 900, TRUE, c(0.3, 0.3, 0.18, 0.13, 0.06, 0.03))
  hh <- rep(seq_len(900), size)
  data <- data.frame(
    hh = sample(5000, 900)[hh], hhsize = size[hh], sex = sample(c("m", "f"), length(hh), TRUE),
    age = sample(18:80, length(hh), TRUE),
    reg = sample(5, 900, TRUE, c(0.4, 0.3, 0.2, 0.09, 0.01))[hh]
  )
  x <- quietly(suppress_cells(sdc_file(data, c("reg", "sex", "age"), hh_id = "hh"), k = 3))
  expect_identical(nrow(x$diagnostics$told_by_order), 0L)
  # The sizes of households lay the records out, if these follow each other.
  laid_out <- function(sizes) {
    household <- integer(length(sizes))
    at <- 1
    while (at <= length(sizes)) {
      household[at + seq_len(sizes[[at]]) - 1] <- at
      at <- at + sizes[[at]]
    }
    household[seq_along(sizes)]
  }
  is_household <- function(found, hh) mean(match(found, found) == match(hh, hh))
  expect_identical(is_household(laid_out(data$hhsize), hh), 1)
  said <- expect_message(
    released <- release_data(x), class = "sdcRisk_message_shuffled"
  )
  expect_match(conditionMessage(said), "which records share a value of \"hh\"", fixed = TRUE)
  expect_false(identical(released$hhsize, data$hhsize))
  apart <- sum(rle(released$hhsize)$lengths > 3) / length(hh)
  expect_lt(apart, 0.1)
  kept <- quietly(release_data(x, shuffle = FALSE))
  expect_identical(kept$hhsize, data$hhsize)
  # What is in no order stays as it is.
  data <- data[sample(nrow(data)), ]
  x <- quietly(suppress_cells(sdc_file(data, c("reg", "sex", "age"), hh_id = "hh"), k = 3))
  expect_identical(quietly(release_data(x))$hhsize, data$hhsize)
})
