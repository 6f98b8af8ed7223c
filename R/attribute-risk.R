#' Attribute disclosure: what a key reveals of a sensitive value
#'
#' Measures what an intruder learns of a sensitive value without finding anybody. Records that share
#' a key may share a sensitive value: anyone who knows the key of a person then knows the value,
#' however many records share it. Use it with sensitive variables, and with `released` for what a
#' protected or synthetic file tells of the people in the original. The result has the measures of
#' the field, each with its value for an intruder without a key, and the risk of each record.
#'
#' @details
#' The *matches* of a record are the records that agree with it on the key variables, itself
#' included. Of the matches with a value of the sensitive variable let \eqn{p_v} be the share of
#' value \eqn{v}, and \eqn{q_v} its share in the file. `measure` is one of
#' \describe{
#'   \item{`"l_distinct"`, `"l_entropy"`, `"l_recursive"`}{l-diversity (Machanavajjhala et al.
#'     2007): the least number of values among the matches of a record; the least
#'     \eqn{\exp(-\sum p_v \ln p_v)}{exp(-sum p_v ln p_v)}; and the \eqn{c} of recursive
#'     \eqn{(c, 2)}-diversity, which holds for every \eqn{c} above: the most frequent value over
#'     all others together, at most, `Inf` if a value is told}
#'   \item{`"t"`}{t-closeness (Li, Li and Venkatasubramanian 2007): the greatest distance of
#'     \eqn{p} from \eqn{q}, the total variation of values without an order and the earth
#'     mover's distance of ordered ones}
#'   \item{`"alpha"`}{(\eqn{\alpha}, k)-anonymity (Wong et al. 2006): the largest \eqn{p_v}}
#'   \item{`"beta_basic"`, `"beta_enhanced"`}{\eqn{\beta}{beta}-likeness (Cao and Karras 2012):
#'     the largest gain \eqn{B = \max (p_v - q_v) / q_v}{B = max (p_v - q_v) / q_v}, and the
#'     smaller of \eqn{B} and \eqn{-\ln q_v}{-ln q_v} of the rarest value}
#'   \item{`"delta"`}{\eqn{\delta}{delta}-disclosure (Brickell and Shmatikov 2008): the largest
#'     \eqn{|\ln (p_v / q_v)|} of the values among the matches}
#'   \item{`"uio"`}{share of records that are unique on the key variables}
#'   \item{`"dorig"`}{share of records whose value is told: all matches with a value share one}
#'   \item{`"cap"`}{correct attribution probability: the mean share of a record's own value
#'     among its matches (in the released file, if there is one, 0 without a match)}
#'   \item{`"disco"`}{with `released`: share of records whose matches in the released file share
#'     one value, and that is theirs (disclosive in synthetic, correct original; Raab, Nowok and
#'     Dibben 2025)}
#'   \item{`"tcap"`}{with `released`: the same, of the records with a match in the released file}
#'   \item{`"repu"`}{with `released`: share of records that are unique on the key variables in
#'     both files (replicated uniques)}
#' }
#' `baseline` is the same measure for an intruder without a key: of all records together. For
#' `cap`, `disco` and `tcap` it is the chance \eqn{\sum q_v^2}{sum q_v^2} of a guess by the
#' shares. A measure near its baseline tells little: for a value that 98% have, most matches
#' share it. With `group_similar` values that are equally sensitive count as one.
#'
#' @section Missing values:
#' Of key variables by `missing`, as in [n_matches()]: `"wildcard"` lets a missing value match
#' every value, so suppressed values of a released file are handled as an intruder must handle
#' them. A missing value of a sensitive variable is not a value: the record counts among the
#' matches of nobody, and has no `posterior`. `dorig` and `uio` are shares of all records, also of
#' those for which the matches tell a value that they do not have; `cap`, `disco` and `tcap` of
#' those with a value.
#'
#' @section Cost:
#' Grouping the records by key if no key value is missing; the cost of [n_matches()] with
#' `sensitive` else. A million complete records with eight key variables and five sensitive ones
#' take 2 s of processor time at 2 threads.
#'
#' @inheritParams sdcRisk-params
#' @param sensitive Names of the sensitive variables.
#' @param missing `"wildcard"`, `"category"` or `"exclude"`, see the section on missing values.
#' @param group_similar A list named by sensitive variables. Each entry is a list of vectors of
#'   values that count as one, such as `list(disease = list(c("HIV", "hepatitis")))`.
#' @param released A released file with the same variables: protected, recoded alike in both
#'   files, or synthetic. Measures that are not described with it are those of `data` alone.
#' @param limit `NULL`, or a limit of the share of a record's value among its matches
#'   (`posterior`): the print then ends with the number of records above it, and
#'   [records_at_risk()] names them.
#'
#' @return An object of class `sdc_attribute_risk`, an [sdc_result] with
#' \describe{
#'   \item{`estimates`}{one row per sensitive variable and measure: `sensitive`, `measure`,
#'     `value`, `baseline`}
#'   \item{`records`}{one row per record: `posterior`, the share of its value among its matches,
#'     and `told`, whether they tell its value rightly; this is `as.data.frame()`. With several
#'     sensitive variables the names end in the variable's}
#' }
#' Errors: `bad_argument`, `bad_data`. Warning `no_matches`: no original record has a match in
#' the released file.
#' @references
#' Brickell, J. and Shmatikov, V. (2008). The cost of privacy. KDD 2008, 70-78.
#' \doi{10.1145/1401890.1401904}
#'
#' Cao, J. and Karras, P. (2012). Publishing microdata with a robust privacy guarantee.
#' Proceedings of the VLDB Endowment 5(11), 1388-1399. \doi{10.14778/2350229.2350255}
#'
#' Elliot, M. (2015). Final report on the disclosure risk associated with the synthetic data
#' produced by the SYLLS team. CMIST, University of Manchester.
#'
#' Li, N., Li, T. and Venkatasubramanian, S. (2007). t-Closeness: privacy beyond k-anonymity and
#' l-diversity. ICDE 2007, 106-115. \doi{10.1109/ICDE.2007.367856}
#'
#' Machanavajjhala, A., Kifer, D., Gehrke, J. and Venkitasubramaniam, M. (2007). l-diversity:
#' privacy beyond k-anonymity. ACM Transactions on Knowledge Discovery from Data 1(1), 3.
#' \doi{10.1145/1217299.1217302}
#'
#' Raab, G. M., Nowok, B. and Dibben, C. (2025). Practical privacy metrics for synthetic data.
#' Vignette of the R package synthpop.
#'
#' Wong, R. C.-W., Li, J., Fu, A. W.-C. and Wang, K. (2006). (alpha, k)-anonymity. KDD 2006,
#' 754-759. \doi{10.1145/1150402.1150499}
#' @family risk of keys
#' @concept attribute disclosure
#' @concept l-diversity
#' @concept t-closeness
#' @export
#' @examples
#' keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER")
#' told <- attribute_risk(nals_prison, keys, sensitive = "DRACE3")
#' told
#' told$estimates
#'
#' # Nothing is learnt of the original from a file whose sensitive values were shuffled.
#' released <- nals_prison
#' released$DRACE3 <- rev(released$DRACE3)
#' attribute_risk(nals_prison, keys, "DRACE3", released = released)
attribute_risk <- function(data, key_vars = NULL, sensitive, ..., missing = "wildcard",
                           group_similar = NULL, released = NULL, limit = NULL) {
  ask <- enter("attribute_risk")
  data <- ask$data
  check_no_dots(...)
  check_choice(ask$missing, c("category", "exclude", "wildcard"), "missing")
  if (length(ask$sensitive) == 0) {
    check_given("sensitive")
    stop_argument("sensitive", "name at least one variable")
  }
  sensitive <- names(data)[check_columns(ask$sensitive, data, "sensitive")]
  keys <- attribute_keys(data, ask$key_vars, sensitive)
  groups <- check_similar(group_similar, sensitive)
  limit <- check_record_limit(limit)
  released <- attribute_release(released, keys, sensitive)
  with_progress("Attribute disclosure", {
    coded <- code_attributes(ask$file, released, keys, sensitive)
    inform_identifying(identifying_keys(coded$table))
    found <- find_attributes(coded, groups, ask$missing, data)
    inform_excluded(coded$table$n_all - length(found$own$matches), coded$table$n_all)
    if (!is.null(released)) warn_unmatched(sum(found$released$matches > 0))
    settings <- file_settings(
      coded$table, missing = ask$missing, sensitive = sensitive, released = !is.null(released),
      group_similar = if (length(groups)) names(groups)
    )
    with_limit(new_attribute_risk(found, coded, sensitive, settings, data, ask$call), limit)
  })
}

attribute_keys <- function(data, key_vars, sensitive) {
  keys <- names(data)[resolve_key_vars(data, key_vars, match(sensitive, names(data)))]
  both <- intersect(keys, sensitive)
  refuse_names(
    both, "sensitive", "name variables that are not key variables",
    "Both", "An intruder who knows a value has nothing to learn of it."
  )
  keys
}

# A second file as a data frame with the columns asked for.
attribute_release <- function(released, keys, sensitive, arg = "released") {
  if (is.null(released)) {
    return(NULL)
  }
  released <- as.data.frame(as_file(released, arg)$data)
  check_records(released, arg)
  absent <- setdiff(c(keys, sensitive), names(released))
  if (length(absent)) {
    stop_argument(
      arg, paste0(
        "have the key variables", if (length(sensitive)) " and the sensitive ones", " as columns"
      ),
      found = paste0("Not found: ", quote_names(absent), ".")
    )
  }
  released
}

warn_unmatched <- function(n_found) {
  if (n_found == 0) {
    warn_sdc("no_matches", c(
      "The released file should have records that match original ones.",
      x = "No original record has a match.",
      i = "Was a key variable recoded in one of the files only? Recode it in both alike."
    ))
  }
}

# Entries of `group_similar`: lists of vectors, by sensitive variable.
check_similar <- function(group_similar, sensitive) {
  if (is.null(group_similar)) {
    return(list())
  }
  named <- is.list(group_similar) && length(names(group_similar)) == length(group_similar)
  if (!named || !all(names(group_similar) %in% sensitive)) {
    stop_argument(
      "group_similar", "be a list named by sensitive variables",
      found = if (named) {
        paste0("Unknown: ", quote_names(setdiff(names(group_similar), sensitive)), ".")
      },
      advice = "For example list(disease = list(c(\"a\", \"b\")))."
    )
  }
  lapply(group_similar, function(groups) if (is.list(groups)) groups else list(groups))
}

# File, released file, and sensitive variables as coded columns; equal values have equal codes
# in both files.
code_attributes <- function(file, released, keys, sensitive) {
  data <- file$data
  at <- as.list(match(sensitive, names(data)))
  names(at) <- paste0("sensitive_", seq_along(at))
  table <- key_table(
    file, keys, labels = at, roles = role_columns(data, list(sensitive = sensitive))
  )
  coded <- list(table = table, own = unname(table$labels[names(at)]))
  if (!is.null(released)) coded$both <- code_attacked(list(data, released), keys, sensitive)
  coded
}

# Several files, coded together: tables of the key variables by file, of each sensitive variable
# by file, and their values below each other.
code_attacked <- function(files, keys, sensitive) {
  requests <- lapply(c(list(keys), as.list(sensitive)), function(names) {
    shared_request(files, names)
  })
  coded <- code_requests(requests)
  release_later(unlist(coded, recursive = FALSE))
  list(
    keys = coded[[1]], values = coded[-1],
    sources = lapply(requests[-1], function(request) request$sources[[1]])
  )
}

# The matches of `targets` in `file`, and what they tell of the values `own`; `values` are those
# of the file. Without `targets` the matches of the file's own records.
find_told <- function(file, targets, values, own, missing,
                      groups = vector("list", length(own))) {
  core(rs_attribute_risk, file$pointer, targets$pointer, list(
    missing = missing,
    sensitive = unname(Map(function(values, own, groups) {
      list(file = values$pointer, own = own$pointer, ordered = values$ordered, groups = groups)
    }, values, own, groups))
  ))
}

# Attribute disclosure by the file for its own records, and by the released file.
find_attributes <- function(coded, groups, missing, data) {
  sensitive <- vapply(coded$own, function(table) table$variables, "")
  similar <- function(text_of) {
    Map(function(name, i) {
      similar_codes(groups[[name]], text_of(i), name)
    }, sensitive, seq_along(sensitive))
  }
  found <- list(own = find_told(
    coded$table, NULL, coded$own, coded$own, missing,
    similar(function(i) category_labels(coded$own[[i]], data)[[1]])
  ))
  both <- coded$both
  if (!is.null(both)) {
    values <- lapply(both$values, `[[`, 2)
    found$released <- find_told(
      both$keys[[2]], both$keys[[1]], values, lapply(both$values, `[[`, 1), missing,
      similar(function(i) {
        source <- both$sources[[i]]
        source$values <- source$values[values[[i]]$first_rows[[1]]]
        source_text(source, sensitive[[i]])
      })
    )
  }
  found
}

# The group of every value, NULL if all are groups of their own.
similar_codes <- function(groups, values, name) {
  if (is.null(groups)) {
    return(NULL)
  }
  codes <- seq_along(values)
  for (group in groups) {
    at <- match(as.character(group), values)
    if (anyNA(at)) {
      stop_argument(
        "group_similar", "group values that occur",
        found = paste0("Not all values given for ", quote_names(name), " do.")
      )
    }
    codes[at] <- min(at)
  }
  match(codes, sort(unique(codes)))
}

new_attribute_risk <- function(found, coded, sensitive, settings, data, this_call) {
  own <- found$own
  released <- found$released
  of_variables <- lapply(seq_along(sensitive), function(i) {
    attribute_measures(sensitive[[i]], own, released, i)
  })
  answer <- if (is.null(released)) own else released
  suffix <- if (length(sensitive) > 1) paste0("_", sensitive) else ""
  records <- unlist(lapply(seq_along(sensitive), function(i) {
    of <- answer$sensitive[[i]]
    told <- of$right
    told[is.na(of$posterior)] <- NA
    rlang::set_names(list(of$posterior, told), paste0(c("posterior", "told"), suffix[[i]]))
  }), recursive = FALSE)
  new_sdc_result(
    "sdc_attribute_risk",
    estimates = do.call(rbind, of_variables),
    records = do.call(frame, lapply(records, spread_records, answer$rows, coded$table$n_rows)),
    settings = settings,
    diagnostics = list(
      n_keys = length(coded$table$variables), n_used = length(own$matches),
      n_excluded = coded$table$n_all - length(own$matches),
      n_values = lengths(lapply(own$sensitive, `[[`, "shares")),
      n_found = if (!is.null(released)) sum(released$matches > 0),
      n_incomplete = coded$table$n_incomplete, missing = missing_cells(coded$table, data),
      identifying = identifying_keys(coded$table)
    ),
    call = this_call
  )
}

# The measures of one sensitive variable, each with what is known without a key.
attribute_measures <- function(name, own, released, i) {
  of <- own$sensitive[[i]]
  worst <- of$worst
  q <- of$shares
  n <- length(own$matches)
  most <- max(q, 0)
  guess <- sum(q^2)
  constant <- as.double(length(q) == 1)
  rarest <- if (length(q)) -log(min(q)) else NA_real_
  rows <- list(
    l_distinct = c(worst$l_distinct, length(q)),
    l_entropy = c(worst$l_entropy, exp(-sum(q * log(q)))),
    l_recursive = c(worst$l_recursive, most / (1 - most)),
    t = c(worst$t, 0), alpha = c(worst$alpha, most), beta_basic = c(worst$beta, 0),
    beta_enhanced = c(min(worst$beta, rarest), 0), delta = c(worst$delta, 0),
    uio = c(mean(own$matches == 1), NA), dorig = c(of$n_told / n, constant),
    cap = c(mean(of$posterior, na.rm = TRUE), guess)
  )
  if (!is.null(released)) {
    theirs <- released$sensitive[[i]]
    rows$cap[[1]] <- mean(theirs$posterior, na.rm = TRUE)
    rows$disco <- c(sum(theirs$right) / theirs$n_known, guess)
    rows$tcap <- c(sum(theirs$right) / theirs$n_found, guess)
    rows$repu <- c(mean(replicated(own, released)), NA)
  }
  values <- do.call(rbind, rows)
  values[is.nan(values)] <- NA
  frame(
    sensitive = rep(name, length(rows)), measure = names(rows), value = unname(values[, 1]),
    baseline = unname(values[, 2])
  )
}

# Records unique on the key variables in both files.
replicated <- function(own, released) own$matches == 1 & released$matches == 1
