# What check_script() adds to a script: five scripts of 200 lines on 100,000 records, each run
# by Rscript and checked, in turn.
#   Rscript dev/benchmarks/scripts.R 5      pairs of runs
#   Rscript dev/benchmarks/scripts.R 3 many tables
# writes processor seconds of both and the median of their ratios to target/benchmarks/scripts.csv.

arguments <- commandArgs(TRUE)
n_pairs <- if (length(arguments)) as.integer(arguments[[1]]) else 5L
library(sdcRisk)

begin <- c(
  "library(sdcRisk)",
  "set.seed(as.integer(Sys.getenv(\"RELEASE_SEED\")))",
  "n <- 100000",
  "raw <- data.frame(",
  "  id = sample(1e6, n), age = sample(18:90, n, TRUE), sex = sample(2, n, TRUE),",
  "  region = sample(letters[1:16], n, TRUE), education = sample(5, n, TRUE),",
  "  income = round(rlnorm(n, 10)), weight = runif(n, 5, 15)",
  ")"
)
file <- c(
  "people <- sdc_file(",
  "  raw, key_vars = c(age, sex, region, education), weight_var = weight, num_vars = income,",
  "  id_vars = id",
  ")"
)
end <- c(
  "protected <- suppress_cells(people, k = 3)",
  "released <- release_data(protected)",
  "write.csv(released, \"released.csv\", row.names = FALSE)"
)

# Code with a number in place of each %d, up to 200 lines.
filled <- function(begin, code, end) {
  times <- (200 - length(begin) - length(end)) %/% length(code)
  body <- unlist(lapply(seq_len(times), function(i) gsub("%d", i, code, fixed = TRUE)))
  c(begin, body, end)
}

scripts <- list(
  # Figures of the file.
  figures = filled(c(begin, file), c(
    "mean_%d <- mean(people$income[people$age > %d])",
    "table_%d <- table(people$region, people$education)",
    "quantile(people$income, %d / 200)"
  ), end),
  # Models and sorts, which cost more than most lines do.
  models = filled(c(begin, file), c(
    "fit_%d <- lm(log(income + %d) ~ age + sex + region, data = people)",
    "order_%d <- order(people$income, people$age)",
    "part_%d <- mean(people$income[order_%d[1:1000]])"
  ), end),
  # Columns that are added and changed, parts, copies.
  mixed = filled(c(begin, file), c(
    "people$ratio_%d <- people$income / %d",
    "mean_%d <- mean(people$ratio_%d)",
    "part_%d <- people[people$education == %d %% 5 + 1, ]",
    "copy_%d <- transform(people, income = income + %d)",
    "rm(copy_%d)",
    "people$ratio_%d <- NULL"
  ), end),
  # A data frame in every second line, which all stay.
  many = filled(c(begin, file), c(
    "frame_%d <- people[people$age > %d %% 60, ]",
    "frame_%d$income <- frame_%d$income / 12"
  ), end),
  tables = filled(c("library(data.table)", begin, "people <- as.data.table(raw)"), c(
    "people[, ratio := income / %d]",
    "people[sex == 1, ratio := ratio * 2]",
    "means_%d <- people[, .(mean = mean(income)), by = region]",
    "people[, ratio := NULL]",
    "setorder(people, region, age)"
  ), c(
    "people <- sdc_file(",
    "  people, key_vars = c(age, sex, region, education), weight_var = weight,",
    "  num_vars = income, id_vars = id",
    ")", end
  ))
)
scripts$tables <- sub(
  "^people <- as.data.table", paste0(
    "#| sdc: key_vars = c(age, sex, region, education), weight_var = weight\n",
    "people <- as.data.table"
  ), scripts$tables
)
if (length(arguments) > 1) scripts <- scripts[arguments[-1]]

processor <- function(code) {
  before <- proc.time()
  force(code)
  sum((proc.time() - before)[c("user.child", "sys.child")])
}

folder <- tempfile()
dir.create(folder)
Sys.setenv(RELEASE_SEED = "90521")
rows <- lapply(names(scripts), function(name) {
  path <- file.path(folder, paste0(name, ".R"))
  writeLines(scripts[[name]], path)
  times <- vapply(seq_len(n_pairs), function(i) {
    alone <- processor(callr::rscript(path, wd = folder, show = FALSE))
    checked <- processor(found <- check_script(path, dir = folder))
    stopifnot(!"script_error" %in% found$findings$code)
    c(alone, checked)
  }, c(0, 0))
  row <- data.frame(
    script = name, lines = length(scripts[[name]]), alone = stats::median(times[1, ]),
    checked = stats::median(times[2, ]), added = stats::median(times[2, ] / times[1, ] - 1)
  )
  print(row, row.names = FALSE)
  row
})
dir.create("target/benchmarks", recursive = TRUE, showWarnings = FALSE)
utils::write.csv(do.call(rbind, rows), "target/benchmarks/scripts.csv", row.names = FALSE)
