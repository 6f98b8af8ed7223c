# Data frames as they are in memory, by which a change is seen.

is_followable <- function(x) {
  if (is_sdcmicro(x) || is_remedy(x)) {
    return(TRUE)
  }
  is.data.frame(x) && nrow(x) > 0 && length(x) > 0 && !is_pattern_table(x) &&
    !inherits(x, c("sdc_replay", "sdc_panel_table"))
}

columns_of <- function(x) {
  data <- if (is.data.frame(x)) x else tryCatch(as_file(x, "x")$data, error = function(e) NULL)
  own_columns(data)
}

addresses_of <- function(columns) vapply(columns, rlang::obj_address, "")

# Objects made by reference change their columns and names in place, but not this list. Columns that
# are frames, matrices or lists of single values are those in them.
own_columns <- function(data) {
  columns <- as.list(unclass(data))
  if (any(vapply(columns, function(x) is.list(x) || is.matrix(x), NA))) {
    columns <- unlist(lapply(columns, function(x) {
      if (is.matrix(x)) x <- as.data.frame(x)
      single <- is.list(x) && all(lengths(x) == 1) && all(vapply(x, is.atomic, NA))
      if (is.data.frame(x)) own_columns(x) else list(if (single) unlist(x) else x)
    }), recursive = FALSE)
  }
  # A second column of a name, as by cbind(), is one of its own.
  names(columns) <- make.unique(paste0(names(columns)))
  columns
}

column_plain <- function(x) {
  if (is.factor(x) || is.numeric(x) && is.object(x)) as.character(x) else as.vector(x)
}

equal_columns <- function(value, column) {
  names(value)[vapply(as.list(unclass(value)), identical, NA, column)]
}

# Only a data.table changes without a new address: then the memory of its columns does.
frame_hash <- function(x) {
  if (inherits(x, "data.table")) {
    columns <- own_columns(x)
    memory <- columns
    plain <- has_plain_memory(columns)
    memory[plain] <- unwrap(call_core(rs_memory, unname(columns[plain])))
    vapply(Map(list, lapply(columns, attributes), memory), rlang::hash, "")
  }
}

# A hash of the records, whatever their order.
record_hash <- function(columns) {
  plain <- has_plain_memory(columns)
  memory <- unwrap(call_core(rs_memory_of_rows, unname(columns[plain])))
  rlang::hash(list(lapply(columns, attributes), memory, columns[!plain]))
}

has_plain_memory <- function(columns) {
  vapply(columns, typeof, "") %in% c("logical", "integer", "double", "character")
}

same_records <- function(state, parent, names) {
  identical(record_hash(state$columns[names]), record_hash(parent$columns[names]))
}

same_values <- function(new, old) {
  new <- column_plain(new)
  old <- column_plain(old)
  values <- unique(old)
  places <- match(new, values)
  !anyNA(places) && identical(
    tabulate(places, length(values)), tabulate(match(old, values), length(values))
  )
}

# The memory of a data.table is looked at if the line may have reached it.
is_unchanged <- function(x, known, reached = NULL, hash = frame_hash(x)) {
  if (!identical(rlang::obj_address(x), known$address)) {
    return(FALSE)
  }
  if (is.null(known$hash)) {
    return(!inherits(x, "data.table"))
  }
  out_of_reach <- !is.null(reached) && !any(c(known$address, known$pointers) %in% reached)
  out_of_reach || identical(hash, known$hash)
}

# Addresses of the objects that a line names and of their columns. NULL if it can reach others: by a
# function or list of the script, or by names as text.
reached_by <- function(run) {
  words <- words_of(run$lines[run$parsed$first[[run$at]]:run$parsed$last[[run$at]]])
  names <- intersect(words, ls(globalenv(), all.names = TRUE, sorted = FALSE))
  odd <- rlang::env_binding_are_lazy(globalenv(), names) |
    rlang::env_binding_are_active(globalenv(), names)
  if (any(odd) || any(words %in% reaching_calls)) {
    return(NULL)
  }
  found <- lapply(names, function(name) {
    value <- get(name, globalenv())
    columns <- if (is.data.frame(value)) own_columns(value)
    plain <- if (is.null(columns)) is.atomic(value) else all(vapply(columns, is.atomic, NA))
    if (plain) c(rlang::obj_address(value), addresses_of(columns))
  })
  if (!any(vapply(found, is.null, NA))) c("", unlist(found))
}

reaching_calls <- c(
  "get", "get0", "mget", "eval", "evalq", "eval.parent", "do.call", "source", "sys.source",
  "assign", "parse", "str2lang", "str2expression", "as.name", "as.symbol", "globalenv",
  ".GlobalEnv", "environment", "as.environment", "parent.frame", "pos.to.env", "sys.frame",
  "sys.frames", "eapply", "attach", "load", "sym", "syms", "ensym", "parse_expr",
  "parse_exprs", "eval_tidy", "exec", "env_get"
)
