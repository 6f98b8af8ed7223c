# Households that a perturbation record by record would tear apart.

# The column of households that the file names, and the key variables that all members of
# a household share, where the call does not say that households stay together.
torn_households <- function(file, key_vars) {
  hh_id <- file$roles$hh_id
  if (is.null(hh_id) || !is.null(file$lazy)) {
    return(NULL)
  }
  home <- as_bare(file$data[[hh_id]])
  first <- match(home, home)
  keys <- if (is.character(key_vars)) key_vars else file$roles$key_vars
  shared <- Filter(function(name) {
    x <- file$data[[name]]
    is.atomic(x) && length(dim(x)) == 0 && identical(as_bare(x)[first], as_bare(x))
  }, intersect(keys, names(file$data)))
  list(hh_id = hh_id, hh_vars = if (anyDuplicated(home)) shared)
}

torn_words <- function(torn) {
  c(
    paste0(
      "Members of a household (", quote_names(torn$hh_id), ") are perturbed one by one, and can ",
      "end up in different places."
    ),
    if (length(torn$hh_vars)) {
      paste0(
        "To keep households together: invariant_pram(..., hh_vars = ", code_text(torn$hh_vars), ")."
      )
    } else {
      "No key variable is the same for all members of every household."
    }
  )
}

inform_torn <- function(torn) {
  if (!is.null(torn)) {
    words <- torn_words(torn)
    inform_sdc("torn_households", c(words[[1]], i = words[[2]]), hh_vars = torn$hh_vars)
  }
}
