# Makes data/panel_waves.rda, a simulated survey panel with a known population.
# Run from the root of the package:
#   Rscript data-raw/panel_waves.R
#
# No record is that of a person. A region of households is simulated, month by
# month from January 2011 to December 2012; a panel is drawn from it by
# household. The numbers of people with background records, with background
# records only, and with a module as well, and the shares of missing values are
# those that Mulder reports of a Dutch internet panel; all else is made up to
# look like such a panel.

RNGversion("4.2.0")
set.seed(20111231)

source(file.path("data-raw", "panel_population.R"))

n_people <- 17924
n_members <- 10997

# The panel: households, drawn with other rates by urbanity ------------------

drawn <- sample.int(n, prob = c(1.20, 1.00, 1.05, 0.95, 0.90)[urban])
size <- household_size[drawn]
take <- drawn[cumsum(size) <= n_people - 6]
# The last households are chosen so that the number of people is met.
left <- setdiff(drawn, take)
while ((gap <- n_people - sum(household_size[take])) > 0) {
  pick <- left[household_size[left] <= gap][[1]]
  take <- c(take, pick)
  left <- setdiff(left, pick)
}
in_panel <- which(h %in% take)
stopifnot(length(in_panel) == n_people)
P <- length(in_panel)
id <- seq_len(P)
home <- h[in_panel]

# Households are recruited at the start, in a refreshment in month 12, and few
# between; they leave at some time.
hh <- unique(home)
start <- sample(
  c(1L, 12L, 4L, 8L, 17L, 20L), length(hh), TRUE, c(0.76, 0.13, 0.03, 0.02, 0.03, 0.03)
)
stay <- stats::rgeom(length(hh), ifelse(start == 1, 0.015, 0.020))
start <- start[match(home, hh)]
end <- pmin(start + 3L + stay[match(home, hh)], n_months)

# Panel members take part in modules; of the others, all children under 16 among
# them, the background is given by a member (proxy).
age_panel <- age[in_panel]
willing <- 1.5 + 0.5 * (people$position[in_panel] == 1L) - 0.8 * child[in_panel] +
  0.08 * (education[in_panel] - 3) - 1.2 * (age_panel > 78) + 0.03 * (end - start) +
  stats::rlogis(P)
willing[age_on(2012L, 12L, 15L, in_panel) < 16] <- -Inf
member <- rank(-willing, ties.method = "first") <= n_members

# The monthly questionnaires. Members answer on a day of their own; the household
# contact answers for the others.
month_of <- rep(seq_len(n_months), each = P)
person <- rep(seq_len(P), n_months)
in_time <- month_of >= start[person] & month_of <= end[person]
contact <- ave(-willing, home, FUN = rank) == 1
steady <- stats::plogis(2.9 + stats::rnorm(length(hh), 0, 1.2))[match(home, hh)]
reported <- chance(steady[person])
# In most months the household answers as a whole.
by_home <- paste(home[person], month_of)
reported <- reported[match(by_home, by_home)]
# Everybody is reported once: at the start.
reported[month_of == start[person]] <- TRUE
row <- which(in_time & reported)
row <- row[order(person[row], month_of[row])]
who <- person[row]
m <- month_of[row]
year <- 2011L + (m - 1L) %/% 12L
month <- (m - 1L) %% 12L + 1L
habit <- stats::rexp(length(hh), 1 / 6)[match(home, hh)]
day_home <- matrix(stats::rexp(length(hh) * n_months, 1 / 4), ncol = n_months)
day <- pmin(1L + as.integer(habit[who] + day_home[cbind(match(home[who], hh), m)]), 28L)
true <- in_panel[who]
first <- m == start[who]
asked <- first | month == 1L
# Between the full questionnaires only what changed is reported, with its month.
told <- function(changed, index = true) {
  asked | (!is.na(changed[index]) & changed[index] == m)
}
given <- function(values, when) {
  values[!when] <- NA
  values
}
state <- function(before, after, changed, index) {
  ifelse(!is.na(changed[index]) & changed[index] <= m, after[index], before[index])
}

position_levels <- c("head", "partner", "child", "other")
domestic_levels <- c(
  "single", "couple, no children", "couple, children", "single parent", "other"
)
kids <- state(n_children, new_children, children_month, h[true])
domestic <- ifelse(
  type[h[true]] == "other", 5L,
  ifelse(has_partner[h[true]], 2L + (kids > 0), 1L + 3L * (kids > 0))
)
wage <- ifelse(year == 2012L, new_income[true], income[true])

# For some people a wrong month of birth stood in the files until a household
# corrected it; their ages contradict each other.
reported_age <- age_on(year, month, day, true)
corrected <- sort(sample(which(end - start >= 14), 30))
right_month <- born_month
for (i in corrected) {
  wrong <- right_month[in_panel[i]] + sample(c(4L, 5L, 6L, -4L, -5L, -6L), 1)
  born_month[in_panel[i]] <- (wrong - 1L) %% 12L + 1L
  at <- which(who == i & m < start[i] + sample(8:13, 1))
  reported_age[at] <- age_on(year[at], month[at], day[at], true[at])
}
born_month <- right_month

# Missing items: shares among members after merging as in Mulder's Table 1.
never <- function(target, weight = rep(1, P)) {
  p <- pmin(target * weight / mean(weight[member]), 1)
  u <- stats::runif(P)
  # exactly the target among members
  score <- u / p
  cut <- sort(score[member])[round(target * n_members)]
  score <= cut
}
no_urbanity <- never(8 / n_members)
no_income <- never(
  1783 / n_members,
  0.6 + 0.8 * (occupation[in_panel] == 2) + 0.5 * (income[in_panel] > 2500)
)
no_class <- logical(P)
refused <- which(no_income & member)
no_class[sample(refused, 406)] <- TRUE
others_refused <- which(no_income & !member)
no_class[sample(others_refused, round(length(others_refused) * 0.25))] <- TRUE
no_origin <- never(2264 / n_members, 1 + 0.8 * (end - start < 8))

background <- data.frame(
  id = who, household = match(home, hh)[who], year = year, month = month,
  age = reported_age,
  birth_year = given(born_year[true], asked),
  gender = given(factors(2L - people$male[true], c("male", "female")), asked),
  position = given(factors(people$position[true], position_levels), asked),
  n_children = given(kids, told(children_month, h[true])),
  civil_status = given(
    factors(state(civil, new_civil, civil_month, true), civil_levels), told(civil_month)
  ),
  domestic = given(factors(domestic, domestic_levels), told(children_month, h[true])),
  occupation = given(
    factors(state(occupation, new_occupation, job_month, true), occupation_levels),
    told(job_month)
  ),
  education = given(
    factors(state(education, new_education, school_month, true), education_levels, TRUE),
    told(school_month)
  ),
  urbanity = given(
    factors(state(urban, new_urbanity, move_month, h[true]), urbanity_levels, TRUE),
    told(move_month, h[true]) & !no_urbanity[who]
  ),
  income = given(as.integer(wage), asked & !no_income[who]),
  income_class = given(factors(income_class(wage), income_labels, TRUE), asked & !no_class[who]),
  origin = given(origin[true], first & !no_origin[who])
)
# Modules -------------------------------------------------------------------

answered <- function(rate, tilt = 0) {
  member & chance(stats::plogis(stats::qlogis(rate) + 0.10 * (end - start - 12) / 4 + tilt))
}
in_religion <- answered(0.68)
in_work <- answered(0.72)
in_media <- answered(0.60)
in_language <- answered(0.64)
# A member answered at least one module.
none <- member & !(in_religion | in_work | in_media | in_language)
only <- sample.int(4, P, TRUE)
in_religion <- in_religion | (none & only == 1)
in_work <- in_work | (none & only == 2)
in_media <- in_media | (none & only == 3)
in_language <- in_language | (none & only == 4)

own <- in_panel
muslim <- grepl("non-western", origin[own]) & chance(rep(0.55, P))
faith <- draw_rows(cbind(
  0.62 - 0.004 * (age[own] - 45), 0.20 + 0.0025 * (age[own] - 45),
  0.12 + 0.0015 * (age[own] - 45), 0.02, 0.03
))
religion_levels <- c("none", "Catholic", "Protestant", "Muslim", "other")
religion <- ifelse(muslim, 4L, faith)
modules <- list()
skips <- function(x, rate) {
  x[chance(rep(rate, length(x)))] <- NA
  x
}
at <- which(in_religion)
modules$religion <- data.frame(
  id = id[at], religious = skips(religion[at] > 1, 0.02),
  religion = skips(factors(religion[at], religion_levels), 0.03)
)
profession_levels <- c(
  "higher academic", "higher supervisory", "intermediate academic",
  "intermediate supervisory", "other mental", "skilled manual",
  "semi-skilled manual", "unskilled manual", "agrarian"
)
school <- education[own]
profession <- draw_rows(cbind(
  0.30 * (school == 6) + 0.03 * (school == 5), 0.03 + 0.04 * (school >= 5),
  0.02 + 0.30 * (school == 5), 0.05 + 0.06 * (school >= 4), 0.10 + 0.14 * (school %in% 3:4),
  0.10 * (school %in% c(2, 4)) * people$male[own] + 0.01, 0.08 * (school <= 4) + 0.005,
  0.09 * (school <= 2) + 0.005, 0.015 * (urban[home] >= 4) + 0.001
))
at <- which(in_work)
fields <- c(
  "general", "teacher", "art", "humanities", "social", "economics", "law",
  "mathematics", "technical", "agricultural", "medical", "care", "services",
  "communication", "transport", "security", "other"
)
field_share <- c(
  0.17, 0.06, 0.02, 0.03, 0.06, 0.17, 0.03, 0.04, 0.13, 0.03, 0.07, 0.08, 0.05, 0.02, 0.02,
  0.02, 0.03
)
field_weight <- outer(rep(1, P), field_share)
field_weight[, 9] <- field_weight[, 9] * ifelse(people$male[own], 1.8, 0.2)
field_weight[, 12] <- field_weight[, 12] * ifelse(people$male[own], 0.2, 1.8)
field_weight[, 1] <- field_weight[, 1] * ifelse(school <= 3, 3, 0.3)
field <- draw_rows(field_weight)
second_field <- ifelse(chance(rep(0.06, P)), draw_rows(field_weight), field)
modules$work <- data.frame(
  id = id[at],
  profession = given(
    skips(factors(profession[at], profession_levels), 0.03), occupation[own][at] <= 2
  )
)
no_field <- chance(rep(0.04, length(at)))
for (k in seq_along(fields)) {
  value <- field[at] == k | second_field[at] == k
  value[no_field] <- NA
  modules$work[[paste0("field_", fields[[k]])]] <- value
}
at <- which(in_media)
modules$media <- data.frame(
  id = id[at],
  facebook = skips(chance(stats::plogis(1.0 - 0.055 * (age[own][at] - 30))), 0.02),
  linkedin = skips(
    chance(stats::plogis(-2.4 + 0.45 * (school[at] - 3) - 0.03 * abs(age[own][at] - 35))), 0.02
  ),
  hyves = skips(chance(stats::plogis(0.9 - 0.050 * (age[own][at] - 25))), 0.02)
)
at <- which(in_language)
foreign <- origin[own] != "Dutch"
non_western <- grepl("non-western", origin[own])
languages <- cbind(
  dutch = chance(ifelse(foreign, 0.62, 0.965)), frisian = chance(rep(0.028, P)),
  dialect = chance(ifelse(foreign, 0.05, 0.16 + 0.06 * (urban[home] - 3))),
  english = chance(ifelse(foreign & !non_western, 0.10, 0.012)),
  german = chance(ifelse(foreign & !non_western, 0.14, 0.004)),
  turkish = chance(ifelse(non_western, 0.16, 0)),
  arabic = chance(ifelse(non_western, 0.17, 0.0005)),
  papiamento = chance(ifelse(non_western, 0.08, 0.0003)),
  other = chance(ifelse(foreign, 0.26, 0.008))
)
languages[rowSums(languages) == 0, "dutch"] <- TRUE
no_language <- chance(rep(0.015, length(at)))
spoken <- languages[at, ]
spoken[no_language, ] <- NA
colnames(spoken) <- paste0("language_", colnames(spoken))
modules$language <- cbind(data.frame(id = id[at]), as.data.frame(spoken))

# A member gave at least one answer.
told <- unlist(lapply(modules, function(m) m$id[rowSums(!is.na(m[-1])) > 0]))
blank <- setdiff(id[member], told)
answer <- data.frame(
  id = blank, religious = religion[blank] > 1,
  religion = factors(religion[blank], religion_levels)
)
modules$religion <- rbind(modules$religion[!modules$religion$id %in% blank, ], answer)
modules$religion <- modules$religion[order(modules$religion$id), ]
rownames(modules$religion) <- NULL

# Two survey waves ------------------------------------------------------------

# Things that hardly change between the waves; reports of them sometimes do.
school_year <- pmin(born_year + c(12, 16, 18, 20, 23, 24)[education] + stats::rpois(N, 1), 2010)
school_region <- sample.int(6, n, TRUE, c(0.10, 0.18, 0.42, 0.22, 0.05, 0.03))[h]
school_region <- ifelse(chance(rep(0.2, N)), sample.int(6, N, TRUE), school_region)
birth_region <- ifelse(
  born_abroad, 5L,
  ifelse(chance(rep(0.72, N)), pmin(school_region, 4L), sample.int(4, N, TRUE))
)
father <- draw_rows(cbind(0.42 + 0.004 * (age - 45), 0.28, 0.18, 0.12) *
                      exp(outer(ability, c(-0.5, 0, 0.3, 0.6))))
spoken_home <- ifelse(grepl("non-western", origin), 3L, ifelse(chance(rep(0.14, N)), 2L, 1L))
degree_class <- function(y) findInterval(y, seq(1955, 2010, 5)) + 1L
degree_labels <- c(
  "before 1955", paste(seq(1955, 2005, 5), seq(1959, 2009, 5), sep = "-"), "2010 or later"
)
region_labels <- c("north", "east", "west", "south", "abroad", "unknown")
birth_labels <- c("north", "east", "west", "south", "abroad")
father_labels <- c("primary", "lower secondary", "upper secondary", "college or university")
spoken_labels <- c("Dutch", "dialect or Frisian", "other")
broad_labels <- c(
  "general", "education and arts", "social, economics, law", "science and technology",
  "agriculture", "health and care", "services", "other"
)
broad <- c(1, 2, 2, 2, 3, 3, 3, 4, 4, 5, 6, 6, 7, 7, 7, 7, 8)
all_fields <- integer(N)
all_fields[own] <- broad[field]
stable <- list(
  degree_year = degree_class(school_year), degree_field = all_fields,
  school_region = school_region, birth_region = birth_region,
  father_education = father, home_language = spoken_home
)
stable_labels <- list(
  degree_labels, broad_labels, region_labels, birth_labels, father_labels, spoken_labels
)
misreport <- function(x, rate, k) {
  ifelse(chance(rep(rate, length(x))), sample.int(k, length(x), TRUE), x)
}
active <- function(month) {
  years <- age_on(2011L + (month - 1L) %/% 12L, (month - 1L) %% 12L + 1L, 15L, in_panel)
  member & start <= month & end >= month & years >= 16
}

make_wave <- function(at, month, calendar_year, calendar_month) {
  true <- in_panel[at]
  keys <- keys_at(month, calendar_year, calendar_month, true)
  wave <- data.frame(
    id = at, weight = NA_real_, age = age_on(calendar_year, calendar_month, 15L, true)
  )
  wave <- cbind(wave, keys)
  size_now <- household_size[h[true]] +
    at_month(n_children, new_children, children_month, month)[h[true]] - n_children[h[true]]
  wave$household_size <- factors(pmin(pmax(size_now, 1L), 5L), c("1", "2", "3", "4", "5+"), TRUE)
  wage <- if (calendar_year == 2012L) new_income[true] else income[true]
  wave$income_class <- skips(
    factors(pmin(income_class(wage), 10L), c(income_labels[1:9], "4000+"), TRUE), 0.11
  )
  # Education that was completed in between gives a new year of it.
  done <- !is.na(school_month[true]) & school_month[true] <= month &
    new_education[true] != education[true]
  for (v in seq_along(stable)) {
    labels <- stable_labels[[v]]
    code <- stable[[v]][true]
    if (names(stable)[[v]] == "degree_year") {
      code[done] <- length(labels)
    }
    code <- misreport(code, 0.006, length(labels))
    wave[[names(stable)[[v]]]] <- skips(
      factors(code, labels, names(stable)[[v]] %in% c("degree_year", "father_education")),
      c(0.02, 0.02, 0.01, 0.005, 0.09, 0.01)[[v]]
    )
  }
  wave
}
one <- which(active(1L))
one <- one[chance(rep(0.90, length(one)))]
two <- which(active(24L))
two <- two[chance(rep(0.92, length(two)))]
wave1 <- make_wave(one, 1, 2011L, 1L)
wave2 <- make_wave(two, 24, 2012L, 12L)

# Weights: people of the population per respondent, by gender, age and urbanity.
weigh <- function(wave, month, year, calendar_month) {
  everyone <- which(age_on(year, calendar_month, 15L) >= 16)
  all_keys <- keys_at(month, year, calendar_month, everyone)
  stratum <- function(x) {
    paste(x$gender, (as.integer(x$age_group) + 1L) %/% 2L, x$urbanity)
  }
  wanted <- table(stratum(all_keys))
  found <- table(stratum(wave))
  stopifnot(setequal(names(wanted), names(found)))
  round(as.numeric((wanted[names(found)] / found)[stratum(wave)]), 3)
}
wave1$weight <- weigh(wave1, 1, 2011L, 1L)
wave2$weight <- weigh(wave2, 24, 2012L, 12L)

panel_waves <- list(
  background = background, modules = modules, wave1 = wave1, wave2 = wave2,
  population = population,
  truth = data.frame(
    id = id, birth_year = born_year[in_panel],
    birth_month = born_month[in_panel]
  )
)

dir.create("data", showWarnings = FALSE)
# xz at its extreme level: the file is the largest part of the package.
file <- xzfile(file.path("data", "panel_waves.rda"), "wb", compression = -9)
save(panel_waves, file = file, version = 2)
close(file)
