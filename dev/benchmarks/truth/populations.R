# Known populations: files taken as the whole population that samples are drawn
# from. Missing values are made a value of their own, so that all estimators and
# the truth speak of the same cells.
#
# Per population
#   make          gives the data frame, or NULL where it is not at hand
#   by            the column that strata and unequal probabilities go by
#   developed_on  whether constants of the package were chosen on it: figures
#                 there flatter, those of the other files do not. The error of
#                 models in the intervals of copula_uniqueness() was chosen on nearly
#                 all of them: its help page has the coverage on other files

shared_file <- function(name) {
  function() {
    path <- file.path(Sys.getenv("SDCRISK_DATA"), paste0(name, ".csv"))
    if (file.exists(path)) utils::read.csv(path)
  }
}

package_data <- function(name, package, file = name) {
  function() {
    if (!nzchar(system.file(package = package))) {
      return(NULL)
    }
    place <- new.env()
    suppressWarnings(utils::data(list = file, package = package, envir = place))
    place[[name]]
  }
}

# A data set of Python's statsmodels, where python3 has it.
statsmodels_data <- function(name) {
  function() {
    code <- "import importlib.util as u; print(u.find_spec('statsmodels').origin)"
    origin <- suppressWarnings(
      system2("python3", c("-c", shQuote(code)), stdout = TRUE, stderr = FALSE)
    )
    path <- file.path(dirname(c(origin, "")[[1]]), "datasets", name, paste0(name, ".csv"))
    if (file.exists(path)) utils::read.csv(path)
  }
}

# One row per person from a table of cells with their counts `n`.
panel_population <- function() {
  cells <- package_data("panel_waves", "sdcRisk")()$population
  cells[rep(seq_len(nrow(cells)), cells$n), setdiff(names(cells), "n")]
}

population <- function(make, keys, by, developed_on = FALSE) {
  list(make = make, keys = keys, by = by, developed_on = developed_on)
}

# `keys` are the columns that key sets are drawn from: what an intruder may know,
# not identifiers, weights or sums of money to the unit.
populations <- list(
  adult = population(
    package_data("adult", "sdcRisk"),
    c(
      "age", "workclass", "education_num", "marital_status", "occupation", "relationship",
      "race", "sex", "hours_per_week", "native_country", "income"
    ),
    "marital_status", TRUE
  ),
  panel = population(
    panel_population,
    c(
      "gender", "age_group", "born_abroad", "education", "civil_status", "n_children",
      "urbanity", "occupation", "civil_status_changed", "occupation_changed"
    ),
    "education", TRUE
  ),
  nals_prison = population(
    package_data("nals_prison", "sdcRisk"),
    c(
      "CENREG", "DAGE3", "EDUC3", "DRACE3", "GENDER", "BORNUSA", "EDUC_DET", "BIB1201",
      "BIC0501", "BIE0601"
    ),
    "CENREG"
  ),
  gss18 = population(
    shared_file("gss18"),
    c(
      "age", "educ", "degree", "childs", "sibs", "attend", "pray", "class", "partyid",
      "polviews", "income06", "hompop", "earnrs"
    ),
    "degree", TRUE
  ),
  gss18b = population(
    shared_file("gss18b"),
    c(
      "age", "educ", "degree", "childs", "sibs", "attend", "pray", "class", "partyid",
      "polviews", "income06", "hompop", "earnrs"
    ),
    "degree", TRUE
  ),
  gss_wave1 = population(
    shared_file("gss_wave1"),
    c(
      "age5", "sex", "race", "region", "reg16", "degree", "educ", "marital", "childs", "relig",
      "wrkstat", "hompop", "born"
    ),
    "region", TRUE
  ),
  hdv2003 = population(
    shared_file("hdv2003"),
    c(
      "age", "sexe", "nivetud", "occup", "qualif", "freres.soeurs", "clso", "relig",
      "heures.tv", "sport"
    ),
    "occup", TRUE
  ),
  income_esl14 = population(
    shared_file("income_esl14"),
    c(
      "income", "sex", "marital.status", "age", "education", "occupation",
      "years.in.bay.area", "dual.incomes", "number.in.household", "number.of.children",
      "householder.status", "type.of.home", "ethnic.classification", "language.in.home"
    ),
    "marital.status", TRUE
  ),
  eusilc = population(
    package_data("eusilc", "laeken"),
    c("hsize", "db040", "age", "rb090", "pl030", "pb220a"), "db040", TRUE
  ),
  testdata = population(
    shared_file("testdata"),
    c("urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age", "hhcivil"), "water"
  ),
  apipop = population(
    package_data("apipop", "survey", "api"),
    c(
      "stype", "cname", "sch.wide", "awards", "meals", "ell", "yr.rnd", "mobility", "full",
      "pcttest"
    ),
    "stype"
  ),
  SLID = population(
    package_data("SLID", "carData"), c("wages", "education", "age", "sex", "language"), "language"
  ),
  Chile = population(
    package_data("Chile", "carData"),
    c("region", "population", "sex", "age", "education", "income", "vote"), "region"
  ),
  WVS = population(
    package_data("WVS", "carData"),
    c("poverty", "religion", "degree", "country", "age", "gender"), "country"
  ),
  GSSvocab = population(
    package_data("GSSvocab", "carData"),
    c("year", "gender", "nativeBorn", "vocab", "age", "educ"), "educ"
  ),
  CPS1988 = population(
    package_data("CPS1988", "AER"),
    c("education", "experience", "ethnicity", "smsa", "region", "parttime"), "region"
  ),
  HealthInsurance = population(
    package_data("HealthInsurance", "AER"),
    c(
      "health", "age", "limit", "gender", "insurance", "married", "selfemp", "family",
      "region", "ethnicity", "education"
    ),
    "education"
  ),
  NMES1988 = population(
    package_data("NMES1988", "AER"),
    c(
      "visits", "hospital", "health", "chronic", "adl", "region", "age", "afam", "gender",
      "married", "school", "employed", "insurance", "medicaid"
    ),
    "health"
  ),
  DoctorVisits = population(
    package_data("DoctorVisits", "AER"),
    c(
      "visits", "gender", "age", "income", "illness", "reduced", "health", "private",
      "nchronic", "lchronic"
    ),
    "age"
  ),
  ses = population(
    package_data("ses", "laeken"),
    c(
      "location", "NACE1", "size", "economicFinanc", "payAgreement", "sex", "age", "education",
      "occupation", "contract", "fullPart", "lengthService"
    ),
    "education"
  ),
  randhie = population(
    statsmodels_data("randhie"),
    c("mdvis", "lncoins", "idp", "lpi", "fmde", "physlm", "disea", "hlthg", "hlthf", "hlthp"),
    "lncoins"
  )
)

missing_as_value <- function(column) {
  text <- as.character(column)
  if (!anyNA(text)) {
    return(column)
  }
  text[is.na(text)] <- "missing"
  factor(text)
}

# The key columns of a population and what its design goes by, NULL where it is
# not at hand.
load_population <- function(name) {
  known <- populations[[name]]
  data <- known$make()
  if (is.null(data)) {
    return(NULL)
  }
  keys <- as.data.frame(lapply(data[known$keys], missing_as_value))
  list(data = keys, by = as.character(missing_as_value(data[[known$by]])), name = name)
}
