#' Describe key variables and what each adds to uniqueness
#'
#' Shows which key variables single people out, which repeat others, and which have missing
#' values. Use the table before key variables are chosen or coarsened.
#'
#' @details
#' Per key variable, over the records with a value: the number of values that
#' occur, the share of the most frequent one, and the entropy
#' \deqn{H = -\sum_c p_c \ln p_c}{H = -sum_c p_c ln p_c}
#' of the shares \eqn{p_c} of its values (natural logarithm): a key of
#' \eqn{K} equally frequent values has \eqn{\ln K}{ln K}, and every value that is
#' rare or shared by nearly all adds little.
#'
#' **Association** with another key is Cramer's \eqn{V} with the bias of small
#' tables taken off (Bergsma 2013), over the \eqn{n} records with both values: with
#' \eqn{\phi^2 = \sum n_{ab}^2 / (n_a n_b) - 1}{phi^2 = sum n_ab^2 / (n_a n_b) - 1}
#' and \eqn{r}, \eqn{c} values that occur,
#' \deqn{\tilde V = \sqrt{\frac{\max\{0, \phi^2 - (r - 1)(c - 1)/(n - 1)\}}{
#'   \min(\tilde r, \tilde c) - 1}}, \quad
#'   \tilde r = r - \frac{(r - 1)^2}{n - 1}, \; \tilde c = c - \frac{(c - 1)^2}{n - 1}.}{%
#'   V = sqrt(max(0, phi^2 - (r - 1)(c - 1) / (n - 1)) / (min(r~, c~) - 1)),
#'   r~ = r - (r - 1)^2 / (n - 1), c~ = c - (c - 1)^2 / (n - 1).}
#' It is 0 for independent keys, however many values they have, and 1 if one
#' follows from the other; the order of ordered values is not used. It is `NA` for a
#' key that does not vary, and if all records have different values. The plain
#' coefficient would find keys with many values associated with everything.
#'
#' **What a key variable adds** is the number of records that are unique on all key
#' variables and no longer so when it is left out. Here missing is a value of its
#' own, and a set of [candidates()] is one value:
#' with missing values as wildcards, or candidates compared by what they admit, use
#' [n_matches()]. Keys that repeat each other add nothing one by one, and can add
#' much together.
#'
#' @section Cost:
#' One two-way table per pair of keys and one grouping per key: for a million
#' records and 20 key variables about a second, nearly all of it for the groupings.
#'
#' @section Memory:
#' Beyond `data`, with five key variables and two threads: at most 90 bytes a record.
#'
#' @inheritParams sdcRisk-params
#' @param key_vars Names or positions of the key variables; `NULL` for all columns.
#'   Columns of [candidates()] are allowed.
#' @param key_groups A named list of columns that count as one key, such as the
#'   answers to one question. Inside a group missing is a value; `n_missing` counts
#'   the records in which any of its columns is missing.
#' @param object A result of `key_overview()`.
#' @param type `"adds"`: per key, the records that are unique only with it;
#'   `"values"`: entropy and the share of missing values.
#'
#' @return An object of class `sdc_key_overview`, an [sdc_result] without records, whose
#' `estimates` have one row per key variable in the
#'   order given:
#' \describe{
#'   \item{`variable`, `type`}{name; `"factor"`, `"ordered"`, `"text"`,
#'     `"integer"`, `"number"`, `"logical"`, `"date"`, `"time"`, `"labelled"`,
#'     `"candidates"`, `"interval"` or `"group"`}
#'   \item{`n_levels`}{values that occur; of candidates, sets}
#'   \item{`n_missing`, `prop_missing`}{records without a value}
#'   \item{`entropy`, `largest_share`}{as above}
#'   \item{`associated_with`, `association`}{the key with the strongest
#'     association, the first of several, and \eqn{\tilde V}{V}}
#'   \item{`n_unique_without`, `unique_change`}{records unique on all other key variables;
#'     that number minus the records unique on all key variables, zero or less}
#' }
#' `diagnostics` has `n` and `n_unique`, the number of records and of those unique on
#' all key variables, and `association`, the matrix of all associations. Columns of
#' `estimates` are reached as `x$unique_change`, too; `as.data.frame()` gives them all.
#' Printing it shows the key variables that add most, the codes that labelled columns
#' declare missing, and the key variables
#' in which nearly all values differ, which a message of class
#' `sdcRisk_message_identifying_key` names as well. `plot()` and `autoplot()` draw it.
#'
#' Errors: `bad_data`, `unknown_key_var`, `bad_column` as for all key variables.
#' @references
#' Bergsma W (2013). A bias-correction for Cramer's V and Tschuprow's T. *Journal of
#' the Korean Statistical Society* 42(3), 323-328.
#' \doi{10.1016/j.jkss.2012.10.002}
#'
#' Mulder K. *Ensuring anonymity in survey panel research*, Table 1 and section 3.2:
#' what makes a key variable add uniqueness.
#' @family matches
#' @concept quasi-identifier
#' @export
#' @examples
#' keys <- c("gender", "age_group", "education", "civil_status", "occupation", "income_class")
#' overview <- key_overview(panel_waves$wave1, keys)
#' overview
#' overview$unique_change
key_overview <- function(data, key_vars = NULL, ..., key_groups = NULL) {
  ask <- enter("key_overview", patterns = TRUE)
  data <- ask$data
  check_no_dots(...)
  positions <- resolve_key_vars(data, ask$key_vars, integer())
  types <- vapply(positions, function(v) key_type(data[[v]]), "")
  sets <- types %in% c("candidates", "interval")
  file <- ask$file
  file$data <- data <- codes_for_candidates(data, positions)
  with_progress("Overview of key variables", {
    table <- key_table(file, positions, key_groups = ask$key_groups, merged = TRUE)
    identifying <- identifying_keys(table, table$variables[sets])
    inform_identifying(identifying)
    single <- vapply(table$keys, function(v) if (length(v) == 1) v else NA_integer_, 1L)
    type <- ifelse(is.na(single), "group", types[single])
    found <- core(rs_key_overview, table$pointer)
    new_variables_result(
      "sdc_key_overview",
      overview_estimates(found, names(table$keys), unname(type), key_missing(table, data), table$n),
      settings = file_settings(table, missing = "category"),
      diagnostics = list(
        n = table$n, n_unique = as_count(found$n_unique),
        association = association_matrix(found, names(table$keys)),
        missing = missing_cells(table, data), identifying = identifying
      ),
      call = ask$call
    )
  })
}

association_matrix <- function(found, names) {
  matrix(found$association, length(names), dimnames = list(names, names))
}

overview_estimates <- function(found, names, type, n_missing, n) {
  association <- association_matrix(found, names)
  strongest <- apply(association, 1, function(a) {
    if (all(is.na(a))) NA_integer_ else which.max(a)
  })
  frame(
    variable = names, type = type, n_levels = found$n_levels, n_missing = n_missing,
    prop_missing = n_missing / n, entropy = found$entropy,
    largest_share = ifelse(found$n_observed > 0, found$largest / found$n_observed, NA),
    associated_with = names[strongest],
    association = association[cbind(seq_along(names), strongest)],
    n_unique_without = as_count(found$n_unique_without),
    unique_change = as_count(found$n_unique_without - found$n_unique)
  )
}

# Records in which any column of a key is missing.
key_missing <- function(table, data) {
  as_count(vapply(table$keys, function(v) {
    if (length(v) == 1) {
      return(as.double(table$n_missing[[v]]))
    }
    missing <- Reduce(`|`, lapply(table$positions[v], function(c) is_missing(data[[c]])))
    sum_over(as.double(missing), table$times)
  }, 0, USE.NAMES = FALSE))
}

# Sets of candidates as numbers: equal sets have equal codes.
codes_for_candidates <- function(data, positions) {
  for (v in positions[vapply(positions, function(v) is_candidates(data[[v]]), NA)]) {
    codes <- as.vector(set_codes(distinct_sets(data[[v]])))
    data <- as.data.frame(data)
    data[[v]] <- codes
  }
  data
}

# The table shows what is missing; codes that a column declares missing it cannot.
declared_only <- function(cells) {
  if (is.null(cells)) frame(n_missing = integer()) else cells[cells$n_declared > 0, ]
}

#' @rdname key_overview
#' @exportS3Method ggplot2::autoplot
autoplot.sdc_key_overview <- function(object, type = c("adds", "values"), ...) {
  if (enter_picture(object, type) == "adds") draw_key_adds(object) else draw_key_values(object)
}

draw_key_adds <- function(object) {
  n <- object$diagnostics$n
  n_unique <- object$diagnostics$n_unique
  data <- as.data.frame(object)
  data$adds <- -data$unique_change
  data$variable <- factor(data$variable, data$variable[order(data$adds, data$entropy)])
  data$known <- ifelse(
    is.na(data$association), "",
    paste0(formatC(data$association, digits = 2, format = "f"), " with ", data$associated_with)
  )
  ggplot2::ggplot(data, ggplot2::aes(x = .data$adds, y = .data$variable)) +
    ggplot2::geom_col(fill = sdc_blue, width = 0.6) +
    ggplot2::geom_text(
      ggplot2::aes(label = .data$known), hjust = 0, nudge_x = max(data$adds) * 0.015,
      size = 3, colour = "grey30"
    ) +
    ggplot2::scale_x_continuous(
      expand = ggplot2::expansion(c(0, 0.45)), labels = format_count,
      breaks = function(limits) unique(floor(pretty(limits)))
    ) +
    sdc_labs(
      title = "Uniqueness that each key variable adds",
      subtitle = paste0(
        format_count(n_unique), " of ", plural(n, "record"),
        if (n_unique == 1) " is" else " are", " unique on all key variables"
      ),
      x = "Records unique only with the key", y = NULL,
      caption = "Next to the bars: strongest association (bias-corrected Cramer's V)."
    )
}

draw_key_values <- function(object) {
  data <- as.data.frame(object)
  data$variable <- factor(data$variable, data$variable[order(data$entropy)])
  long <- rbind(
    cbind(data["variable"], value = data$entropy, panel = "Entropy (natural logarithm)"),
    cbind(data["variable"], value = 100 * data$prop_missing, panel = "Missing values, %")
  )
  ggplot2::ggplot(long, ggplot2::aes(x = .data$value, y = .data$variable)) +
    ggplot2::geom_col(fill = sdc_blue, width = 0.6) +
    ggplot2::facet_wrap(~panel, scales = "free_x") +
    ggplot2::scale_x_continuous(expand = ggplot2::expansion(c(0, 0.08))) +
    sdc_labs(
      title = "How much key variables tell, and of how many", x = NULL, y = NULL,
      caption = "Entropy over the records with a value."
    )
}

declare_measure(
  "key_overview",
  reference = "mulder", ids = "variable", lead = -unique_change,
  terms = c("unique_change", setdiff(names(e)[vapply(e, is.numeric, NA)], "unique_change")),
  title = "Overview of key variables",
  question = "what does each key variable add to the records that are unique?",
  size = paste0(
    plural(x$diagnostics$n, "record"), ", ", plural(nrow(e), "key variable"), "; ",
    missing_clause("category"), ". Unique on all of them: ", overview_uniques(x), "."
  ),
  table = overview_table(e), rest = "as.data.frame(x)",
  notes = list(
    "`adds` counts records unique only with the key variable.",
    missing_line(declared_only(x$diagnostics$missing), x$diagnostics$n),
    identifying_line(x$diagnostics$identifying)
  ),
  scenario = "prosecutor",
  measured = paste0(
    "The ", plural(nrow(e), "key variable"), " of the file of ",
    plural(x$diagnostics$n, "record"), " were described"
  ),
  found = paste0(
    overview_uniques(x), " are unique on all of them, ", format_count(-main$unique_change),
    " only with ", main$variable, ", which adds most"
  ),
  limits = "a record that is unique in the file need not be unique in the population",
  source = "exact counts", assuming = missing_clause("category")
)

overview_uniques <- function(x) {
  n <- x$diagnostics$n_unique
  paste0(plural(n, "record"), " (", format_percent(n / x$diagnostics$n), ")")
}

overview_table <- function(e) {
  shown <- e[order(e$unique_change, -e$entropy), ]
  frame(
    key = shown$variable, adds = -shown$unique_change, levels = shown$n_levels,
    missing = format_percent(shown$prop_missing),
    entropy = formatC(shown$entropy, digits = 2, format = "f"),
    association = ifelse(
      is.na(shown$association), "",
      paste(formatC(shown$association, digits = 2, format = "f"), "with", shown$associated_with)
    )
  )
}
