# Who has a release, and not its source, tries to find what was suppressed or exchanged: by
# the order of the records, by levels, labels, attributes, row names, ties and seeds, and by
# what files of other programs keep.

skip_on_cran()

attacked_keys <- c("region", "age", "sex", "town")

# A file sorted by region, with a rare level, row names that are names of people, and
# households of 1 to 3 members numbered in the order of the file.
attacked_file <- function(n = 600) {
  set.seed(11)
  region <- sort(sample(1:12, n, TRUE))
  towns <- c("East", "North", "South", "Tinytown")
  town <- factor(sample(towns[1:3], n, TRUE), towns)
  town[n / 2] <- "Tinytown"
  data <- data.frame(
    region = region, age = sample(20:29, n, TRUE), sex = sample(1:2, n, TRUE), town = town,
    hid = rep(seq_len(n), rep_len(1:3, n))[seq_len(n)], income = round(exp(stats::rnorm(n)), 4)
  )
  data$region <- ave(data$region, data$hid, FUN = min)
  row.names(data) <- paste0("Huber-", seq_len(n))
  comment(data$age) <- "age of Huber-7 is 23"
  attr(data$sex, "raw") <- rev(data$sex)
  names(data$region) <- row.names(data)
  attr(data, "source") <- data$region
  data
}

# The released file of every remedy, with the source and the protected records per variable.
releases_of <- function(data, hh = NULL) {
  protect <- list(
    own = function() suppress_cells(data, attacked_keys, k = 3, hh_id = hh),
    shared = function() suppress_cells(data, attacked_keys, k = 3, rule = "shared", hh_id = hh),
    strict = function() suppress_cells(data, attacked_keys, k = 3, rule = "strict", hh_id = hh),
    pram = function() {
      invariant_pram(
        data, attacked_keys, 0.6, unprotected = "keep", hh_id = hh,
        hh_vars = if (!is.null(hh)) "region"
      )
    }
  )
  out <- lapply(protect, function(f) {
    x <- quiet(f())
    list(x = x, kept = x$data, released = quiet(release_data(x)))
  })
  found <- quiet(recode_search(data, attacked_keys[1:3], constraint = list(k = 3), suppress = 0.3))
  one <- which(rowSums(found$best[attacked_keys[1:3]]) == 0)
  if (length(one)) {
    out$recoded <- list(
      kept = quiet(apply_recoding(found, data, one[[1]])),
      released = quiet(apply_recoding(found, data, one[[1]], shuffle = TRUE))
    )
  }
  out
}

quiet <- function(code) suppressWarnings(suppressMessages(code))
text_of_column <- function(x) as.character(as_bare(if (is.factor(x)) as.character(x) else x))

# How many of the changed values two agreeing neighbours give back, where the place of every
# record in the release is known to the judge alone: by `place`, the row of the source.
restored <- function(source, released, place, name) {
  truth <- text_of_column(source[[name]])[place]
  now <- text_of_column(released[[name]])
  changed <- which(!is.na(truth) & (is.na(now) | now != truth))
  known <- which(!is.na(now))
  guess <- vapply(changed, function(i) {
    left <- utils::tail(known[known < i], 1)
    right <- utils::head(known[known > i], 1)
    if (length(left) && length(right) && now[left] == now[right]) now[left] else NA_character_
  }, "")
  shares <- table(now) / length(known)
  list(
    n = length(changed), hits = sum(guess == truth[changed], na.rm = TRUE),
    chance = sum(shares[truth[changed]]^2, na.rm = TRUE)
  )
}

# The income of these files is as good as a number of the record.
place_of <- function(source, released) match(released$income, source$income)

with_own_incomes <- function(data) {
  data$income <- data$income + seq_len(nrow(data)) %% 97 / 1e6 + seq_len(nrow(data)) / 1e9
  # In an order of its own: sorting by it restores nothing.
  data$income <- data$income[order((seq_len(nrow(data)) * 7919) %% 100003)]
  data
}

test_that("the neighbours of a protected value tell no more than chance", {
  data <- with_own_incomes(attacked_file())
  n_regions <- 0
  for (hh in list(NULL, "hid")) {
    for (one in releases_of(data, hh)) {
      for (name in attacked_keys) {
        kept <- restored(data, one$kept, seq_len(nrow(data)), name)
        # Households stay together: their members know each other anyway.
        if (is.null(hh)) {
          now <- restored(data, one$released, place_of(data, one$released), name)
          expect_identical(now$n, kept$n)
          # Five standard deviations, and as few as chance gives to few.
          expect_lte(now$hits, now$chance + 5 * sqrt(now$chance + 1))
        }
        if (name == "region" && kept$n >= 20 && is.null(hh)) {
          expect_gt(kept$hits, 0.6 * kept$n)
          n_regions <- n_regions + kept$n
        }
      }
    }
  }
  # The attack works: it finds the regions in the order of the input.
  expect_gt(n_regions, 100)
})

test_that("remedies say which variables the order reveals, and by how much", {
  data <- attacked_file()
  expect_message(
    x <- suppress_cells(data, attacked_keys, k = 3), class = "sdcRisk_message_told_by_order"
  )
  told <- x$diagnostics$told_by_order
  expect_named(told, c("variable", "by", "n", "share", "chance"))
  own <- told[is.na(told$by), ]
  expect_true("region" %in% own$variable)
  at <- own[own$variable == "region", ]
  here <- restored(data, x$data, seq_len(nrow(data)), "region")
  expect_identical(at$n, here$n)
  expect_gte(at$share, here$hits / here$n)
  expect_lt(at$chance, 0.1)
  # Sorting by the household puts the records back.
  expect_true("region" %in% told$variable[told$by %in% "hid"])
  # The data of the object are in the order of the input, and release_data() says that its are not.
  expect_identical(row.names(x$data), row.names(data))
  expect_message(a <- release_data(x), class = "sdcRisk_message_shuffled")
  expect_identical(quiet(release_data(x)), a)
  expect_false(identical(a$income, data$income))
  expect_setequal(a$income, data$income)
  expect_identical(release_data(x, shuffle = FALSE)$income, data$income)
  expect_match(paste(lines_of(x), collapse = " "), "The order reveals", fixed = TRUE)
  # In a random order nothing is said, and nothing is shuffled.
  mixed <- data[sample(nrow(data)), ]
  mixed$hid <- NULL
  y <- expect_no_message(
    suppress_cells(mixed, attacked_keys, k = 3), class = "sdcRisk_message_told_by_order"
  )
  expect_identical(nrow(y$diagnostics$told_by_order), 0L)
  expect_identical(release_data(y)$income, mixed$income)
  expect_false(identical(release_data(y, shuffle = TRUE)$income, mixed$income))
  expect_message(
    quiet_pram <- invariant_pram(data, attacked_keys, 0.6, unprotected = "keep"),
    class = "sdcRisk_message_told_by_order"
  )
})

test_that("PRAM of the sorted file of the finding comes back no more than by chance", {
  set.seed(1)
  d <- data.frame(region = sample(20, 2000, TRUE), edu = sample(5, 2000, TRUE))
  d <- d[order(d$region, d$edu), ]
  d$age <- sample(18:80, 2000, TRUE)
  d$sex <- sample(2, 2000, TRUE)
  d$income <- sample(1e6, 2000) / 7
  x <- quiet(invariant_pram(d, c("region", "age", "sex", "edu"), 0.6))
  told <- x$diagnostics$told_by_order
  expect_gt(told$share[told$variable == "region" & is.na(told$by)], 0.8)
  released <- quiet(release_data(x))
  now <- restored(d, released, place_of(d, released), "region")
  expect_gt(now$n, 150)
  expect_lt(now$hits, 0.05 * now$n)
})

# Ten wages that one record has each, between others.
sorted_wages <- function() {
  wage <- sort(c(rep(seq(2, 80, 2), each = 6), seq(3, 79, by = 8)))
  data.frame(wage = wage, income = sqrt(seq_along(wage)))
}

test_that("a single rare value between two sorted ones is told, and a sorted measurement", {
  d <- data.frame(
    town = factor(rep(c("A", "B", "C"), c(150, 1, 149))), sex = rep(1:2, 150)
  )
  x <- quiet(suppress_cells(d, c("town", "sex"), k = 3))
  expect_true("town" %in% x$diagnostics$told_by_order$variable)
  x <- quiet(suppress_cells(sorted_wages(), "wage", k = 3))
  told <- x$diagnostics$told_by_order
  # In the order of the file, and in that of a column that is sorted with it.
  told <- told[is.na(told$by), ]
  expect_identical(told$variable, "wage")
  expect_identical(told$n, 10L)
  expect_identical(told$share, 1)
  expect_lt(told$chance, 0.05)
})

test_that("households stay together, and their numbers can be drawn anew", {
  data <- with_own_incomes(attacked_file())
  x <- quiet(suppress_cells(data, attacked_keys, k = 3, hh_id = "hid"))
  expect_true("hid" %in% x$diagnostics$told_by_order$by)
  released <- quiet(release_data(x, shuffle = TRUE, keep_ids = "hid"))
  expect_identical(length(rle(released$hid)$values), length(unique(data$hid)))
  renumbered <- quiet(release_data(x, new_ids = "hid"))
  expect_setequal(renumbered$hid, seq_along(unique(data$hid)))
  place <- match(renumbered$income, data$income)
  expect_identical(
    as.integer(tapply(data$hid[place], renumbered$hid, function(v) length(unique(v)))),
    rep(1L, length(unique(data$hid)))
  )
  # The order of the new numbers is not that of the old ones.
  expect_lt(abs(stats::cor(renumbered$hid, data$hid[place])), 0.25)
  expect_error(release_data(x, new_ids = "no"), class = "sdcRisk_error")
  expect_error(release_data(x, shuffle = NA), class = "sdcRisk_error_bad_argument")
})

# All that a release says beyond its values.
form_of <- function(released) {
  paste(c(
    row.names(released), unlist(lapply(released, function(x) {
      other <- attributes(x)
      c(names(other), as.character(unlist(other)), if (!is.null(names(attr(x, "labels")))) {
        names(attr(x, "labels"))
      })
    })), names(attributes(released)), as.character(unlist(attributes(released)))
  ), collapse = "\n")
}

expect_nothing_in <- function(released, info) {
  form <- form_of(released)
  for (canary in c("Tinytown", "Huber", "raw", "source", "comment")) {
    expect_no_match(form, canary, fixed = TRUE, info = paste(info, canary))
  }
}

has <- function(package) requireNamespace(package, quietly = TRUE)

test_that("levels, attributes and row names hold nothing of what was taken away", {
  data <- attacked_file()
  for (kind in c("data.frame", "tibble", "data.table")) {
    given <- switch(kind,
      data.frame = data,
      tibble = if (has("tibble")) tibble::as_tibble(data),
      data.table = if (has("data.table")) data.table::as.data.table(data)
    )
    if (is.null(given)) next
    found <- releases_of(given)
    # The attack works on what stays in the agency.
    if (kind == "data.frame") expect_match(form_of(found$own$kept), "Tinytown", fixed = TRUE)
    for (name in setdiff(names(found), "pram")) {
      one <- found[[name]]$released
      # apply_recoding() left the town out.
      if (name == "recoded") one$town <- NULL
      if (any(one$town == "Tinytown", na.rm = TRUE)) next
      expect_nothing_in(one, paste(kind, name))
      expect_identical(class(one)[1:2], c("sdc_file", class(given)[1]))
    }
    released <- found$own$released
    expect_false(any(released$town == "Tinytown", na.rm = TRUE))
    expect_identical(levels(released$town), c("East", "North", "South"))
    if (kind == "data.table") expect_no_warning(data.table::set(released, j = "new", value = 1))
  }
})

labelled_file <- function() {
  data <- attacked_file()
  data$town <- structure(
    as.double(data$town), label = "Town",
    labels = c(East = 1, North = 2, South = 3, Tinytown = 4, Refused = 9),
    class = c("haven_labelled", "vctrs_vctr", "double")
  )
  data$town[5] <- 9
  data$job <- structure(
    rep_len(c(1, 2, 98), nrow(data)),
    labels = c(Huber = 7, yes = 1, no = 2, refused = 98, nobody = 99),
    na_values = c(98, 99), format.spss = "F2.0",
    class = c("haven_labelled_spss", "haven_labelled", "vctrs_vctr", "double")
  )
  data
}

test_that("value labels that no record needs do not leave, in the files of other programs either", {
  data <- labelled_file()
  for (rule in c("own", "shared", "strict")) {
    x <- quiet(suppress_cells(data, attacked_keys, k = 3, rule = rule))
    released <- quiet(release_data(x))
    expect_false(any(as.vector(released$town) %in% c(4, 9)))
    expect_identical(attr(released$town, "labels"), c(East = 1, North = 2, South = 3))
    expect_identical(attr(released$town, "label"), "Town")
    expect_identical(attr(released$job, "labels"), c(yes = 1, no = 2, refused = 98))
    expect_identical(attr(released$job, "na_values"), 98)
    expect_identical(attr(released$job, "format.spss"), "F2.0")
    expect_identical(class(released$job), class(data$job))
    files <- tempfile(c("a", "b", "c", "d"), fileext = c(".rds", ".csv", ".sav", ".dta"))
    saveRDS(released, files[[1]], compress = FALSE)
    utils::write.csv(lapply(released, as_bare), files[[2]])
    if (requireNamespace("haven", quietly = TRUE)) {
      haven::write_sav(released, files[[3]], compress = "none")
      haven::write_dta(haven::zap_missing(released), files[[4]])
    }
    for (file in files[file.exists(files)]) {
      bytes <- readBin(file, raw(), file.size(file))
      text <- rawToChar(bytes[bytes > 31 & bytes < 127])
      for (canary in c("Tinytown", "Huber", "nobody")) {
        expect_no_match(text, canary, fixed = TRUE, info = basename(file))
      }
    }
  }
})

test_that("levels in the order of the records do not tell the first of them", {
  set.seed(5)
  jobs <- sprintf("job%02d", sample(40))
  data <- data.frame(job = c(jobs, sample(rep(jobs, 6))), sex = rep(c("f", "m"), c(40, 240)))
  data$v <- round(stats::rnorm(280))
  # As readr and data.table read text.
  data$job <- structure(factor(data$job, jobs), label = "Occupation")
  hidden <- function(x) {
    released <- quietly(release_data(x, shuffle = FALSE))
    expect_true(any(!mapply(identical, as.character(released$job)[1:40], jobs)))
    expect_identical(levels(released$job), sort(levels(released$job)))
    expect_identical(attr(released$job, "label"), "Occupation")
    expect_identical(as.character(released$job), as.character(x$data$job))
    # What stays is what it was.
    same <- 41:nrow(data)
    expect_true(mean(as.character(released$job)[same] == as.character(data$job)[same]) > 0.5)
  }
  hidden(quietly(suppress_cells(data, c("job", "sex"), k = 3, importance = c(sex = Inf))))
  hidden(quietly(suppress_cells(
    tibble::as_tibble(data), c("job", "sex"), k = 3, importance = c(sex = Inf)
  )))
  # Reversed, or with one level moved to the front or the end.
  for (order in list(rev(jobs), c(jobs[[7]], jobs[-7]), c(jobs[-7], jobs[[7]]))) {
    moved <- replace(data, "job", list(structure(factor(data$job, order), label = "Occupation")))
    attr(moved$job, "display_width") <- 8L
    x <- quietly(suppress_cells(moved, c("job", "sex"), k = 3, importance = c(sex = Inf)))
    expect_identical(attr(x$data$job, "display_width"), 8L)
    hidden(x)
  }
  # Of sdcMicro, too.
  if (requireNamespace("sdcMicro", quietly = TRUE)) {
    object <- sdcMicro::createSdcObj(transform(data, sex = factor(sex)), c("job", "sex"))
    object <- quietly(sdcMicro::kAnon(object, k = 3, importance = c(2, 1)))
    released <- quietly(release_data(object, shuffle = FALSE))
    expect_gt(sum(is.na(released$job[1:40])), 0)
    expect_identical(levels(released$job), sort(levels(released$job)))
  }
  # Levels in an order of their own stay.
  set.seed(2)
  chosen <- replace(data, "job", list(factor(data$job, sample(jobs))))
  x <- quietly(suppress_cells(chosen, c("job", "sex"), k = 3, importance = c(sex = Inf)))
  expect_identical(levels(quietly(release_data(x))$job), levels(chosen$job))
  # Every first record is shown: the levels stay, as the user made them.
  twice <- rbind(data[41:280, ], data)
  twice$job <- factor(twice$job, unique(twice$job))
  x <- quietly(suppress_cells(twice, c("job", "sex"), k = 3, importance = c(sex = Inf)))
  expect_identical(levels(quietly(release_data(x))$job), levels(twice$job))
  # Half of the jobs have one record, which PRAM exchanges.
  data <- data[c(1:40, which(as.character(data$job)[41:280] %in% jobs[1:20]) + 40), ]
  attr(data$job, "label") <- "Occupation"
  set.seed(1)
  hidden(quietly(invariant_pram(data, "job", max_match_prob = 0.5)))
})

test_that("a recoded file leaves without the levels of its source", {
  data <- attacked_file()
  found <- quiet(recode_search(
    data, c("town", "sex"), hierarchies = list(town = hierarchy(data$town, rare = 2)),
    constraint = list(k = 2), suppress = 0.02
  ))
  for (which in seq_len(nrow(found$best))) {
    recoded <- quiet(apply_recoding(found, data, which))
    if (!any(recoded$town == "Tinytown", na.rm = TRUE)) {
      values <- unique(as.character(recoded$town))
      expect_setequal(levels(recoded$town), values[!is.na(values)])
    }
    expect_identical(row.names(recoded), as.character(seq_len(nrow(data))))
    expect_null(names(recoded$region))
    expect_null(attr(recoded$sex, "raw"))
  }
  sorted <- sorted_wages()
  found <- quiet(recode_search(sorted, "wage", constraint = list(k = 3), suppress = 0.2))
  same <- which(found$best$wage == 0)
  expect_length(same, 1)
  expect_message(
    kept <- apply_recoding(found, sorted, same), class = "sdcRisk_message_told_by_order"
  )
  expect_identical(kept$income, sorted$income)
  shuffled <- expect_no_message(
    apply_recoding(found, sorted, same, shuffle = TRUE), class = "sdcRisk_message_told_by_order"
  )
  expect_setequal(shuffled$income, sorted$income)
  expect_false(identical(shuffled$income, sorted$income))
})

test_that("the seed repeats the draws of PRAM, and never the order of the release", {
  data <- with_own_incomes(attacked_file())
  draw <- function(seed) {
    set.seed(seed)
    x <- quiet(invariant_pram(data, attacked_keys, 0.6, unprotected = "keep"))
    list(x = x, released = quiet(release_data(x)))
  }
  one <- draw(4)
  two <- draw(4)
  expect_identical(one$x$data, two$x$data)
  expect_false(identical(one$released$income, two$released$income))
  # The same seed run on the release flags records that moved no better than another seed.
  flags <- function(seed) {
    set.seed(seed)
    again <- quiet(invariant_pram(one$x$data, attacked_keys, 0.6, unprotected = "keep"))
    moved <- one$x$records$changed
    flagged <- again$records$changed
    c(hits = sum(moved & flagged), n = sum(flagged))
  }
  same <- flags(4)
  others <- Reduce(`+`, lapply(5:14, flags))
  rate <- others[["hits"]] / others[["n"]]
  expect_lt(same[["hits"]], same[["n"]] * rate + 5 * sqrt(same[["n"]] * rate * (1 - rate)))
})

test_that("comparisons and reports know a release by either order", {
  data <- with_own_incomes(attacked_file())
  row.names(data) <- NULL
  x <- quiet(suppress_cells(data, attacked_keys, k = 3))
  released <- quiet(release_data(x))
  loss <- utility_loss(data, x, attacked_keys)
  expect_identical(loss$estimates$n_exchanged, 0L)
  expect_equal(loss$estimates$n_blank, x$estimates$n_suppressed)
  expect_identical(loss$estimates, utility_loss(data, x$data, attacked_keys)$estimates)
  expect_warning(
    utility_loss(data, released, attacked_keys), class = "sdcRisk_warning_other_order"
  )
  file <- tempfile(fileext = ".html")
  after <- n_matches(released, attacked_keys)
  sdc_report(n_matches(data, attacked_keys), x, after, file = file, pictures = FALSE)
  log <- jsonlite::read_json(sub("html$", "json", file))
  stages <- vapply(log$results, `[[`, "", "stage")
  expect_identical(stages, c("before", "before", "after"))
  expect_true(all(replay(file, list(data, released))$equal))
  expect_match(paste(readLines(file), collapse = " "), "The order reveals", fixed = TRUE)
})

test_that("values that take turns in the file are told by it, and are shuffled", {
  set.seed(3)
  n <- 1800
  couples <- data.frame(
    sex = rep(c("f", "m"), length.out = n), age = sample(20:70, n, TRUE), edu = sample(30, n, TRUE)
  )
  x <- quietly(suppress_cells(couples, k = 3, importance = c(sex = 0.1, age = 1, edu = 1)))
  hidden <- is.na(x$data$sex)
  told <- x$diagnostics$told_by_order
  expect_identical(told$variable, "sex")
  expect_identical(told$n, sum(hidden))
  # Two records before and two after: in the input's order they tell it, in the release's not.
  restored <- function(sex, truth, hidden) {
    at <- which(hidden & seq_along(sex) > 2 & seq_along(sex) < n - 1)
    mean((sex[at - 2] == truth[at] & sex[at + 2] == truth[at]) %in% TRUE)
  }
  expect_gt(restored(x$data$sex, couples$sex, hidden), 0.6)
  couples$row <- paste0("r", seq_len(n))
  y <- quietly(suppress_cells(
    couples, c("sex", "age", "edu"), k = 3, importance = c(sex = 0.1, age = 1, edu = 1)
  ))
  released <- quietly(release_data(y, keep_ids = "row"))
  truth <- couples$sex[match(released$row, couples$row)]
  expect_lt(restored(released$sex, truth, is.na(released$sex)), 0.4)
})

test_that("heads that come first in their households are told by it, and are shuffled", {
  set.seed(11)
  n_members <- sample(1:5, 800, TRUE)
  homes <- data.frame(hid = rep(sample(800), n_members), age = sample(90, sum(n_members), TRUE))
  homes$job <- sample(40, nrow(homes), TRUE)
  first <- !duplicated(homes$hid)
  other <- sample(c("spouse", "child", "parent"), nrow(homes), TRUE, c(0.4, 0.5, 0.1))
  homes$relation <- ifelse(first, "head", other)
  file <- sdc_file(homes, c(relation, age, job), hh_id = hid)
  x <- quietly(invariant_pram(file, max_match_prob = 0.5))
  told <- x$diagnostics$told_by_order
  expect_identical(told$variable, "relation")
  moved <- x$data$relation != homes$relation
  expect_identical(told$n, sum(moved))
  # Most heads lie between two heads if all first members are put in a row.
  expect_gt(told$share, told$chance + 0.1)
  expect_true(all(homes$relation[first & moved] == "head"))
  released <- quietly(release_data(x, keep_ids = "hid"))
  lead <- released$relation[!duplicated(released$hid)]
  expect_lt(mean(lead == "head"), 0.6)
  # Members in a random order: nothing is told.
  mixed <- homes[order(sample(800)[homes$hid], stats::runif(nrow(homes))), ]
  x <- quietly(invariant_pram(
    sdc_file(mixed, c(relation, age, job), hh_id = hid), max_match_prob = 0.5
  ))
  expect_identical(nrow(x$diagnostics$told_by_order), 0L)
})

test_that("new numbers come in a new order, and sorted days are an order of the file", {
  set.seed(11)
  n <- 600
  data <- data.frame(
    hid = rep(seq_len(n / 3), each = 3), region = sample(12, n, TRUE),
    age = sample(20:60, n, TRUE), income = sample(1e5, n) / 7
  )
  x <- quietly(suppress_cells(data, c("region", "age"), k = 3, hh_id = "hid"))
  released <- quietly(release_data(x, new_ids = "hid"))
  # Who holds the sorted list of the old numbers does not read them off.
  guess <- sort(unique(data$hid))[match(released$hid, unique(released$hid))]
  truth <- data$hid[match(released$income, data$income)]
  expect_lt(mean(guess == truth), 0.05)
  by_day <- data.frame(
    region = rep(rep(1:12, each = 10), 5), age = sample(20:60, n, TRUE),
    day = as.Date("2024-01-01") + sort(sample(0:300, n, TRUE))
  )
  y <- quietly(suppress_cells(
    by_day, c("region", "age"), k = 3, importance = c(region = 0.1, age = 1)
  ))
  told <- y$diagnostics$told_by_order
  expect_true(all(c(NA, "day") %in% told$by))
  expect_gt(told$share[told$by %in% "day"], 0.5)
})

# Every remedy in every container ----------------------------------------------------

# The file of above with columns that tell: a year of birth, a question to some women, a mark of
# one town, and attributes that hold values.
telling_file <- function(n = 360) {
  data <- with_own_incomes(attacked_file(n))
  set.seed(21)
  data$stratum <- sample(2, n, TRUE)
  data$edu <- sample(4, n, TRUE)
  data$birth_year <- 2020 - data$age
  data$births <- ifelse(data$sex == 2 & data$edu > 2, sample(0:3, n, TRUE), NA)
  data
}

in_container <- function(data, kind) {
  recast <- function(x) {
    data$town <- x
    data
  }
  switch(kind,
    data.frame = data, text = recast(as.character(data$town)),
    ordered = recast(factor(data$town, ordered = TRUE)),
    tibble = if (has("tibble")) tibble::as_tibble(data),
    data.table = if (has("data.table")) {
      table <- data.table::as.data.table(data)
      data.table::setkeyv(table, c("region", "hid"))
      data.table::setindexv(table, "town")
    },
    labelled = if (has("haven")) {
      codes <- seq_along(levels(data$town))
      recast(haven::labelled(as.double(data$town), rlang::set_names(codes + 0, levels(data$town))))
    }
  )
}

remedies <- function() {
  blank <- function(...) function(data) suppress_cells(data, attacked_keys, k = 3, ...)
  pram <- function(...) {
    function(data) invariant_pram(data, attacked_keys, 0.6, unprotected = "keep", ...)
  }
  list(
    own = blank(), shared = blank(rule = "shared"), strict = blank(rule = "strict"),
    own_hh = blank(hh_id = "hid"), strict_hh = blank(rule = "strict", hh_id = "hid"),
    strata = blank(strata_var = "stratum"), linked = blank(linked = list(age = "birth_year")),
    risky = pram(), all = pram(scope = "all"), within = pram(within = "stratum"),
    hh = pram(hh_id = "hid", hh_vars = "region")
  )
}

# What an intruder who knows all other records finds by a column: the commonest value among
# them, if 99% or more agree. Runs on the source's rows in the order of the release.
told_by_hand <- function(truth, hidden, column) {
  column <- text_of_column(column)
  column[is.na(column)] <- "(missing)"
  counts <- table(column, truth)
  pure <- apply(counts, 1, max) >= 0.99 * rowSums(counts) & rowSums(counts) >= 20
  guess <- colnames(counts)[apply(counts, 1, which.max)]
  at <- match(column[hidden], rownames(counts))
  mean(pure[at] & guess[at] == truth[hidden])
}

has_tiny <- function(x) {
  any(as_bare(if (is.factor(x)) as.character(x) else x) %in% c("Tinytown", "4"))
}

test_that("no remedy in any container leaves more than it says", {
  data <- telling_file()
  n_naive <- c(form = 0, order = 0, columns = 0)
  for (kind in c("data.frame", "text", "ordered", "tibble", "data.table", "labelled")) {
    given <- in_container(data, kind)
    if (is.null(given)) next
    for (name in names(remedies())) {
      info <- paste(kind, name)
      x <- quiet(remedies()[[name]](given))
      released <- quiet(release_data(x))
      told <- x$diagnostics$told_by_columns
      by_order <- x$diagnostics$told_by_order
      # Its form: only what the records need.
      bytes <- function(object) {
        raw <- serialize(object, NULL)
        rawToChar(raw[raw > 31 & raw < 127])
      }
      canaries <- c("Huber", if (!has_tiny(released$town)) "Tinytown")
      for (canary in canaries) expect_no_match(bytes(released), canary, fixed = TRUE, info = info)
      n_naive[["form"]] <- n_naive[["form"]] + grepl("Tinytown", bytes(x$data), fixed = TRUE)
      place <- match(released$income, given$income)
      for (v in attacked_keys) {
        truth <- text_of_column(given[[v]])[place]
        hidden <- is.na(released[[v]]) | text_of_column(released[[v]]) != truth
        if (sum(hidden) < 5) next
        # Its order, and that of every column that could sort it. Households stay together.
        sorts <- setdiff(names(released)[vapply(released, is.numeric, NA)], v)
        for (by in c(if (!grepl("hh", name)) NA, sorts)) {
          rows <- if (is.na(by)) seq_along(place) else order(released[[by]])
          now <- restored(given, as.data.frame(released)[rows, ], place[rows], v)
          named <- by %in% c(by_order$by[by_order$variable == v], told$by[told$variable == v])
          if (is.na(by) || !named) {
            expect_lte(now$hits, now$chance + 0.25 * now$n + 5 * sqrt(now$chance + 1))
          }
        }
        kept <- restored(given, x$data, seq_along(place), v)
        n_naive[["order"]] <- max(n_naive[["order"]], kept$hits / kept$n)
        # Its columns.
        for (by in setdiff(names(released), attacked_keys)) {
          share <- told_by_hand(truth, hidden, released[[by]])
          if (share > 0.1) {
            expect_true(by %in% told$by[told$variable == v], info = paste(info, v, by))
            n_naive[["columns"]] <- n_naive[["columns"]] + (share > 0.9)
          }
        }
      }
    }
  }
  # The attacks work on what stays in the agency.
  expect_gt(n_naive[["form"]], 30)
  expect_gt(n_naive[["order"]], 0.8)
  expect_gt(n_naive[["columns"]], 30)
})

# Banded values, by the order -------------------------------------------------------

# The age that an intruder reads off the place of a record: ages of a band in their order.
ages_laid_out <- function(age, band) {
  ifelse(is.na(band), NA, ave(age, band, FUN = sort) == age)
}

test_that("recoded values of a sorted file are told by their order, shuffled ones are not", {
  set.seed(1)
  n <- 2000
  data <- data.frame(age = sort(sample(18:90, n, TRUE)), sex = sample(2, n, TRUE))
  data$income <- sample(1e6, n) / 7
  bands <- list(age = hierarchy(data$age, widths = c(10, 20), name = "age"))
  search <- function(data) {
    quiet(recode_search(
      data, c("age", "sex"), bands, constraint = list(k = 3), suppress = 0.05, keep = list(age = 1)
    ))
  }
  found <- search(data)
  said <- expect_message(
    recoded <- apply_recoding(found, data), class = "sdcRisk_message_told_by_order"
  )
  told <- said$told[is.na(said$told$by), ]
  expect_identical(told$variable, "age")
  right <- ages_laid_out(data$age, recoded$age)
  # The last band holds one age.
  several <- data$age < 90
  expect_identical(told$n, sum(!is.na(recoded$age) & several))
  expect_equal(told$share, mean(right[several], na.rm = TRUE), tolerance = 0.01)
  expect_lt(told$chance, 0.15)
  shuffled <- expect_no_message(
    apply_recoding(found, data, shuffle = TRUE), class = "sdcRisk_message_told_by_order"
  )
  place <- match(shuffled$income, data$income)
  expect_lt(
    mean(ages_laid_out(data$age[place], shuffled$age), na.rm = TRUE), told$chance + 0.05
  )
  # In a file without an order nothing is said; sorted the other way, or by region first, it is.
  mixed <- data[sample(n), ]
  expect_no_message(
    apply_recoding(search(mixed), mixed), class = "sdcRisk_message_told_by_order"
  )
  falling <- data[n:1, ]
  expect_message(
    apply_recoding(search(falling), falling), class = "sdcRisk_message_told_by_order"
  )
  data$region <- sample(4, n, TRUE)
  by_region <- data[order(data$region, data$age), ]
  said <- expect_message(
    apply_recoding(search(by_region), by_region), class = "sdcRisk_message_told_by_order"
  )
  expect_gt(said$told$share[[1]], 0.3)
})

# Two protections ---------------------------------------------------------------------

test_that("a second protection is compared with the first original", {
  set.seed(1)
  n <- 1500
  data <- data.frame(
    age = sort(sample(18:90, n, TRUE)), sex = sample(2, n, TRUE),
    region = sample(letters[1:6], n, TRUE), income = sample(1e6, n) / 7
  )
  keys <- c("age", "sex", "region")
  once <- quiet(suppress_cells(data, keys, k = 2))
  n_once <- sum(is.na(once$data$age))
  expect_gt(n_once, 50)
  # Of the intermediate file alone nothing is known: its blanks are no values.
  alone <- quiet(suppress_cells(once$data, keys, k = 4))
  for (twice in list(
    quiet(suppress_cells(once, k = 4)),
    quiet(suppress_cells(once$data, keys, k = 4, original = data)),
    quiet(suppress_cells(sdc_file(data, keys), k = 4, original = data))
  )) {
    told <- twice$diagnostics$told_by_order
    told <- told[told$variable == "age" & is.na(told$by), ]
    hidden <- is.na(twice$data$age)
    expect_identical(told$n, sum(hidden))
    expect_gte(told$share, 0.9)
    released <- quiet(release_data(twice))
    expect_false(identical(released$income, data$income))
    here <- restored(data, released, match(released$income, data$income), "age")
    expect_lte(here$hits, here$chance + 5 * sqrt(here$chance + 1))
  }
  # Those that were missing before are as many as the file lacks.
  told <- alone$diagnostics$told_by_order
  expect_identical(told$n[told$variable == "age" & is.na(told$by)], n_once)
  expect_false(identical(quiet(release_data(alone))$income, data$income))
  # PRAM after suppression, suppression after PRAM.
  swapped <- quiet(invariant_pram(once, max_match_prob = 0.6, unprotected = "keep"))
  expect_identical(swapped$diagnostics$earlier, "age")
  expect_gte(swapped$diagnostics$told_by_order$n[[1]], n_once)
  back <- quiet(suppress_cells(invariant_pram(data, keys, 0.6, unprotected = "keep"), k = 3))
  differs <- is.na(back$data$age) | back$data$age != data$age
  expect_identical(
    back$diagnostics$told_by_order$n[back$diagnostics$told_by_order$variable == "age"][[1]],
    sum(differs)
  )
  # A recoding before: its order and its columns are those of the ages.
  data$birth_year <- 2020 - data$age
  found <- quiet(recode_search(
    data, keys, list(age = hierarchy(data$age, widths = c(10, 20), name = "age")),
    constraint = list(k = 3), suppress = 0.1, keep = list(age = 1, sex = 0)
  ))
  recoded <- quiet(apply_recoding(found, data))
  again <- function(..., from = as.data.frame(recoded)) {
    quiet(suppress_cells(from, keys, k = 60, importance = c(age = 10), ...))
  }
  plain <- again()
  chain <- again(original = data)
  expect_gt(chain$diagnostics$told_by_order$share[[1]], 0.9)
  row <- function(x) {
    told <- x$diagnostics$told_by_columns
    told[told$variable == "age", ]
  }
  # What tells the bands is named, too.
  others <- row(plain)[row(plain)$by != "birth_year", c("by", "n")]
  expect_identical(row(chain)$by, c("birth_year", others$by))
  expect_equal(row(chain)$n, c(n, others$n))
  expect_false(n %in% row(plain)$n)
  # A recoded file knows its original.
  expect_identical(row(again(from = recoded)), row(chain))
  # The loss of all steps is that of the release; from an intermediate file it is said to be less.
  whole <- utility_loss(data, chain, keys)
  part <- expect_message(
    utility_loss(plain, quiet(suppress_cells(plain, k = 90))),
    class = "sdcRisk_message_partial_loss"
  )
  first <- utility_loss(data, recoded, keys)
  expect_gt(whole$estimates$prop_bits_lost, first$estimates$prop_bits_lost)
})

test_that("the values before a protection are in no saved file", {
  data <- data.frame(
    town = c(rep(c("East", "West"), each = 60), "Tinytown"), sex = rep_len(1:2, 121)
  )
  x <- quiet(suppress_cells(data, k = 3))
  expect_true(anyNA(x$data$town))
  expect_identical(nrow(quiet(suppress_cells(x, k = 4))$diagnostics$told_by_order) >= 0, TRUE)
  file <- tempfile(fileext = ".rds")
  saveRDS(x, file, compress = FALSE)
  saveRDS(quiet(release_data(x)), release <- tempfile(fileext = ".rds"), compress = FALSE)
  for (path in c(file, release)) {
    bytes <- readBin(path, raw(), file.size(path))
    expect_no_match(rawToChar(bytes[bytes > 31 & bytes < 127]), "Tinytown", fixed = TRUE)
  }
  again <- readRDS(file)
  expect_message(suppress_cells(again, k = 4), class = "sdcRisk_message_original_unknown")
  e <- expect_error(
    suppress_cells(data, k = 3, original = data[1:9, ]), class = "sdcRisk_error_mismatched_data"
  )
  expect_match(conditionMessage(e), "`original` must have the records of `data`", fixed = TRUE)
})

test_that("shuffled releases are another order each time, households together", {
  data <- with_own_incomes(attacked_file())
  set.seed(1)
  x <- quiet(suppress_cells(data, attacked_keys, k = 3, hh_id = "hid"))
  set.seed(1)
  y <- quiet(suppress_cells(data, attacked_keys, k = 3, hh_id = "hid"))
  a <- quiet(release_data(x, keep_ids = "hid"))
  b <- quiet(release_data(y, keep_ids = "hid"))
  expect_identical(x$data, y$data)
  expect_false(identical(a$hid, b$hid))
  for (released in list(a, b)) {
    expect_identical(length(rle(released$hid)$values), length(unique(data$hid)))
    # Neither the old order nor its reverse, nor the order of any column that was released.
    homes <- unique(released$hid)
    expect_lt(abs(stats::cor(homes, seq_along(homes))), 0.25)
    for (name in c("region", "age", "sex", "income")) {
      first <- released[[name]][!duplicated(released$hid)]
      known <- !is.na(first)
      expect_lt(abs(stats::cor(as.double(first[known]), which(known))), 5 / sqrt(sum(known)))
    }
  }
  one <- quiet(release_data(x, new_ids = "hid"))
  two <- quiet(release_data(x, new_ids = "hid"))
  expect_false(identical(one$hid, two$hid))
  expect_identical(length(rle(one$hid)$values), length(unique(data$hid)))
})

test_that("a sorted file tells masked numbers, and so does a number that follows from them", {
  set.seed(6)
  n <- 1500
  data <- data.frame(
    sector = sample(letters[1:3], n, TRUE), turnover = sort(round(rlnorm(n, 10))),
    age = round(rlnorm(n, 3))
  )
  masked <- function(data) {
    numbers <- c("turnover", "age")
    microaggregate(sdc_file(data, "sector", num_vars = numbers), numbers, k = 10)
  }
  near <- function(guess, data) {
    is_near <- abs(guess - data$turnover) <= 0.05 * data$turnover
    sum(is_near[x$turnover != data$turnover])
  }
  told <- function(code, class) {
    found <- NULL
    withCallingHandlers(code, message = function(m) {
      if (inherits(m, class)) found <<- m
      invokeRestart("muffleMessage")
    })
    found
  }
  order <- told(x <- masked(data), "sdcRisk_message_told_by_order")$told
  expect_identical(order$variable, "turnover")
  changed <- sum(x$turnover != data$turnover)
  expect_identical(order$n, changed)
  expect_equal(order$chance, near(x$turnover, data) / changed)
  # Means of the five, eleven ... records around each, one by one.
  means <- vapply(c(2, 5, 12, 30, 75), function(side) {
    near(vapply(seq_len(n), function(i) {
      mean(x$turnover[max(1, i - side):min(n, i + side)])
    }, 0), data)
  }, 0)
  expect_equal(order$share, max(means) / changed)
  expect_gt(order$share, order$chance + 0.3)
  # By default in another order, and a file without an order has nothing to tell.
  expect_false(identical(quiet(release_data(x))$turnover, x$turnover))
  data <- data[sample(n), ]
  expect_null(told(x <- masked(data), "sdcRisk_message_told_by_order"))
  expect_null(told(release_data(x), "sdcRisk_message_determined_keys"))
  data$tax <- signif(data$turnover * 0.02, 2)
  data$area <- data$turnover^0.5 * rlnorm(n, 0, 0.01)
  data$staff <- data$turnover * rlnorm(n, 0, 0.5)
  x <- quiet(masked(data))
  found <- told(release_data(x), "sdcRisk_message_determined_keys")$told_by
  expect_setequal(found$by, c("tax", "area"))
  expect_true(all(found$part))
  expect_equal(found$n[found$by == "tax"], near(data$tax / 0.02, data), tolerance = 0.02)
})

test_that("without a sum that told a number another sum is named", {
  set.seed(7)
  n <- 600
  parts <- as.data.frame(lapply(c(a = 1, b = 2, c = 3, d = 1, e = 2), function(i) {
    round(rlnorm(n, 7), 1)
  }))
  data <- data.frame(region = sample(4, n, TRUE), parts)
  data$total <- data$a + data$b + data$c
  data$f <- round(data$total - data$d - data$e, 1)
  x <- quiet(microaggregate(sdc_file(data, "region", num_vars = "total"), "total", k = 5))
  told <- function(code) {
    found <- NULL
    withCallingHandlers(code, message = function(m) {
      if (inherits(m, "sdcRisk_message_determined_keys")) found <<- m$told_by
      invokeRestart("muffleMessage")
    })
    sort(found$by)
  }
  expect_identical(told(release_data(x)), c("a + b + c", "d + e + f"))
  expect_identical(told(release_data(x, drop = "d")), "a + b + c")
  expect_null(told(release_data(x, drop = c("d", "a"))))
  # What one column told in full was not asked of others.
  data$copy <- 2 * data$total + 1
  x <- quiet(microaggregate(sdc_file(data, "region", num_vars = "total"), "total", k = 5))
  expect_identical(told(release_data(x)), "copy")
  expect_identical(told(release_data(x, drop = "copy")), c("a + b + c", "d + e + f"))
  x$copy <- NULL
  expect_identical(told(release_data(x)), c("a + b + c", "d + e + f"))
})

test_that("equal values of a column are in no order of the file", {
  set.seed(11)
  n <- 2000
  data <- data.frame(region = rep(1:4, length.out = n), price = sort(round(rlnorm(n, 12, 0.5))))
  data$extra <- replace(numeric(n), sample(n, 40), sample(100:900, 40))
  said <- expect_message(
    microaggregate(sdc_file(data, "region", num_vars = "price"), k = 5, method = "optimal"),
    class = "sdcRisk_message_told_by_order"
  )
  expect_identical(said$told$by, NA_character_)
})

test_that("the mean of a person's records takes noise out of a number", {
  set.seed(3)
  n <- 3000
  data <- data.frame(id = rep(sample(600), each = 5), sector = sample(3, n, TRUE))
  data$wage <- rep(round(rlnorm(600, 10)), each = 5)
  data <- data[sample(n), ]
  noisy <- replace(data, "wage", list(round(data$wage * (1 + rnorm(n, 0, 0.1)))))
  told <- sdcRisk:::told_by_columns(data, noisy, "wage")
  near <- function(guess) sum((abs(guess - data$wage) <= 0.05 * data$wage)[noisy$wage != data$wage])
  n_near <- near(ave(noisy$wage, data$id))
  expect_gt(n_near, near(noisy$wage) + 600)
  told <- told[told$by == "id", ]
  expect_identical(told$n, n_near)
  expect_true(told$part)
  # New numbers keep the records of a person together.
  expect_identical(told$n_renumbered, n_near)
  # Wages that are not those of the person have no common mean.
  data$wage <- sample(data$wage)
  noisy$wage <- round(data$wage * (1 + rnorm(n, 0, 0.1)))
  expect_identical(NROW(sdcRisk:::told_by_columns(data, noisy, "wage")), 0L)
})

test_that("sums of protected numbers alone come to an end", {
  set.seed(9)
  n <- 500
  data <- data.frame(sector = sample(3, n, TRUE), a = round(rlnorm(n, 7)), b = round(rlnorm(n, 7)))
  data$total <- data$a + data$b
  top <- quiet(top_code(
    sdc_file(data, "sector", num_vars = c("a", "b", "total")), a = 8000, b = 8000, total = 9000
  ))
  setTimeLimit(elapsed = 60)
  on.exit(setTimeLimit())
  expect_no_error(sdcRisk:::told_by_columns(data, as.data.frame(top), c("a", "b", "total")))
})
