# The one file that knows sdcMicro: an sdcMicroObj becomes an sdc_file, protected
# data become an sdcMicroObj again, and results are kept in one. All goes through
# accessors that sdcMicro exports.

is_sdcmicro <- function(x) inherits(x, "sdcMicroObj")

# The object as a file --------------------------------------------------------

#' @rdname store_result
#' @export
sdc_file.sdcMicroObj <- function(data, key_vars = NULL, ..., weight_var = NULL,
                                 hh_id = NULL, strata_var = NULL, sensitive = NULL,
                                 pop_size = NULL, sampling_fraction = NULL,
                                 key_groups = NULL, missing = NULL,
                                 state = c("current", "original")) {
  check_no_dots(...)
  state <- check_choice(state, c("current", "original"), "state")
  given <- list(
    key_vars = key_vars, weight_var = weight_var, hh_id = hh_id, strata_var = strata_var,
    sensitive = sensitive, pop_size = pop_size, sampling_fraction = sampling_fraction,
    key_groups = key_groups, missing = missing
  )
  given <- given[!vapply(given, is.null, NA)]
  do.call(sdc_file, c(list(micro_file(data, "data", state)), given))
}

# An sdcMicroObj as a file. `object` is where protected data go back to; `defaults`
# are arguments that come before the functions' own defaults where these know them.
micro_file <- function(object, arg = "data", state = "current") {
  slots <- micro_slots(object, arg)
  data <- if (state == "current") micro_data(slots) else slots$origData
  check_records(data, arg)
  columns <- function(slot) {
    if (length(slots[[slot]])) names(slots$origData)[slots[[slot]]]
  }
  file <- new_file(data, list(
    key_vars = names(slots$manipKeyVars), weight_var = columns("weightVar"),
    hh_id = columns("hhId"), strata_var = columns("strataVar"),
    sensitive = columns("sensibleVar")
  ))
  file$defaults <- list(
    missing = "wildcard", partial_weight = slots$options$alpha, linked = micro_ghosts(slots)
  )
  if (state == "current") {
    file$object <- object
    file$protected <- micro_protected(slots)
    signal_micro(file, slots)
  }
  file
}

# What an object holds, read as it stands: slots that a step did not touch are those
# of the state before. Anything that is not as createSdcObj() makes it is an error.
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
    c(
      paste0("`", arg, "` must be a whole sdcMicroObj of the sdcMicro that is installed."),
      x = found,
      i = paste(
        "createSdcObj() makes it anew; where extractManipData() still works, name the key",
        "variables and weights of its data by `key_vars` and `weight_var`."
      )
    ),
    data_class = "sdcMicroObj"
  )
}

need_sdcmicro <- function(arg) {
  if (!requireNamespace("sdcMicro", quietly = TRUE)) {
    stop_sdc(
      "missing_package",
      c(
        paste0("The package sdcMicro must be installed where `", arg, "` is an sdcMicroObj."),
        x = "It is not.",
        i = paste(
          "install.packages(\"sdcMicro\"); or, where it is, sdcMicro::extractManipData()",
          "makes a data frame."
        )
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

# What was done to the key variables: cells suppressed, and variables after PRAM.
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

# Arguments that neither the user nor a role answers, and that
# mean there what they mean to sdcMicro.
take_defaults <- function(file) {
  takes <- intersect(names(file$defaults), argument_names())
  frame <- front()
  for (arg in takes[!was_given(takes)]) {
    settled <- is.null(file$defaults[[arg]]) || arg %in% names(file$roles) ||
      (arg == "missing" && !counts_matches())
    if (!settled) assign(arg, file$defaults[[arg]], envir = frame)
  }
  inform_suppressed(file)
  inform_alpha(file)
}

# Whether missing values can match everything in the exported function.
counts_matches <- function() is_frame_of(n_matches) || is_frame_of(individual_risk)

# Whether the exported function is `f`.
is_frame_of <- function(f) {
  at <- front_at()
  at > 0 && identical(sys.function(at), f)
}

# Protected data back in the object -----------------------------------------------

# What a method hands out of a file that came as an sdcMicroObj: the object with the
# columns of `released`, as sdcMicro's own functions leave it. `pram` describes what
# was perturbed, `k` is what blanks were made for.
give_back <- function(file, released, pram = NULL, k = NA) {
  if (is.null(file$object)) {
    return(released)
  }
  changed <- names(released)[!vapply(names(released), function(name) {
    identical(file$data[[name]], released[[name]])
  }, NA)]
  object <- sdcMicro::nextSdcObj(file$object)
  slots <- micro_slots(object, "data")
  for (slot in micro_columns) {
    own <- intersect(changed, names(slots[[slot]]))
    if (length(own)) object <- set_columns(object, slot, slots, released[own])
  }
  held <- unlist(lapply(slots[micro_columns], names))
  object <- add_columns(object, slots, released[setdiff(changed, held)])
  object <- note_blanks(object, slots, k)
  if (!is.null(pram)) object <- note_pram(object, slots, pram)
  tryCatch(
    sdcMicro::calcRisks(object),
    error = function(e) {
      pass_on_time_limit(e)
      warn_sdc(
        "risks_not_computed",
        c(
          "sdcMicro's own risks of the object should follow its new data.",
          x = paste0("calcRisks() failed: ", conditionMessage(e)),
          i = "The data of the object are right; those risks are of the state before."
        )
      )
      object
    }
  )
}

get_slot <- function(object, slot) sdcMicro::get.sdcMicroObj(object, slot)

set_slot <- function(object, slot, value) {
  sdcMicro::set.sdcMicroObj(object, slot, list(value))
}

# sdcMicro counts factors and numbers: text would be missing to it.
set_columns <- function(object, slot, slots, columns) {
  part <- slots[[slot]]
  for (name in names(columns)) {
    new <- columns[[name]]
    if (is.character(new) && slot == "manipKeyVars") {
      new <- factor(new, union(levels(part[[name]]), sort(unique(new))))
    }
    part[[name]] <- new
  }
  set_slot(object, slot, part)
}

# Columns without a place of their own stand with the PRAM variables, as in pram().
add_columns <- function(object, slots, columns) {
  if (length(columns) == 0) {
    return(object)
  }
  part <- slots$manipPramVars
  if (is.null(part)) part <- slots$origData[0]
  part[names(columns)] <- columns
  at <- union(slots$pramVars, match(names(columns), names(slots$origData)))
  set_slot(set_slot(object, "manipPramVars", part), "pramVars", at)
}

# New blanks as localSuppression() notes them; ghost variables are blank with their
# key variable.
note_blanks <- function(object, slots, k) {
  keys <- get_slot(object, "manipKeyVars")
  blank <- lapply(keys, is.na)
  new <- Map(function(now, was) sum(now & !is.na(was)), blank, slots$manipKeyVars)
  if (sum(unlist(new)) == 0) {
    return(object)
  }
  ghosts <- micro_ghosts(slots)
  part <- get_slot(object, "manipGhostVars")
  for (name in intersect(names(ghosts), names(keys))) {
    rows <- which(blank[[name]])
    part[ghosts[[name]]] <- lapply(part[ghosts[[name]]], blank_values, rows)
  }
  if (length(ghosts)) object <- set_slot(object, "manipGhostVars", part)
  set_slot(object, "localSuppression", list(
    supps = as.data.frame(new, optional = TRUE),
    totalSupps = as.data.frame(lapply(blank, sum), optional = TRUE),
    newSupps = sum(unlist(new)), anonymity = TRUE, keyVars = names(keys), strataVars = NULL,
    importance = seq_along(keys), k = k, threshold = NA, combs = NULL
  ))
}

# `pram`: per variable `Rs` (expected transitions between its values) and the number
# of changes, as pram() notes them.
note_pram <- function(object, slots, pram) {
  n <- nrow(slots$origData)
  done <- if (is.null(slots$pram)) list() else slots$pram
  summary <- data.frame(
    variable = names(pram$n_changed), nrChanges = unname(pram$n_changed),
    percChanges = round(100 * unname(pram$n_changed) / n, 2)
  )
  done$params <- c(done$params, lapply(pram$transitions, function(Rs) {
    list(Rs = Rs, pd = NA, alpha = NA)
  }))
  done$summary <- rbind(done$summary, summary)
  notes <- get_slot(object, "additionalResults")
  notes$sdcMicro_warnings <- rbind(notes$sdcMicro_warnings, data.frame(
    warnMsg = paste(
      "Key variables were perturbed by invariant_pram() of sdcRisk: k-anonymity and risks",
      "that count agreeing records do not hold for the perturbed data."
    ),
    method = "invariant_pram", variable = summary$variable[1], stringsAsFactors = FALSE
  ))
  set_slot(set_slot(object, "additionalResults", notes), "pram", done)
}
