# Texts about an sdcMicroObj: messages, a line of its print, advice.

signal_micro <- function(file, slots) {
  perturbed <- file$protected$perturbed
  if (length(perturbed)) {
    inform_sdc(
      "perturbed_keys",
      paste0("PRAM has changed key variables of the object: ", quote_names(perturbed), "."),
      i = paste(
        "Measures that count agreeing records say nothing about the risk of the perturbed",
        "file: see ?release_data. sdc_file(object, state = \"original\") is the file before."
      ),
      columns = perturbed
    )
  }
  copied <- intersect(names(slots$manipKeyVars), names(slots$manipPramVars))
  differ <- copied[!vapply(copied, function(name) {
    identical(
      as.character(slots$manipKeyVars[[name]]), as.character(slots$manipPramVars[[name]])
    )
  }, NA)]
  if (length(differ)) {
    warn_sdc(
      "unsafe_copy",
      "extractManipData() releases another version of a key variable than is measured.",
      x = paste0(
        "In pramVars, too, and there as it was before recoding or suppression: ",
        quote_names(differ), "."
      ),
      i = "Leave key variables out of `pramVars` of createSdcObj().",
      columns = differ
    )
  }
}

# Suppressed cells are blanks; a function that takes them for values says so.
inform_suppressed <- function(file) {
  n <- sum(file$protected$suppressed)
  if (isTRUE(n > 0) && "missing" %in% argument_names()) {
    rule <- argument("missing")
    if (is.character(rule) && !"wildcard" %in% rule[1]) {
      inform_sdc(
        "suppressed_values",
        paste0("The file has ", plural(n, "suppressed value"), " in its key variables."),
        x = if (identical(rule[[1]], "exclude")) {
          "Here records with one are left out."
        } else {
          "Here they are a value of their own."
        },
        i = "n_matches() and individual_risk() let them match everything.",
        n = n
      )
    }
  }
}

# One sentence of the print of a file.
micro_line <- function(file) {
  done <- file$protected
  if (length(file$history)) {
    return(paste0("Done: ", paste(file$history, collapse = "; "), "."))
  }
  if (is.null(file$object) && is.null(file$defaults)) {
    return(NULL)
  }
  ghosts <- file$defaults$linked
  paste0(
    "From an sdcMicroObj",
    if (isTRUE(file$forgotten)) {
      ", released"
    } else if (is.null(file$object)) {
      ", before its protection"
    },
    if (isTRUE(sum(done$suppressed) > 0)) {
      paste0(", ", plural(sum(done$suppressed), "value"), " suppressed")
    },
    if (length(done$perturbed)) paste0(", PRAM of ", quote_names(done$perturbed)),
    "; alpha = ", format_number(if (is.null(file$defaults$partial_weight)) 1 else
      file$defaults$partial_weight),
    if (length(ghosts)) {
      paste0(
        "; suppressed values of ", quote_names(names(ghosts)), " are those of ",
        quote_names(unlist(ghosts, use.names = FALSE)), " too"
      )
    }, "."
  )
}

# The individual risk counts every possible match in full.
inform_alpha <- function(file) {
  alpha <- file$defaults$partial_weight
  if (!is_front("individual_risk") || is.null(alpha) || alpha == 1) {
    return(invisible())
  }
  keys <- intersect(file$roles$key_vars, names(file$data))
  if (identical(argument("missing"), "wildcard") && anyNA(file$data[keys], recursive = TRUE)) {
    inform_sdc(
      "alpha_ignored",
      paste0(
        "The object counts incomplete partners with alpha = ", format_number(alpha),
        ", individual_risk() in full."
      ),
      i = "n_matches() counts them with `partial_weight`, which is alpha."
    )
  }
}

# Advice for what is only a part of an object, or a result of sdcMicro.
micro_advice <- function(x) {
  if (inherits(x, "localSuppression")) {
    "A result of localSuppression(): its data are x$xAnon."
  } else if (inherits(x, c("freqCalc", "suda2", "measure_risk", "modrisk", "indivRisk", "pram"))) {
    "A result of sdcMicro: give the data, or the sdcMicroObj."
  } else if (is.list(x) && !is.data.frame(x) && all(c("global", "individual") %in% names(x))) {
    "The risks of an sdcMicroObj: give the object itself."
  }
}
