#' Check a file in a window
#'
#' Opens a window in which you choose the data frame, roles and limits. It runs [file_check()],
#' protects the file by the step that the page proposes and checks it again, writes the report and
#' shows the code that does the same. Start it from the addins of RStudio, or call it from R to
#' open it in a browser.
#'
#' Columns that look like weights, households, identifiers or continuous variables, as in
#' the print of [sdc_file()], are proposed for these roles or left out of the key variables;
#' all others are proposed as key variables. Every proposal can be changed, and each is
#' explained on the page.
#'
#' @section Cost:
#' That of [file_check()], and of [suppress_cells()], [recode_search()] and [sdc_report()] if the
#' file is protected and a report is written.
#' @param envir Where the data frames are looked for.
#' @return The code of the last check that ran, one line per element, invisibly; it is
#'   also printed. `NULL` if none ran.
#'
#'   Errors: `bad_data` if `envir` has no data frame, `missing_package` without shiny or
#'   miniUI.
#' @family reports
#' @export
#' @examples
#' if (interactive()) file_check_addin()
file_check_addin <- function(envir = globalenv()) {
  announce("file_check_addin")
  for (package in c("shiny", "miniUI")) check_installed(package, "check a file in a window")
  code <- shiny::runGadget(
    gadget_page(data_frames_in(envir)), gadget_server(envir), stopOnCancel = FALSE,
    viewer = shiny::dialogViewer("Is this file safe to release?", 900, 800)
  )
  if (length(code)) cat(code, sep = "\n")
  invisible(code)
}

# The names of data frames with records and columns, those of 2 columns or more first.
data_frames_in <- function(envir) {
  if (!is.environment(envir)) stop_argument("envir", "be an environment", given_words(envir))
  size <- vapply(ls(envir), function(name) {
    x <- get(name, envir)
    if (is.data.frame(x) && nrow(x) > 0) length(x) else 0L
  }, 0L)
  names <- names(size)[size > 0]
  if (length(names) == 0) {
    stop_sdc(
      "bad_data", "A data frame must be in the workspace.",
      x = "No data frame has records and columns.",
      i = "Read the file first, such as by read.csv()."
    )
  }
  c(names[size[names] > 1], names[size[names] == 1])
}

# Roles -------------------------------------------------------------------------

# The roles that the columns look like, as arguments of sdc_file(), and `seen`, what is
# said of each column.
proposed_roles <- function(data) {
  seen <- look_at_columns(as_file(sdc_file(data), "data"))
  c(roles_by_looks(data, rlang::set_names(seen$looks_like, seen$variable)), list(seen = seen))
}

# Words for columns that are proposed as something other than key variables.
looks_text <- function(seen) {
  lines <- sub(
    "The columns were not given.*", "Proposed as such, or left out: change what is wrong.",
    look_lines(seen)
  )
  if (length(lines)) lines else "No column looks like a weight, a household or an identifier."
}

# The roles and limits that the fields hold, without those that are empty.
roles_of_input <- function(input) {
  roles <- list(
    key_vars = input$key_vars, weight_var = input$weight_var, hh_id = input$hh_id,
    sensitive = input$sensitive, pop_size = input$pop_size
  )
  Filter(function(x) length(x) && !anyNA(x) && all(nzchar(x)), roles)
}

limits_of_input <- function(input) {
  given <- Filter(function(x) length(x) && !is.na(x), list(
    k = input$k, journalist = input$journalist
  ))
  lapply(given, as.double)
}

# The code ------------------------------------------------------------------------

gadget_call <- function(name, roles, limit) {
  limit <- as.call(c(list(as.name("list")), limit))
  as.call(c(list(as.name("file_check"), as.name(name)), roles, list(limit = limit)))
}

check_code <- function(asked) {
  lines <- paste(deparse(asked, 80), collapse = "\n")
  c("library(sdcRisk)", paste0("checked <- ", lines), "checked")
}

# The step of the page that protects the file, and the page after it; NULL if it has none.
protect_code <- function(checked) {
  steps <- grep("^(file|recoding|coarser|released) <- ", checked$next_steps, value = TRUE)
  if (any(startsWith(steps, "released"))) c(
    steps, "to_publish <- release_data(released)",
    paste0("after <- file_check(to_publish", page_code(checked$settings), ")"), "after"
  )
}

# Runs these lines beside the data, also if the package is not attached.
run_protection <- function(checked, envir) {
  lines <- if (is_checked(checked)) protect_code(checked)
  if (is.null(lines)) {
    return(list(after = simpleError(if (is_checked(checked)) {
      "The page proposes no protection."
    } else {
      "Check the file first."
    })))
  }
  own <- c(
    "sdc_file", "recode_search", "apply_recoding", "suppress_cells", "release_data", "file_check"
  )
  place <- list2env(mget(own, envir = topenv()), parent = envir)
  after <- said_or_error({
    for (line in parse(text = lines, keep.source = FALSE)) eval(line, place)
    place$after
  })
  list(after = after, released = place$released, code = if (is_checked(after)) lines)
}

report_code <- function(report) {
  paste0(
    "sdc_report(checked, ", if (report$protected) "released, after, ",
    "file = ", dput_text(report$file), ", internal = ", report$internal,
    if (report$overwrite) ", overwrite = TRUE", ")"
  )
}

# The window ------------------------------------------------------------------------

gadget_page <- function(names) {
  several <- function(id, label) {
    shiny::selectizeInput(id, label, NULL, multiple = TRUE, width = "100%")
  }
  one <- function(id, label) shiny::selectInput(id, label, "", width = "100%")
  number <- function(id, label, value, ...) {
    shiny::numericInput(id, label, value, ..., width = "100%")
  }
  panel <- function(title, ...) {
    miniUI::miniTabPanel(title, miniUI::miniContentPanel(...))
  }
  miniUI::miniPage(
    miniUI::gadgetTitleBar("Is this file safe to release?"),
    miniUI::miniTabstripPanel(
      id = "tab",
      panel(
        "File",
        shiny::selectInput("data", "Data frame", names, width = "100%"),
        several("key_vars", "Key variables: what an intruder may know of a person"),
        shiny::textOutput("looks"), shiny::hr(),
        one("weight_var", "Sampling weights"), one("hh_id", "Households"),
        several("sensitive", "Sensitive variables"),
        number("pop_size", "People in the population (empty: the sum of the weights)", NA, min = 1)
      ),
      panel(
        "Limits",
        number("k", "Fewest records that may share a key (k)", 3, min = 1, step = 1),
        number(
          "journalist", "Largest probability that a record is led back to the right person",
          0.05, min = 0, max = 1, step = 0.01
        ),
        shiny::helpText("An empty field: no limit, and no verdict.")
      ),
      panel(
        "Check",
        shiny::actionButton("run", "Check the file", class = "btn-primary"), shiny::hr(),
        shiny::verbatimTextOutput("found"), shiny::plotOutput("picture", height = "360px")
      ),
      panel(
        "Protect",
        shiny::helpText("Does what the page proposes, and checks the file that is released."),
        shiny::actionButton("protect", "Protect, check again", class = "btn-primary"), shiny::hr(),
        shiny::verbatimTextOutput("protected")
      ),
      panel(
        "Report",
        shiny::textInput("file", "Write to (.html, or .docx)", "report.html", width = "100%"),
        shiny::checkboxInput(
          "internal", "Internal: with record numbers, not to leave the agency", width = "100%"
        ),
        shiny::checkboxInput("overwrite", "Replace a file that exists", width = "100%"),
        shiny::actionButton("write", "Write the report", class = "btn-primary"), shiny::hr(),
        shiny::verbatimTextOutput("written")
      ),
      panel(
        "Code",
        shiny::helpText("These lines do the same. They are printed when the window closes."),
        shiny::verbatimTextOutput("code")
      )
    )
  )
}

gadget_server <- function(envir) {
  function(input, output, session) {
    state <- shiny::reactiveValues(
      checked = NULL, code = NULL, protected = NULL, report = NULL, written = ""
    )
    # Data that cannot be a file give a message and no columns.
    proposed <- shiny::reactive({
      said_or_error(proposed_roles(get(shiny::req(input$data), envir)))
    })
    shiny::observeEvent(input$data, {
      found <- if (inherits(proposed(), "error")) list() else proposed()
      columns <- as.character(found$seen$variable)
      update <- function(id, selected, choices = columns) {
        shiny::updateSelectInput(session, id, choices = choices, selected = selected)
      }
      for (id in c("key_vars", "sensitive")) {
        shiny::updateSelectizeInput(
          session, id, choices = columns,
          selected = if (id == "key_vars") as.character(found$key_vars)
        )
      }
      for (id in c("weight_var", "hh_id")) {
        update(id, if (length(found[[id]])) found[[id]] else "", c("(none)" = "", columns))
      }
      # The code stays that of the last check.
      state$checked <- state$protected <- NULL
      state$written <- ""
    })
    shiny::observeEvent(input$run, {
      asked <- gadget_call(input$data, roles_of_input(input), limits_of_input(input))
      state$report <- state$protected <- NULL
      state$written <- ""
      # Without names all columns would be key variables, which an empty field does not say.
      state$checked <- if (is.null(asked$key_vars)) {
        simpleError("Choose key variables first.")
      } else {
        said_or_error(eval(asked, list(file_check = file_check), envir))
      }
      state$code <- if (is_checked(state$checked)) check_code(asked)
    })
    shiny::observeEvent(input$protect, {
      state$report <- NULL
      state$written <- ""
      state$protected <- run_protection(state$checked, envir)
    })
    shiny::observeEvent(input$write, {
      if (!is_checked(state$checked)) {
        state$written <- "Check the file first."
        return()
      }
      report <- list(
        file = input$file, internal = input$internal, overwrite = input$overwrite,
        protected = is_checked(state$protected$after)
      )
      results <- list(state$checked)
      if (report$protected) results <- c(results, unname(state$protected[c("released", "after")]))
      written <- said_or_error(do.call(
        sdc_report, c(results, report[c("file", "internal", "overwrite")])
      ))
      good <- !inherits(written, "error")
      if (good) state$report <- report
      state$written <- if (good) {
        paste("Written, together with its log:", normalizePath(written))
      } else {
        error_text(written)
      }
    })
    code <- shiny::reactive(c(
      state$code, state$protected$code, if (!is.null(state$report)) report_code(state$report)
    ))
    output$looks <- shiny::renderText({
      found <- proposed()
      lines <- if (inherits(found, "error")) error_text(found) else looks_text(found$seen)
      paste(lines, collapse = " ")
    })
    output$found <- shiny::renderText(checked_text(state$checked))
    output$protected <- shiny::renderText(checked_text(state$protected$after))
    output$picture <- shiny::renderPlot({
      shiny::req(is_checked(state$checked), requireNamespace("ggplot2", quietly = TRUE))
      ggplot2::autoplot(state$checked)
    })
    output$written <- shiny::renderText(state$written)
    output$code <- shiny::renderText({
      if (length(code())) paste(code(), collapse = "\n") else "No check has run yet."
    })
    shiny::observeEvent(input$done, shiny::stopApp(code()))
    shiny::observeEvent(input$cancel, shiny::stopApp(NULL))
  }
}

# A result, or the error as a value: a window says what was wrong and stays open.
said_or_error <- function(code) tryCatch(code, error = identity)

error_text <- function(x) cli::ansi_strip(conditionMessage(x))

is_checked <- function(x) inherits(x, "sdc_file_check")

checked_text <- function(x) {
  if (is.null(x)) {
    "No check has run yet."
  } else if (inherits(x, "error")) {
    error_text(x)
  } else {
    paste(format(x, width = 90), collapse = "\n")
  }
}
