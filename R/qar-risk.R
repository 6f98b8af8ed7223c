#' Extreme re-identification risk over key sets
#'
#' Measures how easily a few known key variables single out records, in the worst choices of these
#' variables. Use it if you cannot know which variables an intruder has. The extreme risk
#' \eqn{T(p, \alpha)} is the \eqn{1 - \alpha} quantile of the risks of all key sets of size `p`,
#' from the tail of their distribution (the QaR method).
#'
#' @concept extreme risk
#' @concept sample unique
#'
#' @details A file has \eqn{L} records and \eqn{N} key variables. Key set \eqn{j} takes \eqn{H(j)}
#' distinct keys (equivalence classes); its risk is
#' \deqn{\theta(j) = H(j) / L, \quad j = 1, \dots, N_p = {N \choose p}.}{%
#'   theta(j) = H(j) / L, j = 1, ..., N_p = choose(N, p).}
#' Because every class of size \eqn{k} contributes \eqn{k \cdot 1/k = 1}{k * 1/k = 1},
#' \eqn{\theta(j)}{theta(j)} is also the average over records of the prosecutor risk \eqn{1/k}:
#' the chance that an intruder who knows the target is in the file, and knows its key, picks the
#' right record.
#'
#' The threshold \eqn{u} is the empirical \eqn{1 - \pi_u}{1 - pi_u} quantile of
#' the risks (definition 8 of Hyndman and Fan): it lies between two of them, or is
#' one of them exactly if \eqn{(N_p + 1/3)(1 - \pi_u) + 1/3}{%
#' (N_p + 1/3) (1 - pi_u) + 1/3} is a whole number. To the excesses
#' \eqn{\mathrm{logit}\,\theta(j) - \mathrm{logit}\,u}{logit(theta(j)) - logit(u)}
#' of the risks strictly above it a generalised Pareto distribution with shape
#' \eqn{\xi}{xi} and scale \eqn{\beta}{beta} is fitted by probability-weighted
#' moments, and
#' \deqn{\mathrm{logit}\,\hat T(p, \alpha) = \mathrm{logit}\,u +
#'   \frac{\hat\beta}{\hat\xi}\left[\left(\frac{\alpha}{\pi_u}\right)^{-\hat\xi} - 1\right].}{%
#'   logit(T) = logit(u) + (beta / xi) ((alpha / pi_u)^(-xi) - 1).}
#' `pwm` chooses the weights of the moments (Hosking and Wallis 1987); the two choices differ
#' noticeably if exceedances are few. `vignette("extreme-risk")` has their formulas.
#'
#' @section What the number is not: \eqn{T} describes this file, not a population, so no sampling
#' error is given: resampling records is wrong for distinct counts. It depends on the threshold:
#' `autoplot(x, "threshold")` and a line of the print show \eqn{T} for `pi_u` from 0.02 to 0.20.
#' Key sets share variables, so that their risks are not an independent sample; the tail is a
#' device to smooth an extreme quantile.
#'
#' @section When the tail cannot be fitted:
#' The column `status` of `estimates` has the reason, and a warning (a message for a single set) has
#' advice.
#'
#' \describe{
#'   \item{`ok`}{ten exceedances or more.}
#'   \item{`few`}{one to nine exceedances: `risk` is \eqn{T}, but unreliable; `NA` with one
#'     exceedance and `pwm = "unbiased"`.}
#'   \item{`no_exceedance`}{no risk above the threshold, as when all are equal: `risk` is the
#'     threshold.}
#'   \item{`theta_one`}{a key set identifies every record: `risk` is 1 by definition, see
#'     `theta_one`; `NA` if that leaves no set.}
#'   \item{`single`}{there is one key set, `p` being the number of key variables: `risk` is its
#'     risk.}
#' }
#'
#' `risk` equals `threshold` exactly if `alpha` equals `pi_u`, unless the status is `theta_one`. If
#' all excesses are equal, unbiased weights give no shape: the more alike the excesses, the nearer
#' \eqn{T} comes to the largest risk. Then `risk` is the largest risk, `shape` and `scale` are
#' `NA`, and there is a message. One exceedance has no such limit: `risk` is `NA`.
#'
#' @section Few key sets: \eqn{T} is a quantile over key sets, and needs many of them. With 10 key
#' variables there are 120 sets of three, and a few exceed the threshold; with 6 there are 20, and
#' a share `alpha` of 0.01 is less than one set. \eqn{T} is then an extrapolation that can exceed
#' the risk of every set. The print begins with the riskiest key set, `diagnostics$fit$beyond` is
#' `TRUE`, and the risk of the riskiest key set is the number to report. If possible, the warning
#' and the print name the least `pi_u` in whole per cent that leaves ten exceedances, up to 0.25,
#' since a tail has at most a quarter of the key sets. The status is about exceedances only, and can
#' be `ok` for an extrapolation.
#'
#' @section Households:
#' With `hh_id` the risk of households is measured, too. On a key set a household is known
#' by its *composition*, the multiset of its members' keys (see [household_risk()]); with
#' \eqn{L_h} households of \eqn{H_h(j)} compositions the risk of the key set is \eqn{H_h(j) /
#' L_h}, and the tail is fitted in the same way. `estimates` also has \eqn{T} of the households
#' (`household_risk`, `household_risk_empirical`, `n_households`), and `sets` has
#' `n_compositions`, `n_unique_households` and `household_set_risk`; all are `NA` if key sets are
#' sampled. With `missing = "exclude"` households with an incomplete member are left out. About
#' 0.1 s more for a million records.
#'
#' @section Very many key sets: If a size has more than `max_sets` key sets, a stratified sample of
#' that many is counted. The counts of pairs of key variables bound the distinct keys of a set; the
#' half with the highest bounds is counted completely, the rest is drawn at random, without
#' replacement, from four strata of the bound, and every set drawn represents its share of the
#' stratum. The estimates then have a standard error by design: the jackknife over ten random
#' groups of the sample, and the change by one more draw above the threshold. There is a warning of
#' class `sdcRisk_warning_sampled_sets`, and `sets` lists the counted sets; `variables` and the
#' sensitivity to the threshold are left out. If the sets counted completely include every risk
#' above the threshold, the result is exact, the error zero, and the condition a message. More than
#' 100 million key sets are an error of class `sdcRisk_error_too_large`, raised before any work.
#' The draw obeys [set.seed()].
#'
#' @section Missing values:
#' `"category"` treats missing as a value of its own; `"exclude"` drops every record that misses a
#' value of any key variable, as the authors do. `NaN` is missing. A missing value cannot
#' match everything here, since distinct counts are not defined then; use [n_matches()].
#'
#' @section Cost:
#' Time grows with the number of key sets times the number of records, less if records become
#' unique early. Memory grows by one to four bytes per record and key variable (one up to 255
#' values, two up to 65,535), 8 bytes per record, thread and key variable in a set, and about 50
#' bytes per key set and member; results list every key set unless `sets = FALSE`.
#' Memory beyond `data`, with five key variables and two threads: at most 50 bytes a record, and
#' these.
#'
#' @inheritParams sdcRisk-params
#' @param ... Rarely used arguments, those of `qar_risk_control()`, by their full names, or
#'   together: `control = qar_risk_control(...)`.
#' @param p Size of the key sets: one or several whole numbers from 1 to the number of key
#'   variables.
#' @param alpha Share of key sets whose risk may exceed \eqn{T}: one or several numbers above 0
#'   and at most `pi_u`.
#' @param pi_u Share of key sets above the threshold \eqn{u}, between 0 and 1.
#' @param pwm Weights of the moments: `"plotting"` positions or `"unbiased"`.
#' @param theta_one Treatment of key sets that identify every record, for which the logit is
#'   infinite: the extreme risk is `"one"`; `"clamp"` counts half a key less; `"exclude"` leaves
#'   these sets out.
#' @param sets Whether to keep the table of all key sets. `FALSE` gives the same estimates without
#'   `sets`, `variables` and the sensitivity to the threshold, sooner: key sets that cannot reach
#'   the threshold, by the distinct keys of their subsets, are not counted
#'   (`diagnostics$share_counted`).
#' @param max_sets Largest number of key sets to count. If there are more, a sample of this number
#'   is counted, see the section on very many key sets.
#' @param max_patterns For a table of a database: if it has more patterns than this, the engine
#'   counts one key set after the other, at most 20,000 of them, see
#'   [pattern_table()].
#'
#' @return An object of class `sdc_qar_risk`, an [sdc_result] whose `records` are `NULL`, with
#' \describe{
#'   \item{`estimates`}{one row per `p` and `alpha`: `p`, `alpha`, `risk` (\eqn{\hat T}{T}),
#'     `risk_empirical` (the empirical \eqn{1 - \alpha} quantile, definition 8), `threshold`
#'     (\eqn{u}), `shape`, `scale`, `n_exceedances`, `n_sets` (\eqn{N_p}), `n_records` (\eqn{L}),
#'     `status`}
#'   \item{`sets`}{one row per key set by falling risk, ties in the order of [combn()]: `key_set`,
#'     `p`, `n`, `n_distinct` (\eqn{H}), `n_unique` (sample uniques), `n_pairs` (keys that two
#'     records share), `set_risk` (\eqn{\theta}{theta}); this is `as.data.frame()`}
#'   \item{`variables`}{per `p`, `alpha` and key variable: `n_distinct` values, `share_top` (share
#'     of the riskiest 5% of key sets that contain it) and `risk_without` (\eqn{T} of the file
#'     without it, `NA` if too few key variables remain). Leaving out a variable makes no key set
#'     riskier, but can raise \eqn{T}: if the key sets that contain it were the less risky ones,
#'     the riskier ones are a larger share of those that remain}
#'   \item{`diagnostics`}{`threshold`: \eqn{T} over `pi_u`; `identifying`: per `p` the number of
#'     key sets that identify every record, the first of them, of how many counted, and whether all
#'     are known (`all_known`; a sample may miss some); `identifying_variables`: how many of them
#'     contain each key variable; `identifying_sets`: up to 20 of them; `without_theta_one`: the
#'     estimates without them; `fit`: per `p` and `alpha` the `largest` risk in use, whether it
#'     lies below the end point of the fitted tail (`feasible`, also
#'     a table of its own), whether a share `alpha` of the key
#'     sets is less than one (`beyond`) and whether all excesses are equal under unbiased weights
#'     (`equal`); `share_counted`: share of the key sets that were counted, per `p`; `n_excluded`
#'     records; `sampling`, if key sets were sampled: `p`, `alpha`, `n_sets`, `n_counted`,
#'     `n_complete` (counted whole for their bounds), `exact` and `risk_se`}
#' }
#' @references
#' Bera, M., Daskalaki, V., Saporta, G., Spiliopoulos, K., Spinakis, K. and Stavropoulos, P.
#' (2023). Quantifying the contribution of individual records to the reidentification risk of
#' (pseudo)anonymized datasets. 64th ISI World Statistics Congress, Ottawa. HAL archive,
#' hal-04165346.
#'
#' AFNOR (2020). AFNOR SPEC Z90-030: La méthode QaR de mesure du risque extrême de
#' réidentification d'une base de données. No text or code of it is public; this implementation
#' follows the paper.
#'
#' Hosking, J. R. M. and Wallis, J. R. (1987). Parameter and quantile estimation for the
#' generalized Pareto distribution. Technometrics 29(3), 339-349.
#' \doi{10.1080/00401706.1987.10488243}.
#'
#' Hyndman, R. J. and Fan, Y. (1996). Sample quantiles in statistical packages. The American
#' Statistician 50(4), 361-365. \doi{10.1080/00031305.1996.10473566}.
#' @family extreme risk
#' @seealso [compare_risk()], [interpret()]
#' @export
#' @examples
#' risk <- qar_risk(adult, pi_u = 0.1)
#' risk
#' risk$estimates$risk
#' head(as.data.frame(risk), 3)
qar_risk <- function(data, key_vars = NULL, p = 3, alpha = 0.01, pi_u = 0.05, ...,
                     missing = "category", pwm = c("plotting", "unbiased"),
                     theta_one = c("one", "clamp", "exclude"), sets = TRUE,
                     key_groups = NULL, hh_id = NULL) {
  ask <- read_or_query(announce("qar_risk"))
  data <- ask$data
  missing <- ask$missing
  check_no_dots(...)
  p <- check_whole(p, "p", several = TRUE)
  pi_u <- check_probability(pi_u, "pi_u")
  alpha <- check_alpha(alpha, pi_u)
  check_missing_rule(missing)
  pwm <- check_choice(pwm, c("plotting", "unbiased"), "pwm")
  theta_one <- check_choice(theta_one, c("one", "clamp", "exclude"), "theta_one")
  check_flag(sets, "sets")
  max_sets <- check_whole(ask$max_sets, "max_sets")

  if (is.null(ask$file)) {
    if (!is.null(ask$hh_id)) {
      stop_argument(
        "hh_id", "be NULL for a table of a database",
        found = "Its patterns have no households."
      )
    }
    return(with_progress("Asking for key sets", {
      result <- qar_by_queries(
        data, ask$key_vars, ask$key_groups,
        list(
          p = p, alpha = alpha, pi_u = pi_u, missing = missing, pwm = pwm, theta_one = theta_one
        ), sets, max_sets, ask$call
      )
      signal_qar(result)
      result
    }))
  }
  hh_at <- if (!is.null(ask$hh_id)) check_column(ask$hh_id, data, "hh_id")
  check_no_roles(data, ask$key_vars, hh_at)

  with_progress("Counting key sets", {
    code <- function(listwise, labels = list()) {
      key_table(
        ask$file, ask$key_vars,
        key_groups = ask$key_groups, listwise = listwise, merged = TRUE, exclude = hh_at,
        labels = labels, roles = role_columns(data, list(hh_id = hh_at)),
        check_keys = function(keys) check_p(p, length(keys))
      )
    }
    at_home <- if (!is.null(hh_at)) code(FALSE, list(households = hh_at))
    check_every_household(at_home$labels$households)
    table <- if (missing == "exclude" || is.null(at_home)) code(missing == "exclude") else at_home
    settings <- file_settings(
      table,
      p = p, alpha = alpha, pi_u = pi_u, missing = missing, pwm = pwm, theta_one = theta_one,
      hh_id = if (!is.null(hh_at)) names(data)[[hh_at]]
    )
    tail <- list(
      alpha = alpha, pi_u = pi_u, pwm = pwm, theta_one = theta_one, max_sets = max_sets,
      thresholds = threshold_grid, names = enc2utf8(names(table$keys))
    )
    counted <- lapply(p, function(size) {
      tail$p <- size
      if (!sets) tail$most_listed <- most_listed
      if (choose(length(table$keys), size) > max_sets) tail$seed <- draw_seed()
      core(rs_qar_risk, table$pointer, tail)
    })
    result <- new_qar_risk(counted, settings, names(table$keys), table$n, sets, ask$call)
    if (!is.null(at_home)) {
      result <- add_households(result, count_households(at_home, settings, tail))
    }
    signal_qar(result)
    result
  })
}

#' @rdname qar_risk
#' @export
qar_risk_control <- function(max_sets = 5e6, max_patterns = 5e6, ...) {
  new_control("qar_risk_control")
}

check_alpha <- function(alpha, pi_u) {
  alpha <- check_probability(alpha, "alpha", several = TRUE)
  # Equal but for rounding, such as 1 - 0.95 and 0.05, is equal.
  alpha[abs(alpha - pi_u) < 1e-12] <- pi_u
  if (any(alpha > pi_u)) {
    stop_argument(
      "alpha", "be at most `pi_u`",
      found = paste0(
        "`alpha` goes up to ", format_number(max(alpha)), ", `pi_u` is ", format_number(pi_u), "."
      ),
      advice = "The tail is fitted above the 1 - pi_u quantile only."
    )
  }
  alpha
}
