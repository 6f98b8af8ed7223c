# Populations for dev/benchmarks/truth/law.R, by kind: persons, repeated rows, households
# drawn whole, members of groups with figures of their group, made-up dependence, and
# populations made to mislead.
# `developed_on`: the error of the model in the intervals of population_risk() was chosen
# there. Each is a function that gives a data frame or NULL; column `.home` names households
# that are drawn whole.

# Numbers 1 to k, the r-th of them with a chance proportional to r^-s.
zipf <- function(n, k, s = 1) sample(k, n, TRUE, (1:k)^-s)
held_to <- function(x, low, high) pmin(high, pmax(low, x))

made_persons <- function(seed, n, n_regions, n_jobs) {
  function() {
    set.seed(seed)
    age <- held_to(round(18 + rgamma(n, 2.5, 0.08)), 18, 95)
    educ <- held_to(round(rnorm(n, 4 - (age > 60), 1.3)), 1, 7)
    region <- zipf(n, n_regions, 0.7)
    data.frame(
      age = age, educ = educ, region = region, sex = sample(2, n, TRUE),
      job = held_to(educ * n_jobs / 8 + round(rnorm(n, 0, n_jobs / 8)), 1, n_jobs),
      civil = 1 + (runif(n) < plogis((age - 32) / 5)) * zipf(n, 3, 1.5),
      kids = rpois(n, ifelse(age > 30, 1.4, 0.2)),
      origin = ifelse(runif(n) < plogis((region %% 9 - 8) / 2), zipf(n, 40, 1.2) + 1, 1),
      income = round(2 * log(exp(rnorm(n, educ / 4, 0.6)) * 20))
    )
  }
}

# Stays of patients: who comes again brings most of the row along.
made_repeated <- function(seed, n, again, areas, change) {
  function() {
    set.seed(seed)
    patients <- data.frame(
      birth = sample(1930:2012, n, TRUE), sex = sample(2, n, TRUE), area = zipf(n, areas, 0.8),
      insurer = zipf(n, 8), job = zipf(n, 20, 0.8), chronic = rpois(n, 1)
    )
    patient <- rep(seq_len(n), 1 + rgeom(n, again))
    rows <- patients[patient, ]
    m <- nrow(rows)
    moved <- runif(m) < change
    rows$area[moved] <- zipf(sum(moved), areas, 0.8)
    cbind(rows, ward = zipf(m, 12), kind = zipf(m, 3))
  }
}

made_households <- function(seed, n, regions, shared) {
  function() {
    set.seed(seed)
    size <- pmin(8, 1 + rpois(n, 1.5))
    home <- rep(seq_len(n), size)
    m <- length(home)
    nr <- sequence(size)
    region <- zipf(n, regions, 0.8)
    data.frame(
      region = region[home], size = size[home], tenure = zipf(n, 4)[home],
      income = held_to(round(rnorm(n, 6, 2.5)), 1, 15)[home], built = zipf(n, 10, 0.5)[home],
      origin = zipf(n, 25, 1.6)[home],
      adult = as.integer(nr <= 2), faith = ifelse(runif(m) < shared, zipf(n, 9, 1.2)[home], 1),
      age = if (shared < 1) held_to(ifelse(nr <= 2, 40, 12) + round(rnorm(m, 0, 8)), 0, 90) %/% 5
      else 0,
      .home = home
    )
  }
}

made_groups <- function(seed, n, groups) {
  function() {
    set.seed(seed)
    schools <- data.frame(
      meals = round(rbeta(groups, 2, 3) * 50), roll = round(rgamma(groups, 4, 0.04), -1),
      county = zipf(groups, 12), kind = zipf(groups, 4), rank = sample(30, groups, TRUE)
    )
    of <- sample(groups, n, TRUE, rgamma(groups, 2))
    cbind(schools[of, ], data.frame(
      sex = sample(2, n, TRUE), year = sample(6, n, TRUE), month = sample(12, n, TRUE),
      ethnic = zipf(n, 9, 1.5), need = zipf(n, 5, 2),
      grade = held_to(round(rnorm(n, 5 - schools$meals[of] / 20, 2)), 1, 9)
    ))
  }
}

# Independent keys with long tails.
made_independent <- function(seed, n, sizes, s) {
  function() {
    set.seed(seed)
    as.data.frame(lapply(sizes, function(k) zipf(n, k, s)), col.names = letters[seq_along(sizes)])
  }
}

# The third key follows from two others that say nothing of it alone, but for some noise.
made_exclusive_or <- function(seed, n, k, noise) {
  function() {
    set.seed(seed)
    a <- sample(k, n, TRUE)
    b <- sample(k, n, TRUE)
    off <- runif(n) < noise
    data.frame(
      a = a, b = b, c = ifelse(off, sample(k, n, TRUE), (a + b) %% k), d = zipf(n, 12, 0.5),
      e = zipf(n, 6), f = zipf(n, 25, 0.8)
    )
  }
}

# Keys that nearly follow from another: a postcode tells its municipality.
made_nested <- function(seed, n, codes, noise) {
  function() {
    set.seed(seed)
    code <- zipf(n, codes, 0.6)
    place <- ifelse(runif(n) < noise, sample(codes %/% 7, n, TRUE), code %/% 7)
    data.frame(
      code = code, place = place, land = place %/% 6, birth = sample(90, n, TRUE),
      sex = sample(2, n, TRUE), job = zipf(n, 30, 0.9), pay = zipf(n, 10, 0.5)
    )
  }
}

made_classes <- function(seed, n, classes, d) {
  function() {
    set.seed(seed)
    class <- zipf(n, classes, 0.7)
    columns <- lapply(seq_len(d), function(v) {
      k <- sample(3:20, 1)
      p <- matrix(rgamma(classes * k, 0.4), k)
      u <- runif(n)
      total <- apply(p, 2, cumsum)
      total <- sweep(total, 2, total[k, ], "/")
      1L + colSums(sweep(total[, class, drop = FALSE], 2, u, "<"))
    })
    as.data.frame(columns, col.names = letters[seq_len(d)])
  }
}

# Populations of n people in which sample and population are most unlike: values or
# combinations that few share in a part of the people, dependence that no pair of variables
# shows, people in groups who are alike.
misleading <- list(
  loners = function(n) {
    data.frame(
      a = sample(6, n, TRUE), b = sample(5, n, TRUE),
      c = ifelse(runif(n) < 0.03, sample(1e5, n, TRUE), 0)
    )
  },
  parity = function(n) {
    a <- sample(40, n, TRUE)
    b <- sample(40, n, TRUE)
    data.frame(a, b, c = (a * 7 + b * 11) %% 40, d = sample(8, n, TRUE))
  },
  twins = function(n) {
    pair <- rep(seq_len(n / 2), each = 2)
    data.frame(a = pair %% 97, b = pair %% 89, c = sample(3, n, TRUE))
  },
  island = function(n) {
    there <- runif(n) < 0.02
    data.frame(
      a = ifelse(there, 100 + sample(60, n, TRUE), sample(5, n, TRUE)),
      b = ifelse(there, sample(50, n, TRUE), sample(4, n, TRUE)), c = sample(6, n, TRUE)
    )
  },
  heaped = function(n) {
    pay <- round(exp(rnorm(n, 7, 1)))
    data.frame(
      a = ifelse(runif(n) < 0.9, round(pay, -3), pay), b = sample(4, n, TRUE), c = zipf(n, 9)
    )
  },
  hidden = function(n) {
    even <- runif(n) < 0.05
    part <- function() ifelse(even, sample(30, n, TRUE), zipf(n, 30, 2.5))
    data.frame(a = part(), b = part(), c = part(), d = sample(2, n, TRUE))
  }
)
misleading_unseen <- list(
  visitors = function(n) {
    guest <- runif(n) < 0.01
    data.frame(
      nation = ifelse(guest, 1 + sample(190, n, TRUE), 1), age = sample(18:80, n, TRUE),
      job = ifelse(guest, sample(200, n, TRUE), zipf(n, 20, 1.2)), sex = sample(2, n, TRUE)
    )
  },
  codes = function(n) {
    data.frame(
      disease = zipf(n, 6000, 1.1), age = 5 * sample(0:17, n, TRUE), sex = sample(2, n, TRUE)
    )
  },
  parity4 = function(n) {
    a <- sample(12, n, TRUE)
    b <- sample(12, n, TRUE)
    c <- sample(12, n, TRUE)
    data.frame(a, b, c, d = (a + 5 * b + 7 * c) %% 12, e = sample(5, n, TRUE))
  },
  clones = function(n) {
    m <- n %/% 3
    of <- rep(seq_len(m), length.out = n)
    data.frame(
      a = sample(50, m, TRUE)[of], b = sample(40, m, TRUE)[of],
      c = ifelse(runif(n) < 0.5, sample(6, n, TRUE), sample(6, m, TRUE)[of])
    )
  },
  names = function(n) {
    data.frame(
      name = ifelse(runif(n) < 0.05, 1000 + seq_len(n), zipf(n, 300)),
      year = sample(60, n, TRUE), sex = sample(2, n, TRUE)
    )
  },
  exact = function(n) {
    pay <- round(exp(rnorm(n, 10, 0.8)), -2)
    data.frame(
      pay = ifelse(runif(n) < 0.3, 0, pay), region = zipf(n, 10), age = sample(10, n, TRUE)
    )
  }
)

of_misleading <- function(of, developed_on) {
  lapply(of, function(make) {
    law_population("misleading", function() {
      set.seed(81)
      make(30000)
    }, developed_on)
  })
}

of_file <- function(name) {
  function() {
    found <- load_population(name)
    if (!is.null(found)) found$data
  }
}

law_population <- function(kind, make, developed_on = FALSE) {
  list(kind = kind, make = make, developed_on = developed_on)
}

law_populations <- c(
  lapply(
    rlang::set_names(c("adult", "gss18", "hdv2003", "WVS", "panel", "ses")),
    function(name) law_population("persons", of_file(name), TRUE)
  ),
  lapply(
    rlang::set_names(c(
      "income_esl14", "gss_wave1", "testdata", "GSSvocab", "SLID", "Chile", "eusilc",
      "nals_prison", "gss18b"
    )),
    function(name) law_population("persons", of_file(name))
  ),
  list(
    persons_a = law_population("persons", made_persons(1, 30000, 60, 24), TRUE),
    persons_b = law_population("persons", made_persons(2, 60000, 250, 40)),
    persons_c = law_population("persons", made_persons(3, 12000, 15, 60)),
    stays_a = law_population("repeated", made_repeated(11, 9000, 0.35, 80, 0.1), TRUE),
    stays_b = law_population("repeated", made_repeated(12, 20000, 0.6, 200, 0), TRUE),
    stays_c = law_population("repeated", made_repeated(13, 6000, 0.2, 40, 0.25)),
    stays_d = law_population("repeated", made_repeated(14, 15000, 0.5, 120, 0.05)),
    stays_e = law_population("repeated", made_repeated(15, 12000, 0.3, 300, 0)),
    homes_a = law_population("households", made_households(21, 9000, 60, 0.9), TRUE),
    homes_b = law_population("households", made_households(22, 12000, 30, 1), TRUE),
    homes_c = law_population("households", made_households(23, 8000, 100, 0.8)),
    homes_d = law_population("households", made_households(24, 15000, 40, 1)),
    homes_e = law_population("households", made_households(25, 10000, 20, 0.95)),
    pupils_a = law_population("groups", made_groups(31, 18000, 220), TRUE),
    pupils_b = law_population("groups", made_groups(32, 30000, 900), TRUE),
    pupils_c = law_population("groups", made_groups(33, 12000, 60)),
    pupils_d = law_population("groups", made_groups(34, 25000, 400)),
    free_a = law_population("made-up", made_independent(41, 30000, c(40, 30, 20, 8, 4), 0.8), TRUE),
    free_b = law_population("made-up", made_independent(42, 30000, c(100, 80, 60), 0.4), TRUE),
    free_c = law_population("made-up", made_independent(43, 40000, c(90, 60, 30, 2), 0)),
    free_d = law_population("made-up", made_independent(44, 25000, c(60, 12, 12, 9, 5, 4), 1.1)),
    xor_a = law_population("made-up", made_exclusive_or(51, 25000, 15, 0.05), TRUE),
    xor_b = law_population("made-up", made_exclusive_or(52, 30000, 24, 0.1)),
    nested_a = law_population("made-up", made_nested(61, 30000, 400, 0.02), TRUE),
    nested_b = law_population("made-up", made_nested(62, 40000, 900, 0)),
    classes_a = law_population("made-up", made_classes(71, 25000, 12, 6), TRUE),
    classes_b = law_population("made-up", made_classes(72, 30000, 40, 7))
  ),
  of_misleading(misleading, TRUE),
  of_misleading(misleading_unseen, FALSE)
)
