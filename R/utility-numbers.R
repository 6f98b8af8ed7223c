# Loss for continuous variables in utility_loss(): moments, quantiles, correlations, and the
# intervals of a regression.

# One row per continuous variable of both files; NULL without any.
number_loss <- function(before, after, keys, role) {
  vars <- Filter(function(name) {
    is_measured(before[[name]], name %in% role) && is_measured(after[[name]], TRUE)
  }, keys)
  if (length(vars) == 0) {
    return(NULL)
  }
  x <- number_columns(before, vars)
  y <- number_columns(after, vars)
  moved <- abs(correlations(y) - correlations(x))
  diag(moved) <- NA
  rows <- Map(function(x, y, name) {
    n_changed <- sum(is.na(x) != is.na(y) | (x != y) %in% TRUE)
    y <- standardised(y, x)
    x <- standardised(x)
    at <- seq(0.1, 0.9, 0.1)
    quantiles <- function(v) stats::quantile(v, at, na.rm = TRUE, names = FALSE)
    frame(
      variable = name, n = sum(!is.na(x) & !is.na(y)), n_changed = n_changed,
      il1s = mean(abs(x - y), na.rm = TRUE) / sqrt(2),
      mean_change = mean(y, na.rm = TRUE) - mean(x, na.rm = TRUE),
      sd_ratio = quotient(stats::sd(y, na.rm = TRUE), stats::sd(x, na.rm = TRUE)),
      quantile_change = largest(abs(quantiles(y) - quantiles(x))),
      correlation_change = largest(moved[name, ])
    )
  }, x, y, vars)
  out <- stack_frames(unname(rows))
  numbers <- vapply(out, is.double, NA)
  out[numbers] <- lapply(out[numbers], function(v) replace(v, is.nan(v), NA))
  out
}

largest <- function(x) if (all(is.na(x))) NA_real_ else max(x, na.rm = TRUE)

correlations <- function(columns) {
  x <- vapply(columns, standardised, numeric(length(columns[[1]])))
  x <- matrix(x, ncol = length(columns), dimnames = list(NULL, names(columns)))
  # A constant variable has none.
  suppressWarnings(stats::cor(x, use = "pairwise.complete.obs"))
}

# The 95% intervals of the coefficients of a linear regression on both files, and the mean of the
# shares of the two intervals that they have in common (Karr and others 2006), 0 if they have none.
interval_overlap <- function(before, after, model, weights, weights_after) {
  if (is.null(model)) {
    return(NULL)
  }
  if (!rlang::is_formula(model) || length(model) != 3) {
    stop_argument(
      "model", "be a formula with a response", given_words(model), "Such as model = y ~ x + z."
    )
  }
  fits <- Map(function(data, w, arg) {
    absent <- setdiff(all.vars(model), c(names(data), "."))
    if (length(absent)) {
      stop_absent(paste0("`model` must name columns of `", arg, "`."), absent, names(data))
    }
    # The weights are found where the formula is.
    environment(model) <- list2env(list(w = w), parent = environment(model))
    tryCatch(
      if (is.null(w)) {
        stats::lm(model, as.data.frame(data))
      } else {
        eval(bquote(stats::lm(.(model), as.data.frame(data), weights = w)))
      },
      error = function(e) {
        stop_argument("model", paste0("be fitted on `", arg, "`"), conditionMessage(e))
      }
    )
  }, list(before, after), list(weights, weights_after), c("before", "after"))
  bounds <- lapply(fits, function(fit) {
    suppressWarnings(stats::confint(fit))[!is.na(stats::coef(fit)), , drop = FALSE]
  })
  terms <- intersect(rownames(bounds[[1]]), rownames(bounds[[2]]))
  a <- bounds[[1]][terms, , drop = FALSE]
  b <- bounds[[2]][terms, , drop = FALSE]
  common <- pmax(pmin(a[, 2], b[, 2]) - pmax(a[, 1], b[, 1]), 0)
  overlap <- (quotient(common, a[, 2] - a[, 1]) + quotient(common, b[, 2] - b[, 1])) / 2
  frame(
    term = terms, before = unname(stats::coef(fits[[1]])[terms]),
    after = unname(stats::coef(fits[[2]])[terms]), overlap = unname(overlap)
  )
}
