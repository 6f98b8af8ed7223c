# When variables of a panel changed.

draw_panel <- function(n, n_waves, seed) {
  set.seed(seed)
  data <- expand.grid(id = seq_len(n), wave = seq_len(n_waves))
  data$status <- factor(sample(c("s", "m", NA), nrow(data), TRUE))
  data$size <- sample(c(1, 2, NA), nrow(data), TRUE)
  data[sample(nrow(data), 0.8 * nrow(data)), ]
}

test_that("moments are those of a loop over the waves, long or listed, in any order", {
  for (seed in 1:6) {
    data <- draw_panel(30, 5, seed)
    found <- change_moments(data, "id", c("status", "size"), "wave")
    expect_identical(found$id, unique(data$id))
    names <- as.character(sort(unique(data$wave)))
    for (v in c("status", "size")) {
      slow <- lapply(found$id, function(person) {
        own <- data[data$id == person, ]
        values <- as.character(own[[v]])[match(names, as.character(own$wave))]
        slow_changes(values, names)
      })
      expect_identical(found[[paste0(v, "_changes")]], vapply(slow, `[[`, 0L, "n"))
      expect_identical(
        as.character(found[[paste0(v, "_seen")]]), vapply(slow, `[[`, "", "seen")
      )
      expect_identical(
        format(found[[paste0(v, "_moment")]]), format(candidates(lapply(slow, `[[`, "moment")))
      )
    }
    listed <- unname(split(data[names(data) != "wave"], data$wave))
    by_list <- change_moments(listed, "id", c("status", "size"))
    at <- match(found$id, by_list$id)
    expect_identical(by_list[["status_changes"]][at], found$status_changes)
    expect_identical(format(by_list$size_moment[at]), format(found$size_moment))
  }
})

test_that("a trajectory has the value of every wave", {
  data <- draw_panel(20, 4, 9)
  found <- change_moments(data, "id", "size", "wave", detail = "trajectory")
  expect_identical(names(found), c("id", paste0("size_", 1:4)))
  for (w in 1:4) {
    own <- data[data$wave == w, ]
    expect_identical(found[[paste0("size_", w)]], own$size[match(found$id, own$id)])
  }
  expect_identical(
    n_matches(found[-1])$records$n_matches, slow_wildcard_matches(found[-1])
  )
})

test_that("names of waves and types are those of the panel", {
  waves <- list(
    may = data.frame(id = 1:3, status = c("single", "single", "married")),
    june = data.frame(id = c(1, 3), status = c("single", "married")),
    july = data.frame(id = 1:3, status = factor(c("married", "married", "married")), size = 1)
  )
  found <- change_moments(waves, "id", c("status", "size"))
  expect_identical(found$status_changes, c(1L, 1L, 0L))
  expect_identical(as.character(found$status_seen), c("july", "july", "no change"))
  expect_identical(format(found$status_moment), c("july", "june|july", "no change"))
  expect_identical(levels(found$status_seen), c("no change", "may", "june", "july"))
  expect_identical(found$size_changes, c(0L, 0L, 0L))
  # A variable that is missing throughout, and one wave alone.
  gone <- change_moments(list(data.frame(id = 1:2, a = NA)), "id", "a")
  expect_identical(as.character(gone$a_seen), rep("no change", 2))
  dates <- data.frame(id = 1, day = as.Date("2020-01-01") + 0:2, a = c(1, 1, 2))
  expect_identical(as.character(change_moments(dates, "id", "a", "day")$a_seen), "2020-01-03")
  expect_identical(
    change_moments(dates, id, a, day), change_moments(dates, "id", "a", "day")
  )
})

test_that("what has no moments is a classed error", {
  data <- draw_panel(5, 3, 1)
  bad <- function(class, ...) {
    expect_error(change_moments(...), class = paste0("sdcRisk_error_", class))
  }
  bad("bad_argument", data, "id", "status")
  bad("bad_argument", list(data, data), "id", "status", "wave")
  bad("unknown_key_var", data, "id", "stat", "wave")
  bad("bad_argument", data, "id", "wave", "wave")
  bad("bad_argument", data, "id", character(), "wave")
  bad("bad_data", rbind(data, data[1, ]), "id", "status", "wave")
  bad("bad_data", 1:3, "id", "status")
  bad("bad_argument", data, "id", "status", "wave", detail = "all")
  bad("bad_column", list(data.frame(id = 1, a = 1), data.frame(id = 1, a = "x")), "id", "a")
})

test_that("the figures of the panel that the package ships", {
  background <- panel_waves$background
  found <- panel_members(background, panel_waves$modules, "id")
  background <- background[background$id %in% found$id[found$member], ]
  time <- c("year", "month")
  vars <- c("civil_status", "n_children")
  keys <- c("birth_year", "gender", vars)
  moments <- change_moments(background, "id", vars, time)
  latest <- as.data.frame(latest_values(background, "id", time, origin = FALSE))
  expect_identical(latest$id, moments$id)
  people <- cbind(latest[keys], moments[-1])
  expect_identical(nrow(people), 10997L)
  uniques <- function(keys) n_matches(people, keys)$estimates$n_unique
  expect_identical(c(uniques(keys), uniques(c(keys, paste0(vars, "_seen")))), c(251, 1324))
  people$status_ever <- people$civil_status_changes > 0
  people$children_ever <- people$n_children_changes > 0
  expect_identical(c(sum(people$status_ever), sum(people$children_ever)), c(229L, 1005L))
  expect_identical(uniques(c(keys, "status_ever", "children_ever")), 573)
  # Where waves are missing the month is less certain.
  between <- uniques(c(keys, paste0(vars, "_moment")))
  expect_true(between > 573 && between < 1324)
})

test_that("a wave that is named as no change is refused", {
  waves <- list(a = data.frame(id = 1, s = "x"), "no change" = data.frame(id = 1, s = "y"))
  expect_error(change_moments(waves, "id", "s"), class = "sdcRisk_error_bad_argument")
})
