# Rarely used arguments of a function are those of its `<name>_control()`. They reach the
# function through `...` by their full names, or together as `control`.

# The rarely used arguments of a function with their defaults.
controls_of <- function(name) {
  control <- get0(paste0(name, "_control"), topenv(), mode = "function", inherits = FALSE)
  if (!is.null(control)) formals(control)[setdiff(names(formals(control)), "...")]
}

# All arguments of an exported function with their defaults, rarely used ones last.
arguments_of <- function(name) {
  c(formals(args(getExportedValue("sdcRisk", name))), controls_of(name))
}

# The answer of a `<name>_control()`: the arguments that it was given.
new_control <- function(name, at = sys.parent()) {
  force(at)
  ask <- announce(name, at)
  eval(quote(check_no_dots(...)), ask$.frame)
  structure(lapply(rlang::set_names(ask$.given), argument), class = c("sdc_control", name))
}

# Adds the rarely used arguments to what was asked, given or not.
take_controls <- function(ask) {
  defaults <- controls_of(ask$.name)
  if (is.null(defaults)) {
    return(invisible())
  }
  dots <- dot_names(ask)
  if ("control" %in% dots) check_control(dot(ask, "control"), ask$.name)
  together <- if ("control" %in% dots) dot(ask, "control")
  ask$.controls <- names(defaults)
  ask$.arguments <- c(ask$.arguments, ask$.controls)
  for (arg in ask$.controls) {
    given <- arg %in% c(dots, names(together))
    # A list of one holds NULL, too.
    ask[[arg]] <- if (arg %in% dots) {
      dot(ask, arg)
    } else if (given) {
      together[[arg]]
    } else {
      eval(defaults[[arg]], topenv())
    }
    if (given) ask$.given <- c(ask$.given, arg)
  }
}

check_control <- function(control, name) {
  of <- paste0(name, "_control")
  if (!inherits(control, "sdc_control") || !inherits(control, of)) {
    stop_argument("control", paste0("be made by ", of, "()"), given_words(control))
  }
}

# Names of the arguments that came through the `...` of the exported function.
dot_names <- function(ask = running$ask) {
  names <- eval(quote(...names()), ask$.frame)
  if (is.null(names)) names <- character(eval(quote(...length()), ask$.frame))
  names[is.na(names)] <- ""
  names
}

dot <- function(ask, name) {
  at <- which(dot_names(ask) == name)
  if (length(at) > 1) {
    stop_argument(name, "be given once", paste0("It was given ", length(at), " times."))
  }
  eval(call("...elt", at), ask$.frame)
}

# Marks arguments in `...` that are rarely used arguments.
are_controls <- function(ask) {
  dot_names(ask) %in% c(ask$.controls, if (length(ask$.controls)) "control")
}

unknown_dots <- function(ask = running$ask) {
  names <- dot_names(ask)[!are_controls(ask)]
  names[!nzchar(names)] <- "(unnamed)"
  names
}
