# The region from which data-raw/panel_waves.R draws a panel: households, the
# people in them, and the months in which something changes for them. That script
# sets the seed and reads this file.

n_households <- 60000
n_months <- 24

# One category per row of a matrix of shares.
draw_rows <- function(shares) {
  u <- stats::runif(nrow(shares)) * rowSums(shares)
  below <- shares
  for (k in seq_len(ncol(shares))[-1]) below[, k] <- below[, k - 1] + shares[, k]
  pmin(rowSums(u > below) + 1L, ncol(shares))
}

chance <- function(p) stats::runif(length(p)) < p

# The month in which something of the given monthly chance first happens, NA
# where it does not happen within the panel.
first_month <- function(hazard) {
  month <- ceiling(log(stats::runif(length(hazard))) / log1p(-pmax(hazard, 1e-12))) + 1
  month[month > n_months] <- NA
  as.integer(month)
}

# Households --------------------------------------------------------------

types <- c("single", "couple", "couple with children", "single parent", "other")
household <- data.frame(
  type = factor(
    sample(types, n_households, TRUE, c(0.36, 0.29, 0.26, 0.065, 0.025)),
    levels = types
  )
)
type <- household$type
n <- n_households
head_age <- numeric(n)
bands <- list(
  single = rbind(c(19, 34, 0.30), c(34, 60, 0.34), c(60, 94, 0.36)),
  couple = rbind(c(21, 34, 0.22), c(34, 56, 0.24), c(56, 88, 0.54)),
  other = rbind(c(19, 30, 0.4), c(30, 60, 0.4), c(60, 85, 0.2))
)
for (name in names(bands)) {
  at <- which(type == name)
  band <- bands[[name]][sample.int(3, length(at), TRUE, bands[[name]][, 3]), , drop = FALSE]
  head_age[at] <- band[, 1] + (band[, 2] - band[, 1]) * stats::runif(length(at))^1.15
}
at <- which(type == "couple with children")
head_age[at] <- pmin(pmax(stats::rnorm(length(at), 43.5, 7.5), 22), 66)
at <- which(type == "single parent")
head_age[at] <- pmin(pmax(stats::rnorm(length(at), 43, 8), 20), 66)

n_children <- integer(n)
at <- which(type == "couple with children")
n_children[at] <- sample.int(4, length(at), TRUE, c(0.37, 0.44, 0.15, 0.04))
at <- which(type == "single parent")
n_children[at] <- sample.int(4, length(at), TRUE, c(0.58, 0.31, 0.09, 0.02))

household$urbanity <- draw_rows(cbind(
  0.16 + 0.10 * (type == "single"), 0.26, 0.20,
  0.21 + 0.04 * (n_children > 0), 0.16 + 0.05 * (type == "couple with children")
))
urban <- household$urbanity
abroad_share <- c(0.24, 0.15, 0.10, 0.06, 0.04)[urban] * ifelse(head_age > 65, 0.6, 1.1)

# People ------------------------------------------------------------------

has_partner <- type %in% c("couple", "couple with children") |
  (type == "other" & chance(rep(0.4, n)))
head_male <- chance(ifelse(
  has_partner, 0.75,
  ifelse(type == "single parent", 0.16, 0.62 - 0.30 * (head_age > 62))
))
heads <- data.frame(
  household = seq_len(n), position = 1L, age = head_age, male = head_male
)
at <- which(has_partner)
partners <- data.frame(
  household = at, position = 2L,
  age = pmin(pmax(head_age[at] - ifelse(head_male[at], 2.4, -1.5) +
                    stats::rnorm(length(at), 0, 3.6), 18), 96),
  male = ifelse(chance(rep(0.985, length(at))), !head_male[at], head_male[at])
)
mother_age <- head_age
mother_age[at] <- ifelse(head_male[at], partners$age, head_age[at])
eldest <- pmin(pmax(mother_age - pmax(stats::rnorm(n, 28.5, 4.6), 17), 0.05), 26)
owner <- rep(seq_len(n), n_children)
birth_order <- sequence(n_children[n_children > 0])
children <- data.frame(
  household = owner, position = 3L,
  age = eldest[owner] - (birth_order - 1) * stats::runif(length(owner), 1.5, 3.2),
  male = chance(rep(0.512, length(owner)))
)
children$age <- ifelse(children$age < 0, stats::runif(nrow(children), 0, 1.5), children$age)
at <- which(type == "other")
others <- data.frame(
  household = at, position = 4L, age = stats::runif(length(at), 18, 85),
  male = chance(rep(0.5, length(at)))
)
people <- rbind(heads, partners, children, others)
people <- people[order(people$household, people$position, -people$age), ]
rownames(people) <- NULL
N <- nrow(people)
h <- people$household
child <- people$position == 3L

# A birthday, from the age on 1 January 2011; months are not equally frequent.
month_share <- c(0.081, 0.075, 0.084, 0.081, 0.085, 0.083, 0.088, 0.088, 0.087, 0.084, 0.081, 0.083)
born_year <- 2010L - as.integer(floor(people$age))
born_month <- sample.int(12, N, TRUE, month_share)
days_in <- c(31L, 28L, 31L, 30L, 31L, 30L, 31L, 31L, 30L, 31L, 30L, 31L)
born_day <- as.integer(ceiling(stats::runif(N) * days_in[born_month]))
age_on <- function(year, month, day, who = seq_len(N)) {
  year - born_year[who] -
    as.integer(month < born_month[who] | (month == born_month[who] & day < born_day[who]))
}
age <- age_on(2011L, 1L, 1L)

# Origin: children follow the head of the household.
abroad_head <- chance(abroad_share)
western_head <- chance(ifelse(head_age > 55, 0.60, 0.42))
second_head <- !abroad_head &
  chance(ifelse(head_age > 45, 0.07, 0.14) * c(1.5, 1.2, 1, 0.7, 0.6)[urban])
follows <- chance(ifelse(child, 1, 0.82))
own_abroad <- ifelse(follows, abroad_head[h], chance(rep(0.09, N)))
own_western <- ifelse(follows, western_head[h], chance(rep(0.55, N)))
own_second <- ifelse(follows, second_head[h], chance(rep(0.06, N)))
born_abroad <- own_abroad & chance(ifelse(child, 0.22, 1))
second <- !born_abroad & (own_second | (child & own_abroad))
origin_levels <- c(
  "Dutch", "first generation, western", "first generation, non-western",
  "second generation, western", "second generation, non-western"
)
origin <- factor(origin_levels[
  1 + born_abroad * (2 - own_western) + second * (4 - own_western)
], levels = origin_levels)

# Education, completed on 1 January 2011.
education_levels <- c(
  "primary", "lower secondary", "upper secondary", "vocational", "college", "university"
)
decade <- findInterval(age, c(30, 45, 60, 72)) + 1
shares <- rbind(
  c(0.04, 0.17, 0.16, 0.32, 0.20, 0.11),
  c(0.05, 0.20, 0.09, 0.32, 0.22, 0.12),
  c(0.08, 0.26, 0.10, 0.27, 0.20, 0.09),
  c(0.13, 0.34, 0.11, 0.20, 0.16, 0.06),
  c(0.30, 0.36, 0.09, 0.13, 0.09, 0.03)
)[decade, ]
ability <- stats::rnorm(n_households)[h] * 0.7 + stats::rnorm(N) * 0.7
tilt <- exp(outer(
  ability + 0.25 * (urban[h] <= 2) - 0.5 * grepl("non-western", origin), -2:3 / 2.2
))
education <- draw_rows(shares * tilt)
top <- findInterval(age, c(13, 16, 18, 21, 24))
education <- pmin(education, c(1, 1, 2, 3, 5, 6)[top + 1])

# Occupation, and how it changes.
occupation_levels <- c(
  "paid employment", "self-employed", "job seeker", "student", "housekeeping",
  "retired", "unable to work", "other"
)
female <- !people$male
young_mother <- female & !child & n_children[h] > 0
stage <- findInterval(age, c(15, 18, 23, 28, 55, 60, 65)) + 1
shares <- rbind(
  c(0.00, 0.000, 0.000, 1.00, 0.000, 0.00, 0.000, 0.00),
  c(0.04, 0.000, 0.005, 0.95, 0.000, 0.00, 0.000, 0.005),
  c(0.33, 0.010, 0.040, 0.58, 0.010, 0.00, 0.010, 0.02),
  c(0.74, 0.040, 0.060, 0.09, 0.030, 0.00, 0.020, 0.02),
  c(0.69, 0.105, 0.040, 0.01, 0.080, 0.00, 0.055, 0.02),
  c(0.58, 0.105, 0.035, 0.00, 0.105, 0.04, 0.110, 0.025),
  c(0.28, 0.070, 0.020, 0.00, 0.110, 0.39, 0.110, 0.02),
  c(0.02, 0.015, 0.000, 0.00, 0.030, 0.93, 0.000, 0.005)
)[stage, ]
shares[, 5] <- shares[, 5] * ifelse(female, 1.9, 0.08) * ifelse(young_mother, 1.8, 1)
shares[, 2] <- shares[, 2] * ifelse(female, 0.7, 1.3) * (1 + 0.25 * (urban[h] == 5))
shares[, 7] <- shares[, 7] * exp(-0.35 * (education - 3.5))
shares[, 3] <- shares[, 3] * exp(-0.20 * (education - 3.5)) * ifelse(born_abroad, 1.9, 1)
occupation <- draw_rows(shares)
leave <- c(0.0045, 0.003, 0.055, 0.010, 0.004, 0.0008, 0.002, 0.02)[occupation]
leave <- ifelse(occupation == 1 & age >= 59, 0.02, leave)
leave <- ifelse(occupation == 4 & age < 16, 0.0005, leave)
leave <- ifelse(occupation == 4 & age >= 20, 0.028, leave)
leave <- ifelse(age >= 66, 0.001, leave)
job_month <- first_month(leave)
next_job <- rbind(
  c(0.00, 0.22, 0.42, 0.06, 0.14, 0.00, 0.10, 0.06),
  c(0.60, 0.00, 0.15, 0.02, 0.10, 0.03, 0.05, 0.05),
  c(0.74, 0.08, 0.00, 0.05, 0.06, 0.00, 0.04, 0.03),
  c(0.80, 0.05, 0.10, 0.00, 0.02, 0.00, 0.01, 0.02),
  c(0.60, 0.10, 0.12, 0.04, 0.00, 0.02, 0.04, 0.08),
  c(0.40, 0.20, 0.00, 0.00, 0.20, 0.00, 0.00, 0.20),
  c(0.30, 0.05, 0.20, 0.02, 0.23, 0.10, 0.00, 0.10),
  c(0.50, 0.10, 0.15, 0.05, 0.15, 0.00, 0.05, 0.00)
)[occupation, ]
older <- occupation == 1 & age >= 59
next_job[older, ] <- rep(c(0, 0.05, 0.10, 0, 0.02, 0.75, 0.06, 0.02), each = sum(older))
new_occupation <- draw_rows(next_job)

# Civil status, and how it changes.
civil_levels <- c("married", "divorced", "widowed", "never married")
lives_with_partner <- people$position == 2L | (people$position == 1L & has_partner[h])
p_married <- stats::plogis(-0.6 + 0.075 * (age - 28) + 0.9 * (n_children[h] > 0))
p_before <- stats::plogis(-3.4 + 0.075 * (age - 30) + 0.8 * (type[h] == "single parent"))
married_head <- chance(p_married)
once <- chance(p_before)
widow <- once & chance(stats::plogis(-5.2 + 0.088 * (age - 20) + 0.7 * female))
civil <- ifelse(
  lives_with_partner & married_head[match(h, h)], 1L,
  ifelse(child, 4L, ifelse(widow & !lives_with_partner, 3L, ifelse(once, 2L, 4L)))
)
civil_hazard <- c(0.0009, 0.0006, 0.0002, 0.0006)[civil]
civil_hazard <- ifelse(civil >= 2 & lives_with_partner & age < 50, 0.0050, civil_hazard)
civil_hazard <- ifelse(civil == 1 & age >= 68, 0.0011 * exp(0.075 * (age - 68)), civil_hazard)
civil_hazard <- ifelse(child | age < 20, 0.00001, civil_hazard)
# Partners change together: the month of the head's change holds for both.
civil_month <- first_month(civil_hazard)
together <- lives_with_partner & civil == civil[match(h, h)]
civil_month <- ifelse(together, civil_month[match(h, h)], civil_month)
new_civil <- ifelse(civil == 1, ifelse(age >= 68, 3L, 2L), 1L)

# Children living at home, household by household: births and children leaving.
oldest_child <- ifelse(n_children > 0, eldest, 0)
fertile <- has_partner & mother_age > 22 & mother_age < 42
birth_hazard <- ifelse(
  fertile,
  0.0065 * exp(-((mother_age - 31) / 5.5)^2) * c(1.4, 1.5, 0.6, 0.3, 0.2)[n_children + 1],
  1e-9
) * 1.6
leave_hazard <- ifelse(
  n_children > 0 & oldest_child >= 17, 0.006 + 0.004 * (oldest_child - 17), 1e-9
)
children_month <- first_month(birth_hazard + leave_hazard)
more <- chance(birth_hazard / (birth_hazard + leave_hazard))
new_children <- ifelse(more, n_children + 1L, pmax(n_children - 1L, 0L))

# Moving, and completing an education.
move_month <- first_month(ifelse(head_age < 32, 0.0085, ifelse(head_age < 60, 0.0032, 0.0012)))
new_urbanity <- urban + sample(c(-2L, -1L, 1L, 2L), n, TRUE, c(0.2, 0.3, 0.3, 0.2))
new_urbanity <- pmin(pmax(new_urbanity, 1L), 5L)
school_month <- first_month(ifelse(
  occupation == 4 & age >= 15 & age < 28, 0.020, ifelse(age > 20 & age < 45, 0.0004, 1e-9)
))
new_education <- pmin(education + 1L, c(1, 2, 3, 5, 6)[findInterval(age + 2, c(0, 14, 16, 18, 22))])

at_month <- function(before, after, changed, m) {
  ifelse(!is.na(changed) & changed <= m, after, before)
}
household_size <- as.integer(table(factor(h, levels = seq_len(n))))

# Income: net a month, in euro; it may change every January.
earns <- occupation %in% 1:2
income_mean <- 6.95 + 0.13 * (education - 3) + 0.11 * people$male +
  c(0.36, 0.30, -0.15, -1.05, -0.55, 0.22, 0.02, -0.15)[occupation] +
  0.006 * pmin(pmax(age - 25, 0), 30)
income <- exp(income_mean + stats::rnorm(N) * ifelse(occupation == 2, 0.6, 0.32))
nothing <- age < 15 | (occupation %in% c(4, 5) & chance(rep(0.22, N)))
income[nothing] <- 0
raised <- chance(ifelse(earns, 0.55, 0.25))
new_income <- income * ifelse(raised, exp(stats::rnorm(N, 0.02, 0.10)), 1)
round_euro <- function(x) ifelse(x < 1500, 10 * round(x / 10), 50 * round(x / 50))
income <- round_euro(income)
new_income <- round_euro(new_income)
income_breaks <- c(0, 1, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 5000, 7500, Inf)
income_labels <- c(
  "none", "1-499", "500-999", "1000-1499", "1500-1999", "2000-2499",
  "2500-2999", "3000-3499", "3500-3999", "4000-4999", "5000-7499", "7500+"
)
income_class <- function(x) findInterval(x, income_breaks)

# The population of the survey: aged 16 or over in December 2012 ------------

age_breaks <- c(16, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75)
age_labels <- c(
  "16-19", "20-24", "25-29", "30-34", "35-39", "40-44", "45-49", "50-54",
  "55-59", "60-64", "65-69", "70-74", "75+"
)
factors <- function(code, labels, ordered = FALSE) {
  code[code == 0] <- NA
  factor(labels[code], levels = labels, ordered = ordered)
}
urbanity_levels <- c(
  "extremely urban", "very urban", "moderately urban", "slightly urban", "not urban"
)
children_levels <- c("0", "1", "2", "3+")
keys_at <- function(m, year, month, who = seq_len(N)) {
  years <- age_on(year, month, 15L, who)
  home <- h[who]
  data.frame(
    gender = factors(2L - people$male[who], c("male", "female")),
    age_group = factors(findInterval(years, age_breaks), age_labels, TRUE),
    born_abroad = factors(1L + born_abroad[who], c("no", "yes")),
    education = factors(
      at_month(education, new_education, school_month, m)[who], education_levels, TRUE
    ),
    civil_status = factors(at_month(civil, new_civil, civil_month, m)[who], civil_levels),
    n_children = factors(
      pmin(at_month(n_children, new_children, children_month, m)[home], 3L) + 1L,
      children_levels, TRUE
    ),
    urbanity = factors(
      at_month(urban, new_urbanity, move_month, m)[home], urbanity_levels, TRUE
    ),
    occupation = factors(
      at_month(occupation, new_occupation, job_month, m)[who], occupation_levels
    )
  )
}
adult_then <- which(age_on(2012L, 12L, 15L) >= 16)
now <- keys_at(24, 2012L, 12L, adult_then)
before <- keys_at(1, 2011L, 1L, adult_then)
changing <- c("civil_status", "n_children", "urbanity", "occupation")
for (v in changing) {
  now[[paste0(v, "_changed")]] <- as.integer(as.integer(now[[v]]) != as.integer(before[[v]]))
}
pattern <- do.call(order, unname(as.list(now)))
sorted <- now[pattern, ]
same <- Reduce(`&`, lapply(sorted, function(x) x[-1] == x[-length(x)]))
starts <- which(c(TRUE, !same))
population <- sorted[starts, ]
population$n <- as.integer(diff(c(starts, nrow(sorted) + 1L)))
rownames(population) <- NULL
