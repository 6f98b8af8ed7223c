#' Check the open script in RStudio
#'
#' Which line of the script that I edit lets the risk out? Checks the text in the editor of RStudio
#' by [check_script()] and lists the findings in the pane "Markers".
#' It then offers to insert a line that repairs the finding or data frame at the cursor, or else
#' the first finding. Start it from the addins of RStudio ("Check this script").
#'
#' @details
#' The script runs in the folder of the project, or in its own if no project is open. R waits
#' until it ends; interrupt it as any other call.
#' @section Cost:
#' That of [check_script()].
#' @inheritParams check_script
#' @return The result of [check_script()], invisibly.
#'
#'   Errors: `no_client` outside RStudio or if the script was never saved, `missing_package`
#'   without rstudioapi or callr, `bad_argument`.
#' @family scripts
#' @export
#' @examples
#' if (interactive()) check_script_addin()
check_script_addin <- function(..., limit = list(k = 3, journalist = 0.05), k = NULL,
                               time_limit = 600) {
  announce("check_script_addin")
  check_no_dots(...)
  limit <- check_limits(with_k(limit, k))
  check_seconds(time_limit)
  check_installed("rstudioapi", "show findings in RStudio")
  check_installed("callr", "run a script in a process of its own")
  if (!rstudioapi::isAvailable() || !rstudioapi::hasFun("sourceMarkers")) {
    no_client("check_script_addin() must run in RStudio.", "RStudio does not run.", other_ways)
  }
  context <- rstudioapi::getSourceEditorContext()
  if (is.null(context) || !nzchar(context$path)) {
    no_client(
      "A script must be open in RStudio and have a name.", "None is.", "Save the script first."
    )
  }
  path <- path.expand(context$path)
  lines <- context$contents
  project <- rstudioapi::getActiveProject()
  checked <- check_lines(lines, limit, time_limit, if (is.null(project)) dirname(path) else project)
  result <- new_script_check(path, list(checked), limit, time_limit, match.call())
  show_markers(result$findings)
  repairs <- repairs_in(result)
  at_cursor <- repairs$line == context$selection[[1]]$range$start[["row"]]
  offer_repair(
    lines, rbind(repairs[at_cursor, ], repairs[!at_cursor & repairs$found, ]), context$id
  )
  invisible(result)
}

other_ways <- "Use check_script(), or language_server() in other editors."

show_markers <- function(f) {
  type <- c(error = "error", warning = "warning", information = "info", hint = "style")
  markers <- frame(
    type = unname(type[f$severity]), file = f$file, line = f$line, column = f$column,
    message = paste0(f$code, ": ", f$message)[seq_len(nrow(f))]
  )
  rstudioapi::sourceMarkers("sdcRisk", markers, autoSelect = "none")
}

# The first of the repairs, if there is one and the user wants it.
offer_repair <- function(lines, repairs, document) {
  if (nrow(repairs) == 0) {
    return(invisible())
  }
  one <- repairs[1, ]
  edit <- repair_of(lines, one$line, one$column, one$fix, one$place)
  wanted <- !is.null(edit) && rstudioapi::showQuestion(
    "Insert the line that repairs this?", paste0("Line ", one$line, ". ", one$title),
    "Insert", "Leave"
  )
  if (isTRUE(wanted)) {
    place <- rstudioapi::document_range(
      rstudioapi::document_position(edit$start[[1]], edit$start[[2]]),
      rstudioapi::document_position(edit$end[[1]], edit$end[[2]])
    )
    rstudioapi::insertText(place, edit$text, document)
  }
}
