# Output of a check of scripts: prints and tables, exit status, SARIF and JUnit.

#' @export
format.sdc_script_check <- function(x, ..., width = console_width(), rows = 25) {
  f <- x$findings
  lines <- wrap_lines(script_title(x), width)
  last <- wrap_lines(script_next(x), width)
  shown <- lapply(seq_len(nrow(f)), function(i) wrap_lines(finding_words(f[i, ]), width, 4))
  room <- rows - length(lines) - length(last)
  fits <- cumsum(lengths(shown)) <= room
  if (!all(fits)) fits <- cumsum(lengths(shown)) <= room - 1
  left <- sum(!fits)
  c(
    lines, unlist(shown[fits]),
    if (left) paste0("... and ", format_count(left), " more: as.data.frame(x)"), last
  )
}

script_title <- function(x) {
  n <- vapply(severities, function(s) sum(x$findings$severity == s), 0)
  counts <- paste0(
    format_count(n), " ", c("error", "warning", "piece", "hint"),
    ifelse(n == 1, "", "s"), c("", "", " of information", "")
  )[n > 0]
  files <- quote_names(basename(x$settings$files))
  limits <- x$settings$limit
  paste0(
    "Script check of ", files, ": ", paste(c(
      counts, "no finding"[length(counts) == 0]
    ), collapse = ", "), ". ", plural(sum(x$settings$n_lines), "line"), ", ",
    plural(nrow(x$frames), "data frame"), " judged by ",
    if (length(limits)) paste(
      names(limits), vapply(limits, format_number, ""), sep = " = ", collapse = between_numbers()
    ) else "no limit", "."
  )
}

finding_words <- function(f) {
  where <- paste(basename(f$file), f$line, f$column, sep = ":")
  paste0(where, " ", f$severity, " ", f$code, ": ", f$message)
}

script_next <- function(x) {
  fixes <- x$findings[nzchar(x$findings$fix), ]
  if (nrow(fixes)) {
    where <- c(above = "above", below = "below", replace = "in the place of")[[fixes$place[[1]]]]
    paste0("Next, ", where, " line ", fixes$line[[1]], ": ", fixes$fix[[1]])
  }
}

#' @export
print.sdc_script_check <- function(x, ...) {
  cat(format(x, ...), sep = "\n")
  invisible(x)
}

#' @export
as.data.frame.sdc_script_check <- function(x, ...) {
  announce("as.data.frame")
  x$findings
}

#' @export
tidy.sdc_script_check <- function(x, ...) {
  announce("tidy")
  as_tidy(x$findings)
}

#' @rdname check_script
#' @param x A result of `check_script()`.
#' @param severity The least severity that makes the status 1.
#' @export
quit_status <- function(x, severity = "warning") {
  announce("quit_status")
  check_given("x")
  check_script_result(x)
  check_choice(severity, severities, "severity")
  as.integer(any(match(x$findings$severity, severities) <= match(severity, severities)))
}

check_script_result <- function(x) {
  if (!inherits(x, "sdc_script_check")) {
    stop_argument("x", "be a result of check_script()", given_words(x))
  }
}

#' @rdname check_script
#' @param file Path of the file to write; its ending is `.sarif` or `.xml`.
#' @export
write_findings <- function(x, file) {
  announce("write_findings")
  check_given(c("x", "file"))
  check_script_result(x)
  kind <- if (is_text(file)) tolower(tools::file_ext(file)) else ""
  if (!kind %in% c("sarif", "xml")) {
    stop_argument("file", "be a path that ends in .sarif or .xml", given_words(file))
  }
  text <- if (kind == "sarif") sarif_text(x) else junit_text(x)
  con <- file(file, "wb")
  on.exit(close(con), add = TRUE)
  writeLines(enc2utf8(text), con, useBytes = TRUE)
  invisible(file)
}

# SARIF 2.1.0 (OASIS): one run, a rule for each code, a result for each finding.
sarif_text <- function(x) {
  rules <- script_codes()
  one <- jsonlite::unbox
  level <- c(error = "error", warning = "warning", information = "note", hint = "note")
  results <- lapply(seq_len(nrow(x$findings)), function(i) {
    f <- x$findings[i, ]
    where <- list(
      artifactLocation = list(uri = one(path_uri(f$file))),
      region = list(startLine = one(f$line), startColumn = one(f$column))
    )
    list(
      ruleId = one(f$code), ruleIndex = one(match(f$code, rules$code) - 1L),
      level = one(level[[f$severity]]),
      message = list(text = one(paste0(f$message, if (nzchar(f$fix)) paste0(" Fix: ", f$fix)))),
      locations = list(list(physicalLocation = where))
    )
  })
  driver <- list(
    name = one("sdcRisk"), version = one(own_version()),
    rules = lapply(seq_len(nrow(rules)), function(i) {
      list(
        id = one(rules$code[[i]]), shortDescription = list(text = one(rules$means[[i]])),
        defaultConfiguration = list(level = one(level[[rules$severity[[i]]]]))
      )
    })
  )
  jsonlite::toJSON(list(
    `$schema` = one("https://json.schemastore.org/sarif-2.1.0.json"), version = one("2.1.0"),
    runs = list(list(
      tool = list(driver = driver), columnKind = one("unicodeCodePoints"), results = results
    ))
  ), pretty = TRUE)
}

# Relative paths stay so; a reserved or other letter is escaped.
path_uri <- function(path) {
  path <- enc2utf8(gsub("\\", "/", path, fixed = TRUE))
  parts <- strsplit(path, "/", fixed = TRUE)[[1]]
  uri <- paste(vapply(parts, utils::URLencode, "", reserved = TRUE), collapse = "/")
  if (startsWith(path, "/")) paste0("file://", uri) else uri
}

# JUnit: a test case for each file, which fails by its errors and warnings.
junit_text <- function(x) {
  files <- x$settings$files
  cases <- lapply(seq_along(files), function(i) {
    f <- x$findings[x$findings$file == files[[i]] & x$findings$severity %in% severities[1:2], ]
    failures <- paste0(
      "      <failure type=\"", f$code, "\" message=\"", xml_text(f$message), "\">",
      xml_text(paste0(finding_words(f), ifelse(nzchar(f$fix), paste0("\nFix: ", f$fix), ""))),
      "</failure>"
    )[seq_len(nrow(f))]
    c(
      paste0(
        "    <testcase classname=\"check_script\" name=\"", xml_text(files[[i]]), "\" time=\"",
        formatC(x$settings$seconds[[i]], digits = 3, format = "f"), "\">"
      ),
      failures, "    </testcase>"
    )
  })
  counted <- x$findings$severity %in% severities[1:2]
  failed <- length(unique(x$findings$file[counted]))
  c(
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
    paste0("<testsuites tests=\"", length(files), "\" errors=\"0\" failures=\"", failed, "\">"),
    paste0(
      "  <testsuite name=\"sdcRisk\" tests=\"", length(files),
      "\" errors=\"0\" failures=\"", failed, "\">"
    ),
    unlist(cases), "  </testsuite>", "</testsuites>"
  )
}

xml_text <- function(x) {
  # Letters that XML has not.
  x <- gsub("[\001-\010\013\014\016-\037]", "", x)
  x <- gsub("&", "&amp;", x, fixed = TRUE)
  x <- gsub("<", "&lt;", x, fixed = TRUE)
  x <- gsub(">", "&gt;", x, fixed = TRUE)
  gsub("\"", "&quot;", x, fixed = TRUE)
}
