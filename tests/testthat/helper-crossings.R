# The functions of the compiled core that an expression calls, one after the
# other.
crossings <- function(code) {
  space <- asNamespace("sdcRisk")
  doors <- ls(space, pattern = "^rs_")
  originals <- mget(doors, envir = space)
  called <- character()
  put <- function(functions) {
    for (door in names(functions)) {
      unlock <- get("unlockBinding", envir = baseenv())
      unlock(door, space)
      assign(door, functions[[door]], envir = space)
      lockBinding(door, space)
    }
  }
  on.exit(put(originals))
  put(lapply(rlang::set_names(doors), function(door) {
    original <- originals[[door]]
    function(...) {
      called <<- c(called, door)
      original(...)
    }
  }))
  force(code)
  called
}
