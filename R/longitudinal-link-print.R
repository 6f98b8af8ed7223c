# Declarations of longitudinal_link(): figures, print and sentences.

declare_measure(
  "longitudinal_link",
  reference = "li2021", terms = c("expected_correct", setdiff(names(e), "expected_correct")),
  title = "Linkage of two survey waves without ids",
  question = "how many respondents can be followed from wave 1 to wave 2?",
  size = paste0(
    plural(n_wave1, "record"), " in wave 1, ", format_count(n_wave2), " in wave 2",
    if (!is.na(n_linked)) paste0(", ", format_count(n_linked), " of them in both"), "; ",
    plural(x$diagnostics$n_keys, "key variable"), "; missing never differs."
  ),
  expected_correct = figure(
    "Respondents expected to be linked correctly", "count",
    scenario = "prosecutor", attempt = TRUE, of = n_linked,
    note = paste("of", format_count(n_linked)), absent = unknown_links(e),
    says = paste(
      "the intruder is expected to link %s of the", plural(n_linked, "respondent"),
      "of both waves correctly"
    )
  ),
  n_certain = figure(
    "Respondents linked with certainty", "count", scenario = "prosecutor", of = n_linked,
    absent = unknown_links(e), says = "%s of them with certainty"
  ),
  expected_weighted = figure(
    "Expected correct matches, key variables weighed", "count", scenario = "prosecutor",
    attempt = TRUE, of = n_linked, board = FALSE
  ),
  n_single_best = figure(
    "Single best matches", "count", scenario = "prosecutor", of = n_wave2, board = FALSE,
    says = ifelse(
      is.na(n_linked),
      "%s of the records have a single best match, right or wrong: ids were not at hand to tell", ""
    )
  ),
  n_single_best_wrong = figure(
    "Single best matches that are wrong", "count", scenario = "prosecutor", of = n_single_best,
    board = FALSE, direction = "less",
    says = paste(
      "%s of the single best matches are wrong and cannot be told from right ones by the intruder"
    )
  ),
  spread = if (isTRUE(n_linked > 0)) "Matching probability of a record in both waves",
  notes = list(link_rule_line(x), link_overlap_line(x), link_sensitivity_line(x)),
  scenario = "journalist", knows = link_knows,
  measured = paste0(
    "The released files of wave 1 (", plural(n_wave1, "record"), ") and wave 2 (",
    plural(n_wave2, "record"), ") were linked without ids on ",
    plural(x$diagnostics$n_keys, "key variable")
  ),
  limits = paste(
    "the figures describe these two files and these key variables, and other knowledge can",
    "link more"
  ),
  source = "exact counts after Li, Li, Krenzke and Chang 2021",
  assuming = c("missing values never differ", link_rules(x)),
  risk = judged_rows(x)$match_prob,
  tables = list(
    smallest_differences = x$differences, by_min_overlap = x$overlap, rules = x$rules,
    without_a_key = x$sensitivity
  ), strata = "match_prob_by_strata"
)

unknown_links <- function(e) if (is.na(e$n_linked)) "needs `id`" else ""

link_knows <- "the intruder takes one of the wave-1 records that differ in fewest key variables"

link_overlap_line <- function(x) {
  best <- best_overlap(x$overlap, x$settings$min_overlap)
  if (is.null(best)) {
    return(NULL)
  }
  range <- range(x$overlap$expected_correct)
  paste0(
    "Over all least numbers of shared key variables (`min_overlap`): ",
    format_one_digit(range[[1]]), " to ", format_one_digit(range[[2]]),
    " correct matches expected, most with ",
    best$min_overlap, "."
  )
}

link_rule_line <- function(x) {
  rules <- link_rules(x)
  if (length(rules)) paste0("Rules: ", paste(rules, collapse = "; "), ".")
}

# Conditions on a match besides few differing keys.
link_rules <- function(x) {
  excluded <- x$rules$prop_excluded
  c(
    if (x$settings$min_overlap > 0) {
      paste0(
        "a match shares at least ", plural(x$settings$min_overlap, "observed key variable")
      )
    },
    if (!is.null(x$settings$tolerance)) {
      paste0("admissible changes of ", paste0(
        names(x$settings$tolerance),
        if (!is.null(excluded)) {
          ifelse(excluded %in% c(0, NA), "", paste0(
            " (excludes ", format_percent(excluded), " of the true partners)"
          ))
        },
        collapse = ", "
      ))
    }
  )
}

link_sensitivity_line <- function(x) {
  table <- x$sensitivity
  if (is.null(table)) {
    return(NULL)
  }
  most <- which.min(table$change)
  paste0(
    "Key variable that helps the intruder most: ", table$variable[[most]], "; without it ",
    format_one_digit(table$expected_correct[[most]]), " correct matches are expected."
  )
}
