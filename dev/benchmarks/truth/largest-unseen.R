# Populations for dev/benchmarks/truth/largest.R that were written down, with their seeds, after the
# term of the upper end was chosen and before any figure of them was seen. Their kinds are others
# than those of law-populations.R.

# Labour force: occupation follows branch, branch follows region.
made_workers <- function(seed, n) {
  function() {
    set.seed(seed)
    region <- zipf(n, 40, 0.6)
    branch <- 1 + (region * 3 + zipf(n, 18, 0.9)) %% 21
    data.frame(
      region = region, branch = branch, job = 1 + (branch * 5 + zipf(n, 30, 1.3)) %% 110,
      hours = pmax(1, round(rnorm(n, 38 - 10 * (runif(n) < 0.25), 6))), sex = sample(2, n, TRUE),
      age = held_to(round(rnorm(n, 42, 12)), 15, 74)
    )
  }
}

# Vehicles: few common models, a long tail, colours and years that go with the model.
made_vehicles <- function(seed, n) {
  function() {
    set.seed(seed)
    model <- pmin(900, 1 + floor(exp(rexp(n, 0.35))))
    data.frame(
      model = model, year = 2024 - pmin(45, rgeom(n, 0.08 + 0.05 * (model %% 3 == 0))),
      colour = 1 + (model + zipf(n, 12, 1.4)) %% 14, fuel = zipf(n, 5, 2),
      district = zipf(n, 90, 0.8), owner = zipf(n, 4, 1.5)
    )
  }
}

# Farms: numbers of animals, mostly none, heaped, and all larger on large farms.
made_farms <- function(seed, n) {
  function() {
    set.seed(seed)
    size <- rgamma(n, 0.7, 0.01)
    heaps <- function(x) ifelse(x < 20, round(x), round(x, -1))
    data.frame(
      cattle = heaps(rpois(n, size * (runif(n) < 0.5))),
      pigs = heaps(rgamma(n, 0.5, 0.01) * (runif(n) < 0.15)), land = round(log2(1 + size) * 2),
      county = sample(25, n, TRUE), organic = as.integer(runif(n) < 0.12),
      age = 10 * sample(2:8, n, TRUE)
    )
  }
}

# Deaths: causes that rise with age, places that are seasonal.
made_deaths <- function(seed, n) {
  function() {
    set.seed(seed)
    age <- held_to(round(100 - rgamma(n, 2, 0.09)), 0, 104)
    data.frame(
      age = age, cause = ifelse(age > 60, zipf(n, 60, 1.1), 20 + zipf(n, 200, 0.9)),
      month = 1 + rbinom(n, 11, 0.4), place = zipf(n, 150, 1), sex = sample(2, n, TRUE),
      married = zipf(n, 4, 1)
    )
  }
}

# Journeys: origin and destination by distance on a line, hour by purpose.
made_journeys <- function(seed, n) {
  function() {
    set.seed(seed)
    from <- zipf(n, 120, 0.7)
    purpose <- zipf(n, 7, 0.8)
    data.frame(
      from = from, to = held_to(from + round(rt(n, 2) * 3), 1, 120), purpose = purpose,
      hour = (purpose * 5 + rpois(n, 3)) %% 24, mode = zipf(n, 8, 1.2), party = rpois(n, 0.5)
    )
  }
}

# Migrants: chains of origin, quarter and trade; the native majority has none of them.
made_migrants <- function(seed, n) {
  function() {
    set.seed(seed)
    come <- runif(n) < 0.15
    chain <- zipf(n, 80, 0.9)
    data.frame(
      origin = ifelse(come, 1 + chain, 1),
      quarter = ifelse(come & runif(n) < 0.7, 1 + chain %% 30, sample(30, n, TRUE)),
      trade = ifelse(come & runif(n) < 0.5, chain %% 45, zipf(n, 45, 0.6)),
      since = ifelse(come, sample(30, n, TRUE), 0), sex = sample(2, n, TRUE),
      age = 5 * sample(3:16, n, TRUE)
    )
  }
}

# Students in courses: members of a course share it all, but for what is their own.
made_students <- function(seed, n) {
  function() {
    set.seed(seed)
    course <- sample(350, n, TRUE, rgamma(350, 0.8))
    of <- function(k) sample(k, 350, TRUE)[course]
    data.frame(
      school = of(12), level = of(3), subject = of(45), year = sample(5, n, TRUE),
      home = zipf(n, 60, 1), mark = held_to(round(rnorm(n, 2.5, 0.8) * 4) / 4, 1, 5),
      sex = 1 + (runif(n) < 0.5)
    )
  }
}

# Couples in one register: both rows of a couple share all but sex and age.
made_couples <- function(seed, n) {
  function() {
    set.seed(seed)
    home <- rep(seq_len(n %/% 2), each = 2)
    m <- n %/% 2
    data.frame(
      place = zipf(m, 80, 0.9)[home], rooms = rpois(m, 4)[home], heat = zipf(m, 6)[home],
      car = rpois(m, 1.1)[home], sex = rep(1:2, m), .home = home,
      age = held_to(round(rnorm(m, 48, 15)[home] + rnorm(2 * m, 0, 3)), 18, 99)
    )
  }
}

# Tests in a laboratory: three results of one hidden severity, cut at many levels.
made_tests <- function(seed, n) {
  function() {
    set.seed(seed)
    severity <- rexp(n)
    level <- function(by, k) pmin(k, floor(severity * by + rexp(n) * 2))
    data.frame(
      a = level(6, 60), b = level(3, 40), c = level(1, 20), ward = zipf(n, 25, 0.8),
      week = sample(52, n, TRUE), sex = sample(2, n, TRUE)
    )
  }
}

# Firms: legal form, branch of a tree of codes, employees by powers of two.
made_firms <- function(seed, n) {
  function() {
    set.seed(seed)
    code <- zipf(n, 600, 0.9)
    data.frame(
      code = code, section = code %/% 40, staff = pmin(14, floor(rexp(n, 0.5) + rexp(n, 0.6))),
      form = 1 + (code + zipf(n, 5, 1.6)) %% 6, place = zipf(n, 200, 1.1),
      founded = 1 + floor(rexp(n, 0.08))
    )
  }
}

largest_makers <- list(
  workers = made_workers, vehicles = made_vehicles, farms = made_farms, deaths = made_deaths,
  journeys = made_journeys, migrants = made_migrants, students = made_students,
  couples = made_couples, tests = made_tests, firms = made_firms
)
# Two of each kind, of different sizes.
largest_unseen <- unlist(lapply(names(largest_makers), function(kind) {
  at <- match(kind, names(largest_makers))
  made <- list(
    law_population(kind, largest_makers[[kind]](9000 + at, 20000)),
    law_population(kind, largest_makers[[kind]](9100 + at, 45000))
  )
  rlang::set_names(made, paste(kind, c("a", "b"), sep = "_"))
}), recursive = FALSE)
