# Small files that several test files ask about.

# A sample of the packaged file, the same for the same seed.
sample_of <- function(n, keys = names(adult), seed = 1) {
  set.seed(seed)
  adult[sample(nrow(adult), n), keys, drop = FALSE]
}
five_keys <- c("age", "sex", "education_num", "occupation", "hours_per_week")

# A tenth of the packaged file, and somebody who is not in it.
tenth_of_adult <- function() {
  set.seed(21)
  sample(nrow(adult), 3256)
}
person <- data.frame(
  age = 51L, sex = "Female", education_num = 14L, occupation = "Exec-managerial",
  hours_per_week = 55L
)

# One key variable has missing values.
hard_keys <- c("sex", "race", "education_num", "income")
hard_sample <- function() {
  set.seed(4)
  data <- adult[sample(nrow(adult), 1500), hard_keys]
  data$race[sample(1500, 100)] <- NA
  data
}

# People of five key variables with a weight, and hierarchies for the keys.
people <- function(n = 600, seed = 4) {
  set.seed(seed)
  data.frame(
    age = sample(c(18:80, NA), n, TRUE), region = sample(sprintf("%02d", 11:39), n, TRUE),
    job = factor(sample(c("a b", "c", "d", "e'f"), n, TRUE, c(8, 4, 2, 1))),
    sex = sample(c("m", "f"), n, TRUE), born = as.Date("1960-01-01") + sample(9000, n, TRUE),
    w = stats::runif(n, 1, 40)
  )
}
people_levels <- function(data) {
  list(
    age = hierarchy(data$age, widths = c(5, 20), top = 75), sex = hierarchy(data$sex),
    region = hierarchy(data$region, digits = 1), job = hierarchy(data$job),
    born = hierarchy(data$born, units = c("quarter", "year", "10 years"))
  )
}

# Members of households that follow each other; few households are large.
home_members <- function(n_homes) {
  size <- sample(1:8, n_homes, TRUE, c(35, 30, 15, 12, 5, .7, .5, .4))
  d <- data.frame(
    home = rep(seq_along(size), size), size = rep(size, size),
    region = rep(sample(6, n_homes, TRUE), size)
  )
  d$sex <- sample(2, nrow(d), TRUE)
  d$age <- sample(5, nrow(d), TRUE)
  d
}

# What the page says of a smallest class of three.
page_verdict <- function(file) {
  page <- quietly(file_check(file, limit = list(k = 3)))$estimates
  page$verdict[page$measure == "k"]
}

# Persons of several years, whose ages rise with them.
panel_file <- function(n = 600, waves = 4) {
  set.seed(4)
  first <- sample(18:75, n, TRUE)
  panel <- data.frame(
    pid = rep(sample(10000, n), each = waves), year = rep(2019 + seq_len(waves), n),
    age = rep(first, each = waves) + rep(seq_len(waves), n) - 1,
    sex = rep(sample(c("f", "m"), n, TRUE), each = waves),
    in_school = sample(c("no", "yes"), n * waves, TRUE, c(0.9, 0.1))
  )
  rownames(panel) <- NULL
  panel
}
