# Reads an sdcMicroObj.

# Content of an object: slots that a step did not change are those of the state before. Anything
# that createSdcObj() does not make is an error.
micro_slots <- function(object, arg) {
  need_sdcmicro(arg)
  names <- c(
    "origData", "keyVars", "weightVar", "hhId", "strataVar", "sensibleVar", "ghostVars",
    "pramVars", micro_columns, "manipStrataVar", "risk", "pram", "options"
  )
  slots <- tryCatch(
    {
      stopifnot(isS4(object))
      methods::validObject(object)
      rlang::set_names(lapply(names, function(name) {
        get_slot(object, name)
      }), names)
    },
    error = function(e) {
      stop_damaged("It lacks parts of one, or they contradict each other.", arg)
    }
  )
  check_slots(slots, arg)
  slots
}

# The slots with protected columns, in the order in which they become the file.
# sdcMicro puts the key variables first, where a copy for PRAM takes their place.
micro_columns <- c("manipPramVars", "manipNumVars", "manipGhostVars", "manipKeyVars")

check_slots <- function(slots, arg) {
  data <- slots$origData
  wrong <- function(found) stop_damaged(found, arg)
  if (!is.data.frame(data)) wrong("It has no data.")
  if (length(slots$manipKeyVars) == 0) wrong("It has no key variables.")
  for (slot in micro_columns) {
    part <- slots[[slot]]
    if (is.null(part)) next
    if (nrow(part) != nrow(data)) {
      wrong(paste0("Its ", slot, " have ", nrow(part), " records, its data ", nrow(data), "."))
    }
    absent <- setdiff(names(part), names(data))
    if (length(absent)) wrong(paste0("Its data lack ", quote_names(absent), "."))
  }
  for (slot in c("keyVars", "weightVar", "hhId", "strataVar", "sensibleVar", "pramVars")) {
    if (!all(slots[[slot]] %in% seq_along(data))) {
      wrong(paste0("Its ", slot, " point to columns that its data do not have."))
    }
  }
  if (!identical(names(data)[slots$keyVars], names(slots$manipKeyVars))) {
    wrong("Its keyVars and manipKeyVars name different columns.")
  }
  tryCatch(micro_ghosts(slots), error = function(e) wrong("Its ghostVars are not pairs."))
  alpha <- slots$options$alpha
  if (!is.null(alpha) && !(is_plain_number(alpha) && length(alpha) == 1 &&
                             isTRUE(alpha >= 0 && alpha <= 1))) {
    wrong("Its alpha is not a number from 0 to 1.")
  }
}

stop_damaged <- function(found, arg) {
  stop_sdc(
    "bad_data",
    paste0("`", arg, "` must be a whole sdcMicroObj of the sdcMicro that is installed."),
    x = found,
    i = paste(
      "createSdcObj() makes it anew; where extractManipData() still works, name the key",
      "variables and weights of its data by `key_vars` and `weight_var`."
    ),
    data_class = "sdcMicroObj"
  )
}

need_sdcmicro <- function(arg) {
  if (!requireNamespace("sdcMicro", quietly = TRUE)) {
    stop_sdc(
      "missing_package",
      paste0("The package sdcMicro must be installed if `", arg, "` is an sdcMicroObj."),
      x = "It is not.",
      i = paste(
        "install.packages(\"sdcMicro\"); or, if it is, sdcMicro::extractManipData()",
        "makes a data frame."
      ),
      package = "sdcMicro"
    )
  }
}

# The data as they would be released. extractManipData() turns recoded numbers into
# the codes of a factor; here they keep their labels.
micro_data <- function(slots) {
  data <- slots$origData
  for (slot in micro_columns) {
    part <- slots[[slot]]
    data[names(part)] <- Map(as_before, part, data[names(part)])
  }
  # The name under which sdcMicro releases strata of its own making.
  data$sdcGUI_strataVar <- slots$manipStrataVar
  data
}

# createSdcObj() makes factors of key variables that were text.
as_before <- function(now, was) {
  if (is.character(was) && is.factor(now)) as.character(now) else now
}

# Ghost variables as `linked` takes them: list(key = its ghosts).
micro_ghosts <- function(slots) {
  ghosts <- lapply(slots$ghostVars, function(pair) names(slots$origData)[pair[[2]]])
  keys <- vapply(slots$ghostVars, function(pair) names(slots$origData)[pair[[1]]], "")
  if (length(ghosts)) rlang::set_names(ghosts, keys)
}

# Protections of the key variables: suppressed values, and variables after PRAM.
micro_protected <- function(slots) {
  keys <- names(slots$manipKeyVars)
  suppressed <- vapply(keys, function(name) {
    sum(is.na(slots$manipKeyVars[[name]]) & !is.na(slots$origData[[name]]))
  }, 0L)
  changes <- slots$pram$summary
  list(
    suppressed = suppressed,
    perturbed = intersect(keys, as.character(changes$variable[changes$nrChanges > 0]))
  )
}

get_slot <- function(object, slot) sdcMicro::get.sdcMicroObj(object, slot)
