# Calls that write files, noted as they happen, and files that are written otherwise.

# What a call of the function `name` writes, with its statement, is looked at after the expression.
note_written <- function(run, written, name) {
  at <- statement_that_runs(run)
  run$written <- c(run$written, lapply(written, function(one) {
    one$name <- name
    one$where <- at
    one
  }))
}

# TRUE if a writer, which was noted, calls another one. Otherwise `frame` is that of the next.
# Values are computed before that: they may be those of a function that writes, too.
is_inner <- function(run, frame) {
  inner <- any(vapply(sys.frames(), identical, NA, run$writing))
  if (!inner) run$writing <- frame
  inner
}

note_report <- function(run, frame) {
  run$known <- c(run$known, NA)
  is_inner(run, frame)
}

note_known <- function(run, place) run$known <- c(run$known, if (is.null(place)) NA else place)

note_writing <- function(run, name, frame) {
  arguments <- unlist(unname(script_writers), recursive = FALSE)[[name]]
  # Others serialize values to send or to hash them.
  in_memory <- name == "serialize" &&
    (!is_by_script(frame) || is.null(text_place(arguments[[2]], frame)))
  if (in_memory) {
    return(invisible())
  }
  values <- written_by(arguments[[1]], frame)
  place <- place_of(arguments[[2]], frame)
  note_known(run, place)
  if (is_inner(run, frame)) {
    return(invisible())
  }
  code <- if (is.null(names(values))) eval(bquote(substitute(.(as.name(arguments[[1]])))), frame)
  written <- lapply(seq_along(values), function(i) {
    said <- if (is.null(names(values))) all.names(code) else names(values)[[i]]
    value <- lasting(values[[i]])
    list(
      name = name, value = value, variable = variable_of(value, said), place = place,
      hash = frame_hash(value), row_names = written_names(name, value, frame)
    )
  })
  if (!is.null(place)) run$places[[whole_path(place)]] <- written
  if (is.null(place) || !is_temporary(place)) note_written(run, written, name)
}

# The workspace that quit(save = "yes") writes.
note_image <- function(run) {
  values <- Filter(is_followable, bound_values(globalenv()))
  note_written(run, Map(function(value, name) {
    list(
      value = value, variable = name, place = ".RData", hash = frame_hash(value),
      row_names = written_names("save", value, environment())
    )
  }, values, names(values)), "quit")
}

# The row names that a writer writes, NULL if none or if they are 1, 2, ...
written_names <- function(name, value, frame) {
  asked <- get0("row.names", frame, inherits = FALSE)
  if (is.null(asked)) asked <- name %in% c("saveRDS", "save", "dput", "write_rds")
  if (length(asked) > 1) {
    as.character(asked)
  } else if (isTRUE(asked) && is.data.frame(value) && .row_names_info(value) > 0) {
    row.names(value)
  }
}

# data.table puts the records of the next group in the place of those before.
lasting <- function(value) {
  if (isTRUE(attr(value, ".data.table.locked"))) data.table::copy(value) else value
}

# The variable of the script that a value is, or has its columns and records from, among the names
# of a piece of code.
variable_of <- function(value, names) {
  here <- names[vapply(names, exists, NA, globalenv(), inherits = FALSE)]
  is_it <- function(name) {
    other <- get(name, globalenv())
    identical(rlang::obj_address(other), rlang::obj_address(value)) || is.data.frame(value) &&
      is.data.frame(other) && nrow(value) == nrow(other) && all(names(value) %in% names(other))
  }
  c(Filter(is_it, here), "")[[1]]
}

# A file that leaves the temporary folder is written there. What is in other files was seen when
# they were written, or nobody knows it.
note_copy <- function(run, name, frame) {
  arguments <- unlist(unname(file_copiers), recursive = FALSE)[[name]]
  from <- place_values(arguments[[1]], frame)
  to <- place_values(arguments[[2]], frame)
  run$known <- c(run$known, to)
  if (is_inner(run, frame) || length(from) == 0 || length(to) == 0) {
    return(invisible())
  }
  packed <- name %in% c("zip", "zipr", "tar")
  inner <- packed & dir.exists(from)
  from <- c(from[!inner], list.files(from[inner], full.names = TRUE, recursive = TRUE))
  to <- rep_len(to, length(from))
  folders <- dir.exists(to)
  to[folders] <- file.path(to[folders], basename(from[folders]))
  run$known <- c(run$known, to)
  for (i in seq_along(from)) {
    seen <- run$places[[whole_path(from[[i]])]]
    run$places[[whole_path(to[[i]])]] <- c(
      if (packed) run$places[[whole_path(to[[i]])]], seen
    )
    if (is_temporary(to[[i]]) || grepl(pictures_and_reports, from[[i]])) next
    if (is.null(seen)) {
      seen <- list(list(text = from[[i]], what = "A file is copied that this check cannot read."))
    } else if (!is_temporary(from[[i]])) {
      next
    }
    note_written(run, seen, name)
  }
}

place_values <- function(argument, frame) {
  places <- tryCatch(get(argument, frame), error = function(e) NULL)
  if (is.character(places)) places[!is.na(places)]
}

# Few lines are no records, unless many calls write them. Packages write reports and pictures.
note_text <- function(run, name, frame) {
  arguments <- unlist(unname(text_writers), recursive = FALSE)[[name]]
  place <- text_place(arguments[[2]], frame)
  if (is.null(place)) {
    return(invisible())
  }
  size <- text_size(arguments[[1]], frame)
  run$known <- c(run$known, place)
  if (is_inner(run, frame)) {
    return(invisible())
  }
  run$places[[whole_path(place)]] <- NULL
  if (is_temporary(place) || grepl(pictures_and_reports, place) && !is_by_script(frame)) {
    return(invisible())
  }
  noted <- any(vapply(run$written, function(one) identical(one$text, place), NA))
  if (is_many(run, place, size) && !noted) note_written(run, list(list(text = place)), name)
}

# Files that a line made or changed by a function that is not watched.
look_at_folder <- function(run) {
  before <- run$folder
  run$folder <- folder_state()
  changed <- run$folder$name[!run$folder$state %in% before$state & run$folder$filled]
  changed <- changed[!grepl(pictures_and_reports, changed)]
  # Files of the check itself, if the script runs in its folder.
  changed <- setdiff(grep("^callr-[a-z]+-[0-9a-f]+$", changed, invert = TRUE, value = TRUE),
                     path_tops(run$log))
  known <- c(run$known, before$open)
  unknown <- length(changed) && !anyNA(known) && !all(changed %in% path_tops(known))
  if (unknown && identical(run$folder$of, before$of)) {
    written_otherwise(run, "A file is written by a function that this check does not know.")
  }
  run$known <- character()
}

# `filled`: neither an empty file, as a connection opens it, nor an empty folder.
folder_state <- function() {
  names <- list.files(".", all.files = TRUE, no.. = TRUE)
  about <- file.info(names, extra_cols = FALSE)
  filled <- about$size > 0
  filled[about$isdir] <- lengths(lapply(names[about$isdir], list.files)) > 0
  list(
    of = getwd(), name = names, state = paste(names, about$size, as.double(about$mtime)),
    filled = filled,
    open = vapply(getAllConnections()[-(1:3)], function(i) summary.connection(i)$description, "")
  )
}

# The file or folder of the working folder in which each path is.
path_tops <- function(paths) {
  paths <- unique(paths[!is.na(paths)])
  here <- paste0(normalizePath(".", "/"), "/")
  whole <- vapply(paths, whole_path, "")
  sub("/.*", "", substring(whole[startsWith(whole, here)], nchar(here) + 1))
}

pictures_and_reports <- "[.](png|jpe?g|tiff?|bmp|svg|pdf|e?ps|html?|docx|log)$"
