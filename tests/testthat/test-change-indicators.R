skip_on_cran()

test_that("indicators equal their definition on random waves", {
  for (seed in seeds(150)) {
    waves <- random_waves(seed)
    found <- quietly(change_indicators(waves$wave1, waves$wave2, waves$keys, "id"))
    partner <- match(waves$wave2$id, waves$wave1$id)
    link <- quietly(longitudinal_link(waves$wave1, waves$wave2, waves$keys, "id"))
    certain <- quietly(
      change_indicators(waves$wave1, waves$wave2, waves$keys, "id", link, "certain")
    )
    for (v in waves$keys) {
      one <- as.character(waves$wave1[[v]][partner])
      changed <- as.integer(one != as.character(waves$wave2[[v]]))
      changed[is.na(changed)] <- 0L
      expect_identical(found[[paste0(v, "_changed")]], changed)
      changed[!link$records$certain] <- 0L
      expect_identical(certain[[paste0(v, "_changed")]], changed)
    }
    expect_identical(found[names(waves$wave2)], waves$wave2)
  }
})

test_that("the class of wave 2 stays, and what cannot be is refused", {
  one <- data.frame(id = 1:3, a = 1:3, b = 3:1)
  two <- data.frame(id = c(3, 1, 9), a = c(3L, 2L, 1L), b = 1L)
  change <- function(wave2 = two, ...) change_indicators(one, wave2, ...)
  suppressWarnings({
    expect_identical(change(vars = c("a", "b"), id = "id")$a_changed, c(0L, 1L, 0L))
    link <- longitudinal_link(one, two, "b", "id")
    unlinked <- longitudinal_link(one, two, "b")
  })
  bad <- function(..., class = "sdcRisk_error_bad_argument") {
    expect_error(suppressWarnings(change(...)), class = class)
  }
  bad(vars = "a", id = "id", scope = "certain")
  bad(vars = "a", id = "id", link = unlinked, scope = "certain")
  bad(vars = "a", id = "id", link = two, scope = "certain")
  bad(vars = "a", id = "id", scope = "some")
  bad(vars = "a")
  bad(id = "id")
  bad(vars = "z", id = "id", class = "sdcRisk_error_unknown_key_var")
  bad(transform(two, a_changed = 1), vars = "a", id = "id")
  bad(
    transform(two, b = 1:3), vars = "a", id = "id", link = link, scope = "certain",
    class = "sdcRisk_error_mismatched_data"
  )
  skip_if_not_installed("tibble")
  found <- suppressWarnings(change(tibble::as_tibble(two), vars = "a", id = "id"))
  expect_s3_class(found, "tbl_df")
})
