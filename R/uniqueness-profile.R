#' Explain the uniqueness of a person
#'
#' Computes the likelihood that a person is unique if one value were different, and if one more
#' key variable were known. Use it to explain which values make a person unique (figure 3c of the
#' source).
#'
#' @details
#' The person of `record` is known on some or all key variables of `x`: the base.
#' For every variable of `vary`, the person's value is replaced by each value of the
#' variable in turn, the others staying as they are. For every variable of `add`, which
#' `record` does not know, each of its values is added to the base. A copula over some of
#' the variables is part of the one over all: nothing is fitted again.
#'
#' If the base lacks key variables of `x`, population uniqueness on the variables in
#' use is drawn from the model without calibration, since the sample's uniqueness on them
#' is not kept in a fit, and the tree of `score = "tree"` is anchored on 40,000 people
#' drawn from it instead of the sample's records, half of them from shares that favour
#' rare values. Other draws (see [set.seed()]) move the likelihoods: of five persons of
#' `adult`, by a standard error of up to 0.7% of \eqn{\kappa}{kappa} if it was above
#' 0.01, and of 3% if it was 0.004, so that two digits at most are worth
#' reporting. A base of all key variables needs no draws.
#'
#' @section Cost:
#' One likelihood for every value tried, on the fit at hand: half a second of one processor
#' for a profile of three of five key variables.
#'
#' @param x A result of [copula_fit()] or [copula_uniqueness()].
#' @param record A data frame with one row: the person's values of key variables.
#' @param pop_size Number of people in the population. For a result of
#'   [copula_uniqueness()] by default the first of its own.
#' @inheritParams sdcRisk-params
#' @param vary Names of key variables in `record` to go through. `NULL`: all.
#' @param add Names of key variables not in `record` to add. `NULL`: all.
#' @param score,calibrate As in [predict.sdc_copula_fit()].
#' @param max_values A variable with more values is shown at this many of them,
#'   drawn by their shares.
#'
#' @return An object of class `sdc_uniqueness_profile`, an [sdc_result] whose `records`
#'   are `NULL`, with
#' \describe{
#'   \item{`estimates`}{one row per variable: `variable`, `role` (`"vary"`, `"add"`),
#'     `n_values`, `xi_base` (of the person as known), and over the values, weighted by
#'     their shares, `xi_mean`, `xi_q05`, `xi_q25`, `xi_median`, `xi_q75`, `xi_q95`}
#'   \item{`values`}{one row per variable and value: `variable`, `role`, `value` (as
#'     text), `own` (whether it is the person's), `share` (in the population, by the
#'     model), `prob`, `xi`, `kappa`; this is `as.data.frame()`}
#'   \item{`base`}{one row: `prob`, `xi`, `kappa`, `prob_error`}
#' }
#'
#'   Errors (`bad_argument`): no `pop_size`, a `record` of more than one row or without a key
#'   variable of `x`, a `vary` that `record` does not have, an `add` that it has.
#' @inherit predict.sdc_copula_fit references
#' @family copula
#' @export
#' @examples
#' set.seed(1)
#' fit <- copula_fit(
#'   adult[sample(nrow(adult), 3256), ],
#'   c("age", "sex", "education_num", "occupation", "hours_per_week")
#' )
#' person <- data.frame(age = 51, sex = "Female", occupation = "Exec-managerial")
#' uniqueness_profile(fit, person, pop_size = nrow(adult))
uniqueness_profile <- function(x, record, pop_size = NULL, vary = NULL, add = NULL, ...,
                               score = NULL, calibrate = NULL, max_values = 200,
                               sampling_fraction = NULL) {
  ask <- announce("uniqueness_profile")
  check_given(c("x", "record"))
  remember(ask)
  check_no_dots(...)
  fit <- fit_of(x)
  score <- score_of(x, score)
  if (!is.null(calibrate)) check_flag(calibrate, "calibrate")
  max_values <- check_whole(max_values, "max_values", low = 2)
  pop_size <- size_of_population(fit$settings$n, pop_size, sampling_fraction)
  if (is.null(pop_size) && inherits(x, "sdc_copula_uniqueness")) {
    pop_size <- x$estimates$pop_size[[1]]
  }
  if (is.null(pop_size)) stop_argument("pop_size", "be given")
  check_one_size(pop_size, fit$n)
  keys <- profile_keys(fit, record, vary, add)
  with_progress("Profiling a person", {
    scorer <- function(variables) {
      profile_scorer(x, fit, variables, pop_size, score, calibrate)
    }
    base_scorer <- scorer(keys$base)
    base <- base_scorer(record[keys$base])
    # Conditions about the person's values were signalled for the base already.
    values <- withCallingHandlers(
      c(
        lapply(keys$vary, function(v) {
          profile_variable(fit, record[keys$base], v, "vary", base_scorer, max_values)
        }),
        lapply(keys$add, function(v) {
          profile_variable(
            fit, record[keys$base], v, "add", scorer(union(keys$base, v)), max_values
          )
        })
      ),
      sdcRisk_message = function(m) rlang::cnd_muffle(m)
    )
    values <- do.call(rbind, values)
    new_sdc_result(
      "sdc_uniqueness_profile",
      estimates = profile_estimates(values, base$xi),
      records = NULL,
      settings = list(
        key_vars = keys$base, pop_size = pop_size, score = score, n = fit$n,
        fingerprint = fit$settings$fingerprint, version = fit$settings$version
      ),
      diagnostics = list(n_known = length(keys$base), n_keys = length(fit$levels)),
      call = ask$call, values = values, base = base
    )
  })
}

# Key variables that are known, varied and added.
profile_keys <- function(fit, record, vary, add) {
  variables <- fit$settings$key_vars
  if (!is.data.frame(record) || nrow(record) != 1) {
    stop_argument(
      "record", "be a data frame with one row",
      found = if (is.data.frame(record)) paste0("It has ", plural(nrow(record), "row"), ".")
    )
  }
  base <- intersect(variables, names(record))
  if (length(base) == 0) {
    stop_argument(
      "record", "know at least one key variable of `x`",
      found = paste0("Its columns: ", quote_names(names(record)), "."),
      advice = paste0("Key variables of `x`: ", quote_names(variables, 8), ".")
    )
  }
  among <- function(chosen, allowed, arg, must) {
    if (is.null(chosen)) {
      return(allowed)
    }
    if (!is.character(chosen) || anyDuplicated(chosen) || !all(chosen %in% allowed)) {
      stop_argument(
        arg, paste("name", must),
        found = if (length(allowed)) paste0("These are: ", quote_names(allowed, 8), ".")
      )
    }
    chosen
  }
  keys <- list(
    base = base,
    vary = among(vary, base, "vary", "key variables in `record`"),
    add = among(
      add, setdiff(variables, base), "add", "key variables of `x` that `record` does not have"
    )
  )
  if (length(keys$vary) + length(keys$add) == 0) {
    stop_argument("vary", "name a key variable if `add` does not")
  }
  keys
}

# A function that scores records known on some of the key variables.
profile_scorer <- function(x, fit, variables, pop_size, score, calibrate) {
  whole <- setequal(variables, fit$settings$key_vars)
  part <- if (whole) fit else select_keys(fit, variables)
  uniqueness <- if (score == "tree") {
    if (whole && inherits(x, "sdc_copula_uniqueness")) {
      known_uniqueness(x, pop_size, calibrate)
    } else {
      model_uniqueness(part, pop_size, if (whole) calibrate else FALSE)
    }
  }
  function(records) {
    individual_scores(
      part, records,
      pop_size = pop_size, score = score, population_uniqueness = uniqueness
    )
  }
}

# The fit of some of the key variables: parts of tables, nothing fitted again.
select_keys <- function(fit, variables) {
  all <- names(fit$levels)
  kept <- which(all %in% variables)
  pair <- utils::combn(length(all), 2)
  pairs <- which(pair[1, ] %in% kept & pair[2, ] %in% kept)
  fit$settings$key_vars <- all[kept]
  for (part in c("shares", "levels", "orders")) fit[[part]] <- fit[[part]][kept]
  fit$diagnostics$counts <- fit$diagnostics$counts[kept]
  fit$diagnostics$pairs <- fit$diagnostics$pairs[pairs, ]
  fit$correlation <- fit$correlation[kept, kept, drop = FALSE]
  fit$pairs <- fit$pairs[pairs]
  fit$ordered <- fit$ordered[kept]
  fit$exogenous <- list(
    shares = fit$exogenous$shares[kept], places = fit$exogenous$places[kept],
    correlation = NULL
  )
  fit$tree <- part_tree(fit, fit$tree)
  fit
}

# Scores of a person over the values of one variable.
profile_variable <- function(fit, base, variable, role, scorer, max_values) {
  at <- match(variable, names(fit$levels))
  values <- fit$levels[[at]]
  shares <- fit$shares[[at]][seq_along(values)]
  shares <- shares / sum(shares)
  if (length(values) > max_values) {
    keep <- sort(with_drawn_seed(sample.int(length(values), max_values, prob = shares)))
    values <- values[keep]
    shares <- shares[keep] / sum(shares[keep])
  }
  records <- base[rep(1L, length(values)), , drop = FALSE]
  records <- as.list(records)
  own <- if (role == "vary") same_value(values, base[[variable]]) else rep(FALSE, length(values))
  records[[variable]] <- values
  data.frame(
    variable = variable, role = role, value = value_names(values), own = own, share = shares,
    scorer(do.call(frame, records))[c("prob", "xi", "kappa")]
  )
}

# Marks the person's own value.
same_value <- function(values, own) {
  same <- value_names(values) == value_names(own)
  ifelse(is.na(values), is.na(own), !is.na(same) & same)
}

profile_estimates <- function(values, base) {
  parts <- split(values, factor(values$variable, unique(values$variable)))
  of <- function(f) vapply(parts, f, 0, USE.NAMES = FALSE)
  at <- function(p) of(function(v) weighted_quantile(v$xi, v$share, p))
  frame(
    variable = names(parts),
    role = vapply(parts, function(v) v$role[[1]], "", USE.NAMES = FALSE),
    n_values = vapply(parts, nrow, 0L, USE.NAMES = FALSE),
    xi_base = rep(base, length(parts)),
    xi_mean = of(function(v) sum(v$xi * v$share) / sum(v$share)),
    xi_q05 = at(0.05), xi_q25 = at(0.25), xi_median = at(0.5), xi_q75 = at(0.75),
    xi_q95 = at(0.95)
  )
}

# The least value that has at least the share `p` of the weight at or below it.
weighted_quantile <- function(x, weight, p) {
  order <- order(x)
  x[order][[which(cumsum(weight[order]) / sum(weight) >= p - 1e-12)[[1]]]]
}

# The variables whose value matters most.
profile_table <- function(estimates) {
  shown <- estimates[order(-abs(estimates$xi_median - estimates$xi_base)), ]
  table <- frame(
    variable = shown$variable, role = shown$role, values = shown$n_values,
    "median xi" = format_share(shown$xi_median)
  )
  table[["5% to 95%"]] <- paste(format_share(shown$xi_q05), "to", format_share(shown$xi_q95))
  table
}

#' Picture of a person's uniqueness
#'
#' Per variable a box of the likelihoods of uniqueness over its values, weighted by
#' their shares: quartiles, and whiskers to 5 and 95%. The dashed line is the
#' person as known.
#'
#' @param object A result of [uniqueness_profile()].
#' @param ... None.
#' @return A ggplot.
#' @exportS3Method ggplot2::autoplot
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' set.seed(1)
#' fit <- copula_fit(
#'   adult[sample(nrow(adult), 3256), ],
#'   c("age", "sex", "education_num", "occupation", "hours_per_week")
#' )
#' person <- data.frame(age = 51, sex = "Female", occupation = "Exec-managerial")
#' plot(uniqueness_profile(fit, person, pop_size = nrow(adult)))
autoplot.sdc_uniqueness_profile <- function(object, ...) {
  enter_picture(object)
  boxes <- object$estimates
  words <- c(vary = "another value", add = "one more variable")
  boxes$role <- factor(words[boxes$role], words)
  boxes$variable <- factor(boxes$variable, boxes$variable[order(boxes$role, boxes$xi_median)])
  ggplot2::ggplot(boxes, ggplot2::aes(y = .data$variable, colour = .data$role)) +
    ggplot2::geom_vline(xintercept = object$base$xi, linetype = "dashed", colour = sdc_grey) +
    ggplot2::geom_boxplot(
      ggplot2::aes(
        xmin = .data$xi_q05, xlower = .data$xi_q25, xmiddle = .data$xi_median,
        xupper = .data$xi_q75, xmax = .data$xi_q95
      ),
      stat = "identity", width = 0.5, orientation = "y"
    ) +
    ggplot2::scale_colour_manual(
      values = rlang::set_names(c(sdc_blue, sdc_orange), words), drop = TRUE
    ) +
    ggplot2::scale_x_continuous(labels = format_percent, limits = c(0, 1)) +
    sdc_labs(
      title = "Which knowledge makes this person unique?",
      subtitle = paste0(
        "As known (dashed): unique with likelihood ", format_likelihood(object$base$xi), " among ",
        format_count(object$settings$pop_size), " people"
      ),
      x = "likelihood of uniqueness", y = NULL, colour = NULL,
      caption = "Boxes: quartiles over the values by their shares; whiskers: 5 and 95%."
    )
}

declare_measure(
  "uniqueness_profile",
  reference = "rocher2019", ids = c("variable", "role"),
  terms = c("xi_mean", "xi_base", "xi_median"),
  title = "Uniqueness of one person over values of key variables",
  question = "which knowledge makes this person unique?",
  size = paste0(
    "Known: ", x$diagnostics$n_known, " of ", plural(x$diagnostics$n_keys, "key variable"),
    "; population: ", format_count(x$settings$pop_size), "; score: ", x$settings$score, "."
  ),
  xi = figure(
    paste(
      "Likelihood that the person is unique among", format_count(x$settings$pop_size), "people"
    ),
    "risk", x$base$xi, scenario = "journalist", says = paste(
      "the person is unique among", format_count(x$settings$pop_size), "people with likelihood %s"
    )
  ),
  kappa = figure(
    "Likelihood that a match is the person (kappa)", "risk", x$base$kappa,
    scenario = "journalist", attempt = TRUE, board = FALSE,
    says = "a matching record is the person's with likelihood %s"
  ),
  table = profile_table(e),
  notes = "Table: xi with another value (vary), or with one more variable known (add).",
  measured = paste0(
    "The uniqueness of a person known on ", plural(x$diagnostics$n_known, "key variable"),
    " was estimated from a sample of ", plural(x$settings$n, "record")
  ),
  limits = paste(
    "the person's values are taken to be right, and other knowledge gives another likelihood"
  ),
  source = "Gaussian copula after Rocher and others 2019",
  assuming = paste0("score \"", x$settings$score, "\""), frame = x$values
)
