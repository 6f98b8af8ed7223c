# The probability of every record under a fitted copula, and from it how likely
# the record is unique and a match with it correct. Three scores:
#   tree       margins and a tree of pairs (core/copula/tree.rs), with the
#              uncertainty of that probability (core/copula/mixture.rs), scaled so
#              that the mean likelihood of the sample's own records, each left out
#              of the tables, is the population uniqueness of the copula
#   copula     the rectangle of the record's categories, equation 18
#   placement  its mean over random places of the categories

# The tree of some of the key variables, without the sample: `whole` is that of all,
# and people drawn from the part stand for the sample's records.
part_tree <- function(fit, whole) {
  pairs <- fit$diagnostics$pairs
  found <- core(
    rs_tree_part, lapply(unname(fit$pairs), bare_matrix), list(
      excess = pairs$information - pairs$expected, n_keys = length(fit$levels),
      scale = tree_parts(fit)$scale
    )
  )
  tree <- list(edges = matrix(found$edges, 2), prior = found$prior)
  tree[c("alpha", "spread", "ln_lambda")] <- whole[c("alpha", "spread", "ln_lambda")]
  tree$anchor <- with_drawn_seed(draw_points(fit, tree))
  tree
}

# Places of people who are drawn from a tree. Half of them are drawn from shares whose square roots
# were taken: people with rare values, who are those that are unique, are then many, and weights
# correct for it. `n` is even.
draw_points <- function(fit, tree, n = 40000) {
  parts <- tree_parts(fit)
  d <- length(fit$levels)
  shares <- Map(function(counts, given) {
    share <- if (is.null(given)) counts / sum(counts) else given[seq_along(counts)]
    share / sum(share)
  }, parts$counts, parts$given)
  people <- vector("list", d)
  flat <- rep(c(FALSE, TRUE), each = n / 2)
  # ln of the probability, and of that of the flat shares.
  ln_p <- ln_flat <- variance <- numeric(n)
  left <- seq_len(ncol(tree$edges))
  while (length(open <- which(lengths(people) == 0))) {
    # An edge with one end drawn, or a key variable no edge leads to.
    near <- left[colSums(matrix(tree$edges[, left] %in% open, 2)) == 1]
    if (length(near) == 0) {
      v <- open[[1]]
      given <- matrix(shares[[v]], 1)
      from <- rep(1L, n)
    } else {
      edge <- near[[1]]
      left <- setdiff(left, edge)
      ends <- tree$edges[, edge]
      joint <- shrunken_pair(fit, ends, tree$prior[[edge]], parts)
      if (ends[[1]] %in% open) {
        ends <- rev(ends)
        joint <- t(joint)
      }
      v <- ends[[2]]
      given <- joint / rowSums(joint)
      from <- people[[ends[[1]]]]
    }
    flattened <- sqrt(given) / rowSums(sqrt(given))
    people[[v]] <- draw_given(given, flattened, from, flat)
    cell <- cbind(from, people[[v]])
    ln_p <- ln_p + log(given[cell])
    ln_flat <- ln_flat + log(flattened[cell])
    if (length(near)) {
      variance <- variance + 1 / (joint[cell] * (parts$n + tree$prior[[edge]]))
    }
  }
  frame(
    ln_p = ln_p, variance = variance, weight = 2 / (1 + exp(ln_flat - ln_p)), n = rep(1, n),
    n_unique = rep(NA_real_, n)
  )
}

# A column for everyone, by the shares of the row that `from` names: those of
# `flattened` where `flat`.
draw_given <- function(given, flattened, from, flat) {
  drawn <- integer(length(from))
  for (who in split(seq_along(from), list(from, flat), drop = TRUE)) {
    of <- if (flat[[who[[1]]]]) flattened else given
    drawn[who] <- sample.int(ncol(of), length(who), TRUE, of[from[[who[[1]]]], ])
  }
  drawn
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
    max(abs(shares[seq_along(counts)] - counts / sum(counts))) < 1e-9
  }, counts, unname(fit$shares))
  list(
    counts = counts, n = n, scale = n / sum(counts[[1]]),
    given = Map(function(own, shares) if (!own) as.double(shares), own, unname(fit$shares))
  )
}

# The copula of a fit as the core takes it.
core_model <- function(fit) {
  list(
    shares = unname(lapply(fit$shares, as.double)),
    orders = unname(lapply(fit$orders, as.integer)), correlation = as.double(fit$correlation)
  )
}

# Its tree likewise.
core_tree <- function(fit) {
  tree <- fit$tree
  pairs <- pair_position(tree$edges[1, ], tree$edges[2, ], length(fit$levels))
  c(
    tree[c("prior", "alpha", "spread", "ln_lambda")], tree_parts(fit),
    list(
      edges = as.integer(tree$edges), pairs = lapply(unname(fit$pairs[pairs]), bare_matrix)
    )
  )
}

# One row per record of `data`: `prob`, `xi`, `kappa`, `prob_error`, `prob_shape`.
# For the tree score `population_uniqueness` is that of the copula at `pop_size`.
individual_scores <- function(fit, data, pop_size, score, population_uniqueness = NULL,
                              ..., accuracy = 0.01) {
  score_coded(
    fit, code_by_fit(fit, data), score, pop_size, population_uniqueness,
    accuracy = accuracy
  )$first
}

# Likelihoods of coded records in populations of `sizes`: `first`, the rows above for
# the first of them, `xi` for each, and `counts`, how many records equal each of those
# whose cells were coded. `own`: the records are those of the sample, with these
# `weights`. `given_sample`: whether it is used how many equal each.
score_coded <- function(fit, coded, score, sizes, uniqueness = NULL, ..., own = FALSE,
                        weights = NULL, given_sample = FALSE, accuracy = 0.01) {
  n <- coded$table$n
  # Rows of a table that are in use.
  n_used <- if (is.null(coded$table$times)) coded$table$n else length(coded$table$times)
  found <- list(prob = double(), kappa = double(), shape = double(), error = double())
  found$xi <- rep(list(double()), length(sizes))
  if (n > 0) {
    found <- core(rs_scores, coded$table$pointer, score_settings(
      fit, coded, score, sizes, uniqueness,
      own = own, weights = weights, given_sample = given_sample, accuracy = accuracy
    ))
  }
  inform_unseen(found$unseen, names(fit$levels))
  if (score != "tree") {
    found$xi <- lapply(sizes, function(size) likelihood_unique(found$prob, size))
    found$kappa <- correctness_of(found$prob, sizes[[1]])
    found$shape <- rep(Inf, n_used)
    if (given_sample) found <- limit_to_sample(found, counts_of_scored(coded, found$counts))
  }
  all <- function(x) spread_records(x, coded$table$rows, coded$table$n_rows)
  list(
    first = frame(
      prob = all(found$prob), xi = all(found$xi[[1]]), kappa = all(found$kappa),
      prob_error = all(if (score == "tree") numeric(n_used) else found$error),
      prob_shape = all(found$shape)
    ),
    xi = lapply(found$xi, all), counts = counts_of_all(coded, found$counts)
  )
}

# Of the records whose cells are counted, those that are scored may be a part, and all
# may be those that are scored.
counts_of_scored <- function(coded, counts) {
  if (coded$cells$n > coded$table$n) counts[coded$table$rows] else counts
}

counts_of_all <- function(coded, counts) {
  if (is.null(coded$cells)) {
    return(NULL)
  }
  if (is.null(counts)) {
    return(rep(NA_real_, coded$cells$n_rows))
  }
  spread_records(counts, coded$cells$rows, coded$cells$n_rows)
}

# Request to the core about coded records, or without them about people at the places of the
# sample's records. The standard error of a probability is brought below `accuracy` of it, or below
# the error that changes xi by a fifth of `accuracy` in the largest population.
score_settings <- function(fit, coded, score, sizes, uniqueness, ..., own = FALSE,
                           weights = NULL, given_sample = FALSE, accuracy = 0.01) {
  asked <- list(
    score = score, maps = coded$maps, cells = coded$cells$pointer,
    rows = if (!is.null(coded$cells) && coded$cells$n > coded$table$n) coded$table$rows
  )
  if (score == "tree") {
    return(c(asked, list(
      tree = core_tree(fit), anchor = fit$tree$anchor, sizes = as.double(sizes),
      uniqueness = uniqueness, own = own, weights = weights, given_sample = given_sample,
      n = as.double(fit$n)
    )))
  }
  c(asked, list(
    model = core_model(fit), least = 0.3 / as.double(fit$diagnostics$n_effective),
    tolerance = accuracy, absolute = accuracy / 5 / max(sizes), max_blocks = 256L,
    seed = draw_seed()
  ))
}

# A record that occurs k times in the file is not unique, and a match is right
# at most once in k times.
limit_to_sample <- function(found, counts) {
  found$xi <- lapply(found$xi, function(xi) {
    xi[counts > 1] <- 0
    xi
  })
  found$kappa <- pmin(found$kappa, 1 / counts)
  found
}

# Data in the categories of a fit, for score_coded():
#   table   the key table of the records to be scored, without incomplete ones where
#           the fit left them out
#   maps    per key variable the category, from 1, of every code, beginning with that
#           of missing; 0 for none
#   cells   a table whose equal records are to be counted, or NULL
#   fingerprint   that of `cells`

# The file of a fit: its codes are those of the fit.
code_as_sample <- function(fit, file) {
  table <- key_table(
    file, fit$settings$key_vars,
    listwise = fit$settings$missing == "exclude", dense = TRUE,
    roles = role_columns(file_data(file), fit$settings)
  )
  maps <- Map(function(values, n_values) {
    missing <- which(is.na(values))
    c(if (length(missing)) missing[[1]] else 0L, which(!is.na(values))[seq_len(n_values)])
  }, fit$levels, table$n_values)
  list(table = table, maps = unname(maps), cells = table, fingerprint = table$fingerprint)
}

# Any data frame, in the categories that its values have in the fit.
code_by_fit <- function(fit, data) {
  read_by_fit(fit, code_requests(list(fit = fit_request(fit, data))))
}

# Codes by all values of `counted`.
code_released <- function(fit, data, counted = data) {
  coded <- code_requests(list(
    cells = key_request(
      counted, fit$settings$key_vars,
      roles = role_columns(counted, fit$settings)
    ),
    fit = fit_request(fit, data)
  ))
  read_by_fit(fit, coded)
}

fit_request <- function(fit, data) {
  values <- unname(lapply(fit$levels, function(values) values[!is.na(values)]))
  positions <- check_columns(fit$settings$key_vars, data, "key_vars")
  # A part of the file lacks values of the fit, which tells nothing.
  note_spellings(Map(function(known, at) {
    check_letters(list(known, data[[at]]), names(data)[[at]])
    list(known, setdiff(known_texts(data[[at]]), known_texts(known)))
  }, rlang::set_names(values, fit$settings$key_vars), positions))
  coding_request(
    column_sources(data, positions), fit$settings$key_vars, positions,
    fingerprint = FALSE, levels = values, listwise = fit$settings$missing == "exclude"
  )
}

read_by_fit <- function(fit, coded) {
  tables <- lapply(coded, `[[`, 1)
  release_later(tables)
  maps <- lapply(fit$levels, function(values) {
    missing <- which(is.na(values))
    as.integer(c(if (length(missing)) missing else 0L, which(!is.na(values)), 0L))
  })
  list(
    table = tables$fit, maps = unname(maps), cells = tables$cells,
    fingerprint = tables$cells$fingerprint
  )
}

# Says which key variables have values the sample does not have.
inform_unseen <- function(unseen, variables) {
  if (any(unseen > 0)) {
    names <- variables[unseen > 0]
    inform_sdc(
      "unseen_categories", "Some records have values that the sample does not have.",
      x = paste0("Of ", quote_names(names), ": ", format_count(max(unseen)), " at most."),
      i = "Such a value counts as 0.3 records of the sample, whatever the others are.",
      columns = names, counts = unseen[unseen > 0]
    )
  }
}

# xi, from the probability of a record's values and the number of people.
likelihood_unique <- function(prob, n) {
  if (n <= 1) ifelse(is.na(prob), NA_real_, 1) else exp((n - 1) * log1p(-prob))
}

# kappa likewise.
correctness_of <- function(prob, n) {
  kappa <- -expm1(n * log1p(-prob)) / (n * prob)
  kappa[!is.na(prob) & prob <= 0] <- 1
  kappa
}

#' Correctness of a match from the likelihood of uniqueness
#'
#' Converts \eqn{\xi}{xi}, the likelihood that a person is unique in the population, to the
#' probability that the only matching record is the right one. Use it for likelihoods from any
#' source.
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
#'   one for each of `xi`. If `xi` is one number, several population sizes.
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
  announce("uniqueness_to_correctness")
  check_no_dots(...)
  check_given(c("xi", "pop_size"))
  n <- pop_size
  if (!is_plain_number(xi) || any(xi < 0 | xi > 1, na.rm = TRUE)) {
    stop_argument("xi", "hold numbers from 0 to 1")
  }
  sized <- is_plain_number(n) && length(n) > 0 &&
    (length(n) == length(xi) || length(n) == 1 || length(xi) == 1)
  if (!sized || anyNA(n) || any(n < 1 | n > 1e10)) {
    stop_argument("pop_size", "hold numbers from 1 to 1e10: one, or one for each of `xi`")
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
