#' sdcMicro objects
#'
#' Scripts of sdcMicro thread an `sdcMicroObj` through their calls.
#'
#' @name store_result
NULL

#' @rdname store_result
#' @export
store_result <- function(object, ...) {
  call <- rlang::current_env()
  check_sdcmicro(object, call)
  results <- list(...)
  given <- names(results)
  if (is.null(given)) given <- rep("", length(results))
  wrong <- !vapply(results, inherits, NA, c("sdc_result", "sdc_comparison")) &
    !(vapply(results, is.null, NA) & nzchar(given))
  if (length(results) == 0 || any(wrong)) {
    stop_argument(
      "...", "hold results of sdcRisk, or NULL under the name of one to take out",
      found = if (length(results)) given_words(results[wrong][[1]]) else "Nothing was given.",
      advice = "store_result(object, n_matches(object))", call = call
    )
  }
  own <- vapply(results, function(x) sub("^sdc_", "", class(x)[[1]]), "")
  names <- ifelse(nzchar(given), given, own)
  if (anyDuplicated(names)) {
    stop_argument(
      "...", "have a name of its own for every result",
      found = paste0("Several are named ", quote_names(unique(names[duplicated(names)])), "."),
      call = call
    )
  }
  kept <- kept_results(object)
  for (i in seq_along(results)) {
    kept[[names[[i]]]] <- without_data(results[[i]])
  }
  risk <- get_slot(object, "risk")
  risk$sdcRisk <- if (length(kept)) kept
  set_slot(object, "risk", risk)
}

#' @rdname store_result
#' @export
stored_results <- function(object, name = NULL) {
  call <- rlang::current_env()
  check_sdcmicro(object, call)
  kept <- kept_results(object)
  if (!is.null(name)) {
    if (!is.character(name) || length(name) != 1 || !name %in% names(kept)) {
      stop_argument(
        "name", "be the name of a stored result",
        found = if (length(kept)) {
          paste0("Stored: ", quote_names(names(kept)), ".")
        } else {
          "Nothing is stored in this object."
        },
        advice = nearest_names(name, names(kept)), call = call
      )
    }
    kept <- kept[name]
  }
  inform_stale(kept, object, call)
  if (is.null(name)) kept else kept[[1]]
}

check_sdcmicro <- function(object, call) {
  check_given("object", call)
  if (!is_sdcmicro(object)) {
    stop_argument(
      "object", "be an sdcMicroObj", given_words(object), micro_advice(object),
      call = call
    )
  }
  micro_slots(object, "object", call)
}

kept_results <- function(object) {
  kept <- get_slot(object, "risk")$sdcRisk
  if (is.null(kept)) list() else kept
}

# The protected data are those of the object that a result is kept in.
without_data <- function(result) {
  if (is_sdcmicro(result$data)) result["data"] <- list(NULL)
  result
}

# Results of data that are the object's no longer: it was recoded or suppressed since.
inform_stale <- function(results, object, call) {
  data <- micro_data(micro_slots(object, "object", call))
  stale <- names(results)[vapply(results, function(x) {
    print <- x$settings$fingerprint
    length(print) == 1 && !identical(fingerprint_of(data, x$settings), print)
  }, NA)]
  if (length(stale)) {
    inform_sdc(
      "stale_result",
      c(
        "The data of the object are not those that every stored result was made from.",
        x = paste0("Of other data: ", quote_names(stale), ".")
      ),
      names = stale, call = call
    )
  }
}
