# The one file that knows sdcMicro: an sdcMicroObj becomes an sdc_file, protected
# data become an sdcMicroObj again, and results are kept in one. All goes through
# accessors that sdcMicro exports.

# The object as a file --------------------------------------------------------

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
    sensitive = columns("sensibleVar"), num_vars = names(slots$manipNumVars)
  ))
  file$defaults <- list(
    missing = "wildcard", partial_weight = slots$options$alpha, linked = micro_ghosts(slots)
  )
  if (state == "current") {
    file$object <- object
    file$protected <- micro_protected(slots)
    if (length(file$protected$perturbed)) file$remedy <- "invariant_pram"
    file$original <- micro_originals(slots, data)
    signal_micro(file, slots)
  }
  file
}

# Columns as they were when the object was made, of those that it changed since.
micro_originals <- function(slots, data) {
  held <- unlist(lapply(slots[micro_columns], names), use.names = FALSE)
  names <- Filter(function(name) {
    !identical(as_bare(slots$origData[[name]]), as_bare(data[[name]]))
  }, intersect(held, names(slots$origData)))
  columns <- lapply(rlang::set_names(names), function(name) slots$origData[[name]])
  if (NROW(slots$origData) == nrow(data)) columns
}

# Arguments that mean the same to sdcMicro, whose object answers them.
micro_names <- c("partial_weight", "linked")

# Arguments that neither the user nor a role answers.
take_defaults <- function(ask, file) {
  known <- names(file$defaults)[!vapply(file$defaults, is.null, NA)]
  # Missing values can match everything in these.
  if (!is_front(c("n_matches", "individual_risk"))) known <- setdiff(known, "missing")
  open <- setdiff(intersect(known, ask$.arguments), c(ask$.given, names(file$roles)))
  for (arg in open) ask[[arg]] <- file$defaults[[arg]]
  ask$.given <- union(ask$.given, open)
  inform_suppressed(file)
  inform_alpha(file)
}

# Protected data back in the object -----------------------------------------------

# The return value for a file that came as an sdcMicroObj: the object with the columns of
# `released`, as sdcMicro's own functions leave it. `pram` describes the perturbation, `k` is the
# limit of the suppression.
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
        "risks_not_computed", "sdcMicro's own risks of the object should follow its new data.",
        x = paste0("calcRisks() failed: ", conditionMessage(e)),
        i = "The data of the object are right; those risks are of the state before."
      )
      object
    }
  )
}

set_slot <- function(object, slot, value) {
  sdcMicro::set.sdcMicroObj(object, slot, list(value))
}

# sdcMicro counts factors and numbers: text would be missing to it.
set_columns <- function(object, slot, slots, columns) {
  part <- slots[[slot]]
  for (name in names(columns)) {
    new <- columns[[name]]
    if (is.character(new) && slot == "manipKeyVars") {
      new <- factor(new, union(levels(part[[name]]), sorted_values(new)))
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
    part[ghosts[[name]]] <- lapply(part[ghosts[[name]]], blank_values, which(blank[[name]]))
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
