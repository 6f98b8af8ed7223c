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

n_households <- 60000
n_people <- 17924
n_members <- 10997
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
second_head <- !abroad_head & chance(ifelse(head_age > 45, 0.07, 0.14) * c(1.5, 1.2, 1, 0.7, 0.6)[urban])
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
tilt <- exp(outer(ability + 0.25 * (urban[h] <= 2) - 0.5 * grepl("non-western", origin), -2:3 / 2.2))
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
birth_hazard <- ifelse(fertile, 0.0065 * exp(-((mother_age - 31) / 5.5)^2) * c(1.4, 1.5, 0.6, 0.3, 0.2)[n_children + 1], 1e-9)
birth_hazard <- birth_hazard * 1.6
leave_hazard <- ifelse(n_children > 0 & oldest_child >= 17, 0.006 + 0.004 * (oldest_child - 17), 1e-9)
children_month <- first_month(birth_hazard + leave_hazard)
more <- chance(birth_hazard / (birth_hazard + leave_hazard))
new_children <- ifelse(more, n_children + 1L, pmax(n_children - 1L, 0L))

# Moving, and completing an education.
move_month <- first_month(ifelse(head_age < 32, 0.0085, ifelse(head_age < 60, 0.0032, 0.0012)))
new_urbanity <- pmin(pmax(urban + sample(c(-2L, -1L, 1L, 2L), n, TRUE, c(0.2, 0.3, 0.3, 0.2)), 1L), 5L)
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
urbanity_levels <- c("extremely urban", "very urban", "moderately urban", "slightly urban", "not urban")
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
start <- sample(c(1L, 12L, 4L, 8L, 17L, 20L), length(hh), TRUE, c(0.76, 0.13, 0.03, 0.02, 0.03, 0.03))
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
told <- function(changed, who_or_home = true) asked | (!is.na(changed[who_or_home]) & changed[who_or_home] == m)
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
no_income <- never(1783 / n_members, 0.6 + 0.8 * (occupation[in_panel] == 2) + 0.5 * (income[in_panel] > 2500))
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
  0.17, 0.06, 0.02, 0.03, 0.06, 0.17, 0.03, 0.04, 0.13, 0.03, 0.07, 0.08, 0.05, 0.02, 0.02, 0.02, 0.03
)
field_weight <- outer(rep(1, P), field_share)
field_weight[, 9] <- field_weight[, 9] * ifelse(people$male[own], 1.8, 0.2)
field_weight[, 12] <- field_weight[, 12] * ifelse(people$male[own], 0.2, 1.8)
field_weight[, 1] <- field_weight[, 1] * ifelse(school <= 3, 3, 0.3)
field <- draw_rows(field_weight)
second_field <- ifelse(chance(rep(0.06, P)), draw_rows(field_weight), field)
modules$work <- data.frame(
  id = id[at],
  profession = given(skips(factors(profession[at], profession_levels), 0.03), occupation[own][at] <= 2)
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
  linkedin = skips(chance(stats::plogis(-2.4 + 0.45 * (school[at] - 3) - 0.03 * abs(age[own][at] - 35))), 0.02),
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

# Two survey waves ------------------------------------------------------------

# Things that hardly change between the waves; reports of them sometimes do.
school_year <- pmin(born_year + c(12, 16, 18, 20, 23, 24)[education] + stats::rpois(N, 1), 2010)
school_region <- sample.int(6, n, TRUE, c(0.10, 0.18, 0.42, 0.22, 0.05, 0.03))[h]
school_region <- ifelse(chance(rep(0.2, N)), sample.int(6, N, TRUE), school_region)
birth_region <- ifelse(born_abroad, 5L, ifelse(chance(rep(0.72, N)), pmin(school_region, 4L), sample.int(4, N, TRUE)))
father <- draw_rows(cbind(0.42 + 0.004 * (age - 45), 0.28, 0.18, 0.12) *
                      exp(outer(ability, c(-0.5, 0, 0.3, 0.6))))
spoken_home <- ifelse(grepl("non-western", origin), 3L, ifelse(chance(rep(0.14, N)), 2L, 1L))
degree_class <- function(y) findInterval(y, seq(1955, 2010, 5)) + 1L
degree_labels <- c("before 1955", paste(seq(1955, 2005, 5), seq(1959, 2009, 5), sep = "-"), "2010 or later")
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
active <- function(month) member & start <= month & end >= month &
  age_on(2011L + (month - 1L) %/% 12L, (month - 1L) %% 12L + 1L, 15L, in_panel) >= 16

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
  wave$income_class <- skips(factors(pmin(income_class(wage), 10L), c(income_labels[1:9], "4000+"), TRUE), 0.11)
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
