# Populations that were written down, with their seeds and the rule below, before any figure of
# them was seen, to judge the error of the model in the intervals of population_risk() once:
#
#   Rscript dev/benchmarks/truth/law-unseen.R [samples = 8]
#
# draws so many samples of every population at 1, 5, 10, 20 and 50% and prints coverage and width
# by kind and measure. The rule: the error of the model may shrink if every kind and measure of
# uniqueness, tau1, tau2 and re-identifications has a coverage of at least .91, at most 2.5% of the
# intervals with status "ok" lie wholly below the truth (a limit just below the truth would seem
# to be kept), and intervals of uniqueness of persons are narrower on average than before.
#
# Judged once, on 952 samples. The package had the standard deviation .22 sqrt(ln(N/n)) of
# uniqueness and tau1 in log-odds (tau2 .19, re-identifications .15). Tried was
# .08 ln(N/n) sqrt(1 + (1.25 d)^2) (.07, .055), d the distance of the posterior mean of A and b from
# that of the prior in its standard deviations, chosen on 1,785 samples of the populations that are
# `developed_on` in law-populations.R, where it holds .953 to 1. Coverage of the package / tried:
#
# | populations | samples | uniqueness | tau1 | tau2 | re-identifications |
# |---|---|---|---|---|---|
# | persons | 152 | .993 / .993 | .993 / .993 | .993 / .993 | .993 / .993 |
# | repeated | 120 | .967 / .917 | .925 / .875 | .933 / .942 | .975 / .950 |
# | households | 120 | .992 / .983 | .975 / .975 | .983 / .950 | .983 / .942 |
# | groups | 120 | .983 / .967 | .975 / .950 | .967 / .958 | .950 / .950 |
# | events | 160 | .994 / .988 | .988 / .981 | .994 / .988 | .988 / .988 |
# | made-up | 120 | 1 / .992 | 1 / .983 | .992 / .992 | .992 / .992 |
# | misleading | 160 | .988 / .988 | .988 / .981 | .988 / .988 | .988 / .988 |
#
# Width of uniqueness of persons: mean .165 / .129, median .126 / .071. Intervals with status
# "ok" below the truth: 16 / 30 of 3,064. tau1 of repeated rows fails the rule, so the term is
# not in the package: without a coincidence in a file of 1% the posterior has not learnt whether
# rows repeat, and wage records of one to five rows a worker are misjudged at 20 and 50% too. The
# figures have been seen: the next term was chosen on these too, and judged on those of
# law-unseen-second.R.

source("dev/benchmarks/truth/law.R")

of_package <- function(name, package, file, change) {
  function() {
    data <- package_data(name, package, file)()
    if (!is.null(data)) as.data.frame(lapply(change(data), missing_as_value))
  }
}

# Persons ------------------------------------------------------------------

made_citizens <- function() {
  set.seed(901)
  n <- 36000
  district <- zipf(n, 110, 0.5)
  born <- 2020 - held_to(round(rweibull(n, 2.1, 48) + (district %% 5) * 2), 0, 100)
  migrant <- runif(n) < 0.05 + 0.3 * (district %% 11 == 0)
  data.frame(
    district = district, born = born, month = sample(12, n, TRUE), sex = sample(2, n, TRUE),
    nation = ifelse(migrant, 1 + zipf(n, 90, 1), 1),
    faith = ifelse(migrant, zipf(n, 7, 0.6), 1 + (runif(n) < 0.4)),
    status = ifelse(born > 2002, 1, 1 + rbinom(n, 3, held_to((2005 - born) / 110, 0, 1))),
    car = rpois(n, 0.5 + (born < 2000) * 0.4)
  )
}

# A questionnaire: answers on scales that share one attitude.
made_panelists <- function() {
  set.seed(902)
  n <- 15000
  view <- rnorm(n)
  answer <- function(k, weight) {
    x <- weight * view + sqrt(1 - weight^2) * rnorm(n)
    as.integer(cut(x, c(-Inf, qnorm(seq_len(k - 1) / k), Inf)))
  }
  data.frame(
    trust = answer(11, 0.7), party = answer(9, 0.8), church = answer(6, 0.5),
    news = answer(7, 0.3), rooms = held_to(rpois(n, 3.4), 1, 9), pets = rpois(n, 0.6),
    age = sample(16:85, n, TRUE, dbeta((16:85 - 15) / 71, 1.6, 1.9)), sex = sample(2, n, TRUE),
    trade = zipf(n, 33, 0.6)
  )
}

persons_unseen <- list(
  citizens = made_citizens,
  panelists = made_panelists,
  votes = of_package("CES11", "carData", "CES11", function(d) {
    d[c("province", "gender", "abortion", "importance", "education", "urban")]
  }),
  flchain = of_package("flchain", "survival", "flchain", function(d) {
    d[c("age", "sex", "sample.yr", "flc.grp", "creatinine", "mgus", "death", "chapter")]
  })
)

# Repeated rows ------------------------------------------------------------

# Purchases by card: most of what is known is of the holder, who buys often or hardly.
made_purchases <- function() {
  set.seed(911)
  n <- 7000
  holders <- data.frame(
    town = zipf(n, 60, 0.9), age = sample(18:88, n, TRUE), tier = zipf(n, 3, 1),
    since = 2005 + sample(0:18, n, TRUE)
  )
  holder <- rep(seq_len(n), 1 + rnbinom(n, 0.4, mu = 2.5))
  m <- length(holder)
  cbind(holders[holder, ], data.frame(
    shop = (holders$town[holder] * 3 + zipf(m, 9, 1.4)) %% 180, weekday = sample(7, m, TRUE),
    basket = zipf(m, 15, 0.8)
  ))
}

# Wage records of several years: age moves by one, the rest rarely.
made_contracts <- function() {
  set.seed(912)
  n <- 9000
  worker <- rep(seq_len(n), sample(1:5, n, TRUE))
  m <- length(worker)
  year <- sequence(tabulate(worker))
  branch <- zipf(n, 70, 0.7)
  data.frame(
    born = sample(1955:2003, n, TRUE)[worker], sex = sample(2, n, TRUE)[worker],
    branch = ifelse(runif(m) < 0.07, zipf(m, 70, 0.7), branch[worker]),
    region = zipf(n, 26, 0.6)[worker], school = sample(6, n, TRUE)[worker],
    hours = 5 * held_to(round(rnorm(n, 7, 1.5)[worker] + rnorm(m, 0, 0.2)), 1, 10),
    grade = held_to(zipf(n, 9, 0.5)[worker] + year %/% 3, 1, 12)
  )
}

# Each record is kept in one to three copies, whatever it holds.
made_copies <- function() {
  set.seed(913)
  n <- 14000
  data <- data.frame(
    a = zipf(n, 200, 0.5), b = sample(24, n, TRUE), c = zipf(n, 12, 1), d = rpois(n, 2),
    e = sample(5, n, TRUE)
  )
  data[rep(seq_len(n), sample(3, n, TRUE, c(6, 3, 1))), ]
}

# Households ---------------------------------------------------------------

# Couples of like age, children of an age that follows from theirs, flats of one block alike.
made_dwellings <- function() {
  set.seed(921)
  n <- 11000
  size <- sample(6, n, TRUE, c(35, 32, 14, 13, 4, 2))
  home <- rep(seq_len(n), size)
  m <- length(home)
  nr <- sequence(size)
  block <- sample(700, n, TRUE)
  head <- sample(22:85, n, TRUE)
  younger <- 2 * (nr == 2) + (nr > 2) * (24 + 3 * nr)
  age <- held_to(head[home] - younger + round(rnorm(m, 0, 2)), 0, 95)
  data.frame(
    ward = (block %/% 20)[home], type = (block %% 6)[home], rooms = (1 + block %% 4)[home],
    size = size[home], age = age, sex = 1 + (nr + (runif(m) < 0.2)) %% 2,
    work = ifelse(age < 16 | age > 66, 0, zipf(m, 14, 0.8)),
    tongue = ifelse(block %% 9 == 0, zipf(n, 12, 0.8) + 1, 1)[home], .home = home
  )
}

# Nearly all that is known is of the household, one key of the person.
made_tenants <- function() {
  set.seed(922)
  n <- 16000
  size <- 1 + rgeom(n, 0.45)
  size <- pmin(size, 10)
  home <- rep(seq_len(n), size)
  data.frame(
    estate = zipf(n, 80, 0.6)[home], floor = sample(0:11, n, TRUE)[home], size = size[home],
    rent = held_to(round(rnorm(n, 20, 6)), 5, 40)[home], since = sample(30, n, TRUE)[home],
    sex = sample(2, length(home), TRUE), .home = home
  )
}

# Villages: large families that share nationality and faith, ages free.
made_villages <- function() {
  set.seed(923)
  n <- 5000
  size <- 2 + rpois(n, 3)
  home <- rep(seq_len(n), size)
  m <- length(home)
  village <- zipf(n, 150, 0.4)
  data.frame(
    village = village[home], people = (village %% 8)[home], faith = (village %% 5)[home],
    land = round(rexp(n, 0.15))[home], roof = zipf(n, 5, 1)[home],
    age = held_to(round(rexp(m, 1 / 24)), 0, 90), sex = sample(2, m, TRUE),
    school = zipf(m, 6, 0.7), .home = home
  )
}

# Groups -------------------------------------------------------------------

# Employees of firms, with turnover and size of the firm.
made_staff <- function() {
  set.seed(931)
  n <- 26000
  firms <- 1500
  turnover <- round(exp(rnorm(firms, 4, 1)))
  employees <- round(exp(rnorm(firms, 3, 1.2))) + 1
  firm <- sample(firms, n, TRUE, employees)
  data.frame(
    turnover = turnover[firm], employees = (2^round(log2(employees)))[firm],
    land = sample(16, firms, TRUE)[firm], branch = zipf(firms, 40, 0.5)[firm],
    pay = round(2 * log2(turnover[firm]) + rnorm(n, 0, 3)), age = 5 * sample(4:13, n, TRUE),
    sex = sample(2, n, TRUE), contract = zipf(n, 4, 1.5)
  )
}

# Patients of wards whose figures are given to one decimal.
made_patients <- function() {
  set.seed(932)
  n <- 14000
  wards <- 120
  ward <- zipf(n, wards, 0.6)
  stay <- round(rgamma(wards, 6, 1), 1)
  data.frame(
    mean_stay = stay[ward], share = round(rbeta(wards, 3, 5), 2)[ward],
    beds = sample(8:40, wards, TRUE)[ward], age = held_to(round(rnorm(n, 62, 18)), 0, 99),
    sex = sample(2, n, TRUE), stay = rpois(n, stay[ward]), code = zipf(n, 80, 1)
  )
}

groups_unseen <- list(
  staff = made_staff,
  patients = made_patients,
  math = of_package("MathAchieve", "nlme", "MathAchieve", function(d) {
    schools <- nlme::MathAchSchool
    school <- schools[match(as.character(d$School), as.character(schools$School)), ]
    data.frame(
      minority = d$Minority, sex = d$Sex, ses = round(d$SES, 1), score = round(d$MathAch),
      school[c("Size", "Sector", "PRACAD", "HIMINTY")]
    )
  })
)

# Events -------------------------------------------------------------------

made_accidents <- function() {
  set.seed(941)
  n <- 24000
  road <- zipf(n, 400, 0.8)
  hour <- (round(rnorm(n, 8 + 9 * (runif(n) < 0.6), 3))) %% 24
  data.frame(
    road = road, kind = zipf(n, 9, 0.7), hour = hour, day = sample(365, n, TRUE),
    weather = zipf(n, 6, 1.3), cars = 1 + rpois(n, 0.9), hurt = rpois(n, 0.2),
    limit = c(30, 50, 50, 70, 100, 130)[1 + road %% 6]
  )
}

# Calls to a helpline: many in few hours.
made_calls <- function() {
  set.seed(942)
  n <- 18000
  wave <- zipf(n, 60, 0.9)
  data.frame(
    day = held_to(round(wave * 6 + rexp(n, 0.7)), 1, 366), hour = rbinom(n, 23, 0.6),
    prefix = zipf(n, 300, 1), minutes = round(exp(rnorm(n, 1.5, 0.8))),
    reason = (wave + zipf(n, 12, 1.5)) %% 17, agent = sample(45, n, TRUE)
  )
}

events_unseen <- list(
  accidents = made_accidents,
  calls = made_calls,
  stops = of_package("MplsStops", "carData", "MplsStops", function(d) {
    data.frame(
      d[c("problem", "race", "gender", "policePrecinct", "neighborhood", "personSearch")],
      hour = as.integer(format(d$date, "%H")), month = as.integer(format(d$date, "%m"))
    )
  }),
  ratings = of_package("InstEval", "lme4", "InstEval", function(d) {
    d[c("studage", "lectage", "service", "dept", "y", "d")]
  })
)

# Made-up dependence ------------------------------------------------------

# Each key follows the one before.
made_chain <- function() {
  set.seed(951)
  n <- 28000
  columns <- list(zipf(n, 30, 0.3))
  for (v in 2:7) {
    stay <- runif(n) < 0.6
    columns[[v]] <- ifelse(stay, columns[[v - 1]] %% (30 - 3 * v), zipf(n, 30 - 3 * v, 0.5))
  }
  as.data.frame(columns, col.names = letters[1:7])
}

# Rounded coordinates around centres.
made_centres <- function() {
  set.seed(952)
  n <- 32000
  centre <- zipf(n, 25, 0.9)
  at <- matrix(rnorm(100, 0, 12), 25)
  near <- lapply(1:4, function(v) round(at[centre, v] + rnorm(n, 0, 1 + v)))
  data.frame(x = near[[1]], y = near[[2]], z = near[[3]], u = near[[4]], kind = zipf(n, 5, 1))
}

# The last two keys follow from pairs of the others, now and then from none.
made_products <- function() {
  set.seed(953)
  n <- 22000
  a <- zipf(n, 14, 0.4)
  b <- zipf(n, 14, 0.4)
  c <- zipf(n, 10, 0.7)
  data.frame(
    a, b, c, d = ifelse(runif(n) < 0.15, sample(12, n, TRUE), (a * b) %% 12),
    e = ifelse(runif(n) < 0.3, sample(9, n, TRUE), (b * c) %% 9), f = sample(40, n, TRUE)
  )
}

# Made to mislead ---------------------------------------------------------

mislead_unseen <- list(
  # One in fifty has a value of its own in one of two columns.
  serials = function(n) {
    own <- runif(n) < 0.02
    data.frame(
      a = ifelse(own, 100 + seq_len(n), zipf(n, 50, 0.8)), b = sample(12, n, TRUE),
      c = ifelse(!own & runif(n) < 0.02, 100 + seq_len(n), zipf(n, 30, 0.8))
    )
  },
  # Three keys of which any two say nothing of the third, and half of the people follow another
  # rule.
  rules = function(n) {
    a <- sample(30, n, TRUE)
    b <- sample(30, n, TRUE)
    data.frame(a, b, c = (a + ifelse(runif(n) < 0.5, b, 3 * b)) %% 30, d = zipf(n, 20, 0.6))
  },
  # Half of the people in cells of exactly four, half free.
  quads = function(n) {
    of <- ifelse(seq_len(n) <= n / 2, seq_len(n) %/% 4, NA)
    free <- is.na(of)
    data.frame(
      a = ifelse(free, sample(71, n, TRUE), of %% 71),
      b = ifelse(free, sample(67, n, TRUE), of %% 67), c = sample(2, n, TRUE)
    )
  },
  # A short list of keys in one region, unlimited ones in another.
  borders = function(n) {
    there <- runif(n) < 0.1
    part <- function(k) ifelse(there, sample(k, n, TRUE), 0)
    data.frame(region = zipf(n, 8, 1), a = part(90), b = part(40), c = zipf(n, 15, 0.5))
  }
)

law_populations <- c(
  lapply(persons_unseen, function(make) law_population("persons", make)),
  lapply(list(purchases = made_purchases, contracts = made_contracts, copies = made_copies),
    function(make) law_population("repeated", make)
  ),
  lapply(list(dwellings = made_dwellings, tenants = made_tenants, villages = made_villages),
    function(make) law_population("households", make)
  ),
  lapply(groups_unseen, function(make) law_population("groups", make)),
  lapply(events_unseen, function(make) law_population("events", make)),
  lapply(list(chain = made_chain, centres = made_centres, products = made_products),
    function(make) law_population("made-up", make)
  ),
  lapply(mislead_unseen, function(make) {
    law_population("misleading", function() {
      set.seed(961)
      make(24000)
    })
  })
)

if (sys.nframe() == 0) judge_law("truth-law-unseen", c(0.01, 0.05, 0.1, 0.2, 0.5), 8)
