# The probability of every record under a fitted copula, and from it how likely
# the record is unique and a match with it correct. Three scores:
#   tree       margins and a tree of pairs (core/copula/tree.rs), with the
#              uncertainty of that probability (core/copula/mixture.rs), scaled so
#              that the mean likelihood of the sample's own records, each left out
#              of the tables, is the population uniqueness of the copula
#   copula     the rectangle of the record's categories, equation 18
#   placement  its mean over random places of the categories

# What the tree score needs of the sample, kept in a fit: edges (two rows of
# positions of key variables), the records the prior counts for per edge, `alpha`
# and `spread` (how uncertain probabilities are), `ln_lambda` (their factor in the
# sample) and `anchor`, where the sample's records lie.
fit_tree <- function(fit, table, weights = NULL, call = rlang::caller_env()) {
  found <- call_tree_fit(fit, table$pointer, weights, call)
  list(
    edges = matrix(found$edges, 2), prior = found$prior, alpha = found$alpha,
    spread = found$spread, ln_lambda = found$ln_lambda,
    anchor = do.call(frame, found[c("ln_p", "variance", "weight", "n", "n_unique")])
  )
}

# The tree of some of the key variables, without the sample: `whole` is that of all,
# and people drawn from the part stand for the sample's records.
part_tree <- function(fit, whole, call = rlang::caller_env()) {
  found <- call_tree_fit(fit, NULL, NULL, call)
  tree <- list(edges = matrix(found$edges, 2), prior = found$prior)
  tree[c("alpha", "spread", "ln_lambda")] <- whole[c("alpha", "spread", "ln_lambda")]
  tree$anchor <- draw_points(fit, tree)
  tree
}

call_tree_fit <- function(fit, pointer, weights, call) {
  parts <- tree_parts(fit)
  core(
    rs_tree_fit, pointer, weights, lapply(unname(fit$pairs), bare_matrix),
    fit$diagnostics$pairs$information - fit$diagnostics$pairs$expected,
    parts$counts, parts$given, parts$n, parts$scale,
    call = call
  )
}

# Where people lie who are drawn from a tree.
draw_points <- function(fit, tree, n = 4000) {
  parts <- tree_parts(fit)
  d <- length(fit$levels)
  shares <- Map(function(counts, given) {
    share <- if (is.null(given)) counts / sum(counts) else given[seq_along(counts)]
    share / sum(share)
  }, parts$counts, parts$given)
  people <- vector("list", d)
  ln_p <- variance <- numeric(n)
  left <- seq_len(ncol(tree$edges))
  while (length(open <- which(lengths(people) == 0))) {
    # An edge with one end drawn, or a key variable no edge leads to.
    near <- left[colSums(matrix(tree$edges[, left] %in% open, 2)) == 1]
    if (length(near) == 0) {
      v <- open[[1]]
      people[[v]] <- sample.int(length(shares[[v]]), n, TRUE, shares[[v]])
      ln_p <- ln_p + log(shares[[v]][people[[v]]])
      next
    }
    edge <- near[[1]]
    left <- setdiff(left, edge)
    ends <- tree$edges[, edge]
    joint <- shrunken_pair(fit, ends, tree$prior[[edge]], parts)
    if (ends[[1]] %in% open) {
      ends <- rev(ends)
      joint <- t(joint)
    }
    given <- joint / rowSums(joint)
    drawn <- integer(n)
    for (from in unique(people[[ends[[1]]]])) {
      who <- which(people[[ends[[1]]]] == from)
      drawn[who] <- sample.int(ncol(given), length(who), TRUE, given[from, ])
    }
    people[[ends[[2]]]] <- drawn
    cell <- cbind(people[[ends[[1]]]], drawn)
    ln_p <- ln_p + log(given[cell])
    variance <- variance + 1 / (joint[cell] * (parts$n + tree$prior[[edge]]))
  }
  frame(
    ln_p = ln_p, variance = variance, weight = rep(1, n), n = rep(1, n),
    n_unique = rep(NA_real_, n)
  )
}

# The two-way shares of a pair, drawn towards independence.
shrunken_pair <- function(fit, ends, prior, parts) {
  cells <- bare_matrix(fit$pairs[[pair_position(ends[[1]], ends[[2]], length(fit$levels))]])
  cells <- cells * parts$scale
  independent <- outer(rowSums(cells), colSums(cells)) / sum(cells)^2
  (cells + prior * independent) / (sum(cells) + prior)
}

# The place of a pair of key variables in the order of combn().
pair_position <- function(i, j, d) {
  (i - 1) * d - i * (i - 1) / 2 + j - i
}

# Integers or doubles with nothing but a dimension.
bare_matrix <- function(x) {
  matrix(as.vector(x), nrow(x), ncol(x))
}

# Counts per key variable, margins that are not the sample's own, and what makes
# records of weights.
tree_parts <- function(fit) {
  counts <- unname(lapply(fit$diagnostics$counts, as.double))
  n <- as.double(fit$diagnostics$n_effective)
  own <- Map(function(counts, shares) {
    seen <- shares[seq_along(counts)]
    max(abs(seen - counts / sum(counts))) < 1e-9
  }, counts, unname(fit$shares))
  list(
    counts = counts, n = n, scale = n / sum(counts[[1]]),
    given = Map(function(own, shares) if (!own) as.double(shares), own, unname(fit$shares))
  )
}

# One row per record of `data`: `prob`, `xi`, `kappa`, `prob_error`, `prob_shape`.
# For the tree score `population_uniqueness` is that of the copula at `pop_size`.
individual_scores <- function(fit, data, pop_size, score, population_uniqueness = NULL,
                              ..., accuracy = 0.01,
                              call = rlang::caller_env()) {
  scorer <- record_scorer(
    fit, data, score,
    most_people = pop_size, accuracy = accuracy, call = call
  )
  scorer(pop_size, population_uniqueness)
}

# A function of a population size and the population uniqueness there, which gives
# the rows above for the records of `data`; what does not depend on the size is
# computed once. `own`: the records are those of the sample, with these `weights`.
# `counts`: how many records of the sample equal each, where that is to be used.
record_scorer <- function(fit, data, score, most_people, ..., own = FALSE, weights = NULL,
                          counts = NULL, accuracy = 0.01, call) {
  coded <- code_by_fit(fit, data, call)
  inform_unseen(coded, call)
  incomplete <- coded$incomplete
  at_size <- if (score == "tree") {
    tree_scorer(fit, coded, own, weights, counts, call)
  } else {
    model_scorer(fit, coded, score, most_people, counts, accuracy, call)
  }
  function(pop_size, uniqueness = NULL) {
    scored <- at_size(pop_size, uniqueness)
    if (any(incomplete)) scored[incomplete, ] <- NA_real_
    scored
  }
}

tree_scorer <- function(fit, coded, own, weights, counts, call) {
  parts <- tree_parts(fit)
  tree <- fit$tree
  pairs <- pair_position(tree$edges[1, ], tree$edges[2, ], length(fit$levels))
  points <- core(
    rs_tree_points, coded$table$pointer, coded$maps, as.integer(tree$edges), tree$prior,
    lapply(unname(fit$pairs[pairs]), bare_matrix),
    parts$counts, parts$given, parts$n, parts$scale, own, weights,
    call = call
  )
  # The sample's own records anchor themselves, to the last digit.
  anchor <- if (own) c(points, list(weight = weights)) else tree$anchor
  if (own && any(coded$incomplete)) {
    anchor <- lapply(anchor, function(x) x[!coded$incomplete])
  }
  function(pop_size, uniqueness) {
    factor <- tree_factor(tree, anchor, pop_size, uniqueness, call)
    found <- tree_likelihoods(tree, points, factor, pop_size, counts, fit$n, call)
    frame(
      prob = found$prob, xi = found$xi, kappa = found$kappa,
      prob_error = numeric(length(found$xi)), prob_shape = found$shape
    )
  }
}

# What brings the tree to a population: `ln_lambda`, the logarithm of the factor of all
# probabilities, and `left`, the share of their uncertainty. Without a population
# uniqueness probabilities stay as they are.
tree_factor <- function(tree, anchor, pop_size, uniqueness, call) {
  if (is.null(uniqueness)) {
    return(list(ln_lambda = 0, left = 1))
  }
  # Where nobody is unique there is no uncertainty either.
  if (uniqueness <= 0) {
    return(list(ln_lambda = tree$ln_lambda, left = 1e-9))
  }
  core(
    rs_tree_anchor, anchor$ln_p, anchor$variance, anchor$weight, tree$alpha, tree$spread,
    tree$ln_lambda, as.double(pop_size), uniqueness,
    call = call
  )
}

tree_likelihoods <- function(tree, points, factor, pop_size, counts, n, call) {
  core(
    rs_tree_likelihoods, points$ln_p, points$variance, tree$alpha, tree$spread,
    factor$ln_lambda, factor$left, as.double(pop_size),
    if (!is.null(counts)) as.double(counts), as.double(n),
    call = call
  )
}

# The standard error is brought below `accuracy` of the probability, or below what
# moves xi by a fifth of `accuracy` in the largest population.
model_scorer <- function(fit, coded, score, most_people, counts, accuracy, call) {
  found <- core(
    rs_model_scores, coded$table$pointer, coded$maps, unname(lapply(fit$shares, as.double)),
    unname(lapply(fit$orders, as.integer)), as.double(fit$correlation), score,
    0.3 / as.double(fit$diagnostics$n_effective), accuracy, accuracy / 5 / most_people, 256L,
    draw_seed(),
    call = call
  )
  function(pop_size, uniqueness) {
    scored <- frame(
      prob = found$prob, xi = likelihood_unique(found$prob, pop_size),
      kappa = correctness_of(found$prob, pop_size), prob_error = found$error,
      prob_shape = rep(Inf, length(found$prob))
    )
    if (is.null(counts)) scored else limit_to_sample(scored, counts)
  }
}

# A record that occurs k times in the file is not unique, and a match is right
# at most once in k times.
limit_to_sample <- function(scored, counts) {
  scored$xi[counts > 1] <- 0
  scored$kappa <- pmin(scored$kappa, 1 / counts)
  scored
}

# `data` in the categories of a fit: the key table, and per key variable the
# category, from 1, of every code, beginning with that of missing; 0 for none.
code_by_fit <- function(fit, data, call, frame = parent.frame()) {
  force(frame)
  values <- unname(lapply(fit$levels, function(values) values[!is.na(values)]))
  positions <- check_columns(fit$settings$key_vars, data, "key_vars", call)
  request <- coding_request(
    column_sources(data, positions, call), fit$settings$key_vars, positions,
    fingerprint = FALSE, levels = values, call = call
  )
  table <- code_requests(list(request), call)[[1]][[1]]
  release_later(list(table), frame)
  maps <- lapply(fit$levels, function(values) {
    missing <- which(is.na(values))
    as.integer(c(if (length(missing)) missing else 0L, which(!is.na(values)), 0L))
  })
  incomplete <- logical(table$n)
  if (fit$settings$missing == "exclude" && any(table$n_missing > 0)) {
    incomplete[-complete_records(table, call)] <- TRUE
  }
  list(table = table, maps = unname(maps), levels = fit$levels, incomplete = incomplete)
}

# Says which key variables have values the sample does not have.
inform_unseen <- function(coded, call) {
  all_codes <- all_codes(list(coded$table), call)[[1]]
  unseen <- vapply(seq_along(coded$maps), function(v) {
    codes <- all_codes[[v]]
    sum(coded$maps[[v]][codes[!coded$incomplete] + 1L] == 0L)
  }, 0)
  if (any(unseen > 0)) {
    names <- names(coded$levels)[unseen > 0]
    inform_sdc(
      "unseen_categories",
      c(
        "Some records have values that the sample does not have.",
        x = paste0("Of ", quote_names(names), ": ", format_count(max(unseen)), " at most."),
        i = "Such a value counts as 0.3 records of the sample, whatever the others are."
      ),
      columns = names, counts = unseen[unseen > 0], call = call
    )
  }
}

# xi, from the probability of a record's values and the number of people.
likelihood_unique <- function(prob, n) {
  if (n <= 1) {
    return(ifelse(is.na(prob), NA_real_, 1))
  }
  exp((n - 1) * log1p(-prob))
}

# kappa likewise.
correctness_of <- function(prob, n) {
  kappa <- -expm1(n * log1p(-prob)) / (n * prob)
  kappa[!is.na(prob) & prob <= 0] <- 1
  kappa
}

#' From the likelihood of uniqueness to the correctness of a match
#'
#' Someone finds exactly one record that matches a person. If that person is
#' unique in the population with likelihood \eqn{\xi}{xi}, how likely is the match
#' correct, given that others may share the person's values?
#'
#' @details
#' With \eqn{p} the probability of the person's values in a population of \eqn{n}
#' people,
#' \deqn{\xi = (1 - p)^{n - 1}, \qquad \kappa = \frac{1 - (1 - p)^n}{n p},}{%
#'   xi = (1 - p)^(n - 1), kappa = (1 - (1 - p)^n) / (n p),}
#' so that \eqn{\kappa}{kappa} follows from \eqn{\xi}{xi} and \eqn{n} (equation 29 of the
#' source). It is computed as
#' \deqn{\kappa = \frac{\mathrm{expm1}(\frac{n}{n-1} \ln \xi)}{%
#'   n\,\mathrm{expm1}(\frac{1}{n-1} \ln \xi)},}{%
#'   kappa = expm1(n / (n - 1) ln xi) / (n expm1(ln xi / (n - 1))),}
#' which keeps its digits for populations of any size; the powers of the printed
#' formula lose half of them at 10 million. For large \eqn{n} it is
#' \eqn{(1 - \xi) / (-\ln \xi)}{(1 - xi) / (-ln xi)}. A record with \eqn{\xi = 0}{xi = 0} has
#' \eqn{\kappa = 1/n}{kappa = 1 / n}.
#'
#' @param xi Likelihoods of uniqueness, from 0 to 1; `NA` and `NaN` give `NA`.
#' @param pop_size Number of people in the population, from 1 to 1e10: one number, or
#'   one for each of `xi`. Where `xi` is one number, several population sizes.
#' @param ... Must be empty.
#' @return Correctness, a number for each of `xi` or of `pop_size`. Values outside their range are
#'   an error of class `sdcRisk_error_bad_argument`.
#' @references
#' Rocher, L., Hendrickx, J. M. and de Montjoye, Y.-A. (2019). Estimating the
#' success of re-identifications in incomplete datasets using generative models.
#' Nature Communications 10, 3069. \doi{10.1038/s41467-019-10933-3}.
#' @family copula
#' @export
#' @examples
#' # The governor of Massachusetts: xi = 0.58 by ZIP code, date of birth and sex.
#' uniqueness_to_correctness(0.58, 6.2e6) # 0.771
#' # With the number of his children too: xi = 0.997.
#' uniqueness_to_correctness(0.997, 6.2e6) # 0.998
uniqueness_to_correctness <- function(xi, pop_size, ...) {
  call <- rlang::current_env()
  check_no_dots(..., renamed = c(pop_size = "n"), call = call)
  check_given(c("xi", "pop_size"), call)
  n <- pop_size
  if (!is_plain_number(xi) || any(xi < 0 | xi > 1, na.rm = TRUE)) {
    stop_argument("xi", "hold numbers from 0 to 1", call = call)
  }
  sized <- is_plain_number(n) && length(n) > 0 &&
    (length(n) == length(xi) || length(n) == 1 || length(xi) == 1)
  if (!sized || anyNA(n) || any(n < 1 | n > 1e10)) {
    stop_argument(
      "pop_size", "hold numbers from 1 to 1e10: one, or one for each of `xi`", call = call
    )
  }
  if (length(xi) == 1) xi <- rep(xi, length(n))
  n <- rep_len(as.double(n), length(xi))
  ln_xi <- log(xi)
  kappa <- expm1(n / (n - 1) * ln_xi) / (n * expm1(ln_xi / (n - 1)))
  kappa[!is.na(xi) & (xi >= 1 | n <= 1)] <- 1
  kappa[!is.na(xi) & xi <= 0 & n > 1] <- 1 / n[!is.na(xi) & xi <= 0 & n > 1]
  kappa[is.na(xi)] <- NA_real_
  kappa
}
