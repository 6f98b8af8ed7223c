# Random files, from ordinary to awkward.
#
# Every text value holds "zqc", and every number of a key variable lies near 774400:
# a print or a condition in which one of them stands has told a record's value.

canary <- "zqc|(?<![0-9])(7744[0-9][0-9]|774,4[0-9][0-9]|7[.]744[0-9]*e)(?![0-9])"

pick <- function(x, n = 1) x[sample.int(length(x), n, replace = n > length(x))]
chance <- function(p) stats::runif(1) < p
maybe <- function(p, x, otherwise = NULL) if (chance(p)) x else otherwise

key_column <- function(n, kind = pick(key_kinds)) {
  k <- sample(c(1, 2, 2, 3, 4, 6, 9), 1)
  draw <- sample.int(k, n, TRUE, prob = 1 / seq_len(k))
  text <- paste0("zqc", c("a", "b", "a b", "", "\u00e9", "NA", "1", "%d", "{x}")[draw])
  x <- switch(kind,
    factor = factor(text, levels = c(unique(text), "zqcunused")),
    ordered = factor(text, levels = unique(text), ordered = TRUE),
    character = text,
    latin1 = iconv(text, "UTF-8", "latin1"),
    integer = 774400L + draw,
    double = 774400 + c(0, 0.5, 1 / 3, 1, 2, 3.25, 4, 5, 1e-7)[draw],
    wide = c(-Inf, Inf, 7.744e300, -7.744e-300, 0, -0, 1e15, 2^53, -1)[draw],
    logical = draw > 1,
    Date = as.Date("2020-02-28") + draw,
    POSIXct = as.POSIXct("2020-03-29 00:30:00", tz = "UTC") + 1800 * draw,
    missing_level = addNA(factor(replace(text, draw == 1, NA))),
    labelled = haven::labelled_spss(
      774400 + draw, labels = c("zqcone" = 774401, "zqcnone" = -9), na_values = c(-9, -8)
    ),
    integer64 = bit64::as.integer64(774400 + draw),
    constant = rep("zqcsame", n),
    unique = 774000L + sample.int(n),
    all_missing = rep(NA, n),
    long_text = paste0("zqc", strrep("long ", 400), draw)
  )
  blank <- sample(c(0, 0, 0.05, 0.3, 0.9), 1)
  at <- stats::runif(n) < blank
  if (any(at) && kind != "labelled") x[at] <- NA
  if (kind == "wide") x[stats::runif(n) < 0.1] <- NaN
  x
}

key_kinds <- c(
  "factor", "factor", "ordered", "character", "character", "integer", "integer", "double",
  "logical", "Date", "POSIXct", "latin1", "wide", "missing_level", "labelled", "integer64",
  "constant", "unique", "all_missing", "long_text"
)
# Kinds whose values base R compares as the package does.
plain_kinds <- c(
  "factor", "ordered", "character", "integer", "double", "logical", "Date", "POSIXct"
)

candidate_column <- function(n) {
  x <- if (chance(0.5)) {
    candidates(lapply(seq_len(n), function(i) 774400 + sample(6, sample(3, 1))))
  } else {
    low <- 774400 + sample(6, n, TRUE)
    candidate_interval(low, low + sample(0:3, n, TRUE))
  }
  x[stats::runif(n) < 0.1] <- NA
  x
}

odd_names <- c(
  "age group", "n", "w%", "{x}", "records", "\u00e9tat", "a.b", "variable", "1st", "if", "_x",
  "p", "count", "(all)", "a + b", "TRUE", strrep("name ", 60), "x\ny", "`q`", "weight", ".risk"
)

# A file with roles. `plain`: base R counts its keys as the package does.
draw_file <- function(n = sample(c(1, 2, 3, 5, 10, 20, 40, 80, 150), 1),
                      n_keys = sample(1:5, 1), plain = chance(0.6), candidate = FALSE) {
  kinds <- pick(if (plain) plain_kinds else key_kinds, n_keys)
  columns <- lapply(kinds, function(kind) key_column(n, kind))
  keys <- paste0("v", seq_len(n_keys))
  if (!plain && chance(0.3)) {
    odd <- sample(n_keys, 1)
    keys[odd] <- sample(odd_names, length(odd))
  }
  names(columns) <- keys
  data <- as.data.frame(columns, optional = TRUE, stringsAsFactors = FALSE)
  names(data) <- keys
  if (candidate) data[[pick(keys)]] <- candidate_column(n)
  homes <- sample.int(max(1, n %/% 3), n, TRUE)
  data$.w <- round(stats::runif(n, 1, 40), sample(0:2, 1))
  data$.home <- if (chance(0.5)) homes else paste0("h", homes)
  data$.hw <- round(stats::runif(max(homes), 1, 40), 1)[homes]
  data$.id <- sample(5 * n, n)
  data$.s <- if (chance(0.5)) factor(paste0("zqc", sample(3, n, TRUE))) else sample(4, n, TRUE)
  data$.region <- sample(letters[1:3], n, TRUE)
  data$.hr <- sample(3, max(homes), TRUE)[homes]
  if (!plain) {
    data <- switch(sample(4, 1),
      data, data, tibble::as_tibble(data, .name_repair = "minimal"),
      data.table::as.data.table(data)
    )
  }
  list(data = data, keys = keys, n = n, plain = plain)
}

# A later file of some of the same people, and some others.
draw_later <- function(file) {
  data <- as.data.frame(file$data)
  n <- nrow(data)
  later <- data[sample(n, sample(n, 1)), , drop = FALSE]
  for (v in file$keys) {
    moved <- stats::runif(nrow(later)) < 0.15
    later[[v]][moved] <- data[[v]][sample(n, sum(moved), TRUE)]
  }
  new <- stats::runif(nrow(later)) < 0.1
  later$.id[new] <- 10 * n + seq_len(sum(new))
  later
}

# A household variable that its members share must not be among the keys drawn.
with_keys <- function(file, ...) file$data[c(file$keys, ...)]

# What is not a file, or a broken one.
awkward_data <- function(data = draw_file()$data) {
  data <- as.data.frame(data)
  n <- nrow(data)
  spoil <- function(x) {
    if (length(data)) data[[1]] <<- x
    data
  }
  switch(sample(24, 1),
    NULL, NA, 1:3, "zq", list(), function(x) x, quote(x), globalenv(), as.matrix(1:3),
    data[0, , drop = FALSE], data[0], data.frame(), as.list(data[seq_len(min(2, length(data)))]),
    spoil(as.list(seq_len(n))), spoil(matrix(seq_len(2 * n), n)), spoil(complex(n)),
    spoil(as.raw(rep(1, n))),
    spoil(structure(rep(c(9L, -1L), length.out = n), levels = "zqcx", class = "factor")),
    stats::setNames(data, rep("a", length(data))),
    stats::setNames(data, replace(names(data), 1, NA)),
    stats::setNames(data, replace(names(data), 1, "")),
    structure(list(a = 1:3, b = 1:2), class = "data.frame", row.names = 1:3),
    structure(list(1, 2), class = c("sdc_file", "x")),
    spoil(as.POSIXlt(rep("2020-01-01", n)))
  )
}

# What no argument is likely to expect.
awkward_value <- function() {
  switch(sample(36, 1),
    NULL, NA, NaN, Inf, -Inf, -1, 0, 1e308, 1e-308, 0.5, 1:3, numeric(), character(), "",
    "no such", NA_character_, "\xff\xfe", c("v1", "v1"), "%s%n", list(), list(1, "a"),
    list(v1 = 1), list(a = NULL), mean, quote(x + y), ~x, globalenv(), data.frame(a = 1),
    matrix(1:4, 2), factor("v1"), as.Date("2020-01-01"), 1i, as.raw(1), TRUE,
    .Machine$integer.max, structure(1, class = "odd")
  )
}

# Arguments of which, now and then, one or two are spoilt, or one is invented.
spoil_arguments <- function(fun, args, keep = character(), p = 0.22) {
  if (chance(p)) {
    for (i in seq_len(sample(c(1, 1, 2), 1))) {
      open <- setdiff(seq_along(args), which(names(args) %in% keep))
      if (length(open) == 0) break
      at <- pick(open)
      is_file <- is.data.frame(args[[at]])
      value <- if (is_file) awkward_data(args[[at]]) else awkward_value()
      args[at] <- list(value)
    }
    attr(args, "spoilt") <- TRUE
  } else if (chance(0.02) && exists(fun) && "..." %in% names(formals(fun)) && p > 0) {
    args <- c(args, list(no_argument = 1))
    attr(args, "spoilt") <- TRUE
  }
  args
}
