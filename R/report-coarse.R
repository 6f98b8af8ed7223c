# The figures of a result as a report states them. An external report has no figure so fine
# that a record, a weight or a category follows from it: three significant digits, and
# nothing that fewer than `least_alike` records could have.

stated_digits <- 3
least_alike <- 5

# A result with its figures as they are stated, in an external report and in any. replay()
# does the same with what it computes again.
stated_result <- function(x, internal) {
  if (!internal) x <- coarse_result(x)
  x <- without_misfit_figures(x)
  # Columns were taken out.
  attr(x, "fields") <- fields_of(x)
  x
}

# Estimates of log-linear models that do not fit are not reported, nor ratios to them.
without_misfit_figures <- function(x) {
  off <- misfits(x)
  if (any(off)) {
    x$estimates[off, grep("^(households_)?tau[12]", names(x$estimates))] <- NA_real_
    x$estimates[grep("^ratio", names(x$estimates))] <- NA_real_
  }
  x
}

# The analyses of a result whose log-linear model does not fit.
misfits <- function(x) {
  models <- inherits(x, c("sdc_loglinear_risk", "sdc_longitudinal_risk"))
  if (models) x$estimates$status %in% "underfits" else FALSE
}

coarse_result <- function(x) {
  shown <- x
  fields <- names(unclass(x))[vapply(unclass(x), is.data.frame, NA)]
  for (name in setdiff(fields, "data")) shown[[name]] <- coarse_columns(unclass(x)[[name]])
  e <- unclass(x)$estimates
  # A search by another limit than that on the largest risk has no figure of one record.
  of_search <- inherits(x, "sdc_recode_search") && first_constraint(x) != "journalist"
  single <- if (!of_search) single_figures[[class(x)[[1]]]]
  for (name in names(single)) {
    alike <- if (inherits(x, "sdc_n_matches") && !is.null(judged_rows(x))) {
      lapply(unname(match_columns(x)), function(m) 1 / m)
    } else {
      list(judged_rows(x)[[single[[name]]]])
    }
    # A household is one, however many members.
    of_homes <- startsWith(name, "household") || inherits(x, "sdc_household_risk")
    if (of_homes) alike <- lapply(alike, unique)
    if (has_measures(x)) {
      at <- which(e$measure == name)
      shared <- vapply(e$value[at], shared_figure, 0, alike[[1]])
      shown$estimates[at, c("value", "low", "high")] <- list(
        shared, pmin(shared, signif(e$low[at], 2)), pmax(shared, signif(e$high[at], 2))
      )
    } else if (name %in% names(e)) {
      shown$estimates[[name]] <- as.double(Map(shared_figure, e[[name]], alike))
    }
  }
  shown <- coarse_classes(coarse_sums(shown, x), x)
  for (name in intersect(told_sizes, names(e))) shown$estimates[[name]] <- NA_real_
  for (name in intersect(told_shares, names(e))) {
    few <- length(unlist(key_names(x))) < 3
    shown$estimates[[name]] <- if (few) NA_real_ else signif(e[[name]], 2)
  }
  if (inherits(x, "sdc_attribute_risk")) {
    shown$estimates$value[e$measure %in% told_margins] <- NA_real_
    shown$estimates$baseline[e$measure != "l_distinct"] <- NA_real_
  }
  if (inherits(x, "sdc_attack_release")) {
    shown$estimates$baseline[e$attack == "attribute"] <- NA_real_
  }
  # Of one variable as a picture can be read.
  if (inherits(x, "sdc_utility_loss")) {
    shown$variables$prop_bits_lost <- round(20 * x$variables$prop_bits_lost) / 20
  }
  shown
}

# Numbers in a text made before, without those that are withheld.
coarse_text <- function(text, withheld) {
  mark <- getOption("OutDec")
  for (value in withheld) {
    for (digits in 3:4) {
      number <- formatC(value, digits = digits, format = "fg", flag = "#", decimal.mark = mark)
      number <- gsub(".", "[.]", number, fixed = TRUE)
      # Whole numbers, not the digits of others.
      pattern <- paste0("(?<![0-9.,])", number, "[0-9]*+(?![.,][0-9])")
      text <- gsub(pattern, withheld_in_words, text, perl = TRUE)
    }
  }
  at <- gregexpr(paste0("[0-9]+[", mark, "][0-9]+"), text)
  regmatches(text, at) <- lapply(regmatches(text, at), function(numbers) {
    fine <- nchar(gsub("^[0.,]*|[.,]", "", numbers)) > stated_digits
    numbers[fine] <- format_risk(as.double(chartr(mark, ".", numbers[fine])))
    numbers
  })
  text
}

coarse_columns <- function(table) {
  reals <- vapply(table, function(x) is.double(x) && !is.object(x) && is.null(dim(x)), NA)
  table[reals] <- lapply(unclass(table)[reals], coarse)
  table
}

# Whole numbers are counts, and stay.
coarse <- function(x) ifelse(is.finite(x) & x != round(x), signif(x, stated_digits), x)

# Figures that one record has, by class, and the column with those of all records. The risk
# of a record that is alone with its key is a function of its weight.
single_figures <- list(
  sdc_individual_risk = c(
    journalist_max = "risk", risk_q99 = "risk", risk_q95 = "risk",
    household_max = "household_risk"
  ),
  sdc_n_matches = c(risk_q99 = "n_matches", risk_q95 = "n_matches"),
  sdc_household_risk = c(journalist_max = "journalist_risk"),
  sdc_recode_search = c(risk = "none"),
  sdc_file_check = c(journalist = "journalist_risk", household = "household_risk"),
  sdc_population_risk = c(largest = "risk")
)

# As many digits as enough records share, at most three and at least two, or NA.
shared_figure <- function(x, of) {
  of <- as.double(of)
  for (digits in c(stated_digits, 2)) {
    rounded <- signif(x, digits)
    if (isTRUE(sum(signif(of, digits) == rounded, na.rm = TRUE) >= least_alike)) {
      return(rounded)
    }
  }
  NA_real_
}

# From these and the number of records the sizes of categories follow.
told_sizes <- c(
  "entropy", "largest_share", "bits", "bits_lost", "l_entropy", "t_closeness", "cost"
)

# Rows of attribute_risk() from which they follow, too.
told_margins <- c(
  "l_entropy", "l_recursive", "t", "alpha", "beta_basic", "beta_enhanced", "delta"
)

# Ratios of them, which leave few sizes if they are about few variables: five ways to divide 182
# records among three categories for a share of 0.165.
told_shares <- c("prop_bits_lost", "cost_share")

withheld_note <- paste("not shown: reveals fewer than", least_alike, "records")
withheld_in_words <- paste0("(", withheld_note, ")")

# Of an external report: rows of the board as exact figures judge them, with coarse ones.
coarse_rows <- function(rows, shown) {
  at <- match(paste(rows$measure, rows$label), paste(shown$measure, shown$label))
  gone <- is.na(shown$value[at]) & !is.na(rows$value)
  for (name in c("value", "low", "high", "n_above")) rows[[name]] <- shown[[name]][at]
  rows$note <- withheld_words(shown$note[at])
  rows$note[gone] <- withheld_note
  for (name in c("value", "low", "high")) rows[[name]] <- coarse(rows[[name]])
  rows
}

# In a sentence what is withheld is no number.
withheld_words <- function(text) {
  gsub("\\bNA\\b%?|(?<![a-z_])\\(\\)", withheld_in_words, text, perl = TRUE)
}

# Names joined by the operators of models, and whole numbers.
is_model_formula <- function(x) {
  if (is.name(x)) {
    return(TRUE)
  }
  if (is.numeric(x)) {
    return(length(x) == 1)
  }
  operators <- c("~", "+", "-", "*", ":", "^", "(", "/", "%in%")
  is.call(x) && is.name(x[[1]]) && as.character(x[[1]]) %in% operators &&
    all(vapply(as.list(x)[-1], is_model_formula, NA))
}

# Changes so few that distances would tell single values, or a fingerprint all.
few_for_distances <- 100

few_for_fingerprint <- 16

word_note <- "values taken at their word, see below"

protecting <- c("suppress_cells", "invariant_pram", "pram_audit", "recode_search")

said_question <- function(entry) {
  question <- entry$said$question
  if (is.null(question)) question <- paste0("what does ", entry$fun, "() say?")
  capitalised(question)
}

# TRUE if an argument may leave the agency: it names no record, and tells nothing of a value
# in the file.
is_external_argument <- function(name, value, entry) {
  name != "rows" && is_external_value(value, entry)
}

is_external_value <- function(value, entry) {
  words <- c(known_columns(entry), offered_words(entry$fun), "wildcard", "category", "exclude")
  short <- length(value) <= 100 && is.null(dim(value))
  if (inherits(value, "sdc_asked_part")) {
    value$kind != "withheld"
  } else if (is.null(value) || is.logical(value) && short) {
    TRUE
  } else if (rlang::is_formula(value)) {
    all(all.vars(value) %in% words) && is_model_formula(value)
  } else if (!has_external_names(value, words)) {
    FALSE
  } else if (is.list(value)) {
    all(vapply(value, is_external_value, NA, entry))
  } else if (is.numeric(value)) {
    short
  } else {
    is.character(value) && all(value %in% words)
  }
}

has_external_names <- function(value, words) {
  is.null(names(value)) || all(names(value) %in% c(words, names_in_limits)) ||
    is.list(value) && all(vapply(value, function(v) all(as.character(v) %in% words), NA))
}

names_in_limits <- c(
  "k", "prop_unique", "qar", "journalist", "tau1_rate", "population_uniqueness", "p", "alpha",
  "pi_u"
)

known_columns <- function(entry) {
  s <- entry$result$settings
  roles <- s[intersect(names(s), c(
    "key_vars", "weight_var", "hh_id", "hh_vars", "sensitive", "within", "strata_var", "id",
    "change_vars", "link_vars", "known_keys", "key_groups", "key_sets"
  ))]
  # A role that a function takes and keeps to itself; `within` may be values.
  given <- entry$asked$arguments
  given <- given[intersect(names(given), c("key_vars", "weight_var", "hh_id", "hh_vars", "id"))]
  texts <- c(unlist(roles), unlist(Filter(is.character, given)))
  c(texts[vapply(texts, is.character, NA)], names(s$key_groups))
}

# The words among the defaults of a function.
offered_words <- function(fun) {
  if (!fun %in% getNamespaceExports("sdcRisk")) {
    return(character())
  }
  unlist(lapply(arguments_of(fun), function(d) {
    if (is.character(d)) d else if (is.call(d) && identical(d[[1]], as.name("c"))) {
      Filter(is.character, as.list(d)[-1])
    }
  }), use.names = FALSE)
}

figure_text <- function(x) {
  whole <- !is.na(x) & x == round(x) & abs(x) < 1e9
  ifelse(whole, format_count(ifelse(whole, x, 0)), format_number(x))
}

# Text of a result, without its tables.
said_of <- function(x) {
  said <- describe(x)
  list(
    title = said$title, question = said$question, scenario = said$scenario,
    sentence = if (!is.null(said$sentence)) unclass(interpret(x))
  )
}
