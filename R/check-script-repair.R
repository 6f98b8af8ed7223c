# Position of the line that repairs a finding, for editors.

# `start` and `end`, each a line and a column of R, and the `text` that replaces what is between;
# NULL if R cannot read the script as it is now. "above" and "below" are those of the whole
# expression, and above the comment of the check that belongs to it.
repair_of <- function(lines, line, column, fix, place, parsed = parse_script(lines)) {
  i <- which(parsed$first <= line & parsed$last >= line)
  i <- utils::tail(i[parsed$first[i] < line | parsed$column[i] <= column], 1)
  if (length(i) == 0) {
    return(NULL)
  }
  first <- parsed$first[[i]]
  last <- parsed$last[[i]]
  if (place == "replace") {
    return(list(
      start = c(first, parsed$column[[i]]), end = c(last, parsed$end[[i]] + 1L), text = fix
    ))
  }
  if (place == "below") {
    at <- c(last, nchar(lines[[last]]) + 1L)
    return(list(start = at, end = at, text = paste0("\n", fix)))
  }
  while (first > 1 && grepl("^\\s*#\\|", lines[[first - 1L]])) first <- first - 1L
  list(start = c(first, 1L), end = c(first, 1L), text = paste0(fix, "\n"))
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
