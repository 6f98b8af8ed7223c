# Files of R that call each other in a circle: no change to one of them leaves the others alone.

# The names by file that its functions ask for, and the file that has each.
file_calls <- function(files) {
  defined <- used <- list()
  for (file in files) {
    for (e in parse(file, keep.source = FALSE)) {
      is_named <- is.call(e) && identical(e[[1]], as.name("<-")) && is.name(e[[2]])
      if (is_named) defined[[file]] <- c(defined[[file]], as.character(e[[2]]))
      is_function <- is_named && is.call(e[[3]]) && identical(e[[3]][[1]], as.name("function"))
      names <- if (is_function) codetools::findGlobals(eval(e[[3]])) else all.names(e)
      used[[file]] <- union(used[[file]], names)
    }
  }
  home <- rep(names(defined), lengths(defined))
  names(home) <- unlist(defined)
  lapply(used, function(names) unique(unname(home[intersect(names, names(home))])))
}

# Sets of files of which each reaches every other one, largest first.
file_circles <- function(files) {
  calls <- file_calls(files)
  reached <- lapply(rlang::set_names(names(calls)), function(from) {
    seen <- character()
    open <- from
    while (length(open)) {
      open <- setdiff(unlist(calls[open], use.names = FALSE), seen)
      seen <- c(seen, open)
    }
    seen
  })
  circles <- lapply(names(reached), function(from) {
    sort(Filter(function(to) from %in% reached[[to]], reached[[from]]))
  })
  circles <- unique(circles[lengths(circles) > 1])
  circles[order(-lengths(circles))]
}
