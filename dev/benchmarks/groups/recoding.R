# The cheapest recoding under a limit: Adult with ARX's hierarchies, whose optima
# are published, and ten key variables of 50,000 records.

recode_adult <- function() {
  folder <- file.path(Sys.getenv("SDCRISK_DATA"), "arx")
  data <- utils::read.csv(file.path(folder, "adult.csv"), sep = ";", check.names = FALSE)
  data
}

recode_levels <- function(data) {
  folder <- file.path(Sys.getenv("SDCRISK_DATA"), "arx")
  files <- file.path(folder, paste0("adult_hierarchy_", names(data), ".csv"))
  stats::setNames(as.list(files), names(data))
}

# The packaged file, filled up by records of which two values come from another
# one; hierarchies of up to six levels, 4 to 8 million recodings.
recode_ten <- function(n, seed = 20261121) {
  set.seed(seed)
  data <- sdcRisk::adult[setdiff(names(sdcRisk::adult), "income")]
  more <- data[sample.int(nrow(data), n - nrow(data), TRUE), ]
  for (i in 1:2) {
    column <- sample.int(ncol(data), nrow(more), TRUE)
    for (j in seq_along(data)) {
      rows <- which(column == j)
      more[[j]][rows] <- data[[j]][sample.int(nrow(data), length(rows), TRUE)]
    }
  }
  data <- rbind(data, more)
  rownames(data) <- NULL
  data
}

fixtures$recode_adult <- function() recode_adult()
fixtures$recode_ten <- function(n) recode_ten(as.numeric(n))

tasks$recoding <- rbind(
  if (nzchar(Sys.getenv("SDCRISK_DATA"))) {
    rbind(
      c("recode_k5@sdcRisk", "recode_adult", 2, 5),
      c("recode_k100@sdcRisk", "recode_adult", 2, 5),
      c("recode_k5_4@sdcRisk", "recode_adult", 2, 5),
      c("recode_k100_4@sdcRisk", "recode_adult", 2, 5),
      c("recode_uniques@sdcRisk", "recode_adult", 2, 5)
    )
  },
  c("recode_0@sdcRisk", "recode_ten:5e4", 2, 3),
  c("recode_1@sdcRisk", "recode_ten:5e4", 2, 3),
  c("recode_5@sdcRisk", "recode_ten:5e4", 2, 3)
)

recode_of_adult <- function(...) {
  function() {
    x <- sdcRisk::recode_search(data, hierarchies = recode_levels(data), ...)
    stopifnot(x$estimates$proven)
    x$best$cost[[1]]
  }
}

runs[["recode_k5@sdcRisk"]] <- recode_of_adult(constraint = list(k = 5))
runs[["recode_k100@sdcRisk"]] <- recode_of_adult(constraint = list(k = 100))
runs[["recode_k5_4@sdcRisk"]] <- recode_of_adult(constraint = list(k = 5), suppress = 0.04)
runs[["recode_k100_4@sdcRisk"]] <- recode_of_adult(constraint = list(k = 100), suppress = 0.04)
runs[["recode_uniques@sdcRisk"]] <- recode_of_adult(
  constraint = list(prop_unique = 0.01), suppress = 0.04, cost = "loss"
)

recode_of_ten <- function(suppress) {
  force(suppress)
  function() {
    x <- suppressMessages(
      sdcRisk::recode_search(data, constraint = list(k = 5), suppress = suppress)
    )
    # The cost, and how far it may be from the optimum.
    paste0(
      format(x$best$cost[[1]], digits = 12), if (x$estimates$proven) ":proven" else
        sprintf(":gap=%.3f", x$estimates$gap)
    )
  }
}

runs[["recode_0@sdcRisk"]] <- recode_of_ten(0)
runs[["recode_1@sdcRisk"]] <- recode_of_ten(0.01)
runs[["recode_5@sdcRisk"]] <- recode_of_ten(0.05)
