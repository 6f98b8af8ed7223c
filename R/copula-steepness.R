# TRUE if uniqueness falls faster in the sample than in the model of pairs: where rows
# repeat, or a group shares values, there are fewer cells than pairs of keys say. The
# sample shows it without a model, by the uniqueness of its own subsets.

# Thresholds, chosen on the 66 known files of the help page's first two groups.
steep_excess <- 0.1
steep_errors <- 2
steep_coarser <- log(2)

# The share of records that are alone in a subset of m of them, over all subsets: none of
# the others of a record's cell is among the m - 1 drawn beside it.
share_alone <- function(cells, m) {
  n <- sum(cells$size * cells$n)
  vapply(m, function(m) {
    left <- n - m
    others <- pmin(cells$size - 1, left)
    none <- exp(lgamma(left + 1) - lgamma(left - others + 1) - lgamma(n) + lgamma(n - others))
    sum(cells$size * cells$n * ifelse(others < cells$size - 1, 0, none)) / n
  }, 0)
}

# The share `own` of people who are unique in the sample, the same in subsets of a half to a 32nd,
# and the `sizes`, as y = ln(m - 1), for which the model computes these shares. Empty if nobody is
# unique, or everybody.
subsets_of_sample <- function(fit) {
  n <- fit$n
  sizes <- n / 2^(0:5)
  own <- share_alone(fit$cell_sizes, sizes[sizes >= 8])
  shown <- list(n = n, own = own)
  if (length(own) > 0 && own[[1]] > 0 && own[[1]] < 1) {
    # From well below the smallest subset to twice the sample.
    shown$y <- seq(log(max(n / 128, 1)), log(2.2 * n), by = 0.2)
    shown$sizes <- pmin(1 + exp(shown$y), most_people)
  }
  shown
}

# By how much the sample falls faster per unit of ln m than the model, whose shares are
# `model`, with its standard error, and how much coarser its cells are than the model's
# (ln lambda); NA where it shows nothing.
steepness <- function(shown, model) {
  n <- shown$n
  own <- shown$own
  found <- list(excess = NA_real_, excess_se = NA_real_, ln_coarser = NA_real_)
  if (!is.null(shown$y)) {
    y <- shown$y
    curve <- cummin(model)
    at <- function(y0) stats::approx(y, curve, y0, rule = 2)$y
    place <- function(share) {
      if (share < min(curve)) Inf else stats::approx(curve, y, share, ties = mean)$y
    }
    found$ln_coarser <- place(own[[1]]) - log(n - 1)
    inner <- which(own >= 3 / n & own <= 1 - 3 / n)
    ends <- if (length(inner)) range(inner[inner <= min(inner) + 3])
    if (length(unique(ends)) == 2) {
      places <- vapply(own[ends], place, 0)
      slope <- (at(places + 0.2) - at(places - 0.2)) / 0.4
      way <- diff(ends) * log(2)
      if (all(is.finite(places)) && all(slope < 0)) {
        found$excess <- (places[[1]] - places[[2]]) / way - 1
        found$excess_se <- sqrt(sum(own[ends] * (1 - own[ends]) / (n * slope^2))) / way
      }
    }
  }
  found$faster <- isTRUE(found$ln_coarser > steep_coarser) ||
    isTRUE(found$excess > steep_excess && found$excess > steep_errors * found$excess_se)
  found
}

signal_steepness <- function(found) {
  if (!isTRUE(found$faster)) {
    return(invisible())
  }
  warn_sdc(
    "overstated", "Uniqueness falls faster in this sample than its model says.",
    x = if (isTRUE(found$ln_coarser > steep_coarser)) {
      "Its keys are about twice as coarse as those of the model, or more."
    } else {
      paste0("By its own subsets it falls ", format_number(signif(1 + found$excess, 2)),
        " times as fast."
      )
    },
    i = paste(
      "Rows may repeat, or key variables be those of a household, school or firm:",
      "uniqueness is likely overstated, and the interval holds it less often."
    )
  )
}

# People drawn at most, a limit of the core.
most_people <- 2e9
