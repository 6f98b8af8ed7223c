# Exported functions that are running, and what was asked of them; progress, seeds, digits.

# An exported function, or a method, announces itself on its first line. What is known of it
# is an environment, which it gets:
#   data, key_vars, ...  its file and the roles of that, by argument; see enter()
#   file   the sdc_file of its data, with the codes that were kept
#   call   its call, without data, from remember() on
#   .name  the name of the function, of a method that of its generic
#   .said  the name that errors give: one function of ours may have called another
#   .at, .frame   the number of its frame, and the frame
#   .arguments, .given   its arguments, and those that were given, by the user or by a role
#   .controls  those of its arguments that come through `...`, see take_controls()
#   .outer   what was running when it was called, NULL for nothing
#   .asked   notes for replay(), see remember()
announce <- function(name, at = sys.parent()) {
  force(at)
  ask <- new.env(parent = emptyenv())
  ask$.name <- name
  ask$.at <- at
  ask$.frame <- sys.frame(at)
  ask$.outer <- running$ask
  # An argument is evaluated while the function runs, but where the user wrote it.
  inside <- !is.null(running$ask) && sys.parents()[[at]] >= running$ask$.at
  ask$.said <- if (inside) running$ask$.said else name
  arguments <- names(formals(sys.function(at)))
  ask$.arguments <- arguments[arguments != "..."]
  # base::missing(), since an argument may be called `missing`.
  given <- vapply(ask$.arguments, function(arg) {
    !eval(as.call(list(base::missing, as.name(arg))), ask$.frame)
  }, NA)
  ask$.given <- ask$.arguments[given]
  at_end(ask, leave)
  running$ask <- ask
  take_controls(ask)
  ask
}

leave <- function(ask) running$ask <- ask$.outer

# Calls `f` with `ask` when the function of `ask` ends, however it does.
at_end <- function(ask, f) {
  do.call(on.exit, list(as.call(list(f, ask)), add = TRUE), envir = ask$.frame)
}

# The arguments of the exported function, and whether it was given `args`.
argument_names <- function() running$ask$.arguments

was_given <- function(args) args %in% running$ask$.given

# The value of an argument: that of the file before that of the function.
argument <- function(name, ask = running$ask) {
  if (exists(name, envir = ask, inherits = FALSE)) ask[[name]] else get(name, envir = ask$.frame)
}

# TRUE if the exported function is one of these.
is_front <- function(names) isTRUE(running$ask$.name %in% names)

# The notes of the functions that are running, innermost first.
running_asked <- function() {
  found <- list()
  ask <- running$ask
  while (!is.null(ask)) {
    found <- c(found, ask$.asked)
    ask <- ask$.outer
  }
  found
}
