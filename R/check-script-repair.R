# Position of the line that repairs a finding, for editors.

# `start` and `end`, each a line and a column of R, and the `text` that replaces what is between;
# NULL if R cannot read the script as it is now. "above" and "below" are those of the whole
# expression at top level, and above the comment of the check that belongs to it. If that makes
# the variable of the repair itself, as a loop does, they are those of the statement inside.
repair_of <- function(lines, line, column, fix, place, parsed = parse_script(lines)) {
  i <- which(parsed$first <= line & parsed$last >= line)
  i <- utils::tail(i[parsed$first[i] < line | parsed$column[i] <= column], 1)
  if (length(i) == 0) {
    return(NULL)
  }
  at <- c(parsed$first[[i]], parsed$column[[i]], parsed$last[[i]], parsed$end[[i]])
  if (place == "replace") {
    return(list(start = at[1:2], end = at[3:4] + 0:1, text = fix))
  }
  made <- target_of(parse(text = fix, keep.source = FALSE)[[1]])$name
  inside <- statement_at(lines, parsed$code[[i]], line, column)
  is_inside <- !is.null(inside) && made %in% names_made(parsed$code[[i]])
  if (is_inside) at <- inside
  neighbours <- parsed$code[parsed$last == at[[1]] & seq_along(parsed$last) < i]
  is_inside <- is_inside || made %in% unlist(lapply(neighbours, names_made))
  before <- substr(lines[[at[[1]]]], 1, at[[2]] - 1)
  after <- substr(lines[[at[[3]]]], at[[4]] + 1, nchar(lines[[at[[3]]]]))
  indent <- if (grepl("^\\s*$", before)) before else ""
  if (place == "below" && grepl("^\\s*(#.*)?$", after)) {
    end <- c(at[[3]], nchar(lines[[at[[3]]]]) + 1L)
    return(list(start = end, end = end, text = paste0("\n", indent, fix)))
  }
  if (place == "below") {
    end <- at[3:4] + 0:1
    return(list(start = end, end = end, text = paste0("; ", fix)))
  }
  if (is_inside && !grepl("^\\s*$", before)) {
    return(list(start = at[1:2], end = at[1:2], text = paste0(fix, "; ")))
  }
  first <- at[[1]]
  while (first > 1 && grepl("^\\s*#\\|", lines[[first - 1L]])) first <- first - 1L
  list(start = c(first, 1L), end = c(first, 1L), text = paste0(indent, fix, "\n"))
}

# First line and column, last line and column of the innermost statement in braces at a position,
# NULL if it is in no braces.
statement_at <- function(lines, code, line, column) {
  if (!is.call(code)) {
    return(NULL)
  }
  for (part in parts_of(code)) {
    inner <- statement_at(lines, part, line, column)
    if (!is.null(inner)) {
      return(inner)
    }
  }
  for (ref in attr(code, "srcref")[-1]) {
    at <- lines_of(ref, lines)
    begun <- at[[1]] < line || at[[1]] == line && at[[2]] <= column
    if (begun && (line < at[[3]] || line == at[[3]] && column <= at[[4]])) {
      return(at)
    }
  }
}

# The variables that code makes or changes.
names_made <- function(code) {
  if (is.call(code)) unlist(c(target_of(code)$name, lapply(parts_of(code), names_made)))
}

# Repairs of the findings (`found`), and of data frames above a limit, written or not.
repairs_in <- function(x) {
  of <- x$frames[nzchar(x$frames$fix), ]
  frames <- frame(
    line = of$line, column = of$column, fix = of$fix, place = rep("below", nrow(of)),
    title = paste0("Protect \"", of$name, "\": ", of$fix)[seq_len(nrow(of))],
    found = rep(FALSE, nrow(of))
  )
  of <- x$findings[nzchar(x$findings$fix), ]
  findings <- frame(
    line = of$line, column = of$column, fix = of$fix, place = of$place,
    title = paste0("Repair ", of$code, ": ", of$fix)[seq_len(nrow(of))],
    found = rep(TRUE, nrow(of))
  )
  rbind(findings, frames)
}
