# Does the interval of copula_uniqueness() hold the truth on files that no constant was
# chosen on? Writes target/benchmarks/truth-unseen.csv, one row per file and fraction.
#
#   Rscript dev/benchmarks/truth/unseen.R
#
# Two lists, the second one in unseen-second.R. Each was written down with the kinds of its
# files before any figure of them was seen. Of every file four random sets of 2 to 8 columns,
# and one sample per fraction. A file that is not at hand is left out. About ten minutes of
# one core for each list.

source("dev/benchmarks/machine.R")
for (part in c("populations", "samples", "truth")) {
  source(file.path("dev", "benchmarks", "truth", paste0(part, ".R")))
}
suppressPackageStartupMessages(library(sdcRisk))
options(sdcRisk.threads = 1)

# Columns of many values are cut at quantiles into `k` classes.
cut_many <- function(x, k, above = 60) {
  if (!is.numeric(x) || length(unique(x)) <= above) {
    return(x)
  }
  cut(x, unique(stats::quantile(x, 0:k / k, na.rm = TRUE)), include.lowest = TRUE)
}

# A data set, cut into `k` classes (NULL: as it is), without some columns.
file_of <- function(name, package, k = 12, file = name, without = NULL, above = 60) {
  function() {
    data <- package_data(name, package, file)()
    if (is.null(data)) {
      return(NULL)
    }
    data <- as.data.frame(data)
    data <- data[setdiff(names(data), without)]
    if (!is.null(k)) data[] <- lapply(data, cut_many, k = k, above = above)
    data
  }
}

# Numbers 1 to k, the r-th of them with a chance proportional to r^-s.
zipf <- function(k, n, s = 1) sample(k, n, TRUE, (1:k)^-s)
held_to <- function(x, low, high) pmin(high, pmax(low, x))

# One row per person. The censuses are made in the order written: their random numbers
# depend on it.
people_alone <- function() {
  set.seed(106)
  n <- 25000
  age <- sample(18:90, n, TRUE)
  educ <- zipf(7, n, 0.5)
  data.frame(
    age = age, educ = educ, region = zipf(50, n, 0.8), sex = sample(2, n, TRUE),
    job = pmax(1, educ * 6 - rpois(n, 4)),
    civil = 1 + (age > 30) * (runif(n) < 0.6) + (age > 60) * (runif(n) < 0.3),
    kids = rpois(n, ifelse(age > 30, 1.5, 0.2)),
    income = round(exp(rnorm(n, educ / 6, 0.5)) * 8)
  )
}

# Persons with figures of their household.
people_in_households <- function() {
  set.seed(101)
  h <- 9000
  region <- zipf(60, h)
  size <- pmin(8, 1 + rpois(h, 1.4))
  rooms <- held_to(size + sample(-1:2, h, TRUE), 1, 9)
  tenure <- 1 + (runif(h) < plogis((region %% 7 - 3) / 2))
  income <- held_to(round(rnorm(h, 5 + rooms / 2, 2.5)), 1, 15)
  built <- zipf(12, h, 0.5)
  origin <- zipf(25, h, 1.6)
  home <- rep(seq_len(h), size)
  n <- length(home)
  nr <- sequence(size)
  head_age <- sample(25:80, h, TRUE)[home]
  age <- ifelse(nr == 1, head_age, ifelse(
    nr == 2, pmax(18, head_age + round(rnorm(n, 0, 4))),
    pmax(0, head_age - 28 - round(rexp(n, 0.2)))
  ))
  data.frame(
    region = region[home], size = size[home], rooms = rooms[home], tenure = tenure[home],
    income = income[home], built = built[home], origin = origin[home],
    age = pmin(age, 95), sex = sample(2, n, TRUE),
    educ = ifelse(age < 16, 0, zipf(6, n, 0.4)), relation = pmin(nr, 3)
  )
}

# Households whose members have one row in common.
rows_shared <- function() {
  set.seed(102)
  h <- 6000
  size <- 1 + rgeom(h, 0.35)
  homes <- data.frame(
    place = zipf(120, h, 0.7), type = zipf(6, h), heat = zipf(5, h), water = zipf(4, h),
    lang = zipf(15, h, 1.5), faith = zipf(8, h, 1.2), cars = rpois(h, 1),
    wealth = sample(10, h, TRUE)
  )
  homes$place2 <- homes$place %/% 4 + zipf(3, h, 2)
  homes$size <- pmin(size, 9)
  homes[rep(seq_len(h), size), ]
}

# Pupils with figures of their school.
pupils_of_schools <- function() {
  set.seed(103)
  s <- 220
  schools <- data.frame(
    meals = round(rbeta(s, 2, 3) * 50), roll = round(rgamma(s, 4, 0.04), -1),
    county = zipf(12, s), kind = zipf(4, s), rank = sample(30, s, TRUE)
  )
  n <- 18000
  school <- sample(s, n, TRUE, rgamma(s, 2))
  cbind(schools[school, ], data.frame(
    sex = sample(2, n, TRUE), year = sample(6, n, TRUE), month = sample(12, n, TRUE),
    ethnic = zipf(9, n, 1.5),
    grade = held_to(round(rnorm(n, 5 + schools$meals[school] / -20, 2)), 1, 9),
    need = zipf(5, n, 2)
  ))
}

# Stays in hospital, several of a person.
episodes_of_patients <- function() {
  set.seed(104)
  p <- 5000
  times <- 1 + rgeom(p, 0.3)
  patients <- data.frame(
    birth = sample(1925:2010, p, TRUE), sex = sample(2, p, TRUE), area = zipf(80, p, 0.9),
    insurer = zipf(9, p), origin = zipf(30, p, 1.7), job = zipf(20, p, 0.8),
    chronic = rpois(p, 1)
  )
  patient <- rep(seq_len(p), times)
  n <- length(patient)
  cbind(patients[patient, ], data.frame(
    ward = zipf(15, n), month = sample(12, n, TRUE), days = pmin(20, rgeom(n, 0.25)),
    kind = zipf(3, n)
  ))
}

# Employees with figures of their firm.
staff_of_firms <- function() {
  set.seed(105)
  f <- 700
  firms <- data.frame(
    branch = zipf(40, f, 0.6), size = zipf(7, f, 0.5), land = sample(16, f, TRUE),
    pay = zipf(4, f), founded = sample(1900:2020, f, TRUE) %/% 10
  )
  n <- 15000
  firm <- sample(f, n, TRUE, rgamma(f, 0.7) + 0.02)
  cbind(firms[firm, ], data.frame(
    sex = sample(2, n, TRUE), age = 16 + round(rbeta(n, 2, 2) * 50), job = zipf(30, n, 0.7),
    hours = zipf(10, n, 1.3), degree = zipf(5, n, 0.5), tenure = pmin(30, rgeom(n, 0.1))
  ))
}

then <- function(make, change) {
  function() {
    data <- make()
    if (!is.null(data)) change(data)
  }
}
rounded <- function(data) as.data.frame(lapply(data, function(x) round(x, 1)))
whole_times <- function(data) transform(data, time = round(time))

unseen <- list(
  people = list(
    gss_cat = file_of("gss_cat", "forcats", NULL), CES11 = file_of("CES11", "carData", NULL),
    HMDA = file_of("HMDA", "AER"), selfreport = file_of("selfreport", "mice"),
    fdgs = file_of("fdgs", "mice", 40), nhanes = file_of("nhanes", "survey", NULL),
    mexico = file_of("mexico", "Zelig", NULL), turnout = file_of("turnout", "Zelig", NULL),
    std = file_of("std", "KMsurv", NULL), bfeed = file_of("bfeed", "KMsurv", NULL),
    wa_churn = file_of("wa_churn", "modeldata"), GermanCredit = file_of("GermanCredit", "caret"),
    Aids2 = file_of("Aids2", "MASS", 30), PSID1976 = file_of("PSID1976", "AER"),
    Titanicp = file_of("Titanicp", "vcdExtra", 50),
    Medicaid1986 = file_of("Medicaid1986", "AER"), alone = people_alone
  ),
  groups = list(
    brandsma = file_of("brandsma", "mice", 40), popmis = file_of("popmis", "mice"),
    pisamaths = file_of("pisamaths", "mitools", 40),
    bh1996 = file_of("bh1996", "multilevel", 40, without = "GRP", above = 200),
    klein2000 = file_of("klein2000", "multilevel", 20),
    lq2002 = file_of("lq2002", "multilevel", NULL),
    guPrenat = file_of("guPrenat", "mlmRev", NULL),
    s3bbx = then(
      file_of("s3bbx", "mlmRev", NULL, without = c("child", "family", "community")), rounded
    ),
    twindata = file_of("twindata", "lava", 40), households = people_in_households,
    shared_rows = rows_shared, pupils = pupils_of_schools, staff = staff_of_firms
  ),
  repeated = list(
    univbct = file_of("univbct", "multilevel", 30),
    muscatine = file_of("muscatine", "geepack", NULL),
    KosteckiDillon = file_of("KosteckiDillon", "carData", 40),
    pbcseq = file_of("pbcseq", "survival", 30, "pbc"),
    cav = file_of("cav", "msm", 40, "msmdata"),
    nafld1 = file_of("nafld1", "survival", 60, "nafld"),
    RiceFarms = file_of("RiceFarms", "plm", 20), Socatt = file_of("Socatt", "mlmRev", NULL),
    baseball = file_of("baseball", "plyr", 40),
    InstInnovation = file_of("InstInnovation", "sandwich", 40),
    toenail = then(file_of("toenail", "HSAUR3", NULL), whole_times),
    wlddev = file_of("wlddev", "collapse", 30), Quinidine = file_of("Quinidine", "nlme", 20),
    Bundesliga = file_of("Bundesliga", "vcd", NULL), episodes = episodes_of_patients
  )
)

# Columns that are neither constant nor nearly identifiers.
key_columns <- function(data) {
  fits <- vapply(data, function(x) {
    k <- length(unique(as.character(x)))
    k > 1 && k <= max(130, 0.03 * length(x)) && k < 0.4 * length(x)
  }, NA)
  names(data)[fits]
}

# One sample: NULL where it is too small.
run_sample <- function(data, keys, fraction, seed) {
  n_people <- nrow(data)
  n <- round(fraction * n_people)
  if (n < if (fraction < 0.1) 100 else 60) {
    return(NULL)
  }
  truth <- truth_of(cells_of(data, keys), seq_len(n_people))
  set.seed(seed)
  rows <- sample(n_people, n)
  found <- suppressWarnings(suppressMessages(
    copula_uniqueness(data[rows, ], keys, pop_size = n_people, records = FALSE)
  ))
  e <- found$estimates
  holds <- function(low, high, truth) {
    low - 0.5 / n_people <= truth && truth <= high + 0.5 / n_people
  }
  data.frame(
    fraction = fraction, uniqueness = truth[["uniqueness"]],
    held = holds(e$uniqueness_low, e$uniqueness_high, truth[["uniqueness"]]),
    below = truth[["uniqueness"]] < e$uniqueness_low - 0.5 / n_people,
    held_correctness = holds(e$correctness_low, e$correctness_high, truth[["correctness"]]),
    width = e$uniqueness_high - e$uniqueness_low,
    error = abs(e$population_uniqueness - truth[["uniqueness"]]),
    warned = isTRUE(found$diagnostics$fall$faster)
  )
}

run_file <- function(name, kind, list, make) {
  data <- make()
  if (is.null(data)) {
    message("not at hand: ", name)
    return(NULL)
  }
  data <- as.data.frame(lapply(data[key_columns(data)], missing_as_value))
  runs <- lapply(1:4, function(i) {
    set.seed(seed_of(list_words[[list]], name, i))
    keys <- names(data)[sort(sample(ncol(data), sample(2:min(8, ncol(data)), 1)))]
    do.call(rbind, lapply(c(0.01, 0.05, 0.1, 0.5), function(fraction) {
      run_sample(data, keys, fraction, seed_of(list_words[[list]], name, i, fraction))
    }))
  })
  runs <- do.call(rbind, runs)
  cbind(file = name, kind = kind, list = list, people = nrow(data), runs)
}

# Counts of runs, and means over them.
summed <- function(runs) {
  by <- split(runs, list(runs$kind, runs$file, runs$fraction), drop = TRUE)
  rows <- lapply(by, function(r) {
    data.frame(
      r[1, c("file", "kind", "list", "people", "fraction")], runs = nrow(r), held = sum(r$held),
      truth_below = sum(r$below), held_correctness = sum(r$held_correctness),
      warned = sum(r$warned), held_unwarned = sum(r$held & !r$warned),
      uniqueness = signif(mean(r$uniqueness), 4), mean_width = signif(mean(r$width), 4),
      mean_error = signif(mean(r$error), 4)
    )
  })
  out <- do.call(rbind, unname(rows))
  out[order(out$list, out$kind, out$file, out$fraction), ]
}

source(file.path("dev", "benchmarks", "truth", "unseen-second.R"))
lists <- list(first = unseen, second = unseen_second)
# Words that the seeds of a list are made of.
list_words <- c(first = "judge two", second = "judge three")

runs <- do.call(rbind, lapply(names(lists), function(list) {
  do.call(rbind, lapply(names(lists[[list]]), function(kind) {
    files <- lists[[list]][[kind]]
    do.call(rbind, Map(run_file, names(files), kind, list, files))
  }))
}))
write_results(summed(runs), result_file("truth-unseen"))
