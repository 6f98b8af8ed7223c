# What other columns of a release tell of the values that it protects.

skip_on_cran()

told <- function(x) x$diagnostics$told_by_columns

people <- function(n = 2000, seed = 1) {
  set.seed(seed)
  d <- data.frame(
    age = sample(18:95, n, TRUE, prob = 78:1), sex = sample(2, n, TRUE),
    region = sample(letters[1:6], n, TRUE, prob = c(500, 400, 300, 200, 100, 0))
  )
  d$region[[n]] <- "f"
  d$birth_year <- 2020 - d$age
  d$region_name <- paste("Province of", toupper(d$region))
  d$income <- stats::rlnorm(n, 10)
  d
}
person_keys <- c("age", "sex", "region")

test_that("a year of birth tells every suppressed age, and linking or dropping it mends that", {
  d <- people()
  said <- expect_message(
    x <- suppress_cells(d, person_keys, k = 3), class = "sdcRisk_message_determined_keys"
  )
  n <- sum(x$cells$variable == "age")
  expect_gt(n, 300)
  row <- told(x)[told(x)$variable == "age", ]
  expect_identical(row$by, "birth_year")
  expect_identical(row$n, n)
  expect_identical(row$share, 1)
  # The attack itself.
  rows <- x$cells$record[x$cells$variable == "age"]
  expect_identical(2020 - x$data$birth_year[rows], as.double(d$age[rows]))
  expect_match(conditionMessage(said), "linked = list(age = \"birth_year\"", fixed = TRUE)
  expect_match(conditionMessage(said), "release_data(x, drop = ", fixed = TRUE)
  expect_match(
    paste(trimws(format(x)), collapse = " "),
    paste0("reveals ", n, " of ", n, " values of \"age\""),
    fixed = TRUE
  )
  linked <- quietly(suppress_cells(
    d, person_keys, k = 3, linked = list(age = "birth_year", region = "region_name")
  ))
  expect_identical(nrow(told(linked)), 0L)
  expect_no_message(release_data(linked), class = "sdcRisk_message_determined_keys")
  expect_message(release_data(x), class = "sdcRisk_message_determined_keys")
  expect_no_message(
    released <- release_data(x, drop = c("birth_year", "region_name")),
    class = "sdcRisk_message_determined_keys"
  )
  expect_identical(as.data.frame(released), x$data[c(person_keys, "income")])
})

test_that("a value that one record has is told by its name", {
  d <- people()
  expect_identical(sum(d$region == "f"), 1L)
  x <- quietly(suppress_cells(d, "region", k = 3))
  expect_identical(x$cells$record, which(d$region == "f"))
  expect_identical(told(x)$by, "region_name")
  expect_identical(told(x)$n, 1L)
})

test_that("a household's number tells what other members show", {
  # A file like EU-SILC: the region of a household, a weight by region, a person's number.
  set.seed(3)
  size <- sample(1:12, 900, TRUE, prob = 2^-(1:12))
  home <- rep(seq_along(size), size)
  n <- length(home)
  region <- sample(9, 900, TRUE)[home]
  d <- data.frame(
    db030 = home, rb030 = 100 * home + sequence(size), db040 = region,
    hsize = size[home], age = sample(0:95, n, TRUE), rb090 = sample(2, n, TRUE),
    rb050 = round(100 + 10 * region + 0.37, 2)
  )
  d$birth_year <- 2006 - d$age
  keys <- c("db040", "hsize", "age", "rb090")
  x <- quietly(suppress_cells(d, keys, k = 3))
  of <- function(variable, by) told(x)[told(x)$variable == variable & told(x)$by == by, ]
  n_age <- sum(x$cells$variable == "age")
  expect_gt(n_age, 500)
  expect_identical(of("age", "birth_year")$n, n_age)
  expect_false(of("age", "birth_year")$identifier)
  # By hand: the values that most other members of the household show.
  shown <- vapply(c("db040", "hsize"), function(v) {
    rows <- x$cells$record[x$cells$variable == v]
    sum(vapply(rows, function(i) {
      others <- setdiff(which(home == home[[i]]), i)
      values <- x$data[[v]][others]
      any(!is.na(values))
    }, NA))
  }, 0L)
  expect_gt(sum(shown), 5)
  expect_identical(sum(of("db040", "db030")$n), shown[["db040"]])
  expect_identical(sum(of("hsize", "db030")$n), shown[["hsize"]])
  # The number of a person never leaves unasked, nor does the household's if it was named.
  left <- expect_message(release_data(x), class = "sdcRisk_message_identifier_left_out")
  expect_identical(left$columns, "rb030")
  expect_match(conditionMessage(left), "keep_ids = \"rb030\"", fixed = TRUE)
  expect_identical(names(quietly(release_data(x))), setdiff(names(d), "rb030"))
  file <- sdc_file(d, keys, weight_var = "rb050", hh_id = "db030")
  y <- quietly(suppress_cells(file, k = 3))
  expect_identical(names(quietly(release_data(y))), setdiff(names(d), c("rb030", "db030")))
  expect_identical(
    names(quietly(release_data(y, keep_ids = "db030"))), setdiff(names(d), "rb030")
  )
  expect_identical(
    as.data.frame(quietly(release_data(y, keep_ids = TRUE, shuffle = FALSE))),
    as.data.frame(y$data)
  )
  expect_error(release_data(y, keep_ids = "db31"), class = "sdcRisk_error_unknown_key_var")
  expect_error(release_data(y, drop = "db31"), class = "sdcRisk_error_unknown_key_var")
})

test_that("weights of households reveal values although some are tied", {
  set.seed(1)
  d <- home_members(1500)
  for (digits in c(2, 0)) {
    d$w <- round(rep(stats::runif(1500, 50, 400), table(d$home)), digits)
    x <- quietly(suppress_cells(d[-1], c("size", "region", "sex", "age"), k = 3,
                                importance = c(size = 2)))
    rows <- x$cells$record[x$cells$variable == "region"]
    back <- vapply(rows, function(i) {
      shown <- table(x$data$region[-i][d$w[-i] == d$w[[i]]])
      right <- shown[as.character(d$region[[i]])]
      sum(right, na.rm = TRUE) > max(shown[names(shown) != as.character(d$region[[i]])], 0)
    }, NA)
    told <- x$diagnostics$told_by_columns
    expect_identical(told$n[told$variable == "region" & told$by == "w"], sum(back))
    expect_gt(mean(back), if (digits == 2) 0.85 else 0.5)
    d$w <- NULL
  }
})

test_that("a data.table loses its identifiers and keeps its class", {
  skip_if_not_installed("data.table")
  d <- data.table::as.data.table(cbind(id = 1:500, people(500)))
  x <- quietly(suppress_cells(d, person_keys, k = 2))
  released <- quietly(release_data(x))
  expect_s3_class(released, "data.table")
  expect_identical(names(released), setdiff(names(d), "id"))
  expect_identical(names(x$data), names(d))
})

test_that("recoded values are told by the detailed column", {
  d <- people()
  hierarchies <- list(age = hierarchy(d$age, widths = c(10, 20), name = "age"))
  search <- function() {
    recode_search(
      d, person_keys, hierarchies, constraint = list(k = 3), suppress = 0.05,
      keep = list(age = 1, sex = 0)
    )
  }
  expect_message(found <- search(), class = "sdcRisk_message_determined_keys")
  age <- told(found)[told(found)$variable == "age", ]
  expect_identical(age$by, "birth_year")
  expect_identical(age$n, 2000L)
  text <- paste(trimws(format(found)), collapse = " ")
  expect_match(text, "\"birth_year\" reveals 2,000 of 2,000")
  expect_message(apply_recoding(found, d), class = "sdcRisk_message_determined_keys")
  without <- d[c(person_keys, "income")]
  again <- quietly(recode_search(
    without, person_keys, hierarchies, constraint = list(k = 3), suppress = 0.05,
    keep = list(age = 1, sex = 0)
  ))
  expect_identical(nrow(told(again)), 0L)
  expect_no_message(apply_recoding(again, without), class = "sdcRisk_message_determined_keys")
})

test_that("exchanged values are told by what stays", {
  d <- people()
  set.seed(2)
  expect_message(
    x <- invariant_pram(d, person_keys, 0.9), class = "sdcRisk_message_determined_keys"
  )
  changed <- vapply(person_keys, function(v) sum(x$data[[v]] != d[[v]]), 0L)
  expect_identical(told(x)$variable, c("age", "region"))
  expect_identical(told(x)$by, c("birth_year", "region_name"))
  expect_identical(told(x)$n, unname(changed[c("age", "region")]))
  # Keys that move together tell nothing of each other.
  set.seed(2)
  y <- quietly(invariant_pram(d, c("age", "birth_year", "region", "region_name"), 0.9))
  expect_identical(nrow(told(y)), 0L)
})

test_that("the page of a file and its report say which columns reveal key variables", {
  d <- people()
  d$person_no <- sample(1e6, nrow(d))
  check <- quietly(file_check(d, person_keys))
  expect_identical(told(check)$by, c("birth_year", "region_name"))
  expect_identical(told(check)$n, c(2000L, 2000L))
  page <- paste(trimws(format(check)), collapse = " ")
  expect_match(page, "\"birth_year\" reveals 2,000 of 2,000 values of \"age\"", fixed = TRUE)
  step <- grep("suppress_cells", check$next_steps, value = TRUE)
  expect_identical(step, paste0(
    "released <- suppress_cells(file, k = 3, ",
    "linked = list(age = \"birth_year\", region = \"region_name\"))"
  ))
  file <- sdc_file(d, person_keys)
  released <- quietly(eval(parse(text = sub("released <- ", "", step))))
  expect_identical(nrow(told(released)), 0L)
  path <- tempfile(fileext = ".html")
  on.exit(unlink(path))
  quietly(sdc_report(check, file = path))
  html <- paste(readLines(path, encoding = "UTF-8"), collapse = " ")
  expect_match(html, "birth_year reveals 100% of the values of age", fixed = TRUE)
  expect_match(html, "look like identifiers: person_no", fixed = TRUE)
})

test_that("a column that is more detailed than a key variable is named, whatever was protected", {
  set.seed(5)
  d <- data.frame(age = sample(18:80, 3000, TRUE), sex = sample(c("f", "m"), 3000, TRUE))
  d$group <- cut(d$age, c(0, 30, 60, 200), right = FALSE)
  d$income <- round(rlnorm(3000, 10), 2)
  file <- sdc_file(d, c("group", "sex"))
  check <- quietly(file_check(file))
  finer <- check$diagnostics$finer_columns
  expect_identical(finer[c("variable", "by", "share")], data.frame(
    variable = "group", by = "age", share = 1
  ))
  expect_gt(check$estimates$value[check$estimates$measure == "k"], 200)
  words <- "more detailed than key variables: \"age\" than \"group\""
  reason <- paste("released columns are", words)
  expect_match(
    paste(trimws(format(check, width = 1e4)), collapse = " "),
    paste0("not known to be within your limits: k unclear (", reason, ")"), fixed = TRUE
  )
  at <- match("k", check$estimates$measure)
  expect_identical(check$estimates$verdict[[at]], "unclear")
  expect_identical(check$estimates$reason[[at]], reason)
  # No measure of the group is "ok", whatever the rule for missing values, and by no limit.
  strict <- quietly(file_check(
    file, limit = list(k = 3, qar = 0.9, tau1 = 1e3, small_cells = 0.9), pop_size = 1e5,
    missing = "exclude"
  ))
  expect_false("ok" %in% strict$estimates$verdict)
  of_k <- function(rows) rows$verdict[rows$measure == "k"]
  expect_identical(of_k(measures(check, limit = list(k = 5))), "unclear")
  expect_identical(of_k(measures(check, limit = list(k = 1000))), "above")
  # Without the column, with a role for it, or beside a column that only goes with the group.
  clear <- function(data, ...) {
    page <- quietly(file_check(data, c("group", "sex"), ...))
    of_k(page$estimates)
  }
  expect_identical(clear(d[names(d) != "age"]), "ok")
  expect_identical(clear(sdc_file(d, c("group", "sex"), id_vars = "age")), "ok")
  related <- d[names(d) != "age"]
  related$score <- match(d$group, levels(d$group)) * 10 + rnorm(3000, sd = 6)
  expect_gt(cor(related$score, as.integer(d$group)), 0.7)
  expect_identical(clear(related), "ok")
  # The next step is the page without it, not the report.
  expect_match(utils::tail(check$next_steps, 1), "subset(file, select = -age)", fixed = TRUE)
  expect_false(any(grepl("sdc_report", check$next_steps, fixed = TRUE)))
  # No value is suppressed, and the release says so all the same.
  none <- quietly(suppress_cells(file, k = 3))
  expect_identical(none$estimates$n_suppressed, 0L)
  said <- expect_message(release_data(none), class = "sdcRisk_message_determined_keys")
  expect_match(conditionMessage(said), words, fixed = TRUE)
  expect_match(conditionMessage(said), "drop = \"age\"", fixed = TRUE)
  expect_no_message(release_data(none, drop = "age"))
  # A file that was recoded before, beside its source.
  recoded <- quietly(global_recode(sdc_file(d[c("age", "sex")], c("age", "sex")), age = c(30, 60)))
  recoded$years <- d$age
  said <- expect_message(release_data(recoded), class = "sdcRisk_message_determined_keys")
  expect_match(conditionMessage(said), "\"years\" than \"age\"", fixed = TRUE)
  # The role of a continuous variable, and a name for each value, are not more detailed.
  d$number <- match(d$group, levels(d$group))
  d$age <- NULL
  quiet <- quietly(file_check(d, c("group", "sex")))
  expect_identical(nrow(quiet$diagnostics$finer_columns), 0L)
  expect_identical(nrow(told(quiet)), 1L)
})

# Hidden values that most other records with an equal value of the column have.
told_by_most <- function(column, original, hidden, shown = original) {
  sum(vapply(which(hidden), function(i) {
    others <- shown[-i][column[-i] == column[[i]]]
    n <- table(factor(others, unique(original)))
    n[[as.character(original[[i]])]] > max(n[names(n) != as.character(original[[i]])])
  }, NA))
}

test_that("functions of two columns, near functions and dates are found", {
  of <- function(d, r, variables) sdcRisk:::told_by_columns(d, r, variables)
  set.seed(5)
  d <- data.frame(
    state = sample(8, 3000, TRUE), district = sample(6, 3000, TRUE), noise = sample(20, 3000, TRUE)
  )
  d$region <- matrix(sample(5, 48, TRUE), 8)[cbind(d$state, d$district)]
  r <- d
  r$region[sample(3000, 100)] <- NA
  expect_identical(of(d, r, "region"), data.frame(
    variable = "region", by = "state + district", share = 1, n = 100L, identifier = FALSE,
    part = FALSE, finer = FALSE, n_renumbered = 100L, was_missing = FALSE, expected = FALSE
  ))
  d <- data.frame(a = sample(50, 5000, TRUE))
  d$b <- d$a %/% 10
  wrong <- sample(5000, 40)
  d$b[wrong] <- (d$b[wrong] + 1) %% 6
  r <- d
  r$b[c(wrong[1:4], setdiff(1:5000, wrong)[1:196])] <- NA
  expect_identical(of(d, r, "b")[c("by", "n")], data.frame(by = "a", n = 196L))
  # 10% is no longer near: the commonest value of the others counts.
  d$b[sample(5000, 500)] <- 9
  r <- replace(d, "b", list(replace(d$b, sample(5000, 200), NA)))
  expect_identical(
    of(d, r, "b")[c("by", "n")], data.frame(by = "a", n = told_by_most(d$a, d$b, is.na(r$b)))
  )
  d <- data.frame(born = as.Date("2020-06-30") - sample(7000:30000, 900))
  d$age <- as.integer(as.double(as.Date("2020-06-30") - d$born) / 365.25)
  r <- d
  r$age[sample(900, 90)] <- NA
  expect_identical(of(d, r, "age")$n, 90L)
  # In a file sorted by region a running number tells the region of its neighbours.
  d <- data.frame(id = 1:2000, region = rep(letters[1:8], each = 250))
  r <- d
  r$region[seq(12, 2000, 20)] <- NA
  expect_identical(of(d, r, "region")$n, 100L)
})

test_that("a time of birth tells an age as its date does", {
  set.seed(31)
  age <- sample(20:79, 1500, TRUE)
  born <- as.Date("2020-01-01") - round(age * 365.25) - sample(0:364, 1500, TRUE)
  times <- as.POSIXct(paste(born, "00:00:00"), tz = "UTC") + runif(1500, 0, 86399)
  births <- list(
    born, born + runif(1500), times, format(times, "%Y-%m-%d %H:%M:%S"),
    factor(format(times, "%d.%m.%Y %H:%M"))
  )
  for (birth in births) {
    d <- data.frame(age = age, sex = sample(2, 1500, TRUE), region = sample(40, 1500, TRUE))
    d$birth <- birth
    said <- NULL
    x <- withCallingHandlers(
      suppressWarnings(suppress_cells(d, person_keys, k = 3)),
      sdcRisk_message_determined_keys = function(m) said <<- m,
      message = function(m) tryInvokeRestart("muffleMessage")
    )
    expect_identical(told(x)$by, "birth")
    expect_identical(told(x)$share, 1)
    expect_identical(said$told_by$by, "birth")
    expect_match(format(quietly(file_check(d, person_keys))), "\"birth\" reveals", all = FALSE)
  }
})

test_that("counts agree with their definition on small files", {
  of <- function(d, r) sdcRisk:::told_by_columns(d, r, "v")
  n_exact <- 0
  for (seed in seeds(60)) {
    set.seed(seed)
    n <- 400
    d <- data.frame(v = sample(sample(2:8, 1), n, TRUE), z = sample(9, n, TRUE))
    d$c <- 4 * d$v + sample(4, n, TRUE)
    exact <- stats::runif(1) < 0.5
    if (!exact) d$c[1:300] <- sample(d$c[1:300])
    r <- d
    r$v[sample(n, 30)] <- NA
    r$c[sample(n, 10)] <- NA
    found <- of(d, r)
    back <- sum(is.na(r$v) & !is.na(r$c))
    expect_identical(found$n, if (exact) back else integer())
    n_exact <- n_exact + exact
    # Groups of three, of which the others show the value or do not.
    at <- sample(rep(1:100, each = 3))
    d <- data.frame(v = sample(4, 100, TRUE)[at], home = at)
    r <- d
    changed <- sample(300, 60)
    r$v[changed] <- sample(c(NA, 1:4), 60, TRUE)
    protected <- which(is.na(r$v) | r$v != d$v)
    right <- vapply(protected, function(i) {
      counts <- table(r$v[setdiff(which(at == at[[i]]), i)])
      top <- names(counts)[counts == max(counts, 0)]
      length(top) == 1 && top == d$v[[i]]
    }, NA)
    expect_identical(of(d, r)$n, sum(right))
  }
  expect_gt(n_exact, 0)
})

test_that("columns that have nothing to do with a key variable tell nothing", {
  n_told <- 0
  for (seed in seeds(60)) {
    set.seed(seed)
    n <- sample(c(20, 50, 200, 1000), 1)
    d <- lapply(1:12, function(v) {
      switch(
        sample(5, 1), stats::rnorm(n), sample(2, n, TRUE), sample(n),
        stats::rbinom(n, 1, 0.02), sample(30, n, TRUE)
      )
    })
    d <- as.data.frame(rlang::set_names(d, paste0("x", 1:12)))
    n_told <- n_told + nrow(sdcRisk:::told_by_columns(d, NULL, paste0("x", 1:5)))
  }
  expect_equal(n_told, 0)
  # DAGE and EDUC_DET are the detailed versions; 32 records share a weight with others of
  # their region.
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
  found <- sdcRisk:::told_by_columns(nals_prison, NULL, keys)
  expect_identical(found$by, c("WEIGHT", "DAGE", "EDUC_DET"))
  expect_identical(found$n, c(32L, 182L, 182L))
  keys <- c("age", "workclass", "education_num", "marital_status", "race", "sex")
  # Husbands are married men, wives married women; other relations tell neither. Seven records
  # have a kind of work and no occupation: they never worked.
  found <- sdcRisk:::told_by_columns(adult, NULL, keys)
  expect_identical(found$variable, c("workclass", "marital_status", "sex"))
  expect_identical(found$by, c("occupation", "relationship", "relationship"))
  spouses <- adult$relationship %in% c("Husband", "Wife")
  expect_equal(found$n, c(7L, rep(sum(spouses), 2)), tolerance = 0.01)
  without <- adult[setdiff(names(adult), c("relationship", "occupation"))]
  expect_identical(nrow(sdcRisk:::told_by_columns(without, NULL, keys)), 0L)
})

test_that("a column that tells a single category is named, and one that does not is not", {
  set.seed(8)
  n <- 3000
  d <- data.frame(
    sex = sample(c("f", "m"), n, TRUE), age = sample(15:90, n, TRUE),
    town = sample(c("East", "West", "Tiny"), n, TRUE, prob = c(0.6, 0.38, 0.02))
  )
  woman <- d$sex == "f"
  # A question to some of the women; an amount that only the old receive; a mark of one town.
  d$births <- ifelse(woman & d$age < 50, stats::rpois(n, 1), NA)
  d$pension <- ifelse(d$age >= 65, round(stats::rlnorm(n, 7), 2), 0)
  d$old <- d$age >= 65
  d$island <- ifelse(d$town == "Tiny", sample(2, n, TRUE), sample(2:5, n, TRUE))
  d$luck <- sample(400, n, TRUE)
  r <- d
  r$sex[sample(n, 300)] <- NA
  r$old[sample(n, 300)] <- NA
  r$town[sample(which(d$town == "Tiny"), 40)] <- NA
  of <- function(d, r, v) sdcRisk:::told_by_columns(d, r, v)
  found <- of(d, r, c("sex", "old", "town"))
  back <- function(v, by) found$n[found$variable == v & found$by == by]
  hidden <- lapply(r[c("sex", "old", "town")], is.na)
  expect_identical(back("sex", "births"), sum(hidden$sex & !is.na(d$births)))
  expect_identical(back("old", "pension"), 300L)
  expect_identical(back("town", "island"), sum(hidden$town & d$island == 1))
  expect_false("luck" %in% found$by)
  # The attack by hand, and on columns that mean nothing.
  expect_identical(unique(d$sex[hidden$sex & !is.na(d$births)]), "f")
  mixed <- d
  for (name in c("births", "pension", "island")) mixed[[name]] <- sample(d[[name]])
  for (name in names(hidden)) mixed[[name]][hidden[[name]]] <- NA
  whole <- d
  whole[c("births", "pension", "island")] <- mixed[c("births", "pension", "island")]
  expect_false(any(c("births", "pension", "island") %in% of(whole, mixed, c("sex", "old"))$by))
  said <- expect_message(
    y <- suppress_cells(
      d[c("sex", "age", "town", "births")], c("sex", "age", "town"), k = 12,
      importance = c(sex = 0.1)
    ),
    class = "sdcRisk_message_determined_keys"
  )
  expect_true("births" %in% said$told_by$by)
})

test_that("the records of a household are counted", {
  set.seed(9)
  size <- sample(1:6, 700, TRUE, prob = c(6:2, 0.2))
  home <- sample(90000, 700)[rep(seq_along(size), size)]
  n <- length(home)
  d <- data.frame(
    hid = home, hsize = rep(size, size), age = sample(90, n, TRUE), sex = sample(2, n, TRUE)
  )
  d$hincome <- round(stats::rlnorm(700, 9), 2)[match(home, unique(home))]
  keys <- c("hsize", "age", "sex")
  x <- quietly(suppress_cells(d, keys, k = 4, hh_id = "hid", importance = c(hsize = 0.1)))
  gone <- is.na(x$data$hsize)
  expect_gt(sum(gone), 50)
  # All members miss it: none of them shows it, but there they are.
  counted <- as.vector(table(x$data$hincome)[as.character(x$data$hincome)])
  expect_identical(sum(counted[gone] == d$hsize[gone]), sum(gone))
  size_told <- told(x)[told(x)$variable == "hsize", ]
  expect_setequal(size_told$by, c("hid", "hincome"))
  expect_identical(size_told$n, rep(sum(gone), 2))
  expect_identical(size_told$identifier, size_told$by == "hid")
  without <- quietly(release_data(x, drop = "hincome"))
  expect_false(any(c("hid", "hincome") %in% names(without)))
})

test_that("a number that is the protected one in nine of ten records tells it", {
  n <- 800
  set.seed(4)
  d <- data.frame(sex = sample(c("f", "m"), n, TRUE), all = round(stats::runif(n, 300, 3300)))
  second <- sample(c(0, 600), n, TRUE, c(0.94, 0.06))
  d$main <- 60 * (d$all - pmin(second, d$all))
  same <- d$main == 60 * d$all
  named <- function(file, part = "told_others") {
    told <- quietly(file_check(release_data(file)))$diagnostics[[part]]
    told$n[told$variable == "all" & told$by == "main"]
  }
  moved <- function(file) as.data.frame(file)$all != d$all
  top <- quietly(top_code(sdc_file(d, "sex"), all = 3000))
  expect_identical(named(top), sum(same & moved(top)))
  means <- quietly(microaggregate(sdc_file(d, "sex", num_vars = "all"), k = 20))
  expect_identical(named(means), sum(same & moved(means)))
  # Bands are known by the neighbours, in a written file too.
  bands <- quietly(global_recode(sdc_file(d, c("sex", "all")), all = c(0, 1000, 2000, 3000)))
  expect_identical(named(bands, "told_before"), sum(same))
  path <- tempfile(fileext = ".csv")
  utils::write.csv(quietly(release_data(bands)), path, row.names = FALSE)
  pages <- quietly(list(
    file_check(release_data(bands)),
    file_check(utils::read.csv(path), c("sex", "all"), limit = list(k = 3))
  ))
  for (page in pages) {
    k <- page$estimates[page$estimates$measure == "k", ]
    expect_identical(k$verdict, "unclear")
    expect_match(k$reason, "\"main\"")
  }
  # What is the same in half of the records is no function.
  d$main[sample(n, n / 2)] <- 1
  top <- quietly(top_code(sdc_file(d, "sex"), all = 3000))
  expect_identical(named(top), integer())
  # Two values of each lie on a line, whatever the order of the records.
  few <- data.frame(key = rep(c(1, 4), c(320, 80)), by = rep(c(2, 3, 2, 3), c(316, 4, 4, 76)))
  for (rows in list(1:400, order(few$by, few$key), order((1:400 * 7) %% 401))) {
    expect_null(sdcRisk:::line_of(few$by[rows], few$key[rows]))
  }
})

test_that("no answer in a column beside missing values reveals none of them", {
  n <- 1000
  set.seed(6)
  raw <- sample(1:22, n, TRUE)
  group <- c("low", "middle", "high")[1 + (raw > 7) + (raw > 15)]
  refused <- sample(n, 60)
  blank <- sample(setdiff(seq_len(n), refused), 40)
  forms <- list(
    replace(raw, refused, -9L),
    structure(
      replace(raw, refused, 55L),
      class = c("haven_labelled", "vctrs_vctr", "integer"), labels = c("no answer" = 55L)
    ),
    replace(sprintf("band %d", raw), refused, "refused")
  )
  for (form in forms) {
    d <- data.frame(group = replace(group, c(refused, blank), NA), form)
    told <- quietly(file_check(d, "group", limit = list(k = 3)))$diagnostics$told_missing
    expect_identical(told$n, 40L)
    expect_equal(told$share, 0.4)
    expect_false(told$finer)
    d$group[blank] <- group[blank]
    told <- quietly(file_check(d, "group", limit = list(k = 3)))$diagnostics$told_missing
    expect_identical(nrow(told), 0L)
  }
  # A number such as 99 may be a value: an age.
  d <- data.frame(group = replace(group, refused, NA), raw = replace(raw, refused, 99L))
  told <- quietly(file_check(d, "group", limit = list(k = 3)))$diagnostics$told_missing
  expect_identical(told$n, 60L)
})

test_that("missing values are counted as a sum with exceptions gives them", {
  n <- 1000
  set.seed(3)
  d <- data.frame(a = sample(9, n, TRUE), b = sample(9, n, TRUE), c = sample(9, n, TRUE))
  members <- rowSums(d)
  d$members <- replace(members, 1:60, members[1:60] + 40)
  d$members[seq(5, n, 10)] <- NA
  x <- quietly(file_check(sdc_file(d, "members"), k = 3))
  told <- x$diagnostics$told_missing
  # The sum is right in 846 of the 900 others.
  expect_identical(told$by, "a + b + c")
  expect_identical(told$n, 94L)
})

test_that("amounts of money are measurements, numbers of records are identifiers", {
  set.seed(6)
  look <- function(x, name = "x") {
    sdcRisk:::look_of(x, name, length(x), length(unique(x)))
  }
  money <- round(stats::rlnorm(2000, 15, 2))
  expect_identical(look(money, "expend"), "continuous variable")
  expect_identical(look(money, "person_no"), "identifier")
  expect_identical(look(sort(unique(money))), "identifier")
  expect_identical(look(sample(2000)), "identifier")
  expect_identical(look(sample(10000000:99999999, 2000)), "identifier")
  expect_identical(look(paste0("p", 1:2000)), "identifier")
})

test_that("what a protection found stands under after in the checklist of a report", {
  keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
  p <- quietly(invariant_pram(nals_prison, keys, unprotected = "merge"))
  expect_true("DAGE" %in% p$diagnostics$told_by_columns$by)
  path <- tempfile(fileext = ".html")
  quietly(sdc_report(
    file_check(nals_prison, keys), p, after = file_check(p$data, keys), file = path,
    pictures = FALSE
  ))
  page <- paste(readLines(path, encoding = "UTF-8"), collapse = " ")
  expect_match(page, "After: [^<]*DAGE reveals 100% of the protected values of DAGE3")
  expect_no_match(page, "After: None was found that reveals")
})

test_that("a question that was put to some alone tells who they are", {
  set.seed(3)
  n <- 1500
  data <- data.frame(
    region = sample(12, n, TRUE), age = sample(20:80, n, TRUE),
    sex = sample(c("f", "m"), n, TRUE), edu = sample(5, n, TRUE)
  )
  data$births <- ifelse(data$sex == "f", sample(0:4, n, TRUE), NA)
  # As many values missing, at random.
  data$income <- sample(c(NA, 1:9), n, TRUE)
  keys <- c("region", "age", "sex", "edu")
  protect <- function() suppress_cells(data, keys, k = 3, importance = c(sex = 0.5))
  expect_message(x <- protect(), class = "sdcRisk_message_determined_keys")
  told <- x$diagnostics$told_by_columns
  told <- told[told$by == "births" & told$variable == "sex", ]
  expect_identical(told$share, 1)
  expect_identical(told$n, sum(is.na(x$data$sex)))
  expect_false("income" %in% x$diagnostics$told_by_columns$by)
  check <- quietly(file_check(data, keys))$diagnostics$told_by_columns
  expect_true("births" %in% check$by[check$variable == "sex"])
  one <- transform(data, births = ifelse(is.na(births), NA, 1))
  told <- quietly(file_check(one, keys))$diagnostics$told_by_columns
  expect_true("births" %in% told$by[told$variable == "sex"])
})

test_that("a factor without a value stays a factor", {
  data <- data.frame(a = rep(1:2, 10), f = factor(rep(NA, 20), levels = c("x", "y")))
  out <- release_data(suppress_cells(data, "a", k = 2))
  expect_identical(out$f, factor(rep(NA_character_, 20)))
  expect_output(print(out), "<NA>")
})

test_that("a column that a variable tells narrows its protected values", {
  set.seed(8)
  n <- 1200
  division <- sample(c("01", "10", "45", "47", "62", "86"), n, TRUE)
  data <- data.frame(
    nace = paste0(division, ".", sample(1:4, n, TRUE), sample(0:9, n, TRUE)),
    legal = sample(c("AG", "GmbH", "KG"), n, TRUE), division, other = sample(6, n, TRUE)
  )
  keys <- c("nace", "legal")
  x <- quietly(suppress_cells(data, keys))
  told <- x$diagnostics$told_by_columns
  expect_identical(told[c("variable", "by", "part")], data.frame(
    variable = "nace", by = "division", part = TRUE
  ))
  expect_identical(told$n, sum(is.na(x$data$nace)))
  expect_match(
    paste(format(x), collapse = " "),
    paste0("\"division\" narrows ", format(told$n, big.mark = ","))
  )
  # The call that it proposes mends it.
  said <- expect_message(suppress_cells(data, keys), class = "sdcRisk_message_determined_keys")
  expect_match(conditionMessage(said), "linked = list(nace = \"division\")", fixed = TRUE)
  linked <- quietly(suppress_cells(data, keys, linked = list(nace = "division")))
  expect_identical(sum(is.na(linked$data$division)), sum(is.na(linked$data$nace)))
  expect_identical(nrow(linked$diagnostics$told_by_columns), 0L)

  # Exchanged industries stand beside the division of the record.
  moved <- quietly(invariant_pram(data, keys, max_match_prob = 0.5, unprotected = "keep"))
  told <- moved$diagnostics$told_by_columns
  expect_identical(told$n, sum(substr(moved$data$nace, 1, 2) != moved$data$division))
  inside <- quietly(invariant_pram(
    data, keys, max_match_prob = 0.5, unprotected = "keep", within = "division"
  ))
  expect_identical(nrow(inside$diagnostics$told_by_columns), 0L)

  # A recoding to divisions or below hides nothing of them, one across divisions does.
  levels <- data.frame(nace = sort(unique(data$nace)))
  levels$division <- substr(levels$nace, 1, 2)
  levels$half <- ifelse(levels$division < "46", "A", "B")
  narrowed <- function(level) {
    found <- quietly(recode_search(
      data, keys, list(nace = levels),
      keep = list(nace = level, legal = 0), constraint = list(k = 1)
    ))
    found$diagnostics$told_by_columns
  }
  expect_identical(nrow(narrowed(1)), 0L)
  expect_identical(narrowed(2)[c("by", "n", "part")], data.frame(
    by = "division", n = as.integer(n), part = TRUE
  ))
})

test_that("a function that luck cannot make is found without a warning of R", {
  expect_no_warning(luck <- sdcRisk:::luck_of(33, 3797, 1 - 0.593537))
  expect_lt(luck, -2000)
  expect_identical(sdcRisk:::luck_of(3, 20, 0.4), stats::pbinom(3, 20, 0.4, log.p = TRUE))
})

# The verdict and the reason of k on a page.
k_of_page <- function(...) {
  page <- quietly(file_check(...))$estimates
  unlist(page[page$measure == "k", c("verdict", "reason")])
}

test_that("a page of a release says which part of its missing values a column reveals", {
  set.seed(1)
  n <- 1500
  d <- data.frame(
    sex = sample(c("f", "m"), n, TRUE), age = sample(15:90, n, TRUE),
    town = sample(letters[1:10], n, TRUE)
  )
  # A question put to women below 50, and a year of birth of every third person.
  d$births <- ifelse(d$sex == "f" & d$age < 50, rpois(n, 1), NA)
  d$born <- ifelse(seq_len(n) %% 3 == 0, 2020 - d$age, NA)
  keys <- c("sex", "age", "town")
  for (case in list(c("sex", "births"), c("age", "born"))) {
    x <- quietly(suppress_cells(
      d[c(keys, case[[2]])], keys, k = 3,
      importance = rlang::set_names(c(0.1, 1, 1), c(case[[1]], setdiff(keys, case[[1]])))
    ))
    gone <- is.na(x$data[[case[[1]]]])
    n_back <- sum(gone & !is.na(d[[case[[2]]]]))
    expect_gt(n_back, 100)
    expect_lt(n_back, 0.5 * sum(gone))
    # In the session they are counted, later only expected.
    reason <- function(n) {
      paste0(
        "released columns reveal missing values: \"", case[[2]], "\" reveals ", n, " of ",
        format(sum(gone), big.mark = ","), " values of \"", case[[1]], "\""
      )
    }
    release <- quietly(release_data(x))
    path <- tempfile(fileext = ".csv")
    utils::write.csv(release, path, row.names = FALSE)
    read <- utils::read.csv(path)
    unlink(path)
    unclear <- function(n) c(verdict = "unclear", reason = reason(n))
    expect_identical(k_of_page(x), unclear(n_back))
    expect_identical(k_of_page(release), unclear(paste("about", n_back)))
    expect_identical(k_of_page(read, keys), unclear(paste("about", n_back)))
    release[[case[[2]]]] <- read[[case[[2]]]] <- NULL
    clear <- c(verdict = "ok", reason = "")
    expect_identical(k_of_page(release), clear)
    expect_identical(k_of_page(read, keys), clear)
  }
})

test_that("what only the original shows goes with the release as long as the column does", {
  # Half of a category comes back, too few values for a file alone to show.
  set.seed(4)
  n <- 2000
  d <- data.frame(
    town = c(rep("tiny", 12), sample(c("east", "west", "north"), n - 12, TRUE)),
    sex = sample(2, n, TRUE), age = sample(20:59, n, TRUE)
  )
  d$island <- ifelse(d$town == "tiny", 1, sample(2:9, n, TRUE))
  keys <- c("town", "sex", "age")
  x <- quietly(suppress_cells(d, keys, k = 3, importance = c(town = 0.1)))
  expect_identical(sum(is.na(x$data$town[1:12])), 12L)
  expect_identical(told(x)[c("by", "n")], data.frame(by = "island", n = 12L))
  release <- quietly(release_data(x))
  share <- paste0("\"island\" reveals 12 of ", sum(is.na(x$data$town)), " values of \"town\"")
  reason <- paste0("released columns reveal protected values: ", share)
  unclear <- c(verdict = "unclear", reason = reason)
  clear <- c(verdict = "ok", reason = "")
  expect_identical(k_of_page(x), unclear)
  expect_identical(k_of_page(release), unclear)
  # The file, fewer of its records, one read again, and after another protection.
  path <- tempfile(fileext = ".rds")
  saveRDS(release, path)
  expect_identical(k_of_page(readRDS(path)), unclear)
  unlink(path)
  expect_identical(k_of_page(release[order(release$age), ]), unclear)
  again <- quietly(suppress_cells(release, k = 3))
  expect_identical(k_of_page(again), unclear)
  expect_identical(k_of_page(quietly(release_data(again))), unclear)
  # Without the column, with another one of its name, or without the history.
  expect_identical(k_of_page(subset(release, select = -island)), clear)
  expect_identical(k_of_page(quietly(release_data(x, drop = "island"))), clear)
  expect_identical(k_of_page(transform(release, island = island > 5)), clear)
  expect_identical(k_of_page(as.data.frame(release), keys), clear)
  # The page of the file and that of its report, and the step that mends it.
  page <- quietly(file_check(release))
  expect_identical(page$diagnostics$told_before[c("variable", "by")], data.frame(
    variable = "town", by = "island"
  ))
  expect_match(
    paste(trimws(format(page, width = 1e4)), collapse = " "),
    paste0("not known to be within your limits: k unclear (", reason, ")"), fixed = TRUE
  )
  step <- utils::tail(page$next_steps, 1)
  expect_match(step, "subset(file, select = -island)", fixed = TRUE)
  expect_false(any(grepl("sdc_report", page$next_steps)))
  path <- tempfile(fileext = ".html")
  quietly(sdc_report(
    quietly(file_check(d, keys)), x, after = page, file = path, pictures = FALSE
  ))
  html <- paste(readLines(path, encoding = "UTF-8"), collapse = " ")
  unlink(c(path, sub("html$", "json", path)))
  expect_match(html, "reveal protected values")
})

test_that("a category whose other values were suppressed is not said to reveal them", {
  # Of 300 children three were not sons: these are the missing values.
  d <- data.frame(
    age = rep(c(5, 30), each = 300), role = rep(c("son", "head", "wife"), c(300, 150, 150))
  )
  revealed <- function(n) {
    d$role[seq_len(n)] <- NA
    found <- sdcRisk:::told_by_columns(d, NULL, "role", missing = TRUE)
    found$n[!found$part]
  }
  expect_identical(revealed(3), integer())
  expect_identical(revealed(30), 30L)
})

test_that("a page says which columns reveal protected values of variables that are no keys", {
  set.seed(3)
  d <- data.frame(
    region = sample(letters[1:3], 300, TRUE), sex = sample(c("f", "m"), 300, TRUE),
    wage = round(exp(stats::rnorm(300, 10, 0.5)))
  )
  d$wage_k <- d$wage / 1000
  file <- sdc_file(d, c("region", "sex"), num_vars = "wage", pop_size = 3e5)
  safe <- quietly(microaggregate(file, k = 5))
  release <- quietly(release_data(safe))
  limit <- list(k = 3)
  said <- "Released columns reveal protected values: \"wage_k\" reveals 300 of 300 values of"
  for (x in list(safe, release)) {
    page <- quietly(file_check(x, limit = limit))
    told <- page$diagnostics$told_others
    expect_identical(c(told$variable, told$by), c("wage", "wage_k"))
    expect_identical(told$n, as.integer(sum(safe$wage != d$wage)))
    expect_equal(NROW(page$diagnostics$told_before), 0)
    # Classes of the key variables are what they are.
    expect_identical(k_of_page(x), c(verdict = "ok", reason = ""))
    for (lines in list(format(page, width = 1e4), format(page, width = 1e4, all = TRUE))) {
      expect_match(paste(lines, collapse = " "), said, fixed = TRUE)
    }
    expect_match(page$next_steps, "subset(file, select = -wage_k)", fixed = TRUE, all = FALSE)
  }
  # As a key variable it reveals the wage, too; without it nothing is told.
  page <- quietly(file_check(sdc_file(safe, c("region", "wage_k")), limit = limit))
  expect_identical(page$diagnostics$told_others$by, "wage_k")
  page <- quietly(file_check(quietly(release_data(safe, drop = "wage_k")), limit = limit))
  expect_equal(NROW(page$diagnostics$told_others), 0)
  expect_no_match(paste(format(page, all = TRUE), collapse = " "), "reveal protected values")
})

test_that("the commonest values are those of a table, whether few cells or many", {
  set.seed(1)
  for (sizes in list(c(3, 4), c(400, 5), c(30, 300))) {
    group <- sample(0:sizes[[1]], 1500, TRUE)
    value <- sample(0:sizes[[2]], 1500, TRUE)
    found <- sdcRisk:::column_fit(group, value)
    known <- group > 0 & value > 0
    cells <- table(group[known], value[known])
    best <- apply(cells, 1, which.max)
    expect_identical(found$group, as.integer(rownames(cells)))
    expect_identical(found$best, as.integer(colnames(cells))[best])
    expect_identical(found$errors, sum(known) - sum(apply(cells, 1, max)))
    expect_identical(found$extra, sum(known) - nrow(cells))
    expect_equal(found$commonest, max(table(value[known])) / sum(known))
  }
})

test_that("a column that gives a variable but for some records is named, whatever its type", {
  # Work and residence are in one region but for 5%.
  n <- 3000
  set.seed(4)
  home <- sample(8, n, TRUE, c(0.3, 0.25, 0.2, 0.1, 0.06, 0.05, 0.03, 0.01))
  work <- home
  away <- sample(n, 150)
  work[away] <- sample(8, 150, TRUE)
  d <- data.frame(
    region = letters[home], sex = sample(c("f", "m"), n, TRUE),
    age = pmin(90, 18 + round(stats::rexp(n, 1 / 18)))
  )
  for (work in list(LETTERS[work], factor(work), work, work + 0.5)) {
    x <- quietly(suppress_cells(
      sdc_file(cbind(d, work), c("region", "sex", "age")), k = 3, importance = c(sex = 5, age = 5)
    ))
    told <- x$diagnostics$told_by_columns
    hidden <- is.na(x$data$region)
    expect_identical(told[c("variable", "by")], frame(variable = "region", by = "work"))
    # Of a number nobody knows the region of those whose regions are hidden, too.
    others <- if (is.numeric(work) && !is.integer(work)) x$data$region else d$region
    expect_identical(told$n, told_by_most(work, d$region, hidden, others))
    page <- quietly(file_check(release_data(x), k = 3))
    expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "unclear")
  }
  # Nothing is said of a column that has nothing to do with it.
  luck <- sample(letters[1:8], n, TRUE)
  x <- quietly(suppress_cells(sdc_file(cbind(d, luck), c("region", "sex", "age")), k = 3))
  expect_identical(nrow(x$diagnostics$told_by_columns), 0L)
})

test_that("a year of birth that gives two ages is named, with bands and in a written file", {
  n <- 4000
  set.seed(2)
  birth <- as.Date("1930-01-01") + sample(365 * 75, n, TRUE)
  asked <- as.Date("2013-02-01") + sample(60, n, TRUE)
  year <- function(x) as.integer(format(x, "%Y"))
  d <- data.frame(
    age = year(asked) - year(birth) - (format(asked, "%m%d") < format(birth, "%m%d")),
    sex = sample(c("f", "m"), n, TRUE),
    region = sample(letters[1:6], n, TRUE, c(0.4, 0.3, 0.15, 0.1, 0.04, 0.01)), born = year(birth)
  )
  verdict <- function(x, keys = c("age", "sex", "region")) {
    page <- quietly(file_check(x, keys, k = 3))
    page$estimates$verdict[page$estimates$measure == "k"]
  }
  x <- quietly(suppress_cells(sdc_file(d, c(age, sex, region)), k = 3))
  told <- x$diagnostics$told_by_columns
  expect_identical(told$by, "born")
  expect_identical(told$n, told_by_most(d$born, d$age, is.na(x$data$age)))
  expect_identical(verdict(release_data(x)), "unclear")
  expect_identical(verdict(as.data.frame(quietly(release_data(x)))), "unclear")
  # Over a whole year the one age is not more probable than the other: two are left.
  half <- replace(d, "age", list(pmax(0, d$age - sample(0:1, n, TRUE))))
  x <- quietly(suppress_cells(sdc_file(half, c(age, sex, region)), k = 3))
  told <- x$diagnostics$told_by_columns
  expect_identical(told$by, "born")
  expect_identical(told$part, TRUE)
  expect_identical(told$n, sum(is.na(x$data$age)))
  expect_identical(verdict(release_data(x)), "unclear")
  # In a small file a year is known, too, as a number and as text.
  birth <- as.Date("2020-06-30") - sample(6575:28490, 500, TRUE)
  small <- data.frame(
    age = as.double(as.Date("2020-06-30") - birth) %/% 365.25, d[1:500, c("sex", "region")]
  )
  for (born in list(year(birth), as.character(year(birth)))) {
    small$born <- born
    x <- quietly(suppress_cells(sdc_file(small, c(age, sex, region)), k = 3))
    told <- x$diagnostics$told_by_columns
    expect_identical(told[c("variable", "by", "part")], frame(
      variable = "age", by = "born", part = TRUE
    ))
    expect_identical(told$n, sum(is.na(x$data$age)))
    expect_identical(verdict(release_data(x)), "unclear")
  }
  # Exact ages come back, and bands in a file that was written.
  recoded <- quietly(global_recode(sdc_file(d, c(age, sex)), age = c(0, 20, 30, 40, 50)))
  expect_identical(verdict(release_data(recoded), c("age", "sex")), "unclear")
  written <- as.data.frame(quietly(release_data(recoded)))
  expect_identical(verdict(written, c("age", "sex")), "unclear")
})

test_that("a number that nearly orders a variable is named", {
  n <- 3000
  set.seed(6)
  level <- sample(5, n, TRUE, c(0.37, 0.36, 0.15, 0.07, 0.05))
  d <- data.frame(
    age = pmin(75, 18 + round(stats::rgamma(n, 3, 0.15))), sex = sample(c("f", "m"), n, TRUE),
    level = level
  )
  found <- lapply(c(250, 500), function(spread) {
    d$income <- 1000 * level + stats::rnorm(n, 0, spread)
    x <- quietly(
      suppress_cells(sdc_file(d, c("age", "sex", "level")), k = 3, importance = c(age = 5, sex = 5))
    )
    hidden <- is.na(x$data$level)
    order <- order(d$income[!hidden])
    values <- d$income[!hidden][order]
    shown <- d$level[!hidden][order]
    right <- vapply(which(hidden), function(i) {
      at <- findInterval(d$income[[i]], values)
      near <- shown[intersect(at + -1:2, seq_along(shown))]
      n <- table(factor(near, 1:5))
      n[[level[[i]]]] > max(n[-level[[i]]])
    }, NA)
    told <- x$diagnostics$told_by_columns
    expect_identical(told[c("variable", "by")], frame(variable = "level", by = "income"))
    expect_identical(told$n, sum(right))
    told$share
  })
  expect_gt(found[[1]], 0.9)
  expect_gt(found[[2]], 0.5)
})

test_that("a year of birth is more detailed than bands of two or three years", {
  set.seed(1)
  n <- 3000
  age <- sample(20:79, n, TRUE)
  d <- data.frame(age = age, sex = sample(1:2, n, TRUE), born = 2020 - age - rbinom(n, 1, 0.5))
  d$income <- round(exp(8 + age / 40 + stats::rnorm(n, 0, 0.3)))
  # A year of birth has one or two ages or bands. There are as many years as ages.
  for (width in 1:3) {
    d$age <- age %/% width * width
    page <- quietly(file_check(d[c("age", "sex", "born", "income")], c("age", "sex"), k = 3))
    finer <- page$diagnostics$finer_columns
    verdict <- page$estimates$verdict[page$estimates$measure == "k"]
    expect_lte(max(tapply(d$age, d$born, function(x) length(unique(x)))), 2)
    expect_identical(finer$by, if (width > 1) "born" else character())
    expect_identical(finer$n, if (width > 1) 3000L else integer())
    expect_identical(verdict, if (width > 1) "unclear" else "ok")
  }
})

test_that("a column that leaves two values out of order is no more detailed", {
  # Records of a subject share a date, and so one of the sites.
  set.seed(2)
  of <- rep(seq_len(100), each = 10)
  site <- sample(12, 100, TRUE)[of]
  date <- as.Date("2024-01-01") + sample(60, 100, TRUE)[of]
  page <- quietly(file_check(data.frame(site, sex = sample(1:2, 1000, TRUE), date), 1:2, k = 3))
  expect_identical(nrow(page$diagnostics$finer_columns), 0L)
})

test_that("a column more detailed than a key variable may have exceptions", {
  n <- 1000
  for (share in c(0.005, 0.03, 0.06, 0.3)) {
    set.seed(1)
    town <- sample(40, n, TRUE)
    region <- sample(4, 40, TRUE)[town]
    away <- stats::runif(n) < share
    region[away] <- sample(4, sum(away), TRUE)
    d <- data.frame(
      region = letters[region], sex = sample(1:2, n, TRUE), town = paste0("T", town)
    )
    page <- quietly(file_check(d, c("region", "sex"), k = 3))
    told <- page$diagnostics$told_by_columns
    right <- told_by_most(d$town, d$region, rep(TRUE, n))
    verdict <- page$estimates$verdict[page$estimates$measure == "k"]
    if (share < 0.1) {
      expect_identical(told[c("by", "n", "finer")], frame(by = "town", n = right, finer = TRUE))
      expect_identical(verdict, "unclear")
    } else {
      expect_lt(right, 0.9 * n)
      expect_identical(verdict, "ok")
    }
  }
})

test_that("members of households are counted by weights of which some are equal", {
  set.seed(5)
  size <- sample(6, 1500, TRUE, c(0.3, 0.3, 0.17, 0.13, 0.07, 0.03))
  home <- rep(seq_along(size), size)
  d <- data.frame(
    size = size[home], age = sample(9, length(home), TRUE),
    weight = round(stats::runif(1500, 5, 105), 2)[home]
  )
  r <- d
  r$size[home %in% sample(1500, 200)] <- NA
  hidden <- is.na(r$size)
  counted <- stats::ave(home, d$weight, FUN = length) == d$size
  expect_lt(mean(counted), 0.95)
  told <- sdcRisk:::told_by_columns(d, r, "size")
  expect_identical(told$by, "weight")
  expect_gte(told$n, sum(counted[hidden]))
})

test_that("a pair of a key variable and another column that reveals another one is judged", {
  set.seed(3)
  d <- data.frame(b = sample(6, 2000, TRUE), sex = sample(2, 2000, TRUE), c = sample(6, 2000, TRUE))
  d$a <- (d$b + d$c) %% 6
  d$sex[d$a == 0] <- sample(9, sum(d$a == 0), TRUE)
  keys <- c("a", "b", "sex")
  x <- quietly(suppress_cells(sdc_file(d, keys), k = 8, importance = c(b = 9, sex = 9)))
  told <- x$diagnostics$told_by_columns
  expect_identical(told[c("variable", "by")], frame(variable = "a", by = "b + c"))
  expect_identical(told$n, sum(is.na(x$data$a)))
  page <- quietly(file_check(release_data(x), k = 8))
  at <- page$estimates$measure == "k"
  expect_identical(page$estimates$verdict[at], "unclear")
  expect_match(page$estimates$reason[at], "\"b + c\" reveals", fixed = TRUE)
})

test_that("a column that reveals missing values is not said to narrow them alone", {
  set.seed(8)
  d <- data.frame(age = sample(20:80, 4000, TRUE))
  d$born <- 2020L - d$age - sample(0:1, 4000, TRUE, c(0.8, 0.2))
  d$age[sample(4000, 200)] <- NA
  told <- sdcRisk:::told_by_columns(d, NULL, "age", missing = TRUE, ties = TRUE)
  expect_identical(told[c("n", "part")], frame(n = c(160L, 200L), part = c(FALSE, TRUE)))
  page <- quietly(file_check(d, "age", k = 3))
  expect_match(page$estimates$reason[[1]], "\"born\" reveals about 160 of 200 values", fixed = TRUE)
})

test_that("a protected file and the one written of it are judged by one rule", {
  n <- 2000
  set.seed(9)
  tenure <- sample(0:20, n, TRUE)
  d <- data.frame(
    role = pmax(0, tenure - sample(0:3, n, TRUE, c(0.6, 0.2, 0.1, 0.1))), tenure = tenure,
    sex = sample(c("f", "m"), n, TRUE)
  )
  usual <- d$role == d$tenure
  told <- lapply(c(0.3, 0.02), function(share) {
    hidden <- c(sample(which(usual), 300 * share), sample(which(!usual), 300 * (1 - share)))
    r <- replace(d, "role", list(replace(d$role, hidden, NA)))
    told <- sdcRisk:::told_by_columns(d, r, "role")
    if (NROW(told)) expect_identical(told$n, told_by_most(d$tenure, d$role, is.na(r$role)))
    written <- sdcRisk:::told_by_columns(r, NULL, "role", missing = TRUE, ties = TRUE)
    expect_identical(written$by, "tenure")
    told
  })
  # Known values and a third of the protected ones follow.
  expect_identical(told[[1]]$by, "tenure")
  expect_gt(told[[1]]$share, 0.25)
  expect_lt(told[[1]]$share, 0.5)
  # By comparison with the original, nothing comes back that guessing does not give.
  expect_equal(NROW(told[[2]]), 0)
})

test_that("a key variable that follows from another one is not protected alone", {
  set.seed(4)
  city <- sample(20, 600, TRUE)
  d <- data.frame(
    state = (city - 1) %/% 4, city = city, age = sample(7, 600, TRUE), sex = sample(2, 600, TRUE)
  )
  importance <- c(state = 0.1, city = 1, age = 10, sex = 10)
  x <- quietly(suppress_cells(d, names(d), k = 3, rule = "shared", importance = importance))
  r <- quietly(release_data(x))
  n_back <- sum(is.na(r$state) & !is.na(r$city))
  # Filled in, records are alone.
  filled <- replace(as.data.frame(r), "state", list(ifelse(
    is.na(r$state), (r$city - 1) %/% 4, r$state
  )))
  expect_identical(min(quietly(n_matches(filled, names(d)))$records$n_matches), 1L)
  path <- tempfile(fileext = ".csv")
  utils::write.csv(r, path, row.names = FALSE)
  for (file in list(r, utils::read.csv(path))) {
    page <- quietly(file_check(file, names(d), k = 3))
    expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "unclear")
    expect_identical(page$diagnostics$told_missing$n, n_back)
  }
  unlink(path)
  linked <- list(state = "city")
  x <- quietly(suppress_cells(
    d, names(d), k = 3, rule = "shared", importance = importance, linked = linked
  ))
  page <- quietly(file_check(release_data(x), k = 3))
  expect_identical(NROW(page$diagnostics$told_missing), 0L)
  # Under "shared" complete records rest on suppressed ones.
  expect_match(page$estimates$reason[page$estimates$measure == "k"], "without .* incomplete")
})

test_that("whether a column is missing or zero may tell with exceptions", {
  for (none in list(NA, 0)) for (share in c(0.04, 0.12)) {
    set.seed(6)
    d <- data.frame(
      work = sample(c("no", "yes"), 2000, TRUE, c(0.35, 0.65)), age = sample(12, 2000, TRUE),
      region = sample(letters[1:12], 2000, TRUE), job = sample(3, 2000, TRUE)
    )
    has <- xor(d$work == "yes", stats::runif(2000) < share)
    keys <- names(d)
    d$wage <- ifelse(has, round(exp(stats::rnorm(2000, 7, 1)), 2), none)
    x <- quietly(suppress_cells(d, keys, k = 4, importance = c(work = 0.2)))
    gone <- is.na(x$data$work)
    told <- x$diagnostics$told_by_columns
    expect_identical(told[c("variable", "by", "n")], frame(
      variable = "work", by = "wage", n = sum((has == (d$work == "yes"))[gone])
    ))
    r <- quietly(release_data(x))
    # With more exceptions only the original shows it.
    for (file in c(list(r), if (share < 0.1) list(as.data.frame(r)))) {
      page <- quietly(file_check(file, keys, k = 3))
      expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "unclear")
    }
  }
})

test_that("a page and its remedy give one number of values that come back", {
  set.seed(1)
  n <- 3000
  city <- sample(300, n, TRUE, prob = 1 / (1:300))
  state <- city %% 10
  # Ten large cities lie in one state, nine tenths of the others' people in theirs.
  away <- stats::runif(n) < 0.1 & city > 10
  state[away] <- sample(0:9, sum(away), TRUE)
  d <- data.frame(
    state = state, age = sample(12, n, TRUE), sex = sample(2, n, TRUE), city = paste0("c", city)
  )
  keys <- c("state", "age", "sex")
  x <- quietly(suppress_cells(d, keys, k = 6, importance = c(state = 0.3)))
  told <- x$diagnostics$told_by_columns
  expect_identical(told$n, told_by_most(d$city, d$state, is.na(x$data$state)))
  page <- quietly(file_check(release_data(x), k = 3))
  expect_identical(
    rbind(page$diagnostics$told_missing, page$diagnostics$told_before)[c("by", "n")],
    told[c("by", "n")]
  )
})

test_that("columns are compared with first values and with these in the classes released", {
  set.seed(1)
  n <- 1200
  district <- sample(40, n, TRUE)
  d <- data.frame(
    district = paste0("d", district + 10), age = sample(15, n, TRUE), job = sample(6, n, TRUE),
    sex = sample(2, n, TRUE)
  )
  region <- (district - 1) %/% 10 + 1
  # Eight in a hundred speak as elsewhere.
  d$dialect <- letters[ifelse(stats::runif(n) < 0.08, sample(4, n, TRUE), region)]
  keys <- c("district", "age", "job", "sex")
  recode <- function(file, groups = split(paste0("d", 11:50), rep(1:4, each = 10))) {
    file <- sdc_file(file)
    quietly(global_recode(file, district = lapply(groups, intersect, unique(file$district))))
  }
  suppress <- function(file, k, ...) quietly(suppress_cells(file, k = k, importance = c(...)))
  two <- list(north = 1:2, south = 3:4)
  half <- (region - 1) %/% 2 + 1
  first <- recode(sdc_file(d, keys))
  chains <- list(
    list(x = suppress(first, 3, district = 0.4), of = region),
    list(x = suppress(suppress(first, 2, district = 0.4), 4, job = 0.3), of = region),
    list(x = recode(suppress(sdc_file(d, keys), 2, district = 0.8)), of = region),
    list(x = suppress(recode(suppress(first, 2, district = 0.4), two), 4, job = 0.3), of = half)
  )
  for (chain in chains) {
    file <- sdc_file(chain$x)
    # Nobody knows the class of a district that has no value left.
    gone <- is.na(file$district)
    n_back <- told_by_most(d$dialect, chain$of, gone & district %in% district[!gone])
    r <- quietly(release_data(chain$x))
    for (plain in list(r, as.data.frame(r))) {
      page <- quietly(file_check(plain, keys, k = 2))
      expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "unclear")
    }
    page <- quietly(file_check(r, k = 2))
    told <- rbind(page$diagnostics$told_missing, page$diagnostics$told_before)
    expect_identical(told[c("variable", "by", "n")], frame(
      variable = "district", by = "dialect", n = n_back
    ))
  }
})

test_that("classes of numbers are those of the numbers beside them", {
  before <- c(21, 23, 25, 27, 38, 40, 61)
  after <- c("20-29", "20-29", NA, "20-29", NA, "30-59", NA)
  classes <- sdcRisk:::classes_of_release(
    list(age = before), NULL, list(age = after), "age"
  )
  expect_identical(classes$age, c(rep("20-29", 4), NA, "30-59", NA))
})

test_that("what a category of a file with few missing values says of these is named", {
  set.seed(1)
  n <- 1500
  d <- data.frame(
    age = sample(12, n, TRUE), region = sample(8, n, TRUE), sex = sample(2, n, TRUE),
    job = sample(5, n, TRUE, c(0.4, 0.3, 0.15, 0.1, 0.05))
  )
  keys <- names(d)
  d$births <- ifelse(d$sex == 2 & stats::runif(n) < 0.5, sample(5, n, TRUE), NA)
  x <- quietly(suppress_cells(d, keys, k = 3, importance = c(sex = 0.5)))
  n_back <- sum(is.na(x$data$sex) & !is.na(d$births))
  expect_gt(n_back, 2)
  for (file in list(release_data(x), as.data.frame(release_data(x)))) {
    page <- quietly(file_check(file, keys, k = 2))
    told <- rbind(page$diagnostics$told_missing, page$diagnostics$told_before)
    expect_identical(told[c("variable", "by", "n")], frame(
      variable = "sex", by = "births", n = n_back
    ))
    expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "unclear")
  }
})

test_that("a household number of the file is left out after PRAM of other keys", {
  set.seed(3)
  d <- data.frame(
    town = sample(c("Aix", "Brest"), 400, TRUE), age = sample(20:35, 400, TRUE),
    hh = rep(sample(1e6, 200), each = 2)
  )
  x <- quietly(invariant_pram(
    sdc_file(d, c("town", "age"), hh_id = "hh"), max_match_prob = 0.5, unprotected = "merge"
  ))
  expect_message(expect_message(release_data(x), class = "sdcRisk_message_identifier_left_out"))
  expect_named(quietly(release_data(x)), c("town", "age"))
  expect_named(quietly(release_data(x, keep_ids = "hh")), c("town", "age", "hh"))
})

# A diagnosis, mostly "none", and a medicine that is that of the illness for the share `tell`.
people_on_medicine <- function(none, tell, n = 4000) {
  ill <- sample(0:5, n, TRUE, c(none, (1 - none) * c(0.3, 0.25, 0.2, 0.15, 0.1)))
  medicine <- ill
  other <- ill > 0 & stats::runif(n) > tell
  medicine[other] <- sample(0:5, sum(other), TRUE, c(3, 1, 1, 1, 1, 1))
  other <- ill == 0 & stats::runif(n) < 0.05
  medicine[other] <- sample(1:5, sum(other), TRUE)
  data.frame(
    diagnosis = c("none", paste0("ICD-", LETTERS[1:5]))[ill + 1],
    age = pmin(20, stats::rgeom(n, 0.12)), sex = sample(2, n, TRUE),
    region = sample(c("N", "S", "E", "W"), n, TRUE, 4:1), medicine = paste0("M", medicine)
  )
}

test_that("rare values that were suppressed are judged by what is known beside them", {
  for (none in c(0.5, 0.7, 0.8)) {
    for (tell in c(0.7, 0.9)) {
      set.seed(1)
      d <- people_on_medicine(none, tell)
      x <- quietly(suppress_cells(
        sdc_file(d, names(d)[1:4]), k = 3, rule = "own", importance = c(age = 1.5)
      ))
      told <- x$diagnostics$told_by_columns
      gone <- is.na(x$data$diagnosis)
      counts <- table(d$medicine, d$diagnosis)
      best <- colnames(counts)[max.col(counts, "first")][match(d$medicine, rownames(counts))]
      expect_identical(told$n, sum(best[gone] == d$diagnosis[gone]))
      page <- quietly(file_check(sdc_file(as.data.frame(x$data), names(d)[1:4]), k = 3))
      expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "unclear")
      of_file <- page$diagnostics$told_missing
      expect_identical(of_file[c("variable", "by")], told[c("variable", "by")])
      # What is expected by the known values.
      counts <- table(d$medicine[!gone], d$diagnosis[!gone])
      purity <- apply(counts, 1, max) / rowSums(counts)
      expect_equal(of_file$n, round(sum(purity[d$medicine[gone]])))
    }
  }
})

test_that("values that a recoding leaves are not protected", {
  for (tell in c(0.6, 0.8, 1)) {
    set.seed(3)
    d <- people_on_medicine(0.8, tell)
    ill <- setdiff(unique(d$diagnosis), "none")
    joined <- ifelse(d$diagnosis == "none", "none", "ill")
    told <- told_by_columns(d, transform(d, diagnosis = factor(joined)), "diagnosis")
    told <- told[told$by == "medicine", ]
    gone <- d$diagnosis != "none"
    counts <- table(d$medicine[gone], d$diagnosis[gone])
    best <- colnames(counts)[max.col(counts, "first")][match(d$medicine, rownames(counts))]
    expect_identical(told$n, sum(best[gone] == d$diagnosis[gone]))
    expect_equal(told$share, mean(best[gone] == d$diagnosis[gone]))
    expect_identical(
      told_by_columns(d, transform(d, diagnosis = joined), "diagnosis")[c("by", "n")],
      told_by_columns(d, transform(d, diagnosis = factor(joined)), "diagnosis")[c("by", "n")]
    )
  }
})

test_that("joined values are compared within their group", {
  n <- 3000
  recoded <- function(d, old, new) {
    after <- d
    after[[old]] <- new
    told_by_columns(d, after, old)
  }
  best_of_group <- function(value, group, by) {
    sum(tapply(as.character(value), paste(group, by), function(x) max(table(x))))
  }
  for (right in c(1, 0.95)) {
    set.seed(1)
    job <- sample(c("farm", "clerk", "other", "worker"), n, TRUE, c(0.15, 0.15, 0.4, 0.3))
    joined <- job %in% c("farm", "clerk")
    # Tells farmers from clerks, and nothing of others.
    z <- ifelse(joined, ifelse((stats::runif(n) < right) == (job == "farm"), "m", "f"), NA)
    z[!joined] <- sample(c("m", "f"), sum(!joined), TRUE)
    told <- recoded(data.frame(job, z), "job", ifelse(joined, "farm or clerk", job))
    expect_identical(told$n, best_of_group(job[joined], 1, z[joined]))
    expect_equal(told$share, told$n / sum(joined))
  }
  # Of numbers in bands, or with a top code, those of one value are not protected.
  school <- sample(8:17, n, TRUE)
  odd <- ifelse(school %% 2 == 0, "even", "odd")
  told <- recoded(data.frame(school, odd), "school", cut(school, seq(7.5, 17.5, 2)))
  expect_identical(told$n, as.integer(n))
  children <- sample(0:6, n, TRUE, c(30, 20, 20, 10, 8, 6, 6))
  z <- ifelse(children >= 5, children == 6, stats::runif(n) < 0.5)
  told <- recoded(data.frame(children, z), "children", cut(children, c(-1:4, 7)))
  expect_identical(told$n, sum(children >= 5))
  # What is as common in the group beside each value tells nothing of it.
  for (share in c(0.8, 0.95)) {
    job <- sample(c("farm", "clerk", "other"), n, TRUE, c(1 - share, share, 1))
    z <- stats::rbinom(n, 1, c(farm = 0.1, clerk = 0.1, other = 0.5)[job])
    told <- recoded(data.frame(job, z), "job", ifelse(job == "other", job, "joined"))
    expect_identical(nrow(told), 0L)
  }
})

test_that("a key variable that follows from another one and a column is named in a file", {
  set.seed(1)
  n <- 800
  d <- data.frame(
    year = sample(66:73, n, TRUE), age = 16 + rbinom(n, 14, 0.35),
    school = 9 + rbinom(n, 9, 0.4), region = sample(4, n, TRUE, 4:1)
  )
  d$later <- d$age + 80 - d$year
  x <- quietly(suppress_cells(sdc_file(d, names(d)[1:4]), k = 3, rule = "own"))
  page <- quietly(file_check(sdc_file(as.data.frame(x$data), names(d)[1:4]), k = 3))
  told <- page$diagnostics$told_missing
  gone <- is.na(x$data[c("year", "age")])
  for (name in c("year", "age")) {
    other <- setdiff(c("year", "age"), name)
    mine <- told[told$variable == name & grepl(paste0("\\b", other, "\\b"), told$by), ]
    expect_identical(mine$n[[1]], sum(gone[, name] & !gone[, other]))
  }
  expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "unclear")
})

test_that("a blank is a value where others are missing", {
  set.seed(1)
  job <- sample(c("", "a", "b"), 600, TRUE)
  d <- data.frame(job, sex = sample(2, 600, TRUE), code = match(job, c("b", "", "a")) * 10)
  n_told <- function(d) quietly(file_check(d, c("job", "sex"), k = 3))$diagnostics$told_missing$n
  expect_identical(n_told(d), sum(job == ""))
  d$job[1:20] <- NA
  expect_identical(n_told(d), 20L)
})

test_that("a pair is named of which one column reveals a few values", {
  set.seed(1)
  n <- 1200
  d <- data.frame(first = sample(6, n, TRUE), second = sample(6, n, TRUE))
  # The last digit of a sum follows from neither, but where the second one has a rare value.
  d$colour <- letters[(d$first + d$second) %% 6 + 1]
  d[1:20, c("second", "colour")] <- list(7, "b")
  after <- d
  gone <- c(1:2, seq(30, n, 50))
  after$colour[gone] <- NA
  told <- told_by_columns(d, after, "colour")
  expect_identical(
    told[c("by", "n")], frame(by = c("second + first", "second"), n = c(length(gone), 2L))
  )
  # All but two are revealed by the second alone.
  after <- d
  after$colour[c(1:20, 30, 80)] <- NA
  expect_identical(told_by_columns(d, after, "colour")$by, "second")
})

test_that("of a pair one column is to leave, and no protected variable", {
  told <- data.frame(
    variable = c("age", "age", "region", "age"),
    by = c("group", "job + group", "age + town", "job + pay + rent")
  )
  d <- data.frame(age = 1, region = 1, group = 1, job = 1, town = 1, pay = 1, rent = 1)
  expect_identical(telling_columns(told, d), c("group", "town", "job"))
})

test_that("pairs of numbers are tried on parts of large files, recoded ones too", {
  set.seed(1)
  n <- 45001
  d <- data.frame(days = sample(60, n, TRUE), start = sample(5000, n, TRUE))
  d$end <- d$start + d$days
  few <- d
  few$days[c(5, 44999, seq(7, n, 9000))] <- NA
  for (after in list(few, transform(d, days = cut(days, seq(0, 60, 10))))) {
    expect_no_warning(told <- told_by_columns(d, after, "days"))
    expect_setequal(strsplit(told$by, " + ", fixed = TRUE)[[1]], c("start", "end"))
    expect_identical(told$n, if (anyNA(after$days)) sum(is.na(after$days)) else 45001L)
  }
})

test_that("a sum of three or more columns that gives a variable is named", {
  set.seed(4)
  n <- 2000
  d <- data.frame(
    region = sample(6, n, TRUE), job = sample(letters, n, TRUE), adults = 1 + rbinom(n, 3, 0.4),
    pupils = rbinom(n, 4, 0.25), infants = rbinom(n, 2, 0.2), income = stats::rlnorm(n, 9),
    more = stats::rnorm(n)
  )
  d$members <- with(d, adults + pupils + infants)
  asked <- c("adults", "pupils", "infants")
  for (n_wrong in c(0, 100)) {
    d$members[seq_len(n_wrong)] <- 3
    # One of the numbers alone is no sum.
    for (left_out in list(character(), "infants")) {
      after <- before <- d[setdiff(names(d), left_out)]
      gone <- seq(1, n, 40)
      after$members[gone] <- NA
      told <- told_by_columns(before, after, "members")
      told <- told[lengths(strsplit(told$by, " + ", fixed = TRUE)) > 2, ]
      right <- sum(rowSums(d[gone, asked]) == d$members[gone])
      expect_identical(told$n, if (length(left_out)) integer() else right)
      if (nrow(told)) expect_identical(told$by, "adults + pupils + infants")
    }
  }
  # With factors and signs.
  shares <- data.frame(a = sample(5, n, TRUE), b = sample(5, n, TRUE), d = sample(5, n, TRUE))
  shares$rest <- with(shares, 40 - 2 * a - b + 0.5 * d)
  after <- shares
  after$b[1:50] <- NA
  told <- told_by_columns(shares, after, "b")
  expect_identical(told[1, c("by", "n")], frame(by = "a + d + rest", n = 50L))
})

test_that("a product of powers that gives a variable but for rounding is named", {
  set.seed(8)
  n <- 2000
  d <- data.frame(
    sex = sample(2, n, TRUE), height = round(stats::rnorm(n, 170, 10)),
    weight = round(stats::rnorm(n, 74, 13)), more = stats::runif(n)
  )
  d$bmi <- round(d$weight / (d$height / 100)^2, 1)
  after <- transform(d, weight = pmin(weight, 90))
  high <- d$weight > 90
  back <- with(d, round(exp(stats::fitted(stats::lm(log(weight) ~ log(height) + log(bmi))))))
  told <- told_by_columns(d, after, "weight")
  expect_identical(told$by[[1]], "height + bmi")
  expect_equal(told$n[[1]], sum(back[high] == d$weight[high]), tolerance = 0.02)
  expect_gt(told$share[[1]], 0.9)
  # An amount of its own follows from none of them.
  other <- transform(d, weight = round(stats::rnorm(n, 74, 13)))
  expect_false(any(grepl("+", told_by_columns(other, transform(
    other, weight = pmin(weight, 90)
  ), "weight")$by, fixed = TRUE)))
})

test_that("a difference, a ratio or two dates that give a variable are named", {
  set.seed(11)
  n <- 2000
  start <- as.Date("2015-01-01") + sample(730, n, TRUE)
  days <- pmax(1, round(stats::rexp(n, 1 / 18)))
  year <- sample(2015:2019, n, TRUE)
  born <- sample(1930:1999, n, TRUE)
  rate <- round(stats::runif(n, 20, 120), 2)
  base <- data.frame(
    sex = sample(2, n, TRUE), region = sample(8, n, TRUE, 8:1), noise = stats::rnorm(n)
  )
  cases <- list(
    data.frame(key = days, start, end = start + days),
    data.frame(key = days, gross = as.numeric(start), net = as.numeric(start) - days),
    data.frame(key = days, total = round(days * rate, 2), rate),
    data.frame(key = year - born - sample(0:1, n, TRUE), born, year)
  )
  for (case in cases) {
    x <- quietly(suppress_cells(cbind(base, case), c("sex", "region", "key"), k = 3))
    told <- x$diagnostics$told_by_columns
    expect_identical(nrow(told), 1L)
    expect_setequal(strsplit(told$by, " + ", fixed = TRUE)[[1]], names(case)[2:3])
    expect_identical(told$n, sum(is.na(x$data$key)))
    # With two birthdays a year two ages are left.
    expect_identical(told$part, "born" %in% names(case))
    r <- quietly(release_data(x))
    for (file in list(r, as.data.frame(r))) {
      page <- quietly(file_check(file, c("sex", "region", "key"), k = 3))
      expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "unclear")
    }
  }
  # Amounts that have nothing to do with it.
  d <- cbind(base, key = days, a = stats::rlnorm(n), b = stats::rlnorm(n), start)
  x <- quietly(suppress_cells(d, c("sex", "region", "key"), k = 3))
  expect_identical(nrow(x$diagnostics$told_by_columns), 0L)
})

test_that("of missing values a page says how many a column is expected to reveal", {
  set.seed(1)
  n <- 1500
  work <- pmin(40, round(stats::rexp(n, 1 / 11)))
  d <- data.frame(
    job = ifelse(stats::runif(n) < 0.45, work, floor(stats::runif(n) * (work + 0.99))),
    band = findInterval(work, c(2, 5, 10, 20)), sex = sample(2, n, TRUE)
  )
  d$band[sample(n, 20)] <- NA
  gone <- is.na(d$band)
  counts <- table(d$job[!gone], d$band[!gone])
  shares <- (apply(counts, 1, max) / rowSums(counts))[as.character(d$job[gone])]
  page <- quietly(file_check(sdc_file(d, c("band", "sex"))))
  expect_identical(page$diagnostics$told_missing[c("variable", "by", "n")], frame(
    variable = "band", by = "job", n = as.integer(round(sum(shares)))
  ))
})

test_that("a number near a variable gives it by rounding", {
  set.seed(11)
  n <- 3000
  d <- data.frame(sex = sample(2, n, TRUE), age = pmin(95, 18 + round(stats::rexp(n, 1 / 18))))
  d$near <- round(d$age + stats::rnorm(n, sd = 0.4), 2)
  d$noise <- stats::runif(n, 0, 80)
  x <- quietly(global_recode(sdc_file(d, c("sex", "age")), age = seq(0, 80, 5)))
  page <- quietly(file_check(release_data(x), k = 3))
  # One record alone with its rounded number comes back by no other.
  n_right <- told_by_most(paste(round(d$near), x$age), d$age, rep(TRUE, n))
  expect_identical(page$diagnostics$told_before[c("variable", "by", "n")], frame(
    variable = "age", by = "near", n = n_right
  ))
  expect_gt(n_right, 0.75 * n)
  expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "unclear")
})

test_that("what is missing together is not said to be revealed by some that lack one", {
  set.seed(1)
  n <- 4000
  d <- data.frame(sex = sample(2, n, TRUE), school = sample(letters[1:4], n, TRUE, c(3, 3, 4, 1)))
  d$degree <- sample(3, n, TRUE)
  absent <- stats::runif(n) < 0.4
  d[absent, c("school", "degree")] <- NA
  d$degree[which(d$school == "c")[1:20]] <- NA
  page <- quietly(file_check(sdc_file(d, c("sex", "school")), k = 3))
  expect_identical(nrow(page$diagnostics$told_missing), 0L)
  expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "ok")
})

test_that("a release knows which columns reveal values that were missing before", {
  set.seed(1)
  n <- 1500
  work <- pmin(40, round(stats::rexp(n, 1 / 11)))
  d <- data.frame(band = findInterval(work, c(2, 5, 10, 20)), sex = sample(2, n, TRUE), job = work)
  d$sex[sample(n, 12)] <- 3
  d$band[sample(n, 60)] <- NA
  x <- quietly(suppress_cells(sdc_file(d, c("band", "sex")), k = 4, importance = c(band = Inf)))
  r <- quietly(release_data(x))
  for (file in list(r, as.data.frame(r))) {
    page <- quietly(file_check(file, c("band", "sex"), k = 3))
    told <- rbind(page$diagnostics$told_missing, page$diagnostics$told_before)
    expect_identical(told[c("variable", "by", "n")], frame(variable = "band", by = "job", n = 60L))
    expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "unclear")
  }
})

test_that("a pair that gives one of many values by luck is not named, nor a key of few others", {
  found <- lapply(c(5, 7, 14), function(seed) {
    set.seed(seed)
    n <- 4323
    group <- sample(6, n, TRUE, c(1504, 1099, 371, 368, 718, 251))
    d <- data.frame(
      job = sample(8, n, TRUE, c(2200, 500, 100, 100, 700, 150, 450, 100)),
      school = pmin(20, pmax(0, round(stats::rnorm(n, 13, 3)))), region = sample(9, n, TRUE),
      female = stats::rbinom(n, 1, 0.54), black = stats::rbinom(n, 1, 0.15),
      divorce = c("none", "no", "yes")[(group - 1) %% 3 + 1],
      year = sample(c(2004, 2006), n, TRUE, c(0.35, 0.65)), happy = as.integer(group > 3)
    )
    x <- quietly(suppress_cells(sdc_file(d, 1:6), k = 3))
    page <- quietly(file_check(release_data(x), k = 3))
    list(x$diagnostics$told_by_columns, page$estimates$verdict[page$estimates$measure == "k"])
  })
  expect_identical(vapply(found, function(x) nrow(x[[1]]), 1L), c(0L, 0L, 0L))
  expect_identical(vapply(found, `[[`, "", 2), rep("ok", 3))
})

test_that("a written file with new household numbers is judged as its release", {
  verdicts <- vapply(1:8, function(seed) {
    set.seed(seed)
    id <- rep(1:800, each = 8)
    south <- xor(rep(stats::rbinom(800, 1, 0.35), each = 8), stats::runif(6400) < 0.12)
    d <- data.frame(
      id, race = rep(sample(3, 800, TRUE, c(0.7, 0.29, 0.01)), each = 8), south,
      grade = rep(pmin(18, pmax(4, round(stats::rnorm(800, 12, 2.3)))), each = 8)
    )
    x <- quietly(suppress_cells(sdc_file(d, c("race", "grade", "south"), hh_id = "id"), k = 3))
    r <- quietly(release_data(x, new_ids = "id"))
    page <- quietly(file_check(as.data.frame(r), c("race", "grade", "south"), hh_id = "id", k = 3))
    page$estimates$verdict[page$estimates$measure == "k"]
  }, "")
  expect_identical(verdicts, rep("ok", 8))
})

test_that("the year of a date, or of months as numbers, and a year give an age", {
  set.seed(21)
  n <- 6000
  age <- pmin(95, 18 + round(stats::rexp(n, 1 / 20)))
  year <- sample(c(1974, 1988, 2002), n, TRUE)
  month <- sample(12, n, TRUE)
  by <- year - age
  born <- list(
    as.Date(sprintf("%d-%02d-15", by, month)), sprintf("%02d/%d", month, by), by * 100 + month,
    (by * 100 + month) * 100 + 28, month * 10000 + by + 28e6, (by - 1900) * 12 + month
  )
  expect_gt(length(unique(born[[1]])), 1000)
  for (column in born) {
    d <- data.frame(age, sex = sample(2, n, TRUE), school = sample(5, n, TRUE), year, born = column)
    x <- quietly(suppress_cells(sdc_file(d, c("age", "sex", "school")), k = 3))
    n_gone <- sum(is.na(x$data$age))
    expect_gt(n_gone, 50)
    r <- quietly(release_data(x))
    told <- x$diagnostics$told_by_columns
    expect_identical(told$n[told$by == "born + year"], n_gone)
    page <- quietly(file_check(as.data.frame(r), c("age", "sex", "school"), k = 3))
    expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "unclear")
  }
})

test_that("times of day in text are compared", {
  set.seed(4)
  n <- 4000
  # Two or three records of an event, which lies in one precinct.
  event <- rep(seq_len(n), each = 3)[sort(sample(3 * n, n))]
  time <- (as.POSIXct("2017-01-01", tz = "UTC") + sample(180 * 86400, n, TRUE))[event]
  d <- data.frame(
    precinct = sample(c(rep(1:5, 40), 6:12), n, TRUE)[event], sex = sample(2, n, TRUE)
  )
  told <- function(time) {
    x <- quietly(suppress_cells(sdc_file(cbind(d, time), c("precinct", "sex")), k = 12))
    told <- x$diagnostics$told_by_columns
    c(told$n[told$variable == "precinct" & told$by == "time"], sum(is.na(x$data$precinct)))
  }
  expected <- told(time)
  expect_length(expected, 2)
  expect_gt(expected[[1]], expected[[2]] / 2)
  for (text in c("%Y/%m/%d %H:%M:%S", "%Y-%m-%dT%H:%M:%SZ", "%d.%m.%Y %H:%M:%S")) {
    expect_identical(told(format(time, text)), expected)
  }
})

test_that("a product of two columns gives a top-coded amount, and bands of a sum both parts", {
  set.seed(5)
  n <- 3000L
  d <- data.frame(
    sex = sample(2, n, TRUE), wage = round(stats::rlnorm(n, 2.3, 0.5), 2),
    hours = sample(60, n, TRUE),
    kids = stats::rpois(n, 6), siblings = stats::rpois(n, 9)
  )
  d$earns <- d$wage * d$hours
  x <- quietly(top_code(
    sdc_file(d[setdiff(names(d), "siblings")], "sex", num_vars = "earns"), earns = 0.05,
    .by = "share"
  ))
  told <- sdcRisk:::told_by_columns(d, x, "earns")
  expect_identical(told[told$by == "wage + hours", "n"], sum(x$earns != d$earns))
  d$family <- cut(d$kids + d$siblings, c(-1, 10, 14, 18, 100))
  page <- quietly(file_check(d[c("family", "sex", "kids", "siblings")], c("family", "sex"), k = 3))
  expect_identical(page$diagnostics$finer_columns[c("variable", "by", "n")], frame(
    variable = "family", by = "siblings + kids", n = n
  ))
  expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "unclear")
  # The sum itself is not more detailed than itself.
  d$family <- d$kids + d$siblings
  page <- quietly(file_check(d[c("family", "sex", "kids", "siblings")], c("family", "sex")))
  expect_identical(nrow(page$diagnostics$finer_columns), 0L)
})

test_that("many zeros of a pair are not those of a variable", {
  set.seed(11)
  n <- 2000
  d <- data.frame(
    female = stats::rbinom(n, 1, 0.55), age = sample(seq(20, 70, 10), n, TRUE),
    region = sample(9, n, TRUE), education = sample(5, n, TRUE),
    start = as.Date("2018-09-01") + sample(150, n, TRUE)
  )
  # 97 of 100 differences, and 95 of 100 products, are zero.
  d$end <- d$start + (stats::runif(n) < 0.03)
  d$stroke <- stats::rbinom(n, 1, 0.05)
  d$bmi <- round(stats::rnorm(n, 27, 4), 1)
  release <- quietly(suppress_cells(d, c("female", "age", "region", "education"), k = 3))
  expect_identical(nrow(release$diagnostics$told_by_columns), 0L)
  # A difference that is the variable comes back.
  d$end <- d$start + d$female
  release <- quietly(suppress_cells(d, c("female", "age", "region", "education"), k = 3))
  told <- release$diagnostics$told_by_columns
  n_gone <- sum(is.na(release$data$female))
  expect_identical(told$n[told$by == "end + start" & told$variable == "female"], n_gone)
  expect_gt(n_gone, 0)
})

test_that("records that are left because they are alike tell nothing of the others", {
  set.seed(5)
  n <- 1500
  d <- data.frame(
    state = sample(c("AR", "SC"), n, TRUE, prob = c(1, 2)), age = sample(18:85, n, TRUE),
    female = stats::rbinom(n, 1, 0.5), education = sample(4, n, TRUE, c(0.2, 0.33, 0.27, 0.2)),
    income = sample(4:17, n, TRUE)
  )
  release <- as.data.frame(quietly(suppress_cells(d, names(d), k = 3))$data)
  # 24 ages are left, in classes of three: each income beside them has one.
  expect_gt(sum(is.na(release$age)), 1400)
  page <- quietly(file_check(release[sample(n), ], names(d)))
  expect_identical(NROW(page$diagnostics$told_missing), 0L)
  # A key variable that follows from another one does so in more classes than it has values.
  d$age <- d$age %/% 20
  d$income <- d$income %/% 5
  d$division <- match(d$state, c("AR", "SC")) * 10 + d$income
  d$income[sample(n, 60)] <- NA
  keys <- c("division", "income", "age", "female", "education")
  told <- quietly(file_check(d, keys))$diagnostics$told_missing
  expect_identical(told$n[told$by == "division" & told$variable == "income"], 60L)
})

test_that("values coded to one of their group are compared with its commonest", {
  set.seed(3)
  data <- data.frame(age = sample(c(rep(20, 700), rep(21:66, 40), rep(67, 120), rep(72, 320))))
  data$sex <- sample(c("f", "m"), nrow(data), TRUE, c(0.6, 0.4))
  data$retired <- ifelse(data$age >= 60, "yes", "no")
  data$pension <- ifelse(data$age == 72, "full", ifelse(data$age == 67, "part", "none"))
  told <- function(columns, ...) {
    file <- sdc_file(data[c("age", columns)], "age")
    quietly(file_check(release_data(top_code(file, ...))))
  }
  # All 320 coded ages are 72, and 72 is the commonest from 67 on: nothing tells more than that.
  page <- told(c("sex", "retired"), age = 67)
  expect_identical(NROW(page$diagnostics$told_before), 0L)
  expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "ok")
  # From 60 on guesses are right for 320 of 720 records, and the pension for 440.
  found <- told(c("sex", "pension"), age = 60)$diagnostics$told_before
  expect_identical(found$by, "pension")
  expect_identical(found$n, 440L)
})

test_that("a column that reveals values of a recoded file is named once, with one call", {
  set.seed(2)
  data <- data.frame(
    age = sample(30:90, 180, TRUE), sex = sample(c("F", "M"), 180, TRUE),
    arm = rep(c(rep(c("Drug", "Placebo"), each = 45)), 2), code = rep(rep(c(2, 1), each = 45), 2)
  )
  data$code[1:2] <- 3
  data$arm[1:2] <- NA
  file <- quietly(global_recode(sdc_file(data, c("age", "sex", "arm")), age = c(29, 50, 70, 90)))
  told <- quietly(suppress_cells(file, k = 3))$diagnostics$told_by_columns
  expect_identical(anyDuplicated(told[c("variable", "by")]), 0L)
  expect_identical(told$by[told$variable == "arm"], "code")
})

test_that("an amount of many ties in a file of more than 20,000 records is compared", {
  set.seed(3)
  data <- data.frame(age = sample(18:80, 21000, TRUE), sex = sample(1:2, 21000, TRUE))
  data$pay <- ifelse(runif(21000) < 0.3, 0, round(rlnorm(21000, 10, 1) * data$age, 2))
  page <- quietly(file_check(data, c("age", "sex")))
  k <- page$estimates[page$estimates$measure == "k", ]
  expect_equal(k$value, min(table(data$age, data$sex)))
  expect_identical(k$verdict, "ok")
  expect_identical(NROW(page$diagnostics$told_by_columns), 0L)
})

test_that("a column that reveals by its order but for one value is named", {
  set.seed(4)
  data <- data.frame(grade = c(sample(1:15, 1980, TRUE), rep(16:20, each = 4)))
  data$sex <- sample(1:2, 2000, TRUE)
  data$pay <- data$grade * 1000 + round(runif(2000, 0, 990), 2)
  leave <- runif(2000) < 0.1 & data$grade < 16
  data$pay[leave] <- 0
  data$since <- as.Date("2020-06-01") - 300 * data$grade - sample(299, 2000, TRUE)
  data$since[leave] <- as.Date("1900-01-01")
  data <- data[sample(2000), ]
  for (column in c("pay", "since")) {
    file <- sdc_file(data[c("grade", "sex", column)], c("grade", "sex"))
    found <- quietly(suppress_cells(file, k = 5))
    told <- found$diagnostics$told_by_columns
    expect_identical(told[c("variable", "by")], data.frame(variable = "grade", by = column))
    expect_identical(told$n, 20L)
    page <- quietly(file_check(found))$estimates
    expect_identical(page$verdict[page$measure == "k"], "unclear")
  }
})

test_that("a number tells another that was rounded to its price", {
  set.seed(4)
  minutes <- round(stats::rnorm(800, 200, 50), 1)
  data <- data.frame(key = rep(1:4, 200), minutes = minutes, price = round(0.085 * minutes, 2))
  x <- quietly(microaggregate(sdc_file(data, "key", num_vars = "minutes"), "minutes", k = 5))
  changed <- x$minutes != minutes
  told <- NULL
  withCallingHandlers(
    release_data(x, shuffle = FALSE),
    sdcRisk_message_determined_keys = function(m) told <<- m$told_by, message = function(m) {
      invokeRestart("muffleMessage")
    }
  )
  told <- told[told$by == "price" & !told$part, ]
  right <- sum((round(data$price / 0.085, 1) == minutes)[changed])
  expect_gt(right, 0.5 * sum(changed))
  expect_equal(told$n, right, tolerance = 0.05)
  # An association in which half of the values are not met tells none.
  data$price <- data$price + round(stats::rnorm(800), 2)
  x <- quietly(microaggregate(sdc_file(data, "key", num_vars = "minutes"), "minutes", k = 5))
  expect_silent(release_data(x, shuffle = FALSE))
})

test_that("the age at an event follows from the date of birth and the date or its year", {
  set.seed(3)
  n <- 2000
  birth <- as.Date("1920-01-01") + sample(25000, n, TRUE)
  event <- as.Date("1990-01-01") + sample(3000, n, TRUE)
  data <- data.frame(
    sex = sample(c("f", "m"), n, TRUE), job = sample(6, n, TRUE),
    age = floor((as.double(event) - as.double(birth)) / 365.25), birth = birth, event = event
  )
  data$year <- as.POSIXlt(event)$year + 1900
  told <- function(others) {
    file <- sdc_file(data[c("sex", "job", "age", others)], c("sex", "job", "age"))
    x <- quietly(suppress_cells(file, k = 3))
    lost <- is.na(x$data$age)
    found <- x$diagnostics$told_by_columns
    found <- found[found$variable == "age" & found$by == paste(others, collapse = " + "), ]
    expect_false(found$part)
    list(n = found$n, lost = lost)
  }
  exact <- told(c("birth", "event"))
  expect_identical(exact$n, sum(exact$lost))
  # Of the year its middle gives three ages of four.
  nearly <- told(c("birth", "year"))
  middle <- floor(data$year + 0.5 - (1970 + as.double(birth) / 365.25))
  expect_gte(nearly$n, 0.98 * sum(middle[nearly$lost] == data$age[nearly$lost]))
  expect_gt(nearly$n, 0.65 * sum(nearly$lost))
})

test_that("a number that is often equal reveals what it equals", {
  set.seed(40)
  n <- 1500
  file <- data.frame(
    sex = sample(1:2, n, TRUE), region = sample(1:8, n, TRUE),
    amount = round(exp(rnorm(n, 5, 0.6)))
  )
  # The answer to a second question, the same in two of five records.
  file$again <- ifelse(runif(n) < 0.4, file$amount, round(exp(rnorm(n, 5, 0.6))))
  file$other <- round(exp(rnorm(n, 5, 0.6)))
  keys <- c("sex", "region", "amount")
  # Where it is protected, but for the commonest amount.
  right <- function(lost) {
    often <- as.double(names(which.max(table(file$amount))))
    sum(file$again[lost] == file$amount[lost] & file$amount[lost] != often)
  }
  told <- function(x) {
    told <- x$diagnostics$told_by_columns
    told[told$variable == "amount", c("by", "n")]
  }
  expected <- function(lost) frame(by = "again", n = right(lost))
  blanked <- suppressMessages(suppress_cells(sdc_file(file, keys), k = 3, importance = c(sex = 9)))
  lost <- which(is.na(blanked$data$amount))
  expect_gt(right(lost), 0.3 * length(lost))
  expect_equal(told(blanked), expected(lost), ignore_attr = TRUE)
  kept <- suppressMessages(release_data(blanked))
  page <- suppressMessages(file_check(kept, limit = list(k = 3)))
  expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "unclear")

  end <- sort(file$amount)[1400]
  coded <- suppressMessages(top_code(sdc_file(file, keys), amount = end))
  found <- suppressMessages(file_check(coded))$diagnostics$told_before
  expect_identical(found$n[found$by == "again"], right(which(file$amount > end)))
  expect_false("other" %in% found$by)
})

test_that("a page of this session says what a comparison with the originals confirms", {
  set.seed(4)
  n <- 3000
  d <- data.frame(place = sample(40, n, TRUE), sex = sample(2, n, TRUE))
  d$district <- letters[(d$place - 1) %/% 5 + 1]
  odd <- sample(n, 8)
  d$district[odd] <- vapply(d$district[odd], function(x) sample(setdiff(letters[1:8], x), 1), "")
  x <- quietly(suppress_cells(d, c("place", "sex", "district"), k = 3, importance = c(place = 9)))
  expect_setequal(which(is.na(x$data$district)), odd)
  page <- quietly(file_check(sdc_file(x)))
  # The place tells the district of the others, and that of none of these.
  told <- rbind(page$diagnostics$told_missing, page$diagnostics$told_before)
  expect_identical(nrow(told), 0L)
  expect_identical(page$estimates$verdict[page$estimates$measure == "k"], "ok")
  # Who has the release alone expects them to be like the others.
  written <- quietly(file_check(as.data.frame(release_data(x)), c("place", "sex", "district")))
  expect_identical(written$estimates$verdict[written$estimates$measure == "k"], "unclear")
})

test_that("values that were missing before are told apart from protected ones", {
  set.seed(5)
  d <- data.frame(
    age = sample(0:70, 800, TRUE), sex = sample(2, 800, TRUE), job = sample(letters[1:6], 800, TRUE)
  )
  d$kind <- d$job
  d$job[d$age < 16 & seq_len(800) %% 3 > 0] <- NA
  text <- ""
  x <- withCallingHandlers(
    suppress_cells(d[c("age", "sex", "job", "kind")], c("age", "sex", "job"), k = 2),
    sdcRisk_message_determined_keys = function(m) text <<- conditionMessage(m),
    message = function(m) invokeRestart("muffleMessage")
  )
  told <- x$diagnostics$told_by_columns
  n_lost <- sum(is.na(x$data$job)) - sum(is.na(d$job))
  own <- told[told$variable == "job" & told$by == "kind" & !told$was_missing, ]
  expect_equal(own$n, if (n_lost > 0) n_lost else numeric())
  before <- told[told$was_missing, ]
  expect_identical(before$by, "kind")
  expect_equal(before$n / before$share, sum(is.na(d$job)))
  expect_match(text, "values of \"job\" that were missing before", fixed = TRUE)
})

test_that("a column that may group records of a person gets a role before it leaves", {
  set.seed(7)
  d <- data.frame(event = rep(1:300, each = 3))
  # Three records of an event are those of one person.
  d$age <- sample(60, 300, TRUE)[d$event]
  d$sex <- sample(2, 300, TRUE)[d$event]
  d$event <- paste0("e", sample(1e6, 300))[d$event]
  keys <- c("age", "sex")
  x <- quietly(suppress_cells(sdc_file(d[sample(nrow(d)), ], keys), k = 3))
  page <- quietly(file_check(x, limit = list(k = 3)))
  step <- "file_check(sdc_file(file, id_vars = \"event\"), limit = list(k = 3))"
  expect_true(step %in% page$next_steps)
  named <- quietly(file_check(sdc_file(sdc_file(x), id_vars = "event"), limit = list(k = 3)))
  expect_identical(named$estimates$verdict[named$estimates$measure == "k"], "unclear")
})

test_that("a column that reveals a part of its groups is counted with all of these", {
  set.seed(6)
  state <- sample(letters, 2000, TRUE)
  # A fifth of the towns have a name that others have in other states.
  town <- paste(ifelse(runif(2000) < 0.2, "", state), sample(60, 2000, TRUE, 1 / 1:60))
  told <- sdcRisk:::told_by_columns(data.frame(state, town), NULL, "state")
  pure <- stats::ave(match(state, letters), town, FUN = function(x) {
    length(x) > 1 && max(table(x)) >= 0.9 * length(x)
  })
  expect_equal(told$n[told$by == "town"], sum(pure))
})

test_that("a key variable is named if it gives three values more than guessing", {
  n_named <- 0
  for (seed in 1:8) {
    set.seed(seed)
    vote <- sample(3, 900, TRUE, c(0.45, 0.35, 0.2))
    dem <- stats::rbinom(900, 1, c(0.85, 0.1, 0.3)[vote])
    rep <- ifelse(dem == 1, 0, stats::rbinom(900, 1, c(0.3, 0.95, 0.5)[vote]))
    d <- data.frame(
      dem, rep, fem = sample(0:1, 900, TRUE), pf = sample(-1:1, 900, TRUE),
      ne = sample(-1:1, 900, TRUE, c(0.7, 0.2, 0.1)), vote
    )
    x <- quietly(suppress_cells(d, k = 3))
    told <- x$diagnostics$told_by_columns
    for (i in seq_len(nrow(told))) {
      lost <- is.na(x$data[[told$variable[[i]]]])
      counts <- table(d[[told$variable[[i]]]])
      common <- d[[told$variable[[i]]]] == names(counts)[[which.max(counts)]]
      expect_gte(told$n[[i]], sum(common[lost]) + min(3, sum(lost)))
    }
    n_named <- n_named + nrow(told)
  }
  expect_lte(n_named, 3)
})

test_that("leaving a column out does not make other key variables tell", {
  set.seed(2)
  d <- data.frame(stop = c(35:37, rep(1:34, length.out = 2997)))
  d$event <- as.integer(d$stop <= 30 | d$stop > 34)
  d$start <- d$stop - 1
  d$group <- sample(3, 3000, TRUE)
  x <- quietly(suppress_cells(sdc_file(d, c("event", "stop", "group")), k = 5))
  expect_identical(x$diagnostics$told_by_columns$by, "start")
  text <- character()
  withCallingHandlers(release_data(x, drop = "start"), message = function(m) {
    text <<- c(text, conditionMessage(m))
    invokeRestart("muffleMessage")
  })
  expect_false(any(grepl("event", text, fixed = TRUE)))
})

test_that("a group that is named like one of its members is one group", {
  set.seed(1)
  d <- data.frame(home = rep(c("own", "rent", "other", "priv"), c(800, 600, 300, 250)))
  d$z <- rep(rep(c("p", "q"), 4), c(400, 400, 300, 300, 200, 100, 212, 38))
  # Tells one of the group from the other.
  d$y <- ifelse(runif(1950) < 0.9, d$home == "priv", runif(1950) < 0.5)
  d$age <- sample(20:29, 1950, TRUE)
  d <- d[sample(1950), ]
  told <- lapply(c("other", "grouped"), function(name) {
    group <- stats::setNames(list(c("other", "priv")), name)
    x <- quietly(global_recode(sdc_file(d, c("home", "age")), home = group))
    attr(quietly(release_data(x, shuffle = FALSE)), "kept")$told$columns
  })
  expect_identical(told[[1]], told[[2]])
  of_group <- d$home %in% c("other", "priv")
  counts <- table(d$y, d$home)[, c("other", "priv")]
  expect_equal(told[[1]]$n, sum(apply(counts, 1, max)))
  expect_equal(told[[1]]$share, told[[1]]$n / sum(of_group))
})

test_that("groups of any size tell the same under the name of a member and a new one", {
  words <- c("ash", "birch", "cedar", "elm", "fir", "hazel", "larch", "oak")
  few <- 0
  for (seed in c(1:12, 66, 84)) {
    set.seed(seed)
    n <- sample(c(60, 200, 800), 1)
    some <- words[seq_len(sample(4:8, 1))]
    d <- data.frame(tree = sample(some, n, TRUE, prob = rexp(length(some))))
    d$z <- ifelse(runif(n) < 0.8, match(d$tree, words), sample(length(some), n, TRUE))
    d$y <- ifelse(runif(n) < 0.5, d$tree, "x")
    d$age <- sample(5, n, TRUE)
    if (seed %% 2) d$tree <- factor(d$tree)
    group <- as.character(sample(unique(d$tree), 2))
    few <- few + (sum(d$tree == group[[2]]) < 10)
    told <- lapply(c(group[[1]], "grouped"), function(name) {
      x <- global_recode(sdc_file(d, c("tree", "age")), tree = stats::setNames(list(group), name))
      attr(quietly(release_data(x, shuffle = FALSE)), "kept")$told$columns
    })
    expect_identical(told[[1]], told[[2]])
  }
  expect_gt(few, 0)
})

test_that("a column that tells less of a group than guessing its commonest value tells nothing", {
  set.seed(5)
  homes <- c("own", "rent", "parents", "priv", "other")
  d <- data.frame(home = rep(homes, c(800, 600, 400, 150, 100)))
  at_home <- !d$home %in% c("own", "rent")
  d$z <- ifelse(at_home & runif(2050) < 0.6, 1L, sample(2:10, 2050, TRUE))
  # Suppressed values of owners come back by a value of their own.
  d$z[1:100] <- 11L
  released <- d
  released$home[at_home] <- "at home"
  released$home[1:40] <- NA
  told <- told_by_columns(d, released, "home")
  # Who guesses "parents" of all 650 is right 400 times, who goes by `z` fewer.
  expect_identical(told$by, "z")
  expect_identical(told$n, 40L)
})

test_that("of a pair the column is left out that tells more alone", {
  set.seed(6)
  d <- data.frame(a = rep(1:20, 50), b = sample(5, 1000, TRUE))
  d$h <- (d$a + (d$b == 1)) %% 7
  told <- data.frame(variable = "h", by = c("a + b", "b + a"))
  expect_identical(telling_columns(told[1, ], d), "a")
  expect_identical(telling_columns(told[2, ], d), "a")
  # Four of five records with one value of `a` agree, and of `b` about one of seven.
  expect_gt(n_alone(d$a, d$h), 700)
  expect_lt(n_alone(d$b, d$h), 300)
})

test_that("what is paid in all by what is paid a month gives the months of many", {
  set.seed(7)
  d <- data.frame(months = c(sample(72, 2900, TRUE), rep(73:172, 1)), sex = sample(2, 3000, TRUE))
  d$price <- round(runif(3000, 20, 110), 2)
  d$paid <- round(d$months * d$price * exp(rnorm(3000, 0, 0.02)), 2)
  x <- quietly(suppress_cells(sdc_file(d, c("months", "sex")), k = 3, importance = c(sex = 9)))
  gone <- which(is.na(x$data$months))
  expect_gt(length(gone), 90)
  commonest <- as.integer(names(which.max(table(d$months))))
  right <- round(d$paid / d$price) == d$months & d$months != commonest
  told <- x$diagnostics$told_by_columns
  pair <- told[told$by %in% c("price + paid", "paid + price"), ]
  expect_identical(pair$n, sum(right[gone]))
  expect_gt(pair$share, 0.2)
  # Of a file that was written as many are expected, by the share of the known ones.
  written <- quietly(file_check(as.data.frame(x$data), c("months", "sex")))$diagnostics$told_missing
  expect_equal(written$n, round(mean(right[-gone]) * length(gone)), tolerance = 0.05)
  # Numbers that are never known together say nothing.
  v <- list(missing = TRUE, compared = FALSE, rows = 1:3)
  expect_null(n_often_equal(rep(NA_real_, 60), list(y = c(1:59, 1)), v))
})
