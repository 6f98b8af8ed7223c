# An intruder who takes two figures of an external report, counts or shares of a known number, and
# subtracts them: numbers of suppressed values or of records with them that are withheld, since
# fewer than five have them, must not follow.

skip_on_cran()

skip_if_not_installed("xml2")

keys <- c("a", "b", "c")

# Files of three key variables, one of which has two to four suppressed values.
solvable_files <- function(n_files) {
  files <- list()
  seed <- 0
  while (length(files) < n_files) {
    seed <- seed + 1
    set.seed(seed)
    n <- sample(c(300, 500, 1000, 2000), 1)
    n_values <- c(sample(c(20, 40, 80), 1), sample(c(4, 8, 15), 1))
    data <- data.frame(
      a = sample(n_values[[1]], n, TRUE, seq_len(n_values[[1]])^-0.7),
      b = sample(n_values[[2]], n, TRUE), c = sample(3, n, TRUE, c(0.6, 0.35, 0.05)), w = 20
    )
    file <- sdc_file(data, keys, weight_var = "w")
    protected <- quietly(suppress_cells(file, k = 3))
    blank <- is.na(as.data.frame(protected$data)[keys])
    if (any(colSums(blank) %in% 2:4) && sum(blank) >= 100) {
      few <- c(colSums(blank), sum(rowSums(blank) > 1))
      files <- c(files, list(list(
        file = file, protected = protected, n = n, few = few[few > 0 & few < 5]
      )))
    }
  }
  files
}

# Every figure of the page and of the log by its place: numbers in tables, and those in sentences,
# each by its words.
figures_of <- function(results, internal = FALSE) {
  path <- tempfile(fileext = ".html")
  on.exit(unlink(c(path, sub("html$", "json", path))))
  quietly(do.call(sdc_report, c(
    results, list(file = path, pictures = FALSE, internal = internal)
  )))
  log <- jsonlite::read_json(sub("html$", "json", path))
  of_log <- lapply(log$results, function(result) {
    lapply(result$tables, function(columns) {
      lapply(names(columns), function(name) {
        value <- vapply(columns[[name]], function(v) if (is.numeric(v)) v else NA_real_, 0)
        rows <- if (is.null(columns$measure)) columns$variable else columns$measure
        if (is.null(rows)) rows <- seq_along(value)
        data.frame(place = paste(result$id, name, unlist(rows)), value = value)
      })
    })
  })
  parts <- xml2::xml_find_all(xml2::read_html(path), "//body//p|//body//li|//body//td")
  words <- unique(unlist(strsplit(xml2::xml_text(parts), "(?<=[.;:]) ", perl = TRUE)))
  number <- "[0-9]+(?:,[0-9]{3})*(?:[.][0-9]+)?%?"
  of_words <- lapply(words[nchar(words) > 12 & grepl("[0-9]", words)], function(text) {
    found <- regmatches(text, gregexpr(number, text, perl = TRUE))[[1]]
    data.frame(
      place = paste(gsub(number, "#", text, perl = TRUE), seq_along(found)),
      value = as.numeric(gsub("[,%]", "", found)) / ifelse(grepl("%", found), 100, 1)
    )
  })
  all <- do.call(rbind, c(unlist(unlist(of_log, FALSE), FALSE), of_words))
  all[!is.na(all$value) & !duplicated(all$place), ]
}

# Figures as counts: shares times the records, the values and the pairs of variables.
counts_of_figures <- function(figures, n) {
  share <- figures$value > 0 & figures$value < 1
  counts <- figures[figures$value == round(figures$value), ]
  for (times in c(1, 3)) {
    counts <- rbind(counts, data.frame(
      place = paste(figures$place, "of", times, "n")[share],
      value = round(figures$value * n * times)[share]
    ))
  }
  # Records with values suppressed in two variables, from the mean over pairs.
  at <- match(c("utility_loss n_blank 1", "utility_loss tv_pairs 1"), figures$place)
  both <- 2 * figures$value[at[[1]]] - round(figures$value[at[[2]]] * n * 3)
  counts <- rbind(counts, data.frame(place = c("n", "both"), value = c(n, n + both)))
  counts[!is.na(counts$value), ]
}

# Pairs of figures whose difference, if it is below five, is a withheld number in nearly all
# files. `of` are the places that are looked at.
solving_pairs <- function(attacked, of = "") {
  places <- unique(unlist(lapply(attacked, function(a) a$counts$place)))
  places <- places[grepl(of, places)]
  values <- vapply(attacked, function(a) {
    a$counts$value[match(places, a$counts$place)]
  }, numeric(length(places)))
  # What is the same in all files says nothing of one; small numbers are near each other.
  varies <- apply(values, 1, function(v) length(unique(v[!is.na(v)])) > 1)
  values <- values[varies, ]
  values[values < 20] <- NA
  places <- places[varies]
  few <- right <- matrix(0, length(places), length(places))
  for (i in seq_along(attacked)) {
    apart <- abs(outer(values[, i], values[, i], `-`))
    few <- few + apart %in% 1:4
    right <- right + apart %in% attacked[[i]]$few
  }
  list(n_few = sum(few), found = {
    at <- which(few >= 8 & right >= 0.85 * few & upper.tri(few), arr.ind = TRUE)
    paste(places[at[, 1]], "-", places[at[, 2]], recycle0 = TRUE)
  })
}

test_that("no two figures of an external report tell few suppressed values or records", {
  files <- solvable_files(24)
  made <- lapply(files, function(x) {
    loss <- quietly(utility_loss(x$protected))
    quietly(list(
      loss = list(loss), both = list(x$protected, loss), all = list(
        file_check(x$file), x$protected, after = file_check(x$protected), loss,
        n_matches(x$file), after_matches = n_matches(x$protected$data, keys), key_overview(x$file)
      )
    ))
  })
  attack <- function(which, internal = FALSE) {
    Map(function(results, x) {
      figures <- figures_of(results[[which]], internal)
      list(counts = counts_of_figures(figures, x$n), few = x$few)
    }, made, files)
  }
  for (which in names(made[[1]])) {
    attacked <- attack(which)
    expect_identical(solving_pairs(attacked)$found, character(), info = which)
    # No two counts of what changed are near each other in any file.
    near <- solving_pairs(attacked, paste0(
      "^(suppress_cells|utility_loss) (n_(suppr|blank|rec|viol)|lower).* [0-9]$|miss a key .*1$"
    ))
    expect_identical(near$n_few, 0, info = which)
  }
  # The attack finds them in an internal report.
  found <- solving_pairs(attack("all", internal = TRUE))$found
  for (pair in c("n_blank 1 - utility_loss tv_pairs_max", "miss a key value", "both")) {
    expect_match(found, pair, all = FALSE)
  }
})
