# Prints of the tables of people made from the waves of a panel.

# The columns that their words are made of; a verb of another package may have taken them away.
panel_columns <- list(
  sdc_birth_month = c("status", "n_candidates"), sdc_panel_members = "reason"
)

describe_table <- function(x) {
  if (length(x) > 1 && all(panel_columns[[class(x)[[1]]]] %in% names(x))) describe(x)
}

#' @export
format.sdc_panel_table <- function(x, ..., width = console_width(), rows = 16) {
  said <- describe_table(x)
  if (!is.null(said)) declared_lines(said, width, rows)
}

#' @export
print.sdc_panel_table <- function(x, ...) {
  lines <- format(x)
  if (is.null(lines)) {
    print(as.data.frame(x), ...)
  } else {
    cat(lines, sep = "\n")
  }
  invisible(x)
}

#' @export
interpret.sdc_panel_table <- function(x, ...) {
  said <- describe_table(x)
  if (is.null(said)) {
    stop_argument(
      "x", "be a result of sdcRisk", found = "It has lost the columns that say what was found."
    )
  }
  description_sentence(said, own_version())
}

people <- function(n) paste(format_count(n), if (n == 1) "person" else "people")

# A table of counts with their share and meaning.
reason_table <- function(found, meaning) {
  count <- as.vector(table(factor(found, names(meaning))))
  frame(
    " " = names(meaning), people = format(format_count(count), justify = "right"),
    share = format(format_percent(count / max(1, length(found))), justify = "right"),
    meaning = unname(meaning)
  )
}

# Most of the people are missing the variable of the first row.
missing_table <- function(x) {
  missing <- vapply(as.list(x[latest_names(x)]), function(v) sum(is.na(v)), 1L)
  gaps <- sort(missing[missing > 0], decreasing = TRUE)
  frame(
    variable = names(gaps), missing = format_count(gaps), share = format_percent(gaps / nrow(x))
  )
}

latest_names <- function(x) {
  wave <- grep("_wave$", names(x), value = TRUE)
  setdiff(names(x)[-1], wave[sub("_wave$", "", wave) %in% names(x)])
}

declare_measure(
  "latest_values",
  reference = "mulder",
  title = "Latest values of people in a panel",
  question = "what is the latest value that is known of every variable?",
  size = paste0(
    people(nrow(x)), ", ", plural(length(latest_names(x)), "variable"), ", ",
    format_count(nrow(missing_table(x))), " of them with missing values."
  ),
  table = missing_table(x), rest = "summary(as.data.frame(x))",
  notes = "as.data.frame(x) prints people; `<variable>_wave` tells the wave of a value.",
  measured = paste0(
    "The latest values of ", people(nrow(x)), " were put together over the waves"
  ),
  found = paste0(
    format_count(nrow(missing_table(x))), " of the ",
    plural(length(latest_names(x)), "variable"), " still have missing values",
    if (nrow(missing_table(x))) {
      paste0(
        ", most of them ", missing_table(x)$variable[[1]], " (", missing_table(x)$share[[1]],
        " of the people)"
      )
    }
  ),
  limits = "a latest value can be older than the person's present one", source = "after Mulder"
)

declare_measure(
  "panel_members",
  reference = "mulder",
  title = "Members of a panel", question = "who has background and at least one module?",
  size = paste0(people(nrow(x)), ", of whom ", plural(sum(x$reason == "member"), "member"), "."),
  table = reason_table(x$reason, rlang::set_names(c(
    "background and at least one module", "known by proxy, or never took part",
    "no background", "empty rows alone"
  ), member_reasons)),
  notes = "as.data.frame(x) prints people.",
  measured = paste0(
    people(nrow(x)), " of the background and module files were checked for membership"
  ),
  found = paste0(
    people(sum(x$reason == "member")), " (",
    format_percent(mean(x$reason == "member")), ") have background and at least one module"
  ),
  limits = "people known by proxy only, or without background, are not members",
  source = "after Mulder"
)
