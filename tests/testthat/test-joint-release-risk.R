# Releases of one sample, alone, linked and joined.

skip_on_cran()

draw_sample <- function(n, seed = 1) {
  set.seed(seed)
  data.frame(
    id = sample(1e6, n), age = sample(20:59, n, TRUE), sex = sample(c("f", "m"), n, TRUE),
    region = factor(sample(c("N", "S", "E"), n, TRUE)), income = sample(4, n, TRUE)
  )
}
decades <- data.frame(years = 15:64, band = paste0(15:64 %/% 10, "0s"))
with_bands <- function(data) transform(data, age = decades$band[match(age, decades$years)])

test_that("alone, linked and joined equal what brute force finds", {
  for (seed in 1:5) {
    data <- draw_sample(60, seed)
    one <- data[c("id", "age", "sex", "income")]
    two <- with_bands(data)[sample(60), c("id", "age", "region", "sex", "income")]
    joint <- joint_release_risk(
      list(one = one, two = two), "id", c("age", "sex", "region"), list(age = decades)
    )
    uniques <- c(
      sum(slow_wildcard_matches(one[c("age", "sex")]) == 1),
      sum(slow_wildcard_matches(two[c("age", "region", "sex")]) == 1),
      sum(slow_wildcard_matches(data[c("age", "sex", "region")]) == 1)
    )
    expect_identical(joint$estimates$release, c("one", "two", "joined"))
    expect_identical(joint$estimates$n_unique, uniques)
    expect_identical(joint$estimates$n_keys, c(2L, 3L, 3L))
    slow <- slow_release_links(with_bands(one), two, c("age", "sex", "income"), "id")
    expect_equal(joint$links$expected_correct, rep(slow$expected, 2))
    expect_identical(joint$links$n_certain, rep(as.integer(slow$certain), 2))
    expect_identical(joint$links$n_keys, c(3L, 3L))
    expect_identical(joint$records$id, one$id)
    expect_equal(joint$records$match_prob, slow$right)
    expect_identical(
      joint$records$n_matches, slow_wildcard_matches(data[c("age", "sex", "region")])
    )
    alone <- pmin(
      slow_wildcard_matches(one[c("age", "sex")]),
      slow_wildcard_matches(two[c("age", "region", "sex")])[match(one$id, two$id)]
    )
    expect_identical(joint$records$n_matches_alone, alone)
  }
})

test_that("identical releases link wholly, those without a common column at chance", {
  data <- draw_sample(40)
  data$row <- seq_len(40)
  same <- joint_release_risk(list(data, data), "id", c("age", "sex"))
  expect_identical(same$links$expected_correct, c(40, 40))
  expect_identical(same$links$n_certain, c(40L, 40L))
  expect_identical(same$estimates$n_unique[[3]], same$estimates$n_unique[[1]])
  apart <- joint_release_risk(list(data[c("id", "age")], data[c("id", "sex")]), "id",
                              c("age", "sex"))
  expect_equal(apart$links$expected_correct, c(1, 1))
  expect_identical(apart$links$n_certain, c(0L, 0L))
  expect_identical(apart$links$n_keys, c(0L, 0L))
  # An independent column tells nothing either: links are right in about one of 500.
  set.seed(2)
  noise <- data.frame(id = 1:500, coin = sample(20, 500, TRUE), a = 1)
  other <- transform(noise, coin = sample(20, 500, TRUE))
  chance <- joint_release_risk(list(noise, other), "id", "coin")
  expect_true(all(abs(chance$links$expected_correct - 1) < 1.5))
})

test_that("other people in each release are joined as far as they are known", {
  one <- data.frame(id = 1:4, age = c(30, 30, 41, 52), sex = c("f", "m", "f", "f"))
  two <- data.frame(id = 3:6, sex = c("f", "f", "m", "m"), job = c("a", "b", "a", "c"))
  joint <- joint_release_risk(list(one, two), "id", c("age", "sex", "job"))
  joined <- data.frame(
    age = c(30, 30, 41, 52, NA, NA), sex = c("f", "m", "f", "f", "m", "m"),
    job = c(NA, NA, "a", "b", "a", "c")
  )
  expect_identical(joint$records$n_matches, slow_wildcard_matches(joined))
  expect_identical(joint$estimates$n_records, c(4L, 4L, 6L))
  expect_identical(joint$links$n_linked, c(2L, 2L))
  expect_identical(is.na(joint$records$match_prob), c(TRUE, TRUE, FALSE, FALSE, TRUE, TRUE))
  expect_warning(
    nobody <- joint_release_risk(list(one, transform(two, id = 11:14)), "id", c("age", "sex")),
    class = "sdcRisk_warning_no_common_ids"
  )
  expect_identical(nobody$links$expected_correct, c(0, 0))
  expect_true(all(is.na(nobody$links$prop_expected)))
})

test_that("what releases contradict is known of both", {
  one <- data.frame(id = 1:4, sex = c("f", "m", "f", "m"), status = c("s", "s", "s", "m"))
  two <- transform(one, status = c("s", "m", "m", "m"))
  joint <- joint_release_risk(list(one, two), "id", c("sex", "status"))
  expect_identical(joint$estimates$n_unique, c(2L, 2L, 4L))
  expect_identical(joint$estimates$n_keys, c(2L, 2L, 3L))
  # Three releases: each pair, both ways.
  three <- joint_release_risk(list(a = one, b = two, c = one), "id", c("sex", "status"))
  expect_identical(nrow(three$links), 6L)
  expect_identical(three$estimates$n_unique[[4]], 4L)
})

test_that("versions of a variable are told by cut points, groups, hierarchies and tables", {
  data <- draw_sample(80, 3)
  keys <- c("age", "sex")
  coarse <- global_recode(data, age = c(30, 45))
  expected <- slow_release_links(
    as.data.frame(global_recode(data, age = c(30, 45))), as.data.frame(coarse),
    c("age", "sex", "region", "income"), "id"
  )$expected
  by <- list(
    c(30, 45), hierarchy(data$age, breaks = c(30, 45)),
    data.frame(20:59, cut(20:59, c(0, 29, 44, 99), levels(coarse$age)))
  )
  for (recoding in by) {
    joint <- joint_release_risk(list(data, coarse), "id", keys, list(age = recoding))
    expect_equal(joint$links$expected_correct, rep(expected, 2))
    expect_identical(joint$estimates$n_unique[[3]], joint$estimates$n_unique[[1]])
  }
  groups <- list(rest = c("S", "E"))
  joined <- joint_release_risk(
    list(data, global_recode(data, region = groups)), "id", c("region", "sex"),
    list(region = groups)
  )
  expect_identical(joined$estimates$n_keys, c(2L, 2L, 2L))
  # Bands that are not nested: neither tells the other, and both are known.
  table <- data.frame(age = 20:59, tens = 20:59 %/% 10, shifted = paste("to", (20:59 + 5) %/% 10))
  bands <- lapply(c("tens", "shifted"), function(v) {
    data.frame(id = data$id, age = table[[v]][match(data$age, table$age)])
  })
  joint <- joint_release_risk(bands, "id", "age", list(age = table))
  expect_identical(joint$estimates$n_keys, c(1L, 1L, 2L))
  can <- outer(bands[[1]]$age, bands[[2]]$age, Vectorize(function(x, y) {
    any(table$tens == x & table$shifted == y)
  }))
  expect_equal(joint$links$expected_correct, c(sum(1 / rowSums(can)), sum(1 / colSums(can))))
  # Bands named by numbers that are ages too: people tell which version it is.
  tens <- transform(data, age = age %/% 10)
  by_number <- data.frame(years = 0:99, tens = 0:99 %/% 10)
  joint <- joint_release_risk(list(data, tens), "id", keys, list(age = by_number))
  expect_identical(joint$estimates$n_unique[[3]], joint$estimates$n_unique[[1]])
  expect_equal(joint$links$expected_correct, rep(slow_release_links(
    tens, tens, c("age", "sex", "region", "income"), "id"
  )$expected, 2))
})

test_that("missing values are wildcards in counts, and links can weigh them", {
  data <- draw_sample(50, 4)
  holes <- data
  holes$age[1:10] <- NA
  holes$sex[8:20] <- NA
  joint <- joint_release_risk(list(data[-4], holes[-2]), "id", c("age", "sex", "region"))
  expect_identical(
    joint$estimates$n_unique[[2]], sum(slow_wildcard_matches(holes[c("sex", "region")]) == 1)
  )
  # The other release knows what is missing.
  expect_identical(
    joint$estimates$n_unique[[3]], sum(slow_wildcard_matches(data[c("age", "sex", "region")]) == 1)
  )
  slow <- slow_attack(holes[-2], data[-4], c("sex", "income"), "id")
  expect_equal(joint$links$expected_correct[[1]], sum(slow$match_prob))
  empty <- transform(data, age = NA, sex = NA)
  joint <- joint_release_risk(list(data, empty), "id", c("age", "sex"))
  expect_identical(joint$estimates$n_unique[[2]], 0L)
  expect_identical(joint$estimates$n_unique[[3]], joint$estimates$n_unique[[1]])
})

test_that("files with roles, remedies, tibbles and types are taken", {
  data <- draw_sample(60, 5)
  plain <- joint_release_risk(list(data[-4], data[-2]), "id", c("age", "sex", "region"))
  file <- sdc_file(data[-4], c("age", "sex"))
  remedy <- suppress_cells(data[-2], c("sex", "region"), k = 2, rule = "own")
  joint <- joint_release_risk(list(file, remedy), "id")
  expect_setequal(joint$settings$key_vars, c("age", "sex", "region"))
  expect_identical(
    joint_release_risk(list(file, sdc_file(data[-2], c("sex", "region"))), "id")$estimates,
    plain$estimates
  )
  expect_identical(
    joint_release_risk(list(data[-4], data[-2]), id, c(age, sex, region))$estimates,
    plain$estimates
  )
  other <- transform(data[-2], id = as.numeric(id), sex = factor(sex))
  expect_identical(
    joint_release_risk(list(data[-4], other), "id", c("age", "sex", "region"))$links, plain$links
  )
})

test_that("population uniqueness is that of the copula, and needs the size of the population", {
  people <- cbind(id = seq_len(nrow(adult)), adult)
  set.seed(1)
  data <- people[sample(nrow(people), 1500), ]
  one <- data[c("id", "age", "sex")]
  two <- data[c("id", "race", "sex", "education_num")]
  keys <- c("age", "sex", "race", "education_num")
  joint <- quietly(joint_release_risk(list(one, two), "id", keys, pop_size = nrow(people)))
  by_copula <- quietly(
    copula_uniqueness(one[-1], pop_size = nrow(people), records = FALSE)
  )
  expect_equal(
    joint$estimates[1, c("population_uniqueness", "uniqueness_low", "uniqueness_high")],
    by_copula$estimates[c("population_uniqueness", "uniqueness_low", "uniqueness_high")],
    ignore_attr = TRUE
  )
  truth <- vapply(list(keys[1:2], keys[-1], keys), function(v) {
    expected_uniques(people[v]) / nrow(people)
  }, 0)
  e <- joint$estimates
  expect_true(all(e$uniqueness_low <= truth & truth <= e$uniqueness_high))
  expect_true(all(diff(e$population_uniqueness[c(1, 3)]) > 0))
  without <- joint_release_risk(list(one, two), "id", keys)
  expect_true(all(is.na(without$estimates$population_uniqueness)))
  few <- joint_release_risk(list(one[1:3, ], two[1:3, ]), "id", keys, pop_size = 100)
  expect_true(all(is.na(few$estimates$population_uniqueness)))
  expect_true(all(nzchar(few$estimates$note)))
})

test_that("what cannot be measured is a classed error that names no value", {
  data <- draw_sample(20)
  bad <- function(class, ...) {
    e <- expect_error(joint_release_risk(...), class = paste0("sdcRisk_error_", class))
    expect_false(any(vapply(data$id, grepl, NA, x = conditionMessage(e), fixed = TRUE)))
    conditionMessage(e)
  }
  expect_match(bad("bad_data", data, "id", "age"), "two or more releases")
  expect_match(bad("bad_data", list(data), "id", "age"), "It has 1 element")
  bad("bad_data", list(data, 1:3), "id", "age")
  bad("bad_data", list(data, data[0, ]), "id", "age")
  bad("unknown_key_var", list(data, data), "person", "age")
  bad("unknown_key_var", list(data, data[-1]), "id", "age")
  bad("unknown_key_var", list(data, data), "id", "agee")
  bad("bad_argument", list(data, data), "id", "id")
  bad("bad_argument", list(data, data), "id")
  expect_match(bad("bad_argument", list(a = data, b = data[1:2]), "id", "sex"), "Without a key")
  bad("bad_argument", list(data, transform(data, id = replace(id, 2, NA))), "id", "age")
  expect_match(
    bad("bad_data", list(one = data, two = data[c(1, 1:20), ]), "id", "age"), "`two`", fixed = TRUE
  )
  bad("bad_column", list(data, transform(data, id = paste0("p", id))), "id", "age")
  bad("bad_column", list(data, transform(data, age = paste(age, "years"))), "id", "age")
  bad("bad_argument", list(data, data), "id", "age", pop_size = 5)
  bad("bad_argument", list(a = data, joined = data), "id", "age")
  bad("bad_argument", list(data, data), "id", "age", c(30, 40))
  bad("bad_argument", list(data, data), "id", "age", list(weight = c(30, 40)))
  expect_match(
    bad("bad_argument", list(data, with_bands(data)), "id", "age", list(age = decades[1:9, ])),
    "In no version"
  )
})

test_that("the figures of the paper on releases are those of eusilcP", {
  package <- "simFrame"
  skip_if_not_installed(package)
  people <- new.env()
  utils::data(list = "eusilcP", package = package, envir = people)
  people <- transform(people$eusilcP, income = round(eqIncome / 500))
  set.seed(3)
  data <- people[sample(nrow(people), 8000), ]
  shared <- c("id", "age", "gender", "ecoStat", "income")
  joint <- joint_release_risk(
    list(
      teaching = data[shared],
      public = transform(data[c(shared, "citizenship", "region", "hsize")], age = age %/% 10)
    ),
    "id", c("age", "gender", "ecoStat", "citizenship", "region", "hsize"),
    list(age = data.frame(years = -1:110, tens = -1:110 %/% 10)), nrow(people)
  )
  expect_identical(joint$estimates$n_unique, c(122L, 937L, 3266L))
  expect_equal(joint$links$expected_correct, rep(2745.952, 2), tolerance = 1e-6)
  expect_identical(joint$links$n_certain, c(1308L, 1308L))
  truth <- c(0.0015, 0.0232, 0.0985)
  e <- joint$estimates
  expect_true(all(e$uniqueness_low < truth & truth < e$uniqueness_high))
})

test_that("remedies of the joined file keep the limit for both releases", {
  data <- cbind(id = 1:1500, adult[1:1500, c("sex", "race", "education_num", "marital_status")])
  earlier <- data[c("id", "sex", "race")]
  later <- data[c("id", "education_num", "marital_status")]
  keys <- names(data)[-1]
  unique_in <- function(later) {
    e <- quietly(joint_release_risk(list(earlier, later), "id", keys))$estimates
    e$n_unique[e$release == "joined"]
  }
  expect_gt(unique_in(later), 30)
  found <- quietly(recode_search(
    data[keys], constraint = list(prop_unique = 0.02), keep = list(sex = 0, race = 0)
  ))
  recoded <- as.data.frame(quietly(apply_recoding(found, data[keys])))
  expect_identical(recoded$race, data$race)
  later[-1] <- recoded[names(later)[-1]]
  expect_lte(unique_in(later), 30)
  blanked <- quietly(suppress_cells(data[keys], k = 3, importance = c(sex = Inf, race = Inf)))
  expect_true(all(blanked$cells$variable %in% c("education_num", "marital_status")))
  later[-1] <- as.data.frame(quietly(release_data(blanked, shuffle = FALSE)))[names(later)[-1]]
  joined <- cbind(earlier, later[-1])
  expect_gte(min(quietly(n_matches(joined, keys))$records$n_matches), 3)
})
