#' Uniqueness by the number of known key variables
#'
#' Shows how fast people become unique as an intruder knows more key variables: the average
#' likelihood of uniqueness over sets of k key variables, from one fit.
#'
#' @details
#' A Gaussian copula is closed under leaving variables out: the model of a set of
#' key variables consists of their margins and their part of the correlation
#' matrix, and nothing is fitted again. The average likelihood of uniqueness
#' \eqn{\langle\xi\rangle}{mean(xi)} over people is the population uniqueness on that set.
#' This is Figure 3b of Rocher and others (2019).
#'
#' Estimates are those of the model, not calibrated: the fit does not hold the
#' sample's uniqueness on every set. Missing values are treated as in the fit.
#'
#' @section Cost:
#' Draws from the model for every set, whatever the number of records: 31 sets of up to 5
#' key variables in a population of 100,000 take 0.4 seconds of one processor, 117 sets of up
#' to 8 in one of a million about 9. Fewer `sizes` or a smaller `n_sim` take less.
#'
#' @param x A result of [copula_fit()], or of [copula_uniqueness()].
#' @param pop_size Number of people in the population. For a result of
#'   [copula_uniqueness()] by default the first of its own.
#' @inheritParams sdcRisk-params
#' @param sizes Numbers of key variables: whole numbers from 1 to the number of
#'   key variables of `x`. `NULL`: all of them.
#' @param n_sim Sets of each size: all if there are no more than this,
#'   otherwise that many drawn at random without repetition. The draw obeys
#'   [set.seed()].
#' @param ... None.
#' @return An object of class `sdc_uniqueness_by_size`, an [sdc_result] whose
#' `records` are `NULL`, with
#' \describe{
#'   \item{`estimates`}{one row per size: `n_keys`, `n_subsets`, `n_possible`,
#'     `uniqueness_mean`, `uniqueness_min`, `uniqueness_q25`, `uniqueness_median`,
#'     `uniqueness_q75`, `uniqueness_max`}
#'   \item{`subsets`}{one row per set: `key_set`, `n_keys`, `uniqueness`,
#'     `uniqueness_mc_se`, `correctness`; this is `as.data.frame()`}
#' }
#'
#'   Errors (`bad_argument`): an `x` that has no fit, a `pop_size` below the records of the
#'   sample, `sizes` beyond the number of key variables.
#' @inherit copula_fit references
#' @family copula
#' @export
#' @examples
#' set.seed(1)
#' fit <- copula_fit(adult)
#' uniqueness_by_size(fit, pop_size = 1e5, sizes = c(2, 4, 8), n_sim = 5)
uniqueness_by_size <- function(x, pop_size = NULL, sizes = NULL, n_sim = 20, ...,
                               sampling_fraction = NULL) {
  ask <- announce("uniqueness_by_size")
  check_given("x")
  remember(ask)
  check_no_dots(...)
  fit <- fit_of(x)
  pop_size <- size_of_population(fit$settings$n, pop_size, sampling_fraction)
  if (is.null(pop_size) && inherits(x, "sdc_copula_uniqueness")) {
    pop_size <- x$estimates$pop_size[[1]]
  }
  check_one_size(pop_size, fit$n)
  check_drawable(pop_size)
  d <- length(fit$shares)
  sizes <- if (is.null(sizes)) {
    seq_len(d)
  } else {
    check_whole(sizes, "sizes", high = d, several = TRUE)
  }
  n_sim <- check_whole(n_sim, "n_sim")
  sets <- unlist(lapply(sizes, draw_sets, d = d, n = n_sim), recursive = FALSE)
  found <- with_progress("Drawing people from the model", {
    core(
      rs_copula_subsets, core_model(fit),
      list(sets = sets, size = as.double(pop_size), seed = draw_seed())
    )
  })
  subsets <- frame(
    key_set = vapply(sets, function(s) paste(names(fit$shares)[s], collapse = " + "), ""),
    n_keys = lengths(sets), uniqueness = found$uniqueness,
    uniqueness_mc_se = found$uniqueness_mc_se, correctness = found$correctness
  )
  values <- split(subsets$uniqueness, factor(subsets$n_keys, sizes))
  of <- function(f, ...) vapply(values, f, 0, ..., USE.NAMES = FALSE)
  at <- function(p) of(stats::quantile, p, names = FALSE, type = 8)
  new_sdc_result(
    "sdc_uniqueness_by_size",
    estimates = frame(
      n_keys = sizes, n_subsets = lengths(values, use.names = FALSE),
      n_possible = choose(d, sizes), uniqueness_mean = of(mean), uniqueness_min = of(min),
      uniqueness_q25 = at(0.25), uniqueness_median = of(stats::median),
      uniqueness_q75 = at(0.75), uniqueness_max = of(max)
    ),
    records = NULL,
    settings = list(
      key_vars = fit$settings$key_vars, pop_size = pop_size,
      fingerprint = fit$settings$fingerprint, version = fit$settings$version
    ),
    diagnostics = list(n = fit$n), call = ask$call, subsets = subsets
  )
}

# Sets of `size` of `d` keys: all, or `n` different ones at random.
draw_sets <- function(size, d, n) {
  if (choose(d, size) <= n) {
    return(utils::combn(d, size, simplify = FALSE))
  }
  with_drawn_seed({
    drawn <- list()
    while (length(drawn) < n) {
      drawn <- unique(c(drawn, list(sort(sample.int(d, size)))))
    }
    drawn
  })
}

#' Picture of uniqueness by the number of key variables
#'
#' Boxplots over sets of key variables of a [uniqueness_by_size()] result
#' (Figure 3b of Rocher and others 2019); `plot()` draws the same.
#'
#' @param object A result of [uniqueness_by_size()].
#' @param ... None.
#' @return A ggplot.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_uniqueness_by_size
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' set.seed(1)
#' keys <- c("age", "workclass", "sex", "occupation")
#' plot(uniqueness_by_size(copula_fit(adult, keys), pop_size = 1e5, n_sim = 10))
autoplot.sdc_uniqueness_by_size <- function(object, ...) {
  enter_picture(object)
  subsets <- object$subsets
  subsets$size <- factor(subsets$n_keys, sort(unique(subsets$n_keys)))
  ggplot2::ggplot(subsets, ggplot2::aes(x = .data$size, y = .data$uniqueness)) +
    ggplot2::geom_boxplot(
      colour = sdc_blue, fill = "grey95", width = 0.6, outlier.size = 0.8,
      outlier.colour = sdc_grey
    ) +
    ggplot2::stat_summary(fun = mean, geom = "point", colour = sdc_orange, size = 2) +
    ggplot2::scale_y_continuous(limits = c(0, 1), labels = function(v) paste0(100 * v, "%")) +
    sdc_labs(
      title = "How fast do people become unique as more is known?",
      subtitle = paste0(
        "Sets of key variables, ", format_count(object$settings$pop_size), " people"
      ),
      x = "key variables known", y = "average likelihood of uniqueness",
      caption = "Boxes: quartiles over sets of that size; dots: their mean."
    )
}

# On a board stands the most that an intruder may know.
declare_measure(
  "uniqueness_by_size",
  reference = "rocher2019", ids = "n_keys", lead = n_keys, terms = "uniqueness_mean",
  title = "Uniqueness in the population by the number of key variables known",
  question = "how fast do people become unique as an intruder knows more?",
  size = paste0(
    "Copula model from ", plural(x$diagnostics$n, "record"), "; ",
    format_count(x$settings$pop_size), " people; not calibrated."
  ),
  uniqueness_mean = figure(
    paste(
      "People unique on", plural(n_keys, "key variable"), "among",
      format_count(x$settings$pop_size)
    ),
    "share", scenario = "journalist", board = n_keys == max(n_keys), head = "mean",
    note = ifelse(n_subsets > 1, paste("mean of", plural(n_subsets, "key set")), ""),
    says = paste("on average %s of them are unique on", plural(n_keys, "key variable"))
  ),
  uniqueness_min = figure(
    "Least over the key sets", "share", scenario = "journalist", board = FALSE, head = "least"
  ),
  uniqueness_max = figure(
    "Most over the key sets", "share", scenario = "journalist", board = FALSE, head = "most"
  ),
  measured = paste0(
    "The average uniqueness on sets of key variables was computed from a model of ",
    plural(x$diagnostics$n, "record"), " for ", format_count(x$settings$pop_size), " people"
  ),
  limits = "other sets of key variables give other values",
  source = "Gaussian copula after Rocher and others 2019", assuming = "not calibrated",
  frame = x$subsets
)
