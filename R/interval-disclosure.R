#' Interval disclosure of continuous variables
#'
#' Counts the released numbers that are so close to the original ones that a reader learns them.
#' Use it for a file after noise, microaggregation, rank swapping or rounding, by this or another
#' program, whose records are in the order of the original. The result has, for each record and
#' variable, whether the original value lies in an interval around the released one. An intruder
#' who must find the record first is the question of [link_attack()].
#'
#' @details
#' A value \eqn{x} that was released as \eqn{x'}{x'} is disclosed
#' \describe{
#'   \item{`"rank"`}{if at most a share \eqn{w} of the released values lies between them:
#'     \eqn{x'_{(r - wn)} \le x \le x'_{(r + wn)}}{x'_(r - wn) <= x <= x'_(r + wn)}, where
#'     \eqn{x'_{(i)}}{x'_(i)} are the released values in rising order and \eqn{r} is the rank of
#'     \eqn{x'}{x'} among them, the mean rank of equal ones}
#'   \item{`"sd"`}{if \eqn{|x - x'| \le w s'}{|x - x'| <= w s'}, \eqn{s'} the standard deviation
#'     of the released variable}
#'   \item{`"robust"`}{if \eqn{|z - z'| < w d}{|z - z'| < w d}, where \eqn{z} and \eqn{z'} are the
#'     values in standard deviations about the mean of their file and \eqn{d} is the robust
#'     Mahalanobis distance of the original record: outliers get wider intervals, as they are
#'     found more easily. Records with a missing value have no distance}
#'   \item{`"percent"`}{if \eqn{|x - x'| \le w |x|}{|x - x'| <= w |x|}}
#' }
#' The scatter of the robust distance is the orthogonalised estimator of Maronna and Zamar (2002)
#' with medians and median absolute deviations, unless `scatter` is given. It has no random part.
#'
#' The share of records with all values in the interval by `"sd"` is the figure of sdcMicro's
#' `dRisk()` with `k` = `width`. The share of records with any value in the interval by
#' `"robust"` is `risk1` of its `dRiskRMD()`, whose `k = 0.01` is the `width` 0.0005; records
#' of which no other released one is within 0.05 (`n_alone`) make `risk2`. `dRiskRMD()` takes a
#' scatter that depends on random numbers; give that as `scatter` for its figures.
#'
#' @section Missing values:
#' A value that is missing in either file is not disclosed, and not counted among the values
#' compared. Infinite values are an error.
#'
#' @section Units:
#' `width` is a share of the records for `"rank"`, standard deviations for `"sd"`, standard
#' deviations for each unit of robust distance for `"robust"`, and a share of the value for
#' `"percent"`.
#'
#' @section Cost:
#' Sorting of every variable, and a search for the nearest released record: 2.5 s of processor time
#' for 100,000 records of six variables and all rules, 0.3 s for `"sd"` alone (`dRisk()` of
#' sdcMicro: 1.2 s).
#'
#' @param original,released The file before and after its protection, with the same records in
#'   the same order: data frames, files of [sdc_file()], or an sdcMicroObj as `released`.
#' @param vars The continuous variables: names, positions or a selection as in dplyr. `NULL`:
#'   the role `num_vars` of `original`.
#' @param ... None.
#' @param width The widths of the intervals by rule, see below. Rules that are left out are not
#'   applied.
#' @param scatter A covariance matrix of the standardised original variables for the robust
#'   distance, such as `robustbase::covMcd(scale(x))$cov`. `NULL`: the estimator named below.
#' @return An object of class `sdc_interval_disclosure`, an [sdc_result] with
#' \describe{
#'   \item{`estimates`}{one row per rule: `rule`, `width`, `n` records, `n_values` compared,
#'     `n_within` and `prop_within` (values in the interval), `n_any` and `prop_any` (records
#'     with any value in it), `n_all` and `prop_all` (with all values in it), `n_alone` (of
#'     `"robust"`: records with any value in it and no other released record within 0.05
#'     standard deviations)}
#'   \item{`records`}{one row per record: `distance` (robust), the number of values in the
#'     interval by rule (`n_rank`, ...), and for each rule and variable whether the value is in
#'     the interval (`rank.income`, ...)}
#'   \item{`variables`}{one row per rule and variable: `rule`, `variable`, `n_values`,
#'     `n_within`, `prop_within`}
#' }
#' Errors: `mismatched_data` for files of different length, `unknown_key_var`, `bad_column` for
#' columns that are not finite numbers, `bad_argument`.
#' @references
#' Domingo-Ferrer, J. and Torra, V. (2001). A quantitative comparison of disclosure control
#' methods for microdata. In: Confidentiality, Disclosure and Data Access. Elsevier, 111-134.
#'
#' Templ, M. and Meindl, B. (2008). Robust statistics meets SDC: new disclosure risk measures for
#' continuous microdata masking. Privacy in Statistical Databases 2008. Springer, 177-189.
#' \doi{10.1007/978-3-540-87471-3_15}.
#'
#' Maronna, R. A. and Zamar, R. H. (2002). Robust estimates of location and dispersion for
#' high-dimensional datasets. Technometrics 44(4), 307-317.
#' \doi{10.1198/004017002188618509}.
#' @seealso [link_attack()] for the intruder who looks for the nearest record, [utility_loss()]
#'   for what the changes cost.
#' @family continuous
#' @concept interval disclosure
#' @concept noise addition
#' @export
#' @examples
#' firms <- data.frame(turnover = c(10, 20, 30, 400), staff = c(1, 2, 4, 50))
#' released <- transform(firms, turnover = c(10.1, 25, 30.2, 350))
#' found <- interval_disclosure(firms, released, c(turnover, staff))
#' found$estimates$n_within # 4 7 6 6
#' found$records$n_percent # 2 1 2 1
interval_disclosure <- function(original, released, vars = NULL, ...,
                                width = c(rank = 0.05, sd = 0.05, robust = 5e-4, percent = 0.05),
                                scatter = NULL) {
  role <- if (!missing(original)) num_vars_of(original)
  ask <- enter_waves("interval_disclosure", c("original", "released"))
  check_no_dots(...)
  check_same_records(ask$original, ask$released, c("original", "released"))
  vars <- check_num_vars(vars, role, ask$original)
  check_in_release(vars, ask$released)
  good <- is_plain_number(width) && length(width) > 0 && all(names(width) %in% interval_rules) &&
    length(names(width)) == length(width) && !anyDuplicated(names(width)) &&
    all(is.finite(width) & width >= 0)
  if (!good) {
    stop_argument(
      "width", paste("be numbers of at least 0, named by rule:", quote_names(interval_rules)),
      given_words(width), "Such as width = c(sd = 0.05)."
    )
  }
  files <- lapply(
    list(original = ask$original, released = ask$released), number_columns, vars
  )
  within <- lapply(rlang::set_names(names(width)), function(rule) {
    within_interval(rule, width[[rule]], files, scatter)
  })
  prints <- lapply(
    list(original = ask$original, released = ask$released), fingerprint_of, list(key_vars = vars)
  )
  new_interval_disclosure(within, width, files, vars, prints, ask$call)
}

check_same_records <- function(before, after, args) {
  for (arg in args) check_data_frame(list(before, after)[[match(arg, args)]], arg)
  if (nrow(before) != nrow(after)) {
    stop_sdc(
      "mismatched_data",
      paste0("`", args[[1]], "` and `", args[[2]], "` must have the same records in the same ",
             "order."),
      x = paste0(
        "They have ", format_count(nrow(before)), " and ", plural(nrow(after), "record"), "."
      )
    )
  }
}

check_in_release <- function(vars, released) {
  absent <- setdiff(vars, names(released))
  if (length(absent)) {
    stop_absent(
      "`released` must have the variables that are compared.", absent, names(released)
    )
  }
}

interval_rules <- c("rank", "sd", "robust", "percent")

# A matrix of records and variables: whether values are in the interval, NA for those that are not
# compared. The distances of the robust rule are its attribute.
within_interval <- function(rule, width, files, scatter) {
  x <- do.call(cbind, files$original)
  y <- do.call(cbind, files$released)
  if (rule == "robust") {
    x <- apply_columns(x, standardised)
    y <- apply_columns(y, standardised)
    distance <- robust_distance(x, scatter)
    return(structure(
      abs(y - x) < width * distance, distance = distance, alone = are_alone(y, 0.05)
    ))
  }
  inside <- vapply(seq_len(ncol(x)), function(v) {
    known <- !is.na(x[, v]) & !is.na(y[, v])
    out <- rep(NA, nrow(x))
    out[known] <- is_close(rule, width, x[known, v], y[known, v], y[!is.na(y[, v]), v])
    out
  }, logical(nrow(x)))
  matrix(inside, nrow(x))
}

# `all` are the released values, of which those of `y` are known before as well.
is_close <- function(rule, width, x, y, all) {
  switch(rule,
    rank = {
      n <- length(all)
      rising <- sort(all)
      rank <- rank(all)[match(y, all)]
      fuzz <- 1e-9 * n
      low <- rising[pmax(ceiling(rank - width * n - fuzz), 1)]
      x >= low & x <= rising[pmin(floor(rank + width * n + fuzz), n)]
    },
    sd = {
      s <- stats::sd(all)
      if (is.na(s)) s <- 0
      x >= y - width * s & x <= y + width * s
    },
    percent = abs(x - y) <= width * abs(x)
  )
}

apply_columns <- function(x, f) matrix(apply(x, 2, f), nrow(x))

# The Mahalanobis distance from the means with a robust scatter. Directions in which no record
# differs are left out.
robust_distance <- function(x, scatter) {
  known <- stats::complete.cases(x)
  out <- rep(NA_real_, nrow(x))
  if (!is.null(scatter)) {
    good <- is.matrix(scatter) && is.numeric(scatter) && all(dim(scatter) == ncol(x)) &&
      all(is.finite(scatter)) && isSymmetric(unname(scatter))
    if (!good) {
      stop_argument(
        "scatter", "be a symmetric matrix with a row and a column for each variable",
        given_words(scatter)
      )
    }
  } else if (sum(known) > 1) {
    scatter <- robust_scatter(x[known, , drop = FALSE])
  }
  if (is.null(scatter)) {
    return(out)
  }
  parts <- eigen(scatter, symmetric = TRUE)
  used <- parts$values > 1e-10 * max(parts$values, 0)
  centred <- sweep(x[known, , drop = FALSE], 2, colMeans(x[known, , drop = FALSE]))
  scores <- centred %*% parts$vectors[, used, drop = FALSE]
  out[known] <- sqrt(rowSums(sweep(scores^2, 2, parts$values[used], "/")))
  out
}

# The orthogonalised estimator of Gnanadesikan and Kettenring: pairwise robust covariances, made
# positive by robust scales of their principal components.
robust_scatter <- function(x) {
  spread <- function(v) {
    s <- stats::mad(v)
    if (s > 0) s else stats::sd(v)
  }
  s <- apply(x, 2, spread)
  scaled <- sweep(x, 2, ifelse(s > 0, s, 1), "/")
  d <- ncol(x)
  u <- diag(d)
  for (j in seq_len(d)[-1]) {
    for (i in seq_len(j - 1)) {
      u[i, j] <- u[j, i] <-
        (spread(scaled[, i] + scaled[, j])^2 - spread(scaled[, i] - scaled[, j])^2) / 4
    }
  }
  vectors <- eigen(u, symmetric = TRUE)$vectors
  lambda <- apply(scaled %*% vectors, 2, spread)
  a <- s * vectors
  a %*% (lambda^2 * t(a))
}

# TRUE if no other record is within `least`; NA for records with missing values.
are_alone <- function(x, least) {
  known <- stats::complete.cases(x)
  columns <- lapply(seq_len(ncol(x)), function(v) x[known, v])
  out <- rep(NA, nrow(x))
  if (any(known)) {
    found <- find_nearest(columns, columns, lapply(columns, function(column) square_cost()))
    out[known] <- found$n_best == 1 & found$second > least^2
  }
  out
}

new_interval_disclosure <- function(within, width, files, vars, prints, this_call) {
  n <- length(files$original[[1]])
  estimates <- stack_frames(lapply(names(width), function(rule) {
    inside <- within[[rule]]
    compared <- !is.na(inside)
    n_inside <- rowSums(inside, na.rm = TRUE)
    n_compared <- rowSums(compared)
    any_inside <- n_inside > 0
    all_inside <- any_inside & n_inside == n_compared
    alone <- attr(inside, "alone")
    frame(
      rule = rule, width = width[[rule]], n = n, n_values = sum(compared),
      n_within = sum(n_inside), prop_within = quotient(sum(n_inside), sum(compared)),
      n_any = sum(any_inside), prop_any = quotient(sum(any_inside), sum(n_compared > 0)),
      n_all = sum(all_inside), prop_all = quotient(sum(all_inside), sum(n_compared > 0)),
      n_alone = if (is.null(alone)) NA_integer_ else sum(any_inside & alone %in% TRUE)
    )
  }))
  counts <- lapply(within, function(inside) as.integer(rowSums(inside, na.rm = TRUE)))
  names(counts) <- paste0("n_", names(counts))
  flags <- unlist(lapply(names(within), function(rule) {
    columns <- lapply(seq_along(vars), function(v) as.vector(within[[rule]][, v]))
    rlang::set_names(columns, paste0(rule, ".", vars))
  }), recursive = FALSE)
  distance <- attr(within[["robust"]], "distance")
  variables <- stack_frames(lapply(names(width), function(rule) {
    compared <- colSums(!is.na(within[[rule]]))
    inside <- colSums(within[[rule]], na.rm = TRUE)
    frame(
      rule = rep(rule, length(vars)), variable = vars, n_values = as.integer(compared),
      n_within = as.integer(inside), prop_within = quotient(inside, compared)
    )
  }))
  new_sdc_result(
    "sdc_interval_disclosure",
    estimates = estimates,
    records = do.call(frame, c(
      list(distance = if (is.null(distance)) rep(NA_real_, n) else distance), counts, flags
    )),
    settings = list(
      key_vars = vars, num_vars = vars, width = width, n = n, fingerprint = prints$original,
      wave_fingerprints = prints, version = own_version()
    ),
    diagnostics = list(
      n_keys = length(vars),
      n_missing = sum(vapply(seq_along(vars), function(v) {
        sum(is.na(files$original[[v]]) | is.na(files$released[[v]]))
      }, 0L))
    ),
    call = this_call, variables = variables
  )
}

quotient <- function(part, whole) ifelse(whole > 0, part / whole, NA_real_)
