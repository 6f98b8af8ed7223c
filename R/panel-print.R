# What the tables of people made from the waves of a panel say of themselves.

#' @export
format.sdc_panel_table <- function(x, ..., width = console_width(), rows = 16) {
  said <- describe_table(x)
  if (!is.null(said)) format_description(said, width, rows)
}

# An overview of key variables was a table in version 0.1.0, and is a result now.
describe_table <- function(x) {
  if (inherits(x, "sdc_key_overview")) check_result(x)
  describe(x)
}

#' @export
print.sdc_panel_table <- function(x, ...) {
  lines <- format(x)
  if (is.null(lines)) {
    # A verb of another package has taken columns away.
    print(as.data.frame(x), ...)
  } else {
    cat(lines, sep = "\n")
  }
  invisible(x)
}

#' @export
interpret.sdc_panel_table <- function(x, ...) {
  interpret_table(x)
}

# The sentences of a table whose print is in words.
interpret_table <- function(x) {
  said <- describe_table(x)
  if (is.null(said$sentence)) {
    stop_argument(
      "x", "be a result of sdcRisk", found = "It has lost the columns that say what was found."
    )
  }
  description_sentence(said, own_version())
}

people <- function(n) paste(format_count(n), if (n == 1) "person" else "people")

# A table of counts with their share and meaning.
reason_grid <- function(reason, count, meaning) {
  grid(frame(
    " " = reason, people = format(format_count(count), justify = "right"),
    share = format(format_percent(count / max(1, sum(count))), justify = "right"),
    meaning = meaning
  ))
}

#' @export
describe.sdc_latest_values <- function(x) {
  wave <- grep("_wave$", names(x), value = TRUE)
  wave <- wave[sub("_wave$", "", wave) %in% names(x)]
  variables <- setdiff(names(x)[-1], wave)
  if (length(variables) == 0) {
    return(NULL)
  }
  missing <- vapply(variables, function(v) sum(is.na(x[[v]])), 1L)
  gaps <- sort(missing[missing > 0], decreasing = TRUE)
  shown <- utils::head(gaps, 8)
  of <- paste0(people(nrow(x)), ", ", plural(length(variables), "variable"))
  description(
    title = "Latest values of people in a panel",
    question = "what is the latest value that is known of every variable?",
    size = paste0(of, "."),
    answer = c(
      if (length(shown) == 0) {
        fact("No value is missing.")
      } else {
        c(
          fact("Missing after merging, of ", plural(length(gaps), "variable"), ":"),
          grid(frame(
            variable = names(shown), people = format(format_count(shown), justify = "right"),
            share = format(format_percent(shown / nrow(x)), justify = "right")
          ), length(gaps), rest = "more")
        )
      },
      if (length(wave)) fact("Columns `<variable>_wave` tell the wave of every value.")
    ),
    notes = fact("as.data.frame(x) prints people."),
    sentence = cited(
      measured = paste0("The latest values of ", of, ", were put together over the waves"),
      found = if (length(gaps) == 0) {
        "no value is missing"
      } else {
        paste0(
          plural(length(gaps), "variable"), " still ",
          if (length(gaps) == 1) "has" else "have", " missing values, most of them ",
          names(gaps)[[1]], " (", format_percent(gaps[[1]] / nrow(x)), " of the people)"
        )
      },
      limits = "a latest value can be older than the person's present one",
      source = "after Mulder"
    )
  )
}

#' @export
describe.sdc_panel_members <- function(x) {
  if (!"reason" %in% names(x)) {
    return(NULL)
  }
  count <- as.integer(table(factor(x$reason, member_reasons)))
  n_members <- count[[1]]
  description(
    title = "Members of a panel",
    question = "who has background and at least one module?",
    size = paste0(people(nrow(x)), "."),
    answer = c(
      reason_grid(member_reasons, count, c(
        "background and at least one module", "known by proxy, or never took part",
        "no background", "blank rows alone"
      )),
      fact(
        format_count(nrow(x)), " - ", format_count(nrow(x) - n_members), " = ",
        plural(n_members, "member"), "."
      )
    ),
    notes = fact("as.data.frame(x) prints people."),
    sentence = cited(
      measured = paste0(
        people(nrow(x)), " of the background and module files were checked for membership"
      ),
      found = paste0(
        people(n_members), if (n_members == 1) " is a member" else " are members", " (",
        format_percent(n_members / max(1, nrow(x))), ")"
      ),
      limits = "people known by proxy only, or without background, are not members",
      source = "after Mulder"
    )
  )
}
