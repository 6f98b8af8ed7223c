# A person's ages change by as much as the years of the waves do.

# What somebody finds who takes the age less the year of the person's other records.
ages_back <- function(released, id = "pid") {
  begin <- ave(released$age - released$year, released[[id]], FUN = function(x) {
    x <- x[!is.na(x)]
    if (length(x)) as.numeric(names(which.max(table(x)))) else NA
  })
  begin + released$year
}

panel_keys <- c("age", "sex", "in_school")

test_that("other waves reveal a suppressed age, and only in the same unit", {
  panel <- panel_file()
  file <- sdc_file(panel, panel_keys, id_vars = "pid")
  x <- suppressMessages(suppress_cells(file, k = 3, importance = c(in_school = 9, sex = 9)))
  lost <- which(is.na(x$data$age))
  right <- sum(ages_back(as.data.frame(x$data))[lost] == panel$age[lost], na.rm = TRUE)
  expect_gt(right, 20)
  told <- x$diagnostics$told_by_columns
  told <- told[told$variable == "age" & told$by == "pid + year", ]
  expect_equal(told$n, right)
  expect_equal(told$share, right / length(lost))
  kept <- suppressMessages(release_data(x, new_ids = "pid"))
  verdict <- function(file) {
    page <- measures(suppressMessages(file_check(file, limit = list(k = 3))))
    page$verdict[page$measure == "k"]
  }
  expect_identical(verdict(kept), "unclear")
  expect_message(release_data(x, new_ids = "pid"), "\"pid + year\" reveals", fixed = TRUE)
  expect_identical(verdict(release_data(x)), "ok")

  # Read again, it says how many of those that are missing are given.
  path <- tempfile()
  on.exit(unlink(path))
  utils::write.csv(kept, path, row.names = FALSE)
  again <- sdc_file(utils::read.csv(path), panel_keys, id_vars = "pid")
  told <- suppressMessages(file_check(again))$diagnostics$told_missing
  told <- told[told$variable == "age" & told$by == "pid + year", ]
  expect_equal(told$n, sum(!is.na(ages_back(utils::read.csv(path))[is.na(kept$age)])))

  # The same of factors.
  panel[c("age", "year")] <- list(factor(panel$age), factor(paste("wave", panel$year - 2019)))
  file <- sdc_file(panel, panel_keys, id_vars = "pid")
  x <- suppressMessages(suppress_cells(file, k = 3, importance = c(in_school = 9, sex = 9)))
  told <- x$diagnostics$told_by_columns
  expect_equal(told$n[told$variable == "age" & told$by == "pid + year"], right)
  panel$year <- letters[panel_file()$year - 2019]
  file <- sdc_file(panel, panel_keys, id_vars = "pid")
  x <- suppressMessages(suppress_cells(file, k = 3, importance = c(in_school = 9, sex = 9)))
  told <- x$diagnostics$told_by_columns
  expect_equal(told$n[told$variable == "age" & told$by == "pid + year"], right)

  panel$age <- sample(panel$age)
  x <- suppressMessages(suppress_cells(sdc_file(panel, panel_keys, id_vars = "pid"), k = 3))
  expect_false("pid + year" %in% x$diagnostics$told_by_columns$by)
})

# The middle of what all groups of a person leave, within the group of a record.
ages_of_groups <- function(panel, breaks) {
  band <- findInterval(panel$age, breaks)
  low <- c(min(panel$age), breaks)[band + 1]
  high <- c(breaks - 1, max(panel$age))[band + 1]
  first <- ave(low - panel$year, panel$pid, FUN = max)
  last <- ave(high - panel$year, panel$pid, FUN = min)
  pmin(pmax(floor((first + last) / 2) + panel$year, low), high)
}

told_by_groups <- function(panel, breaks) {
  x <- suppressMessages(global_recode(sdc_file(panel, panel_keys, id_vars = "pid"), age = breaks))
  told <- as_file(x, "x")$told$columns
  c(told$n[told$variable == "age" & told$by == "pid + year"], 0)[[1]]
}

test_that("waves in which a group of ages changes reveal the age", {
  panel <- panel_file()
  for (width in c(5, 10, 25)) {
    breaks <- seq(20, 70, width)
    right <- sum(ages_of_groups(panel, breaks) == panel$age)
    expect_equal(told_by_groups(panel, breaks), right)
  }
})

test_that("the commonest of a person's exchanged ages is the age", {
  panel <- panel_file(100)
  set.seed(12)
  file <- sdc_file(panel, panel_keys, id_vars = "pid")
  x <- suppressMessages(invariant_pram(file, "age", 0.4, scope = "all"))
  changed <- which(x$data$age != panel$age)
  right <- sum(ages_back(as.data.frame(x$data))[changed] == panel$age[changed])
  told <- x$diagnostics$told_by_columns
  told <- told[told$variable == "age" & told$by == "pid + year", ]
  expect_gt(right, 0.7 * length(changed))
  expect_equal(told$n, right)
})

# Interviews in differing months: one age in five is not that of the wave before and a year more.
uneven_panel <- function() {
  panel <- panel_file()
  set.seed(6)
  panel$age <- panel$age + (runif(nrow(panel)) < 0.1)
  panel
}

test_that("most ages come back where waves are not a year apart to the day", {
  panel <- uneven_panel()
  steps <- diff(panel$age)[diff(panel$pid) == 0]
  expect_lt(mean(steps == 1), 0.87)
  panel$date <- as.Date(paste0(panel$year, "-06-15")) + sample(0:20, nrow(panel), TRUE)
  for (by in c("year", "date")) {
    file <- sdc_file(panel[c("pid", by, panel_keys)], panel_keys, id_vars = "pid")
    x <- suppressMessages(suppress_cells(file, k = 3, importance = c(in_school = 9, sex = 9)))
    lost <- which(is.na(x$data$age))
    found <- cbind(as.data.frame(x$data)[c("pid", "age")], year = panel$year)
    right <- sum(ages_back(found)[lost] == panel$age[lost], na.rm = TRUE)
    expect_gt(right, 0.7 * length(lost))
    told <- x$diagnostics$told_by_columns
    expect_equal(told$n[told$variable == "age" & told$by == paste("pid +", by)], right)
  }
})

test_that("groups of five years of all waves reveal most uneven ages", {
  panel <- uneven_panel()
  breaks <- seq(20, 70, 5)
  right <- sum(ages_of_groups(panel, breaks) == panel$age)
  expect_equal(told_by_groups(panel, breaks), right)
  expect_gt(right, 0.5 * nrow(panel))
})

test_that("ages come back by months and days, by two columns of a person, and of few answers", {
  panel <- panel_file()
  set.seed(8)
  panel$day <- round(365.25 * (panel$year - 2020)) + sample(0:30, nrow(panel), TRUE)
  panel$month <- round(panel$day / 30.4375)
  panel$born <- ave(panel$age - panel$day / 365.25 + runif(nrow(panel)), panel$pid)
  panel$age <- floor(panel$born + panel$day / 365.25)
  panel$hid <- (match(panel$pid, unique(panel$pid)) + 1) %/% 2
  panel$number <- ave(panel$pid, panel$hid, panel$year, FUN = seq_along)
  # Two thirds of the persons answer once.
  some <- panel[panel$pid %% 3 == 0 | panel$year == 2020, ]
  told <- function(panel, id, by) {
    file <- sdc_file(panel[c(id, by, panel_keys)], panel_keys)
    x <- suppressMessages(suppress_cells(file, k = 3, importance = c(in_school = 9, sex = 9)))
    lost <- which(is.na(x$data$age))
    # From any other record, by the years between them.
    begin <- ave(x$data$age - panel$day / 365.25, panel$pid, FUN = function(x) {
      mean(x, na.rm = TRUE)
    })
    right <- sum(floor(begin + 0.5 + panel$day / 365.25)[lost] == panel$age[lost], na.rm = TRUE)
    found <- x$diagnostics$told_by_columns
    n <- c(found$n[found$by == paste(c(id, by), collapse = " + ")], 0)[[1]]
    expect_gt(right, 15)
    expect_gte(n, 0.9 * right)
  }
  told(panel, "pid", "day")
  told(panel, "pid", "month")
  told(panel, c("hid", "number"), "year")
  told(some, "pid", "year")
})

# What is told of a variable by columns, or by the order of the records.
told_of <- function(x, variable, by) {
  told <- x$diagnostics$told_by_columns
  told[told$variable == variable & told$by == by, ]
}

test_that("what never changes comes back by the numbers of a household and of its members", {
  set.seed(20261)
  members <- data.frame(
    hh = rep(1:600, each = 2) + 5000, person = rep(1:2, 600),
    birth = sample(1960:1989, 1200, TRUE), sex = sample(1:2, 1200, TRUE)
  )
  panel <- merge(members, data.frame(wave = 1:4))
  panel$job <- sample(1:12, nrow(panel), TRUE)
  panel <- panel[sample(nrow(panel)), ]
  x <- suppressMessages(suppress_cells(panel, c("birth", "sex", "job"), k = 5))
  lost <- is.na(x$data$birth)
  shown <- ave(x$data$birth, panel$hh, panel$person, FUN = function(x) mean(x, na.rm = TRUE))
  right <- sum((shown == panel$birth)[lost], na.rm = TRUE)
  expect_gt(right, 0.9 * sum(lost))
  expect_equal(told_of(x, "birth", "hh + person")$n, right)
  kept <- suppressMessages(release_data(x))
  page <- suppressMessages(file_check(kept, limit = list(k = 3)))
  expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "unclear")
  # Their jobs do not.
  expect_identical(nrow(told_of(x, "job", "hh + person")), 0L)
})

test_that("numbers of waves with years of their own between them reveal ages", {
  set.seed(3)
  n <- 800
  waves <- c("start", "second", "third", "end")
  years <- c(start = 2010, second = 2012, third = 2013, end = 2016)
  panel <- merge(data.frame(
    pid = sample(1e5:9e5, n), birth = sample(1930:2000, n, TRUE), sex = sample(1:2, n, TRUE),
    region = sample(1:5, n, TRUE)
  ), data.frame(wave = factor(waves, waves)))
  panel <- panel[runif(nrow(panel)) >= 0.2, ]
  panel$year <- unname(years[as.character(panel$wave)])
  panel$age <- panel$year - panel$birth
  panel <- panel[sample(nrow(panel)), ]
  right_of <- function(x) {
    released <- data.frame(pid = panel$pid, year = panel$year, age = x$data$age)
    sum(ages_back(released)[is.na(x$data$age)] == panel$age[is.na(x$data$age)], na.rm = TRUE)
  }
  without <- c("pid", "wave", "age", "sex", "region")
  for (wave in list(panel$wave, as.integer(panel$wave))) {
    panel$wave <- wave
    file <- sdc_file(panel[without], c(age, sex, region), id_vars = pid)
    x <- suppressMessages(suppress_cells(file, k = 3))
    expect_gt(right_of(x), 300)
    # Of two births that are as common either is right.
    expect_equal(told_of(x, "age", "pid + wave")$n, right_of(x), tolerance = 0.02)
  }
  # Some records are in the file twice.
  panel <- panel[c(seq_len(nrow(panel)), 1:50), ]
  file <- sdc_file(panel[without], c(age, sex, region), id_vars = pid)
  x <- suppressMessages(suppress_cells(file, k = 3))
  expect_equal(told_of(x, "age", "pid + wave")$n, right_of(x), tolerance = 0.02)
  # Groups without an order of time do not.
  panel$wave <- sample(4, nrow(panel), TRUE)
  file <- sdc_file(panel[without], c(age, sex, region), id_vars = pid)
  x <- suppressMessages(suppress_cells(file, k = 3))
  expect_identical(nrow(told_of(x, "age", "pid + wave")), 0L)
})

test_that("what changes slowly comes back from the record of the unit nearest in time", {
  set.seed(6)
  n <- 300
  jobs <- vapply(seq_len(n), function(i) {
    job <- sample(6, 1)
    for (wave in 2:10) job[[wave]] <- if (runif(1) < 0.3) sample(6, 1) else job[[wave - 1]]
    job
  }, integer(10))
  panel <- data.frame(
    pid = rep(sample(1e5:9e5, n), each = 10), year = rep(2000 + 1:10, n), job = as.vector(jobs)
  )
  panel$month <- sample(12, nrow(panel), TRUE)
  panel$dist <- sample(12, nrow(panel), TRUE)
  panel <- panel[sample(nrow(panel)), ]
  file <- sdc_file(panel, c(job, dist, month), id_vars = pid)
  x <- suppressMessages(suppress_cells(file, k = 4, importance = c(dist = 3, month = 3)))
  lost <- which(is.na(x$data$job))
  nearest <- vapply(lost, function(i) {
    others <- which(panel$pid == panel$pid[[i]] & !is.na(x$data$job))
    # The earlier one, if two are as near.
    others <- others[order(abs(panel$year[others] - panel$year[[i]]), panel$year[others])]
    x$data$job[others][1] %in% panel$job[[i]]
  }, NA)
  expect_gt(sum(nearest), 0.6 * length(lost))
  expect_equal(told_of(x, "job", "pid + year")$n, sum(nearest))
  expect_identical(nrow(told_of(x, "dist", "pid + year")), 0L)
})

test_that("years that rise and begin anew show where a person's records lie", {
  panel <- panel_file(700, 5)
  x <- suppressMessages(suppress_cells(panel[c("year", panel_keys)], panel_keys, k = 3))
  lost <- which(is.na(x$data$age))
  run <- cumsum(c(TRUE, diff(panel$year) < 0))
  released <- data.frame(run, year = panel$year, age = x$data$age)
  right <- sum(ages_back(released, "run")[lost] == panel$age[lost], na.rm = TRUE)
  by_order <- x$diagnostics$told_by_order
  by_order <- by_order[by_order$variable == "age" & is.na(by_order$by), ]
  expect_gt(right, 0.8 * length(lost))
  expect_equal(by_order$share, right / length(lost))
  suppressMessages(
    expect_message(release_data(x), "The records are in a secret order", fixed = TRUE)
  )
  # Written by hand in that order it is no better.
  page <- file_check(x$data, panel_keys, limit = list(k = 3))
  told <- page$diagnostics$told_by_order
  expect_equal(told$share[told$variable == "age"], right / length(lost), tolerance = 0.05)
  expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "unclear")
  # Bands of ages give each other away, too.
  bands <- function(panel) {
    file <- sdc_file(panel[c("year", panel_keys)], panel_keys)
    global_recode(file, age = seq(0, 90, 10))
  }
  expect_message(bands(panel), "The order of the records reveals protected values", fixed = TRUE)
  # By year, or in no order, there are no runs of a person.
  for (at in list(order(panel$year), sample(nrow(panel)))) {
    expect_silent(suppressMessages(bands(panel[at, ]), "sdcRisk_message_determined_keys"))
  }
})

test_that("persons by role are left out by every remedy, however their numbers look", {
  panel <- panel_file()
  panel <- panel[panel$pid %in% unique(panel$pid)[1:110], ]
  # Few numbers with several records each look like codes, and so do short texts.
  number <- match(panel$pid, unique(panel$pid))
  for (pid in list(number, sprintf("A%03d", number))) {
    file <- sdc_file(
      replace(panel, "pid", list(pid))[sample(nrow(panel)), ], c("age", "sex"), id_vars = "pid"
    )
    of <- function(x) if (is.null(x$told)) x$diagnostics$told_by_columns else x$told$columns
    remedies <- quietly(list(
      suppress_cells(file, k = 3, importance = c(age = 9)),
      global_recode(file, age = seq(0, 100, 20)),
      microaggregate(file, "age", k = 5), invariant_pram(file, unprotected = "keep")
    ))
    for (x in remedies) {
      alone <- of(x)[of(x)$by == "pid", ]
      expect_true(all(alone$identifier))
      expect_message(release_data(x), class = "sdcRisk_message_identifier_left_out")
      expect_false("pid" %in% names(quietly(release_data(x))))
    }
    # A sex comes back by the person's other records, with their old numbers or new ones.
    released <- as.data.frame(remedies[[1]]$data)
    lost <- which(is.na(released$sex))
    shown <- vapply(released$pid[lost], function(id) {
      any(!is.na(released$sex[released$pid == id]))
    }, NA)
    told <- of(remedies[[1]])
    told <- told[told$by == "pid" & told$variable == "sex", ]
    expect_equal(c(told$n, told$n_renumbered), rep(sum(shown), 2))
    expect_equal(told$share, sum(shown) / length(lost))
  }
})

test_that("a person's number is no time of a wave", {
  set.seed(23)
  panel <- expand.grid(wave = 1:6, pid = 1:30)
  panel$age <- sample(20:60, 30, TRUE)[panel$pid] + panel$wave
  panel$sex <- sample(c("f", "m"), 30, TRUE)[panel$pid]
  panel$area <- sample(letters[1:4], 30, TRUE)[panel$pid]
  panel$wave <- letters[panel$wave]
  panel <- panel[sample(nrow(panel)), ]
  file <- sdc_file(panel, c("age", "sex", "area"), id_vars = "pid")
  x <- quietly(suppress_cells(file, k = 2))
  lost <- is.na(x$data$age)
  shown <- panel$pid[lost] %in% panel$pid[!lost]
  told <- x$diagnostics$told_by_columns
  told <- told[told$variable == "age", ]
  expect_identical(told$by, "pid + wave")
  # Ages of persons of whom one is left, and none of the others.
  expect_equal(told$n, sum(shown))
  expect_lt(sum(shown), sum(lost) / 2)
})

# Persons in households, with a number within it, and the years 2001 to 2004 in a random order.
household_panel <- function() {
  set.seed(1)
  home <- rep(seq_len(300), sample(1:4, 300, TRUE))[seq_len(300)]
  person <- rep(1:300, each = 4)
  d <- data.frame(year = rep(2001:2004, 300), hh = home[person])
  d$member <- ave(home, home, FUN = seq_along)[person]
  d$age <- sample(18:80, 300, TRUE)[person] + d$year - 2001
  d$sex <- sample(c("m", "f"), 300, TRUE)[person]
  d$region <- sample(LETTERS[1:8], 300, TRUE)[person]
  d[sample(nrow(d)), ]
}

test_that("members of a household may be numbered in any way", {
  panel <- household_panel()
  ids <- c("hh", "member")
  for (names in list(1:4, 0:3, c(107, 103, 109, 102), c("A", "B", "C", "D"))) {
    d <- replace(panel, "member", list(names[panel$member]))
    x <- quietly(suppress_cells(sdc_file(d, c("age", "sex", "region"), id_vars = ids), k = 2))
    person <- paste(d$hh, d$member)
    lost <- is.na(x$data$age)
    told <- x$diagnostics$told_by_columns
    expect_equal(
      told$n[told$variable == "age" & told$by == "hh + member + year"],
      sum(person[lost] %in% person[!lost])
    )
  }
  # A member's number alone is no person.
  expect_identical(repeated_id(as_file(sdc_file(panel, "age", id_vars = ids), "x")), "hh")
})

test_that("a date that is constant in a person links the records", {
  d <- household_panel()
  person <- paste(d$hh, d$member)
  since <- as.Date("1990-01-01") + sample(9000, 300)[match(person, unique(person))]
  for (date in list(since, format(since))) {
    file <- cbind(d[c("year", "age", "sex", "region")], since = date)
    x <- quietly(suppress_cells(file, c("age", "sex", "region"), k = 3))
    lost <- is.na(x$data$age)
    told <- x$diagnostics$told_by_columns
    expect_equal(
      told$n[told$variable == "age" & told$by == "since + year"], sum(since[lost] %in% since[!lost])
    )
  }
})

test_that("an order by persons and waves with names reveals ages", {
  set.seed(1)
  person <- rep(1:200, each = 3)
  waves <- c("spring", "pilot", "main")
  d <- data.frame(age = sample(18:80, 200, TRUE)[person] + 0:2)
  d$sex <- sample(c("m", "f"), 200, TRUE)[person]
  d$region <- sample(LETTERS[1:6], 200, TRUE)[person]
  for (wave in list(rep(waves, 200), factor(rep(waves, 200), waves))) {
    x <- quietly(suppress_cells(cbind(d, wave = wave), c("age", "sex", "region"), k = 3))
    lost <- is.na(x$data$age)
    told <- x$diagnostics$told_by_order
    expect_identical(told[c("variable", "by")], frame(variable = "age", by = NA_character_))
    expect_equal(told$share, mean(person[lost] %in% person[!lost]))
  }
  # Names in no order are no waves.
  d$wave <- sample(waves, 600, TRUE)
  x <- quietly(suppress_cells(d[sample(600), ], c("age", "sex", "region"), k = 3))
  expect_identical(nrow(x$diagnostics$told_by_order), 0L)
})

test_that("few different ages with errors, and few that are known, are learned from", {
  set.seed(2)
  d <- data.frame(year = rep(2001:2005, 200), pid = sample(1e5, 200)[rep(1:200, each = 5)])
  d$age <- sample(25:40, 200, TRUE)[rep(1:200, each = 5)] + d$year - 2001
  wrong <- which(runif(1000) < 0.1)
  d$age[wrong] <- d$age[wrong] + sample(c(-1, 1), length(wrong), TRUE)
  d$sex <- sample(c("m", "f"), 200, TRUE)[rep(1:200, each = 5)]
  d$region <- sample(LETTERS[1:6], 200, TRUE)[rep(1:200, each = 5)]
  keys <- c("age", "sex", "region")
  x <- quietly(suppress_cells(sdc_file(d, keys, id_vars = "pid"), k = 3))
  lost <- is.na(x$data$age)
  right <- sum(ages_back(as.data.frame(x$data))[lost] == d$age[lost], na.rm = TRUE)
  told <- x$diagnostics$told_by_columns
  expect_equal(told$n[told$variable == "age" & told$by == "pid + year"], right, tolerance = 0.05)
  expect_true(is.na(quietly(suppress_cells(d[-2], keys, k = 3))$diagnostics$told_by_order$by))

  # Of 600 ages about 100 are left.
  for (seed in 1:3) {
    set.seed(seed)
    panel <- data.frame(pid = rep(1:100, each = 6), year = rep(2001:2006, 100))
    panel$age <- sample(18:80, 100, TRUE)[panel$pid] + panel$year - 2001
    panel$sex <- sample(c("m", "f"), 100, TRUE)[panel$pid]
    panel$region <- sample(LETTERS[1:6], 100, TRUE)[panel$pid]
    file <- sdc_file(panel[sample(600), ], keys, id_vars = "pid")
    written <- as.data.frame(
      quietly(release_data(suppress_cells(file, k = 3), new_ids = "pid"))
    )
    page <- quietly(file_check(sdc_file(written, keys, id_vars = "pid")))
    told <- page$diagnostics$told_missing
    lost <- is.na(written$age)
    expect_equal(
      told$n[told$variable == "age" & told$by == "pid + year"],
      sum(written$pid[lost] %in% written$pid[!lost])
    )
    expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "unclear")
  }
})

test_that("a written file of households counts the ages of one member, not of all", {
  for (seed in 4:6) {
    set.seed(seed)
    household <- rep(1:300, rep(1:2, 150))
    member <- rep(seq_along(household), each = 4)
    d <- data.frame(hh = household[member], year = c(2001, 2003, 2004, 2007))
    d$age <- sample(18:80, length(household), TRUE)[member] + d$year - 2001
    d$sex <- sample(c("m", "f"), length(household), TRUE)[member]
    d$region <- sample(LETTERS[1:6], 300, TRUE)[d$hh]
    keys <- c("age", "sex", "region")
    written <- as.data.frame(quietly(suppress_cells(d, keys, k = 3))$data)
    lost <- is.na(written$age)
    begin <- stats::ave(written$age - written$year, written$hh, FUN = function(x) {
      x <- x[!is.na(x)]
      if (length(x)) as.double(names(which.max(table(x)))) else NA
    })
    right <- sum((begin + written$year == d$age)[lost], na.rm = TRUE)
    told <- quietly(file_check(sdc_file(written, keys)))$diagnostics$told_missing
    n <- told$n[told$variable == "age" & told$by == "hh + year"]
    expect_gte(n, right)
    expect_lte(n, 1.5 * right)
  }
})

# Persons with spells that follow each other.
spells <- function(n, seed) {
  set.seed(seed)
  of_person <- sample(1:4, n, TRUE)
  id <- rep(sample(1e5, n), of_person)
  length <- sample(1:60, length(id), TRUE)
  stop <- stats::ave(length, id, FUN = cumsum)
  data.frame(id, group = sample(c("a", "b", "c"), length(id), TRUE), start = stop - length, stop)
}

test_that("the end of a spell is where the next one begins", {
  for (gap in 0:1) {
    d <- spells(400, 3)
    d$start[d$start > 0] <- d$start[d$start > 0] + gap
    keys <- c("group", "stop")
    x <- quietly(suppress_cells(d[-1], keys, k = 3))
    lost <- which(is.na(x$data$stop))
    right <- sum(c(d$start[-1], NA)[lost] - gap == d$stop[lost], na.rm = TRUE)
    told <- x$diagnostics$told_by_order
    expect_identical(told$variable, "stop")
    expect_equal(told$share, right / length(lost))
    written <- quietly(file_check(sdc_file(as.data.frame(x$data), keys)))
    expect_identical(written$estimates$verdict[written$estimates$measure == "k"], "unclear")

    x <- quietly(suppress_cells(sdc_file(d, keys, id_vars = "id"), k = 3))
    of_next <- c(d$id[-1] == d$id[-nrow(d)], FALSE)
    right <- sum(lost %in% which(of_next))
    told <- x$diagnostics$told_by_columns
    expect_equal(told$n[told$by == "id + start" & !told$part], right)
    page <- quietly(file_check(release_data(x, new_ids = "id")))
    expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "unclear")
  }
  # Starts of others tell nothing.
  d$start <- sample(d$start)
  x <- quietly(suppress_cells(sdc_file(d, keys, id_vars = "id"), k = 3))
  expect_identical(nrow(x$diagnostics$told_by_order), 0L)
  expect_false(any(grepl("start", x$diagnostics$told_by_columns$by)))
})

test_that("what is short in a balanced group is the suppressed value", {
  set.seed(4)
  pair <- rep(sample(1e5, 300), each = 2)
  d <- data.frame(pair, case = rep(c("case", "control"), 300), age = sample(20:40, 600, TRUE))
  d$area <- sample(letters[1:6], 300, TRUE)[match(d$pair, unique(d$pair))]
  d <- d[sample(600), ]
  keys <- c("case", "age", "area")
  suppressed <- function(d) {
    file <- sdc_file(d, keys, id_vars = "pair")
    quietly(suppress_cells(file, k = 3, importance = c(case = 0.3)))
  }
  x <- suppressed(d)
  lost <- which(is.na(x$data$case))
  known <- d$pair[!is.na(x$data$case)]
  right <- sum(d$pair[lost] %in% known)
  expect_gt(right, 50)
  told <- x$diagnostics$told_by_columns
  expect_equal(told$n[told$variable == "case" & told$by == "pair + case"], right)
  written <- as.data.frame(quietly(release_data(x, new_ids = "pair")))
  page <- quietly(file_check(sdc_file(written, keys)))
  told <- page$diagnostics$told_missing
  expect_equal(told$n[told$variable == "case" & told$by == "pair + case"], right)
  # Pairs at random are not balanced.
  d$case <- sample(d$case)
  told <- suppressed(d)$diagnostics$told_by_columns
  expect_false(any(told$variable == "case" & told$by == "pair + case"))
})

test_that("amounts up to 10^12 take no more room than others", {
  set.seed(8)
  d <- data.frame(id = rep(1:60, each = 4), wave = rep(1:4, 60))
  d$income <- rep(c(round(runif(59, 1e3, 1e6)), 1e12), each = 4) + 5000 * d$wave
  d$band <- factor(sample(1:40, 240, TRUE))
  expect_equal(
    steps_of(d$id, d$wave, d$income), list(list(of = 5000, share = 1, rounded = FALSE))
  )
  # Every income is alone.
  x <- quietly(suppress_cells(sdc_file(d, c("band", "income")), k = 2))
  expect_equal(sum(is.na(x$data$income)), 240)
})

test_that("infinite values, left alone, are no dates", {
  set.seed(3)
  n <- 300
  d <- data.frame(
    id = seq_len(n), age = sample(0:90, n, TRUE), sex = sample(2, n, TRUE),
    x = replace(rnorm(n), 1:5, Inf)
  )
  d$y <- 2 * d$x + 1
  x <- quietly(suppress_cells(d, c("sex", "x"), k = 2))
  told <- x$diagnostics$told_by_columns
  expect_equal(told$n[told$variable == "x" & told$by == "y"], sum(is.na(x$data$x)))
})
