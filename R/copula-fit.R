#' Fit a Gaussian copula to the key variables
#'
#' Fits one margin per key variable and one correlation per pair, as a model of the population
#' from which the file is a sample. Use it if you need several estimates from one fit:
#' [copula_uniqueness()], `predict()` and `simulate()` take the result.
#'
#' @details
#' A record \eqn{x} of \eqn{d} key variables has the probability
#' \deqn{q(x) = P(l_j < Z_j \le u_j,\ j = 1, \dots, d), \quad Z \sim N(0, \Sigma),}{%
#'   q(x) = P(l_j < Z_j <= u_j, j = 1, ..., d), Z ~ N(0, Sigma),}
#' where \eqn{l_j} and \eqn{u_j} are the normal quantiles of the cumulative
#' margin of variable \eqn{j} below and at the category of \eqn{x}, in a latent
#' order of the categories.
#'
#' **Correlations.** Each is the root of \eqn{I(\rho) = \hat I - E[I]}{I(rho) =
#' I - E(I)}: the mutual information of the bivariate table of rectangles equals
#' that of the sample less what two independent variables with these margins
#' would show in a sample of this size. The expectation is exact
#' (hypergeometric cell counts), \eqn{I(\rho)}{I(rho)} is computed from bivariate normal
#' probabilities, and the root is bracketed: the fit is deterministic. Matching
#' information, and not likelihood, is what makes uniqueness come out right: it
#' fixes the entropy of every pair. A root above 0.999 is set to 0.999
#' (`diagnostics$pairs$at_bound`). If the correlations together are not
#' positive definite, the nearest correlation matrix takes their place (Higham
#' 2002; `diagnostics$projection`).
#' The adjusted information of the paper (its equation 10) is this difference over
#' \eqn{\max(H_i, H_j) - E[I]}{max(H_i, H_j) - E(I)}, larger by a factor that differs from 1 by
#' about \eqn{E[I] / \max(H_i, H_j)}{E(I) / max(H_i, H_j)}. It is not offered: both are 0 for
#' independent variables, and \eqn{E[I]}{E(I)} falls with the number of records.
#'
#' **Order of categories.** Ordered factors, numbers, Dates and logicals keep the
#' order of their values. For nominal variables `"scaling"` finds the order in
#' which the other variables' mean normal scores rise (optimal scaling),
#' `"natural"` takes the order of levels, `"random"` a random one, as the paper
#' does, and `"frequency"` sorts all variables, ordered ones too, by falling
#' frequency, as the authors' released program does. On the paper's data `adult`
#' the last doubles the error (`vignette("copula-uniqueness")`). With `"random"` and
#' `"frequency"` correlations are not negative, as published, unless
#' `signed = TRUE`.
#'
#' **Margins.** `"empirical"` takes the shares of the sample. `"auto"` compares
#' them, as the paper does, with a negative binomial and a logarithmic
#' distribution of the categories' rank by frequency and takes the least
#' \eqn{BIC = -2 \ln L + k \ln n}{BIC = -2 ln L + k ln n}; what these families give to
#' ranks beyond the last are categories that the sample did not show. Margins
#' known from elsewhere go into `exogenous`.
#'
#' @section Weights:
#' Margins and tables are weighted. The expected information is that of a sample
#' of the effective size \eqn{(\sum w)^2 / \sum w^2}{(sum w)^2 / sum w^2} (Kish).
#'
#' @section Confidentiality:
#' The result keeps the two-way tables of the sample, in which counts of 1 occur,
#' its sample frequencies, and how likely each record's values are (`tree$anchor`, without
#' the values): treat it like the data.
#'
#' @section Cost:
#' Two-way tables: pairs of variables times records. Correlations: for each pair,
#' about five times the product of their numbers of categories bivariate normal
#' probabilities. Memory grows by 12 bytes per cell of all two-way tables,
#' at most 30 million cells; more are an error of class `sdcRisk_error_too_large`.
#'
#' @section Memory:
#' Beyond `data`, with five key variables and two threads: at most 100 bytes a record; what
#' it grows with stands under Cost.
#'
#' @inheritParams sdcRisk-params
#' @param marginals `"empirical"` or `"auto"`, see details.
#' @param exogenous `list(marginals = , correlation = )`, both optional.
#'   `marginals`: a named list with, for some key variables, the probability of
#'   every value, named by the value (`NA` names a missing one), adding up to 1;
#'   values the sample does not show may be among them. `correlation`: the
#'   correlation matrix of all key variables, in their order.
#' @param order `"scaling"`, `"natural"`, `"random"` or `"frequency"`, see
#'   details.
#' @param signed Whether correlations may be negative. `NULL`: not for
#'   `order = "random"` and `"frequency"`.
#' @param min_records Fewer records than this are an error: the information of a
#'   pair is then mostly noise. At least 2.
#'
#' @return An object of class `sdc_copula_fit`, an [sdc_result] whose `records`
#' are `NULL`, with
#' \describe{
#'   \item{`estimates`}{one row: `n_records`, `n_keys`, `sample_uniqueness`
#'     (share of records unique in the sample), `n_cells` (distinct keys),
#'     `largest_correlation` (in size), `n_at_bound`, `least_eigenvalue` (before
#'     projection), `largest_change` (of a correlation, by projection)}
#'   \item{`marginals`}{one row per key variable: `variable`, `family`,
#'     `parameters`, `n_parameters`, `bic`, `n_levels`, `n_unseen`; this is
#'     `as.data.frame()`}
#'   \item{`correlation`}{the correlation matrix; this is `coef()`}
#'   \item{`shares`, `levels`, `orders`}{per key variable the probabilities, the
#'     values and the places in the latent order of its categories: values in
#'     their order, then missing (`NA`), then values known from `exogenous` only.
#'     A parametric margin has further categories without a value}
#'   \item{`pairs`}{the two-way tables of the sample, in the order of [combn()]}
#'   \item{`cell_sizes`}{how many keys of the sample have how many records}
#'   \item{`n`, `sample_uniqueness`, `n_singletons`}{of the sample}
#'   \item{`tree`}{what the tree score of records needs: `edges`, `prior` (records
#'     that independence counts for, per edge), `alpha` and `spread` (how uncertain
#'     probabilities are), `ln_lambda`, and `anchor`: if the sample's records lie,
#'     one row per record up to 4,096 records, beyond one row per cell of a grid}
#'   \item{`diagnostics`}{`pairs`: per pair `information`, `expected` (by
#'     chance), `correlation` (before projection), `at_bound`; `projection`;
#'     `n_effective`; `n_excluded`}
#' }
#' `summary()` lists the pairs by their information; `plot()` draws the
#' correlation matrix; [copula_uniqueness()], `simulate()` and
#' [uniqueness_by_size()] go on from here.
#'
#' Errors: `bad_argument` for exogenous margins that miss a level, hold a negative
#' number or do not add up to 1, and for a matrix that is not a correlation matrix;
#' `bad_data` for fewer than `min_records` records; `bad_weights`; `too_large`.
#' Warnings: `bounded_correlation`, `moved_correlation` if projection moved a
#' correlation by more than 0.1, `identifying_key` if most records have a
#' value of their own of a key variable (a number of the record, say).
#' @references
#' Rocher, L., Hendrickx, J. M. and de Montjoye, Y.-A. (2019). Estimating the
#' success of re-identifications in incomplete datasets using generative models.
#' Nature Communications 10, 3069. \doi{10.1038/s41467-019-10933-3}.
#'
#' Vinh, N. X., Epps, J. and Bailey, J. (2010). Information theoretic measures for
#' clusterings comparison. Journal of Machine Learning Research 11, 2837-2854.
#'
#' Genz, A. (2004). Numerical computation of rectangular bivariate and trivariate
#' normal and t probabilities. Statistics and Computing 14, 251-260.
#' \doi{10.1023/B:STCO.0000035304.20635.31}.
#'
#' Higham, N. J. (2002). Computing the nearest correlation matrix. IMA Journal of
#' Numerical Analysis 22(3), 329-343. \doi{10.1093/imanum/22.3.329}.
#' @family copula
#' @export
#' @examples
#' fit <- copula_fit(adult, c("age", "sex", "education_num", "income"))
#' fit
#' round(coef(fit)["age", "income"], 3)
copula_fit <- function(data, key_vars = NULL, ..., marginals = c("empirical", "auto"),
                       exogenous = NULL,
                       order = c("scaling", "natural", "random", "frequency"),
                       weight_var = NULL, missing = "category", signed = NULL,
                       min_records = 50) {
  ask <- enter("copula_fit", patterns = TRUE)
  data <- ask$data
  weight_var <- ask$weight_var
  check_no_dots(...)
  settings <- check_copula_settings(marginals, order, ask$missing, signed, min_records)
  weights <- check_weights(data, weight_var)
  # A record is left out of the tables that judge it, with its own weight: a pattern table has that
  # where its records have one weight.
  squares <- weight_squares(data, weight_var)
  if (!is.null(squares) && any(squares - weights^2 / times_of(data) > 1e-9 * squares)) {
    stop_argument(
      "weight_var", "be NULL for this pattern table",
      found = "Records with the same pattern have different weights.",
      advice = paste(
        "The copula leaves every record out with its own weight: give the data frame,",
        "or do without weights."
      )
    )
  }
  weight_at <- weight_position(data, weight_var)
  check_no_roles(data, ask$key_vars, weight_at)
  with_progress("Fitting the copula", {
    table <- key_table(
      ask$file, ask$key_vars,
      exclude = weight_at, listwise = ask$missing == "exclude", dense = TRUE,
      roles = role_columns(data, list(weight_var = weight_var))
    )
    settings <- c(settings, file_settings(table, weight_var = weight_var))
    if (!is.null(table$rows)) weights <- weights[table$rows]
    if (table$n < min_records) {
      stop_sdc(
        "bad_data", paste0("A copula needs at least ", plural(min_records, "record"), "."),
        x = paste0("There ", if (table$n == 1) "is " else "are ", format_count(table$n), "."),
        i = "`min_records` allows fewer; such a fit is mostly noise."
      )
    }
    # Per key variable the values of its categories in the order of the core: values in their
    # order, then missing, unless records that miss a value are left out.
    values <- Map(function(values, n_missing) {
      if (is.factor(values)) values <- factor_of(values)
      if (n_missing > 0) c(values, values[NA_integer_]) else values
    }, key_levels(table, data), if (is.null(table$rows)) table$n_missing else 0)
    levels <- rlang::set_names(values, table$variables)
    given <- check_exogenous(exogenous, table, levels)
    found <- core(
      rs_copula_fit, table$pointer, list(
        weights = weights, nominal = !table$ordered, exogenous_shares = given$shares,
        exogenous_places = given$places, correlation = given$correlation,
        order = settings$order, seed = if (settings$order == "random") draw_seed(),
        marginals = settings$marginals, signed = settings$signed
      )
    )
    single <- if (is.null(table$times)) weights else weights / table$times
    settings$equal_weights <- is.null(weights) || diff(range(single)) <= 1e-9 * max(single)
    settings$exogenous <- names(exogenous$marginals)
    settings$exogenous_correlation <- !is.null(given$correlation)
    result <- new_copula_fit(found, table, given$levels, settings, ask$call)
    result$exogenous <- list(
      shares = given$shares, places = given$places, correlation = given$correlation
    )
    # Data of the sample for the tree score, kept in a fit: edges (two rows of positions of key
    # variables), the number of records of the prior per edge, `alpha` and `spread` (uncertainty of
    # probabilities), `ln_lambda` (their factor in the sample) and `anchor`, the places of the
    # sample's records.
    result$tree <- list(
      edges = matrix(found$tree$edges, 2), prior = found$tree$prior, alpha = found$tree$alpha,
      spread = found$tree$spread, ln_lambda = found$tree$ln_lambda,
      anchor = do.call(frame, found$tree[c("ln_p", "variance", "weight", "n", "n_unique")])
    )
    signal_copula_fit(result)
    result
  })
}

check_copula_settings <- function(marginals, order, missing, signed, min_records) {
  order <- check_choice(order, c("scaling", "natural", "random", "frequency"), "order")
  list(
    marginals = check_choice(marginals, c("empirical", "auto"), "marginals"),
    order = order,
    missing = check_missing_rule(missing, "A record would not have one probability then."),
    signed = if (is.null(signed)) {
      order %in% c("scaling", "natural")
    } else {
      check_flag(signed, "signed")
    },
    min_records = check_whole(min_records, "min_records", low = 2)
  )
}

# Some columns and rows of data of any kind, as a plain data frame.
rows_of <- function(data, positions, rows) {
  columns <- lapply(positions, function(v) data[[v]][rows])
  do.call(frame, rlang::set_names(columns, names(data)[positions]))
}

# A factor without a level that stands for missing.
factor_of <- function(x) {
  if (anyNA(levels(x))) factor(x, levels(x)[!is.na(levels(x))]) else x
}

check_exogenous <- function(exogenous, table, levels) {
  variables <- table$variables
  d <- length(variables)
  given <- list(
    shares = vector("list", d), places = vector("list", d), levels = levels,
    correlation = NULL
  )
  if (is.null(exogenous)) {
    return(given)
  }
  known <- c("marginals", "correlation")
  labels <- rlang::names2(exogenous)
  if (!is.list(exogenous) || !all(labels %in% known) || anyDuplicated(labels)) {
    stop_argument("exogenous", "be a list of `marginals` and `correlation`")
  }
  marginals <- exogenous$marginals
  if (!is.null(marginals)) {
    named <- is.list(marginals) && !is.null(names(marginals)) && !anyDuplicated(names(marginals))
    if (!named || !all(names(marginals) %in% variables)) {
      stop_argument(
        "exogenous$marginals", "be a list named by key variables",
        found = if (named) {
          paste0("Not key variables: ", quote_names(setdiff(names(marginals), variables)), ".")
        }
      )
    }
    for (v in match(names(marginals), variables)) {
      one <- exogenous_margin(marginals[[variables[[v]]]], levels[[v]], table, v)
      given$shares[[v]] <- one$shares
      given$places[[v]] <- one$places
      given$levels[[v]] <- one$levels
    }
  }
  if (!is.null(exogenous$correlation)) {
    given$correlation <- check_correlation(exogenous$correlation, variables)
  }
  given
}

# One given margin: its probabilities in the order of the categories, values the
# sample does not show last, and the place of each by value.
exogenous_margin <- function(margin, values, table, v) {
  arg <- paste0("exogenous$marginals$", table$variables[[v]])
  if (!is.numeric(margin) || is.null(names(margin)) || anyDuplicated(names(margin))) {
    stop_argument(arg, "be probabilities named by distinct values")
  }
  if (anyNA(margin) || any(margin < 0) || abs(sum(margin) - 1) > 1e-6) {
    stop_argument(
      arg, "hold numbers of at least 0 that add up to 1",
      found = if (!anyNA(margin)) paste0("They add up to ", format(sum(margin), digits = 7), "."),
      advice = "Divide counts by their sum."
    )
  }
  names(margin)[names(margin) %in% c("NA", "<NA>")] <- NA
  shown <- value_names(values)
  positive <- margin > 0
  absent <- setdiff(shown, names(margin)[positive])
  if (length(absent)) {
    stop_argument(
      arg, "give every value that the sample shows a probability above 0",
      found = paste0(
        length(absent), " of ", length(shown), if (length(shown) == 1) " value" else " values",
        " missing", if (anyNA(absent)) " (a missing value is named NA)", "."
      )
    )
  }
  extra <- margin[!names(margin) %in% shown & positive]
  values <- c(values, values_named(names(extra), values, arg))
  shares <- c(margin[match(shown, names(margin))], extra)
  list(
    shares = as.double(shares / sum(shares)), places = value_places(values),
    levels = values
  )
}

# Values of the kind of `like` from their names.
values_named <- function(names, like, arg) {
  if (length(names) == 0) {
    return(like[0])
  }
  made <- suppressWarnings(if (is.factor(like)) {
    factor(names, union(levels(like), names), ordered = is.ordered(like))
  } else if (inherits(like, "Date")) {
    as.Date(names, optional = TRUE)
  } else if (is.numeric(like) && !is.object(like)) {
    values <- as.double(names)
    if (is.integer(like) && all(is.na(values) | values == round(values))) {
      as.integer(values)
    } else {
      values
    }
  } else if (is.logical(like)) {
    as.logical(names)
  } else if (is.character(like)) {
    names
  })
  if (is.null(made) || any(is.na(made) & !is.na(names))) {
    stop_argument(
      arg, "name values of the variable's own kind",
      found = paste0("The variable has class ", quote_names(class(like)), ".")
    )
  }
  made
}

# The place of every value in value order; missing is last.
value_places <- function(values) {
  key <- if (is.factor(values)) as.integer(values) else values
  order <- order(key, na.last = TRUE, method = "radix")
  places <- integer(length(order))
  places[order] <- seq_along(order)
  places
}

check_correlation <- function(x, variables) {
  if (!is_correlation(x, length(variables)) ||
        !(is.null(rownames(x)) || identical(rownames(x), variables))) {
    stop_argument(
      "exogenous$correlation",
      paste0(
        "be a symmetric matrix of correlations with unit diagonal and ", length(variables),
        " rows, in the order of the key variables"
      )
    )
  }
  as.double(x)
}

is_correlation <- function(x, d) {
  is.matrix(x) && is.numeric(x) && identical(dim(x), c(d, d)) && !anyNA(x) &&
    all(abs(diag(x) - 1) < 1e-8) && max(abs(x - t(x))) < 1e-8 &&
    all(abs(x[row(x) != col(x)]) < 1)
}

new_copula_fit <- function(found, table, levels, settings, this_call) {
  variables <- table$variables
  d <- length(variables)
  pair <- if (d > 1) utils::combn(d, 2) else matrix(0L, 2, 0)
  pair_names <- paste(variables[pair[1, ]], variables[pair[2, ]], sep = " + ")
  named <- function(x) rlang::set_names(x, variables)
  correlation <- matrix(found$correlation, d, d, dimnames = list(variables, variables))
  off <- correlation[upper.tri(correlation)]
  singles <- sum(found$cell_times[found$cell_size == 1])
  new_sdc_result(
    "sdc_copula_fit",
    estimates = frame(
      n_records = table$n, n_keys = d, sample_uniqueness = singles / table$n,
      n_cells = sum(found$cell_times),
      largest_correlation = if (d > 1) off[[which.max(abs(off))]] else NA_real_,
      n_at_bound = sum(found$at_bound), least_eigenvalue = found$least_eigenvalue,
      largest_change = found$largest_change
    ),
    records = NULL, settings = settings,
    diagnostics = list(
      pairs = frame(
        first = variables[pair[1, ]], second = variables[pair[2, ]],
        information = found$information, expected = found$expected,
        correlation = found$rho, at_bound = found$at_bound
      ),
      projection = list(
        least_eigenvalue = found$least_eigenvalue,
        largest_change = found$largest_change, steps = as.integer(found$steps)
      ),
      n_effective = found$n_effective, n_excluded = settings$n - table$n,
      counts = named(found$counts)
    ),
    call = this_call,
    marginals = marginal_table(found, variables),
    shares = named(found$shares), levels = levels, correlation = correlation,
    orders = named(found$orders), pairs = rlang::set_names(found$pairs, pair_names),
    cell_sizes = frame(size = found$cell_size, n = found$cell_times),
    ordered = table$ordered, n = table$n, sample_uniqueness = singles / table$n,
    n_singletons = singles
  )
}

marginal_table <- function(found, variables) {
  margins <- found$margins
  number <- function(x) formatC(x, digits = 4, format = "g")
  parameters <- ifelse(
    is.na(margins$theta),
    ifelse(
      is.na(margins$size), "",
      paste0("size = ", number(margins$size), ", prob = ", number(margins$prob))
    ),
    paste0("theta = ", number(margins$theta))
  )
  seen <- lengths(found$counts)
  frame(
    variable = variables, family = margins$family, parameters = parameters,
    n_parameters = ifelse(
      !is.na(margins$theta), 1L,
      ifelse(!is.na(margins$size), 2L, ifelse(margins$family == "exogenous", 0L, seen - 1L))
    ),
    bic = margins$bic, n_levels = seen, n_unseen = lengths(found$shares) - seen
  )
}

signal_copula_fit <- function(x) {
  pairs <- x$diagnostics$pairs
  bound <- pairs[pairs$at_bound, ]
  if (nrow(bound)) {
    warn_sdc(
      "bounded_correlation",
      "Some key variables are almost perfectly associated (latent correlation > 0.999).",
      x = paste0(
        "Set to 0.999: ", quote_names(paste(bound$first, bound$second, sep = " + "), 3), "."
      ),
      i = "Does one of each pair follow from the other? Then leave it out.",
      pairs = bound[c("first", "second")]
    )
  }
  if (x$estimates$largest_change > 0.1) {
    warn_sdc(
      "moved_correlation", "The correlations of all pairs should fit into one correlation matrix.",
      x = paste0(
        "The nearest one differs by up to ", format(x$estimates$largest_change, digits = 2), "."
      ),
      i = "See x$diagnostics$pairs; pairs that determine each other are the usual cause."
    )
  }
  single <- vapply(x$diagnostics$counts, function(n) sum(n[n <= 1.5]) / sum(n), 0)
  id <- names(single)[single > 0.5]
  if (x$settings$equal_weights && length(id)) {
    warn_sdc(
      "identifying_key", "A key variable should have values that several records share.",
      x = paste0("Most records have a value of their own of: ", quote_names(id), "."),
      i = "The sample cannot show the population's other values: leave it out or coarsen it.",
      columns = id
    )
  }
}
