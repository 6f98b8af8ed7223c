# The file a result of a report is about, the original or a released one: it is tested against both,
# and a result that fits neither is refused. Nothing is guessed.

# "before" or "after" for every result. `words` name the results in errors.
stages_of <- function(results, data, words) {
  releases <- lapply(results, released_data)
  fits <- lapply(seq_along(results), function(i) fitting_releases(results[[i]], releases, i))
  check_losses(results, releases, words)
  check_named_after(results, releases, fits, words)
  stages <- rep(NA_character_, length(results))
  stages[startsWith(names(results), "after")] <- "after"
  begun <- lapply(results, chain_begun)
  # Known parts of the original: the file itself, or the fingerprints and columns of the results
  # about it.
  known <- list(
    data = data, empty = is.null(data), marks = list(), columns = character(),
    n = if (!is.null(data)) n_records(file_data(data))
  )
  # Results that surely speak of the original come first: others are compared with them.
  chained <- !vapply(begun, is.null, NA)
  first <- vapply(results, inherits, NA, c("sdc_file_check", protection_classes)) & !chained
  for (i in order(!first, lengths(lapply(fits, unlist)) > 0 | chained)) {
    if (!is.na(stages[[i]])) next
    x <- results[[i]]
    # Of two waves the one that the result speaks of comes first.
    for (place in seq_along(fits[[i]])) {
      of <- fits[[i]][[place]]
      before <- fits_original(x, known, place)
      if (isTRUE(before) || length(of)) break
    }
    if (is.na(before) && length(of) && all(are_untouched(x, results[of]))) before <- TRUE
    if (isFALSE(before) && length(of) == 0) before <- begins_at(begun[[i]], x, known)
    stages[[i]] <- stage_of(
      x, before, results[of], others = results[which(stages == "before")],
      has_release = !all(vapply(releases[-i], is.null, NA)),
      stated = startsWith(names(results)[[i]], "before"), known = known, words = words[[i]]
    )
    if (stages[[i]] == "before") known <- learn(known, x)
  }
  unname(stages)
}

# The original behind a protection of a file that was protected before, or may have been, as an
# sdcMicroObj; NULL of others, and if this session does not know it.
chain_begun <- function(x) {
  chained <- inherits(x, protection_classes) &&
    (length(attr(x, "past")$history) > 0 || is_sdcmicro(x$data))
  if (chained) tryCatch(file_before(x, "..."), sdcRisk_error = function(e) NULL)
}

# TRUE if that is the file that the other results are about.
begins_at <- function(begun, x, known) {
  if (!is.null(begun) && !is.null(asked_patterns(x))) {
    first <- if (is.null(known$data)) {
      known$marks[[file_identity(x)$keys]]
    } else {
      print_from(x, known$data)
    }
    return(isTRUE(print_from(x, begun) == first))
  }
  of <- function(data, names) file_prints(file_data(data), list(key_vars = names))$columns
  columns <- if (is.null(known$data)) known$columns else of(known$data, names(known$data))
  both <- intersect(names(begun), names(columns))
  length(both) > 0 && identical(of(begun, both)[both], columns[both])
}

protection_classes <- c("sdc_suppress_cells", "sdc_invariant_pram", "sdc_recode_search")

# Results about both the original and a released file have one place.
of_two_files <- c(protection_classes, "sdc_pram_audit", "sdc_utility_loss")

# `of`: the protections whose released files the result fits, `others`: results about the
# original.
stage_of <- function(x, before, of, others, has_release, stated, known, words) {
  # Patterns have a fingerprint of their own: without a release there is one file only.
  told <- has_fingerprint(x)
  open <- is.na(before)
  protects <- inherits(x, protection_classes)
  first <- known$empty && (told && length(of) == 0 || !has_release || protects)
  alone <- !has_release && is_untold(x) && same_size(x, known)
  if (isTRUE(before) && length(of) && !stated) {
    return(stage_of_both(x, of, others, words))
  }
  stage <- c("before", "before", "after", "before")[
    c(isTRUE(before), open && (stated || first), length(of) > 0 && !stated, open && alone)
  ]
  if (length(stage) == 0) stop_other_file(x, known, before, words)
  stage[[1]]
}

is_untold <- function(x) !has_fingerprint(x) || !is.null(asked_patterns(x))

# A result that fits both files is about the original if these are alike, unless the original
# already has such a result. If they differ a name must decide, except for the check that a report
# is about.
stage_of_both <- function(x, of, others, words) {
  is_check <- function(x) inherits(x, "sdc_file_check")
  if (inherits(x, of_two_files)) {
    "before"
  } else if (!any(vapply(of, has_changed, NA))) {
    if (any(vapply(others, asks_the_same, NA, x))) "after" else "before"
  } else if (is_check(x) && !any(vapply(others, is_check, NA))) {
    "before"
  } else {
    stop_sdc("mismatched_data", c(
      "A result that fits both the original and a released file must be named.",
      x = paste(capitalised(words), "has variables that are equal in both."),
      i = "Name the result: `before = ` or `after = `."
    ))
  }
}

asks_the_same <- function(x, y) {
  of_file <- c(
    "weight_var", "hh_id", "hh_vars", "strata_var", "pop_size", "sampling_fraction", "n",
    "fingerprint", "version"
  )
  asked <- function(x) x$settings[setdiff(names(x$settings), of_file)]
  identical(class(x), class(y)) && identical(asked(x), asked(y))
}

has_changed <- function(protection) {
  e <- protection$estimates
  isTRUE(sum(e$n_suppressed, e$n_changed) > 0)
}

# TRUE if variables of a result are the same before and after each protection.
are_untouched <- function(x, protections) {
  vapply(protections, function(p) {
    !has_changed(p) || !any(print_columns(x$settings) %in% p$settings$key_vars)
  }, NA)
}

# The released files, without its own, that a result fits, for each file it was made from.
fitting_releases <- function(x, releases, i) {
  lapply(seq_len(max(1, length(all_prints(x)))), function(place) {
    Filter(function(j) {
      j != i && !is.null(releases[[j]]) && fits_data(x, releases[[j]], place)
    }, seq_along(releases))
  })
}

released_data <- function(x) {
  fields <- unclass(x)
  is_release <- inherits(x, c("sdc_suppress_cells", "sdc_invariant_pram"))
  if (is_release && inherits(fields$data, "tbl_lazy")) {
    # Its patterns, as long as its connection lives.
    tryCatch(file_data(released_file(x, "...")), sdcRisk_error = function(e) NULL)
  } else if (is_release) {
    bare_frame(fields$data)
  }
}

learn <- function(known, x) {
  marks <- file_identity(x)
  if (has_fingerprint(x)) known$marks[[marks$keys]] <- marks$fingerprint
  prints <- all_prints(x)
  columns <- if (length(prints)) prints[[1]]$columns
  known$columns <- c(known$columns, columns[setdiff(names(columns), names(known$columns))])
  if (is.null(known$n) && counts_records(x)) known$n <- x$settings$n
  # Patterns say nothing of columns.
  known$empty <- known$empty && !is.null(asked_patterns(x))
  known
}

# TRUE if a result is about the original: NA where nothing in common can be compared.
fits_original <- function(x, known, place = 1) {
  if (!is.null(known$data)) {
    return(fits_data(x, known$data, place) || !has_fingerprint(x) && NA)
  }
  marks <- file_identity(x)
  print <- known$marks[[marks$keys]]
  if (place == 1 && !is.null(print) && has_fingerprint(x)) {
    return(print == marks$fingerprint)
  }
  prints <- all_prints(x)
  columns <- if (length(prints)) prints[[place]]$columns
  both <- intersect(names(columns), names(known$columns))
  if (!same_size(x, known)) {
    FALSE
  } else if (length(both)) {
    identical(columns[both], known$columns[both])
  } else {
    NA
  }
}

# TRUE if a result was made from these data, or `in_any_order` from their records in another one.
fits_data <- function(x, data, place = 1, in_any_order = TRUE) {
  if (place == 1 && is_made_from(x, data)) {
    return(TRUE)
  }
  data <- file_data(data)
  prints <- all_prints(x)
  then <- if (length(prints)) prints[[place]]
  names <- names(then$columns)
  if (length(names) == 0 || !all(names %in% names(data))) {
    return(FALSE)
  }
  now <- file_prints(data, list(key_vars = names, hh_id = x$settings$hh_id))
  identical(now$columns, then$columns) ||
    in_any_order && !is.null(then$sorted) && identical(now$sorted, then$sorted)
}

is_made_from <- function(x, data) {
  has_fingerprint(x) && identical(print_from(x, data), x$settings$fingerprint)
}

# The fingerprint of other data by the settings of a result.
print_from <- function(x, data) {
  roles <- asked_patterns(x)
  if (!is.null(roles)) data <- as_patterns(file_data(data), roles)
  fingerprint_of(data, fingerprint_settings(x))
}

# utility_loss() takes the fingerprints of its files without their weights.
fingerprint_settings <- function(x) {
  settings <- x$settings
  if (inherits(x, "sdc_utility_loss")) settings$weight_var <- NULL
  settings
}

has_fingerprint <- function(x) {
  print <- x$settings$fingerprint
  is.character(print) && length(print) == 1 && !is.na(print)
}

# The columns of the files that a result was made from, the file that it speaks of first.
# A result made from a result has those of the latter.
all_prints <- function(x) {
  # Patterns have other rows than their file.
  if (is.null(asked_patterns(x))) asked_prints(attr(x, "asked"))
}

asked_prints <- function(asked) {
  own <- asked$prints
  # A loss has another file to compare with.
  places <- c(
    "newdata", "population", "data", "released", "wave2", "before", "known", "wave1"
  )
  parts <- Filter(function(a) inherits(a, "sdc_asked_part") && a$kind == "result", asked$arguments)
  c(own[intersect(places, names(own))], unlist(
    unname(lapply(parts, function(p) asked_prints(p$asked))), recursive = FALSE
  ))
}

# Results with equal `keys` have the fingerprints of one file or of different ones.
file_identity <- function(x) {
  settings <- fingerprint_settings(x)
  roles <- c("weight_var", "hh_id", "hh_vars", "sensitive", "within", "strata_var")
  of <- c(settings["key_vars"], settings["key_groups"], settings[intersect(roles, names(settings))])
  of <- of[lengths(of) > 0]
  # Comparisons with another file have fingerprints of their own kind.
  kind <- c(
    if (!is.null(settings$wave_fingerprints)) "waves", if (isTRUE(settings$patterns)) "patterns",
    if (!is.null(asked_patterns(x))) "pattern table"
  )
  list(
    keys = paste(c(kind, deparse(of, width.cutoff = 500L)), collapse = ""),
    fingerprint = paste(settings$fingerprint, collapse = " ")
  )
}

# Numbers of records are compared, but for two waves.
counts_records <- function(x) {
  !is.null(x$settings$n) && is.null(x$settings$wave_fingerprints) && !isTRUE(x$settings$patterns)
}

same_size <- function(x, known) {
  is.null(known$n) || !counts_records(x) || x$settings$n == known$n
}

# The file of a loss must be a released file of the report, if it has one, record by record in the
# order of the original.
check_losses <- function(results, releases, words) {
  releases <- lapply(Filter(Negate(is.null), releases), file_data)
  for (i in which(vapply(results, inherits, NA, "sdc_utility_loss"))) {
    x <- results[[i]]
    settings <- list(key_vars = x$settings$key_vars)
    sorted <- attr(x, "asked")$prints$after$sorted
    fits <- vapply(releases, function(d) {
      identical(fingerprint_of(d, settings), x$settings$wave_fingerprints$after)
    }, NA)
    shuffled <- !any(fits) && (isTRUE(x$diagnostics$other_order) || !is.null(sorted) && any(
      vapply(releases, function(d) identical(file_prints(d, x$settings)$sorted, sorted), NA)
    ))
    if (shuffled) {
      stop_sdc("mismatched_data", c(
        "A loss of information must compare records in the same order.",
        x = paste0("`after` of ", words[[i]], " is in another order than `before`."),
        i = paste(
          "Was it shuffled by release_data()? Give the protection itself:",
          "utility_loss(before, protected)."
        )
      ))
    }
    if (length(fits) && !any(fits) && !nzchar(names(results)[[i]])) {
      stop_sdc("mismatched_data", c(
        "The loss of information must be that of a released file in the report.",
        x = paste0("`after` of ", words[[i]], " is another file."),
        i = "Give the protection itself: utility_loss(before, protected).",
        i = "If it was protected further: give the result a name, such as `loss = `."
      ))
    }
  }
}

# A result named `after` must be about a released file of the report, where all of these are
# known. Those of a comparison may be about other files, and a recoded file is not in its
# result.
check_named_after <- function(results, releases, fits, words) {
  recoded <- any(vapply(results, inherits, NA, "sdc_recode_search"))
  for (i in which(startsWith(names(results), "after"))) {
    x <- results[[i]]
    is_told <- has_fingerprint(x) && any(lengths(lapply(all_prints(x), `[[`, "sorted")) > 0)
    other <- is_told && length(unlist(fits[[i]])) == 0 && is.null(unclass(x)$said)
    files <- !vapply(releases[-i], is.null, NA)
    if (other && any(files) && !recoded && !inherits(x, of_two_files)) {
      stop_sdc("mismatched_data", c(
        "A result named `after` must be about a released file in the report.",
        x = paste(capitalised(words[[i]]), "is about another file."),
        i = "Make it of `x$data` or `release_data(x)` of the protection.",
        i = "If that was protected further, leave the protection out of the report."
      ))
    }
  }
}

stop_other_file <- function(x, known, before, words) {
  untold <- is.na(before)
  n <- c(known$n, if (counts_records(x)) x$settings$n)
  stop_sdc(
    "mismatched_data",
    "The results of a report must come from one file, before or after its protection.",
    x = if (untold) {
      paste0("Nothing tells which file ", sub(",$", "", words), " is about.")
    } else if (length(unique(n)) > 1) {
      paste0(
        capitalised(words), " has ", plural(n[[2]], "record"), ", the file ",
        format_count(n[[1]]), "."
      )
    } else {
      paste0(
        capitalised(words), " has another fingerprint: it is neither of the file nor of ",
        "released data in the report."
      )
    },
    i = if (untold) "Give the original file as `data`, or name the result: `before = `." else
      "Was the file sorted, filtered or recoded since? Make the result again.",
    i = "A result of the protected file may be named: `after = `; `data = ` gives the file."
  )
}

# A protection keeps all records; a file of others has another size.
size_lines <- function(entries) {
  n <- function(stage) {
    unique(unlist(lapply(entries, function(e) if (e$stage == stage) e$exact$settings$n)))
  }
  before <- n("before")
  after <- n("after")
  if (length(before) == 1 && length(after) == 1 && before != after) {
    paste0(
      "The file before has ", plural(before, "record"), ", the file after ", format_count(after),
      ": their figures are not those of the same people."
    )
  }
}

# Steps of the history of the released file; a single one that is a result has a section of its
# own. Numbers of values in a step may be those of few records: they stay in the agency.
history_lines <- function(entries, internal) {
  steps <- unique(lapply(entries, function(entry) entry$exact$diagnostics$history))
  has_section <- any(vapply(entries, function(e) inherits(e$exact, protection_classes), NA))
  steps <- steps[lengths(steps) > has_section]
  if (!internal) steps <- lapply(steps, sub, pattern = "[)]: .*", replacement = ")")
  steps <- vapply(steps, paste, "", collapse = "; then ")
  sprintf("Protected by %s.", steps)
}

# Values that the order of a released file reveals, if results about it are of its records in the
# order of the original.
told_by_order_lines <- function(entries) {
  stages <- vapply(entries, `[[`, "", "stage")
  is_one <- vapply(entries, function(e) inherits(e$exact, of_two_files), NA)
  after <- entries[stages == "after" & !is_one]
  unlist(lapply(entries, function(entry) {
    told <- entry$result$diagnostics$told_by_order
    told <- told[is.na(told$by), , drop = FALSE]
    released <- released_data(entry$exact)
    if (is.null(released) || NROW(told) == 0) {
      return(NULL)
    }
    as_it_was <- vapply(after, function(e) fits_data(e$exact, released, 1, FALSE), NA)
    if (any(as_it_was)) {
      worst <- told[order(told$chance - told$share)[[1]], ]
      of <- after[as_it_was][[1]]
      # Patterns, as those of a database, are the same in any order.
      ordered <- !is.null(of$exact$records)
      paste0(
        if (ordered) {
          paste0("The records are in the order of the original (", of$label, "), which reveals")
        } else {
          "In the order of the original the records would reveal"
        },
        " protected values of ", worst$variable, if (!is.na(worst$share)) {
          paste0(
            ", ", format_percent(worst$share), " come back (by chance ",
            format_percent(worst$chance), ")"
          )
        }, ". Release the ", if (ordered) "file in the secret order" else "table",
        " of release_data()."
      )
    }
  }))
}

# Results with other key variables, households or weights than the check in the report: a line for
# each, named by its id if its verdicts do not answer the check's.
made_apart <- function(entries) {
  protects <- vapply(entries, function(e) e$fun %in% protecting, NA)
  after <- vapply(entries, `[[`, "", "stage") == "after"
  costs <- vapply(entries, `[[`, "", "fun") == "utility_loss"
  others <- entries[!protects & !after & !costs]
  checks <- Filter(function(e) e$fun == "file_check", others)
  if (length(checks)) others <- checks[1]
  others <- Filter(has_keys, others)
  lines <- list()
  for (entry in entries[(protects | after) & !costs]) {
    with_keys <- Filter(function(e) covers(entry, e), others)
    reference <- c(with_keys, others)
    if (!has_keys(entry) || length(reference) == 0) next
    alike <- if (length(with_keys)) with_keys else reference[1]
    other_role <- function(role) {
      entry$fun %in% protecting && (role %in% names(arguments_of(entry$fun))) &&
        !any(vapply(alike, function(e) identical(role_of(e, role), role_of(entry, role)), NA))
    }
    differs <- c(
      keys = length(with_keys) == 0, hh_id = other_role("hh_id"),
      weight_var = other_role("weight_var")
    )
    if (any(differs)) {
      line <- apart_words(entry, reference[[1]], differs)
      # Counts of records without weights are judged anyway.
      id <- if (any(differs[c("keys", "hh_id")])) entry$id else ""
      lines <- c(lines, rlang::set_names(list(line), id))
    }
  }
  lines
}

keys_of <- function(entry) key_names(entry$result)
# A result of continuous variables alone has none.
has_keys <- function(entry) is.character(keys_of(entry)) && length(keys_of(entry)) > 0
key_sets_of <- function(entry) {
  sets <- entry$result$settings$key_sets
  if (length(sets)) sets else list(keys_of(entry))
}
# TRUE if a result is about all key variables of another one together.
covers <- function(entry, other) {
  any(vapply(key_sets_of(entry), setequal, NA, keys_of(other)))
}
role_of <- function(entry, role) {
  given <- entry$result$settings[[role]]
  if (length(given)) as.character(given)
}
apart_words <- function(entry, reference, differs) {
  words <- function(e) {
    role <- function(name, what) {
      given <- role_of(e, name)
      paste0("with", if (is.null(given)) "out", " ", what, if (!is.null(given)) {
        paste0(" ", paste(given, collapse = ", "))
      })
    }
    parts <- c(
      if (differs[["keys"]]) {
        paste("on", paste(vapply(key_sets_of(e), paste, "", collapse = ", "), collapse = "; on "))
      },
      if (differs[["hh_id"]]) role("hh_id", "households"),
      if (differs[["weight_var"]]) role("weight_var", "weights")
    )
    paste(parts, collapse = ", ")
  }
  paste0(
    if (entry$fun %in% protecting) "The protection (" else "The result after the protection (",
    entry$label, ") was made ", words(entry), "; the check (", reference$label, ") ",
    words(reference), "."
  )
}

# A protected file alone: what was measured before and after, the protection, and the loss. The
# last of several steps was made from another file than the check, which its name says.
with_histories <- function(given) {
  alone <- !any(vapply(given, function(x) inherits(x, "sdc_result") && !is_remedy(x), NA))
  if (length(given) != 1 || !alone || !has_history(given[[1]])) {
    return(given)
  }
  x <- given[[1]]
  before <- file_before(x, "...")
  step <- utils::tail(attr(x, "past")$history, 1)
  name <- if (length(step)) paste("after", sub("[(].*", "()", step)) else ""
  # Values exchanged in a database are not known record by record.
  compared <- !is_in_database(x) || !is.null(before$now)
  after <- file_check(x)
  loss <- if (compared) utility_loss(before, x)
  # If no key variable changed, the check after is that before.
  if (compared) loss$diagnostics$history <- after$diagnostics$history
  c(
    list(before = file_check(before)), if (is_remedy(x)) rlang::set_names(list(x), name),
    list(after = after), if (compared) list(loss)
  )
}
