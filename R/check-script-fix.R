# Code of a fix.

frame_words <- function(name) if (nzchar(name)) quote_names(name) else "The data frame"

name_code <- function(name) {
  if (grepl("^[A-Za-z.][A-Za-z0-9._]*$", name)) name else paste0("`", name, "`")
}

part_code <- function(name, column) paste0(name_code(name), "$", vapply(column, name_code, ""))

# A frame without a name cannot be repaired in a line of its own, and a column that the line, or
# one below it, names must stay.
without_code <- function(run, name, columns, place = "above") {
  since <- if (place == "above") run$parsed$first[[run$at]] else run$parsed$last[[run$at]] + 1L
  used <- columns %in% words_of(utils::tail(run$lines, max(0, length(run$lines) - since + 1)))
  is_list <- !identical(run$followed[[name]]$kind, "sdcMicroObj")
  if (nzchar(name) && !any(used) && is_list) {
    paste0(part_code(name, columns), " <- NULL", collapse = "; ")
  } else {
    ""
  }
}

file_call <- function(name, roles) {
  roles <- roles[intersect(names(roles), setdiff(c(role_names, file_roles), "missing"))]
  in_script(code_text(as.call(c(list(as.name("sdc_file"), as.name(name)), roles))))
}

# Code for a script, which may not have attached the package.
in_script <- function(code) {
  if ("package:sdcRisk" %in% search()) {
    return(code)
  }
  own <- "(sdc_file|recode_search|apply_recoding|suppress_cells|release_data)[(]"
  gsub(paste0("(?<![:\\w.])", own), "sdcRisk::\\1(", code, perl = TRUE)
}

# The line that brings a frame under its limits.
remedy_code <- function(state, limit) {
  if (!nzchar(state$name)) {
    return("")
  }
  k <- if (is.null(limit$k)) 3 else limit$k
  if (is_sdcmicro(get0(state$name, globalenv(), inherits = FALSE))) {
    return(paste0(
      name_code(state$name), " <- sdcMicro::kAnon(", name_code(state$name), ", k = ",
      number_code(k), ")"
    ))
  }
  file <- if (state$classed) name_code(state$name) else file_call(state$name, state$file$roles)
  recode <- isTRUE(state$page$recode)
  in_script(paste0(
    name_code(state$name), " <- ", if (recode) paste0(
      "recode_search(", file, ", k = ", number_code(k),
      ", suppress = 0.02) |> apply_recoding() |> suppress_cells("
    ) else paste0("suppress_cells(", file, ", "), "k = ", number_code(k),
    if (!is.null(state$page$l)) paste0(", l = ", number_code(state$page$l)),
    if (!is.null(state$page$max_risk)) paste0(", max_risk = ", number_code(state$page$max_risk)),
    ") |> release_data()"
  ))
}
