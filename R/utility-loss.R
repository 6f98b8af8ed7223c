#' Measure the information loss of a protection
#'
#' Compares the key variables of a file before and after protection, record by record, per
#' variable and in total. Use it to choose between protections. The measures are not added up:
#' bits for recoding and suppressed values, distances of margins and pairs for exchanged ones.
#'
#' @details
#' Of n records, \eqn{n_a} have value a of a variable before.
#' * **Recoded** is a variable whose values after are a function of those before, if
#'   this function joins values or gives them new names, see below. A record loses
#'   \eqn{\log_2(n_G / n_a)}{log2(n_G / n_a)} bits, \eqn{n_G} the records whose value
#'   became G (non-uniform entropy, Gionis and Tassa 2009).
#' * **Suppressed** is a value that is missing after and not before; it loses
#'   \eqn{\log_2(n / n_a)}{log2(n / n_a)} bits.
#' * **Exchanged** is any other change of a value. It does not change the bits, as a value is
#'   present, though wrong. The total variation
#'   \eqn{\frac12 \sum |p - p'|}{0.5 sum |p - p'|} of the shares before and after
#'   does, of each variable and of each pair of variables; a file with right
#'   margins can have broken pairs. For numbers IL1s, the mean of
#'   \eqn{|x - x'| / (\sqrt 2 s)}{|x - x'| / (sqrt(2) s)}, s the standard deviation
#'   before, adds how far.
#'
#' If all values of a variable are distinct, noise, swapping and shuffling are
#' functions of the values before, too. So numbers are recoded only if the change is
#' linear (another unit), keeps their order and joins values (rounding, bands, top
#' codes), or if there are at least two records per changed value on average and the
#' change keeps the order or joins every changed value with others. Text and factors
#' are recoded unless a value takes the name of another one that was there before
#' without joining it. All other changes are exchanges.
#'
#' Margins and pairs of recoded variables are compared after the original has been
#' recoded in the same way, since a band never occurs before; they then measure suppressed and
#' exchanged values only. Missing counts as a value. With `weight_var` the same for sums of weights.
#'
#' **Continuous** variables, those with the role `num_vars` of `before` and numbers with so many
#' values that records seldom agree (see [link_attack()]), have a row in `numbers`: IL1s, also if
#' they were recoded; the change of the mean and the largest change of the nine deciles, in
#' standard deviations before; the ratio of the standard deviations; the largest change of a
#' correlation with another of them.
#'
#' **An analysis** that the user names by `model` is a linear regression, fitted to both files,
#' with the weights if there are any. The 95% intervals of each coefficient, \eqn{[L, U]} before
#' and \eqn{[L', U']} after, overlap by
#' \deqn{\frac12 \left( \frac{c}{U - L} + \frac{c}{U' - L'} \right), \quad
#'   c = \max(0, \min(U, U') - \max(L, L'))}{%
#'   (c / (U - L) + c / (U' - L')) / 2, c = max(0, min(U, U') - max(L, L'))}
#' (Karr et al. 2006), 1 if they are equal and 0 if they have nothing in common.
#'
#' @section Cost:
#' A pass over the records per variable and per pair of variables.
#'
#' @section Memory:
#' Beyond the files, with five key variables and two threads: at most 500 bytes a record.
#'
#' @param before,after The file before and after, with the same records in the same
#'   order. `after` may be a result of [suppress_cells()] or [invariant_pram()]: its `data`
#'   are in the order of the input (of a suppression in a database they are made from its
#'   patterns), while [release_data()] may have put them in another one.
#'   A warning (`other_order`) says if no column agrees, record by record, more often
#'   than in a random order.
#' @param key_vars Names or positions, in `before`, of the variables to compare.
#'   `NULL`: of a file its key variables and `num_vars`, of others all columns that both have, but
#'   `weight_var`.
#' @inheritParams sdcRisk-params
#' @param weight_var Name of the column of sampling weights, in both files.
#' @param model A formula with a response, such as `turnover ~ staff + sector`, or `NULL`.
#' @return An object of class `sdc_utility_loss`, an [sdc_result] with
#' \describe{
#'   \item{`estimates`}{one row: `n` and, of the variables without the role `num_vars` (of all
#'     if they all have it), `n_exchanged` and `prop_exchanged` values,
#'     `n_blank` and `prop_blank` values, `n_records_changed` (exchanged or suppressed in some
#'     variable), `bits_lost`, `bits`
#'     (all that the variables hold, \eqn{n \sum H}{n sum H}), `prop_bits_lost`,
#'     `tv_margins` and `tv_pairs` (means), `tv_pairs_max`, with weights
#'     `tv_margins_weighted`, `tv_pairs_weighted`}
#'   \item{`variables`}{the same per variable, with `change` (`"none"`, `"recoded"`,
#'     `"exchanged"`, each possibly with suppressed values), `n_values_before`,
#'     `n_values_after`, `il1s`; this is `as.data.frame()`}
#'   \item{`pairs`}{`variable_1`, `variable_2`, `tv`, with weights `tv_weighted`}
#'   \item{`numbers`}{one row per continuous variable: `variable`, `n` (records with both values),
#'     `n_changed` (with another value or none), `il1s`, `mean_change`, `sd_ratio`,
#'     `quantile_change`, `correlation_change`; `NULL` without any. `estimates` has the mean of
#'     `il1s` and the largest of the changes}
#'   \item{`coefficients`}{with `model` one row per coefficient: `term`, `before`, `after`,
#'     `overlap`. `estimates` has `ci_overlap`, their mean, and `ci_overlap_least`}
#' }
#' Errors: files of different length (`mismatched_data`), no common variable.
#' @references
#' Gionis, A. and Tassa, T. (2009). k-Anonymization with minimal loss of
#' information. IEEE Transactions on Knowledge and Data Engineering 21, 206-219.
#' \doi{10.1109/TKDE.2008.129}.
#'
#' Karr, A. F., Kohnen, C. N., Oganian, A., Reiter, J. P. and Sanil, A. P. (2006). A framework for
#' evaluating the utility of data altered to protect confidentiality. The American Statistician
#' 60(3), 224-232. \doi{10.1198/000313006X124640}.
#' @family recoding
#' @concept information loss
#' @concept data utility
#' @concept microaggregation
#' @export
#' @examples
#' keys <- c("age", "education_num", "sex")
#' coarser <- transform(adult, age = 10 * (age %/% 10))
#' coarser$sex[1:100] <- NA
#' utility_loss(adult, coarser, keys)
utility_loss <- function(before, after, key_vars = NULL, ..., weight_var = NULL, model = NULL) {
  if (missing(after) && !missing(before) && has_history(before)) {
    after <- before
    before <- file_before(before, "before")
  }
  counted <- !missing(after) && !missing(before) && is_in_database(after) && has_history(after)
  if (counted) {
    both <- counted_release(before, after)
    before <- both$before
    after <- both$after
  }
  ask <- enter_waves("utility_loss", c("before", "after"), lazy = counted)
  numbers <- num_vars_of(before)
  if (is.null(numbers)) numbers <- intersect(num_vars_of(after), names(before))
  # The loss since another protection is not that of the release.
  if (has_history(before)) {
    inform_sdc(
      "partial_loss", "`before` is protected already: this is the loss of the last step alone.",
      i = "For the loss of all steps give the original file as `before`, which is first.",
      i = if (!has_history(after)) "`after` is not known to be protected: were they exchanged?"
    )
  }
  before <- if (counted) pattern_file(ask$before)$data else ask$before
  after <- if (counted) pattern_file(ask$after)$data else ask$after
  times <- times_of(before)
  weight_var <- ask$weight_var
  check_no_dots(...)
  check_data_frame(before, "before")
  check_data_frame(after, "after")
  if (nrow(before) != nrow(after)) {
    stop_sdc(
      "mismatched_data", "`before` and `after` must have the same records in the same order.",
      x = paste0(
        "They have ", format_count(nrow(before)), " and ", plural(nrow(after), "record"), "."
      )
    )
  }
  weights <- check_weights(before, weight_var)
  weights_after <- if (!is.null(weight_var)) check_weights(after, weight_var)
  # Of a file its key variables and its continuous ones.
  named <- if (missing(key_vars) && length(ask$key_vars)) {
    union(ask$key_vars, numbers)
  } else {
    ask$key_vars
  }
  keys <- loss_variables(before, after, named, weight_var)
  columns <- lapply(rlang::set_names(keys), function(name) {
    compared_column(before[[name]], after[[name]], name, times)
  })
  other_order <- !counted && warn_other_order(before, after)
  pairs <- compared_pairs(columns, weights, weights_after, times)
  variables <- stack_frames(Map(
    variable_loss, columns, keys,
    MoreArgs = list(w = weights, w_after = weights_after, times = times)
  ))
  prints <- lapply(
    list(before = before, after = after), fingerprint_of, list(key_vars = keys)
  )
  more <- more_loss(before, after, keys, numbers, model, weights, weights_after)
  new_utility_loss(
    columns, variables, pairs, times, n_records(before), weight_var, prints, other_order, ask$call,
    more, numbers
  )
}

# The patterns of a table of a database before all that was done to it, and their values in its
# release, in rows of the same records.
counted_release <- function(before, after) {
  given <- as_file(before, "before")
  known <- if (is_remedy(after)) original_behind(after) else as_file(after, "after")
  known <- known$original
  asked <- list(key_vars = known$roles$key_vars)
  same <- !is.null(known) &&
    identical(fingerprint_of(known$data, asked), fingerprint_of(given$data, asked))
  if (!same) {
    stop_sdc("mismatched_data", c(
      "`before` must be the file before its first protection.",
      x = if (is.null(known)) {
        "Saved results do not hold it."
      } else {
        "Its patterns are not those of `after`."
      },
      i = "Give the protection alone, utility_loss(after), or the sdc_file() that all began with."
    ))
  }
  if (is.null(known$now)) {
    stop_sdc("bad_data", c(
      "It must be known what became of every pattern of the table.",
      x = "Exchanges, and suppression by columns that the file did not count, are not.",
      i = "dplyr::collect() brings a table, or a sample of it, into R."
    ))
  }
  list(before = new_file(known$data, known$roles), after = new_file(known$now, known$roles))
}

# Some figures need single records: patterns are written out for them.
more_loss <- function(before, after, keys, numbers, model, weights, weights_after) {
  times <- times_of(before)
  many <- vapply(keys, function(name) {
    is.numeric(before[[name]]) && length(unique(before[[name]])) > 0.2 * n_records(before)
  }, NA)
  if (!is.null(times)) {
    if (is.null(model) && !any(many)) {
      return(NULL)
    }
    rows <- rep(seq_along(times), times)
    of_records <- function(x, data) if (!is.null(x)) (x / times_of(data))[rows]
    weights <- of_records(weights, before)
    weights_after <- of_records(weights_after, after)
    before <- as.data.frame(before)[rows, ]
    after <- as.data.frame(after)[rows, ]
  }
  list(
    numbers = number_loss(before, after, keys, numbers),
    coefficients = interval_overlap(before, after, model, weights, weights_after)
  )
}

loss_variables <- function(before, after, key_vars, weight_var) {
  keys <- if (is.null(key_vars)) {
    setdiff(intersect(names(before), names(after)), weight_var)
  } else {
    names(before)[check_columns(key_vars, before, "key_vars")]
  }
  absent <- setdiff(keys, names(after))
  if (length(absent) || !length(keys)) {
    stop_absent(
      "`after` must have the variables that are compared.", absent, names(after),
      found = if (!length(absent)) "The files have no variable in common."
    )
  }
  keys
}

# A variable before and after as numbers of their values, 0 for missing: `own`
# before, `same` before but recoded as after was, `after`.
compared_column <- function(before, after, name, times = NULL) {
  coded <- function(x) {
    x <- plain_column(x)
    damaged <- has_bad_codes(x)
    if (is_candidates(x) || is.list(x) || length(dim(x)) > 0 || damaged) {
      stop_sdc(
        "bad_column", "Variables compared must hold plain values.",
        x = if (damaged) {
          paste0(quote_names(name), " is a factor with codes without a level.")
        } else {
          paste0(quote_names(name), " has class ", quote_names(class(x)), ".")
        },
        columns = name, classes = class(x)
      )
    }
    x <- column_values(x)
    if (is.factor(x)) {
      codes <- as.integer(x)
      occurs <- tabulate(codes, nlevels(x)) > 0
      return(list(codes = cumsum(occurs)[codes], text = levels(x)[occurs]))
    }
    # The distinct values are translated, not all.
    values <- unique(x)
    list(codes = match(x, values), text = value_names(values))
  }
  a <- coded(before)
  b <- coded(after)
  shared <- union(a$text, b$text)
  shared <- shared[!is.na(shared)]
  number <- function(coded) {
    code <- match(coded$text, shared, nomatch = 0L)[coded$codes]
    code[is.na(code)] <- 0L
    code
  }
  own <- number(a)
  new <- number(b)
  known <- own > 0 & new > 0
  # The value after of the first record with each value before.
  first <- match(seq_along(shared), own[known])
  image <- new[known][first]
  met <- !is.na(image)
  recoded <- all(image[own[known]] == new[known]) &&
    is_recoding(
      which(met), image[met], count_over(own, length(shared), times, known)[met],
      n_before = sum(!is.na(a$text)), numbers = numbers_of(shared)
    )
  same <- own
  joined <- FALSE
  if (recoded) {
    same[own > 0] <- ifelse(is.na(image), seq_along(shared), image)[own[own > 0]]
    # A dropped variable joins missing with the rest.
    joins <- own == 0 & new > 0
    joined <- length(unique(new[joins])) == 1
    if (joined) same[joins] <- new[joins]
  }
  list(
    own = own, same = same, after = new, recoded = recoded, joined = joined,
    n_values = length(shared),
    numbers = if (is.numeric(before) && is.numeric(after) && !is.object(before)) {
      list(before = as.double(before), after = as.double(after))
    }
  )
}

# TRUE if a function of values is a recoding, or noise and exchanges of values so rare that
# they are a function by chance: `from` and `to` are numbers of values, those before being the
# first `n_before`; `n` the records of each in `from`; `numbers` the values, where all are
# numbers.
is_recoding <- function(from, to, n, n_before, numbers) {
  moved <- from != to
  if (!any(moved)) {
    return(FALSE)
  }
  joined <- to %in% to[duplicated(to)]
  if (is.null(numbers)) {
    return(!any(moved & !joined & to <= n_before))
  }
  is_common <- sum(n[moved]) >= 2 * sum(moved)
  x <- numbers[from]
  y <- numbers[to]
  steps <- diff(y[order(x)])
  is_ordered <- all(steps >= 0) || all(steps <= 0)
  is_linear(x, y) || is_ordered && (is_common || any(joined)) ||
    is_common && all(joined[moved])
}

# Two points are always on a line.
is_linear <- function(x, y) {
  if (length(x) < 3) {
    return(FALSE)
  }
  ends <- range(x)
  line <- y[match(ends, x)]
  fit <- line[[1]] + (x - ends[[1]]) / diff(ends) * diff(line)
  max(abs(y - fit)) <= 1e-9 * max(abs(y))
}

# Values as numbers; NULL where some are none.
numbers_of <- function(text) {
  numbers <- as_number(text[!is.na(text)])
  if (!anyNA(numbers) && all(is.finite(numbers))) numbers
}

variable_loss <- function(column, name, w, w_after, times = NULL) {
  n <- if (is.null(times)) length(column$own) else sum(times)
  blank <- column$after == 0 & column$own > 0
  exchanged <- column$same != column$after & !blank
  sizes <- count_over(column$own + 1L, column$n_values + 1L, times)
  of_value <- sizes[column$own + 1L]
  of_group <- count_over(column$same + 1L, column$n_values + 1L, times)[column$same + 1L]
  lost <- log2(of_group / of_value)
  # If missing was joined with the rest, a missing value could be anything now.
  gone <- blank | column$joined & column$own == 0 & column$after == 0
  lost[gone] <- log2(n / of_value[gone])
  il1s <- NA_real_
  if (!is.null(column$numbers) && !column$recoded) {
    x <- column$numbers$before
    s <- deviation_over(x, times)
    if (!is.na(s) && s > 0) {
      il1s <- known_mean(abs(x - column$numbers$after), times) / (sqrt(2) * s)
    }
  }
  bits_lost <- sum_over(lost, times)
  bits <- sum_over(log2(n / sizes)[column$own + 1L], times)
  n_known <- function(codes) sum(tabulate(codes, column$n_values) > 0)
  what <- c("recoded", "exchanged", "blanks")[c(column$recoded, any(exchanged), any(blank))]
  out <- frame(
    variable = name, change = if (length(what)) paste(what, collapse = ", ") else "none",
    n_values_before = n_known(column$own), n_values_after = n_known(column$after),
    n_exchanged = as_count(sum_over(exchanged, times)),
    prop_exchanged = mean_over(exchanged, times),
    n_blank = as_count(sum_over(blank, times)), prop_blank = mean_over(blank, times),
    bits_lost = bits_lost, bits = bits, prop_bits_lost = share_of(bits_lost, bits),
    tv = variation(column$same, column$after, times), il1s = il1s
  )
  if (!is.null(w)) out$tv_weighted <- variation(column$same, column$after, w, w_after)
  out
}

share_of <- function(part, whole) if (whole > 0) part / whole else 0

# Half the sum of the absolute differences of shares.
variation <- function(before, after, w = NULL, w_after = w) {
  both <- c(before, after)
  values <- unique(both)
  at <- match(both, values)
  is_before <- seq_along(before)
  shares <- function(at, w) {
    sums <- if (is.null(w)) {
      tabulate(at, length(values))
    } else {
      as.vector(tapply(w, factor(at, seq_along(values)), sum, default = 0))
    }
    sums / sum(sums)
  }
  sum(abs(shares(at[is_before], w) - shares(at[-is_before], w_after))) / 2
}

compared_pairs <- function(columns, w, w_after, times = NULL) {
  names <- names(columns)
  if (length(names) < 2) {
    return(frame(variable_1 = character(), variable_2 = character(), tv = numeric()))
  }
  at <- utils::combn(length(names), 2)
  joint <- function(i, part) {
    first <- columns[[at[1, i]]]
    second <- columns[[at[2, i]]]
    first[[part]] * (second$n_values + 1) + second[[part]]
  }
  rows <- seq_len(ncol(at))
  out <- frame(
    variable_1 = names[at[1, ]], variable_2 = names[at[2, ]],
    tv = vapply(rows, function(i) variation(joint(i, "same"), joint(i, "after"), times), 0)
  )
  if (!is.null(w)) {
    out$tv_weighted <- vapply(rows, function(i) {
      variation(joint(i, "same"), joint(i, "after"), w, w_after)
    }, 0)
  }
  out
}

new_utility_loss <- function(columns, variables, pairs, times, n, weight_var, prints, other_order,
                             this_call, more, numbers) {
  is_key <- !names(columns) %in% numbers
  counted <- is_key | !any(is_key)
  touched <- Reduce(`|`, lapply(columns[counted], function(column) column$same != column$after))
  mean_of <- function(x) if (length(x)) mean(x) else NA_real_
  # Totals are of the key variables.
  v <- variables[counted, ]
  p <- pairs[pairs$variable_1 %in% v$variable & pairs$variable_2 %in% v$variable, ]
  estimates <- frame(
    n = n, n_exchanged = sum(v$n_exchanged), prop_exchanged = mean(v$prop_exchanged),
    n_blank = sum(v$n_blank), prop_blank = mean(v$prop_blank),
    n_records_changed = as_count(sum_over(touched, times)),
    bits_lost = sum(v$bits_lost), bits = sum(v$bits),
    prop_bits_lost = share_of(sum(v$bits_lost), sum(v$bits)),
    tv_margins = mean(v$tv), tv_pairs = mean_of(p$tv),
    tv_pairs_max = if (nrow(p)) max(p$tv) else NA_real_
  )
  if (!is.null(weight_var)) {
    estimates$tv_margins_weighted <- mean(v$tv_weighted)
    estimates$tv_pairs_weighted <- mean_of(p$tv_weighted)
  }
  if (!is.null(more$numbers)) {
    # A constant has none.
    estimates$il1s <- mean_of(more$numbers$il1s[!is.na(more$numbers$il1s)])
    estimates$mean_change <- largest(abs(more$numbers$mean_change))
    estimates$quantile_change <- largest(more$numbers$quantile_change)
    estimates$correlation_change <- largest(more$numbers$correlation_change)
  }
  if (!is.null(more$coefficients)) {
    estimates$ci_overlap <- mean_of(more$coefficients$overlap)
    estimates$ci_overlap_least <- -largest(-more$coefficients$overlap)
  }
  new_sdc_result(
    "sdc_utility_loss",
    estimates = estimates, records = NULL,
    settings = list(
      key_vars = names(columns), num_vars = names(columns)[!is_key], weight_var = weight_var,
      n = n,
      fingerprint = prints$before, wave_fingerprints = prints,
      version = own_version()
    ),
    diagnostics = list(n_keys = sum(is_key), other_order = other_order), call = this_call,
    variables = variables, pairs = pairs, numbers = more$numbers,
    coefficients = more$coefficients
  )
}

#' @export
as.data.frame.sdc_utility_loss <- function(x, ...) enter_verb("as.data.frame", x)$variables

#' Picture of what was lost
#'
#' Per variable the share of bits lost to recoding and suppression and the share of values
#' exchanged.
#'
#' @param object A result of [utility_loss()].
#' @param ... None.
#' @return A ggplot.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_utility_loss
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' plot(utility_loss(adult, transform(adult, age = 10 * (age %/% 10)), c("age", "sex")))
autoplot.sdc_utility_loss <- function(object, ...) {
  enter_picture(object)
  variables <- object$variables
  # A panel without a bar would say nothing.
  shares <- list(
    "bits lost" = variables$prop_bits_lost, "values exchanged" = variables$prop_exchanged
  )
  is_empty <- vapply(shares, function(x) all(x == 0), NA)
  shares <- if (all(is_empty)) shares[1] else shares[!is_empty]
  shown <- frame(
    variable = factor(rep(variables$variable, length(shares)), rev(variables$variable)),
    share = unlist(shares, use.names = FALSE),
    panel = factor(rep(names(shares), each = nrow(variables)), names(shares))
  )
  ggplot2::ggplot(shown, ggplot2::aes(x = .data$share, y = .data$variable)) +
    ggplot2::geom_col(fill = sdc_blue, width = 0.7) +
    ggplot2::facet_wrap(ggplot2::vars(.data$panel)) +
    ggplot2::scale_x_continuous(labels = format_percent, limits = c(0, 1)) +
    name_axis() +
    sdc_labs(
      title = "What was lost, per variable?", x = NULL, y = NULL,
      subtitle = paste0(
        format_percent(object$estimates$prop_bits_lost), " of the bits lost, ",
        format_percent(object$estimates$prop_exchanged), " of the values exchanged"
      )
    )
}

# Information loss is not a risk.
loss_figure <- function(label, unit, says = NULL) {
  f <- figure("", unit, scenario = "none", direction = "none")
  f$label <- label
  f$says <- says
  f
}

declare_measure(
  "utility_loss",
  reference = c("gionis2009", "karr2006"), terms = setdiff(names(e), "n"),
  title = "Loss of information",
  question = "how much information did the protection cost the users of the file?",
  size = paste0(
    plural(n, "record"), ", ", variables_in_words(x), "; ",
    plural(sum(x$variables$change != "none"), "variable"), " changed."
  ),
  figures = list(
    prop_bits_lost = loss_figure(
      "Information lost by recoding and suppression", "share",
      "recoding and suppression took %s of the bits"
    ),
    prop_blank = loss_figure("Suppressed values", "share", "%s of the values are suppressed"),
    prop_exchanged = loss_figure("Exchanged values", "share", "%s of the values were exchanged"),
    n_records_changed = loss_figure("Records with suppressed or exchanged values", "count"),
    tv_margins = loss_figure(
      "Total variation of margins, mean", "risk", "margins moved by %s on average"
    ),
    tv_pairs = loss_figure(
      "Total variation of pairs, mean", "risk", "pairs moved by %s on average"
    ),
    tv_margins_weighted = loss_figure("Total variation of weighted margins", "risk"),
    il1s = loss_figure(
      "Mean change of continuous variables (IL1s)", "number",
      "numbers moved by %s of the square root of 2 standard deviations on average (IL1s)"
    ),
    mean_change = loss_figure("Largest change of a mean, in standard deviations", "number"),
    quantile_change = loss_figure("Largest change of a decile, in standard deviations", "number"),
    correlation_change = loss_figure("Largest change of a correlation", "number"),
    ci_overlap = loss_figure(
      "Overlap of the intervals of the regression, mean", "share",
      "the intervals of the regression overlap by %s on average"
    ),
    ci_overlap_least = loss_figure("Overlap of the intervals of the regression, least", "share")
  ),
  table = changed_variables(x$variables), rest = "x$variables",
  notes = "Information loss ignores exchanged values. Distances ignore recoding.",
  measured = paste0(
    "The loss of information by a protection was measured in ", plural(n, "record"), " with ",
    variables_in_words(x)
  ),
  limits = paste(
    "the measures answer for different changes and are not added up; what an analysis loses is",
    "seen by repeating it"
  ),
  source = "non-uniform entropy of Gionis and Tassa 2009; total variation"
)

# "5 variables, 2 continuous variables", whose loss is a matter of its own.
variables_in_words <- function(x) {
  n <- c(x$diagnostics$n_keys, length(x$settings$num_vars))
  paste(plural(n, c("variable", "continuous variable"))[n > 0], collapse = ", ")
}

changed_variables <- function(variables) {
  changed <- variables[variables$change != "none", ]
  changed[
    order(-changed$bits_lost - changed$n_exchanged),
    c("variable", "change", "prop_bits_lost", "prop_blank", "prop_exchanged", "tv")
  ]
}
