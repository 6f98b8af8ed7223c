# Text that differs in its spelling alone: by case, by blanks, or by the Unicode form of a
# letter, which is one character or a letter and a mark. Such texts are different values
# everywhere; here it is counted how many there are.

# Marks, letters that take them, and what both become.
composed_letters <- list(
  c("\u0300", "aeiou\u0435\u0438", "\u00e0\u00e8\u00ec\u00f2\u00f9\u0450\u045d"),
  c("\u0301", "aeiouycl", "\u00e1\u00e9\u00ed\u00f3\u00fa\u00fd\u0107\u013a"),
  c("\u0301", "nrsz\u03b1\u03b5\u03b7\u03b9", "\u0144\u0155\u015b\u017a\u03ac\u03ad\u03ae\u03af"),
  c("\u0301", "\u03bf\u03c5\u03c9\u0433\u043a", "\u03cc\u03cd\u03ce\u0453\u045c"),
  c("\u0302", "aeioucgh", "\u00e2\u00ea\u00ee\u00f4\u00fb\u0109\u011d\u0125"),
  c("\u0302", "jswy", "\u0135\u015d\u0175\u0177"),
  c("\u0303", "anoiu", "\u00e3\u00f1\u00f5\u0129\u0169"),
  c("\u0304", "aeiou", "\u0101\u0113\u012b\u014d\u016b"),
  c("\u0306", "aegiou\u0438\u0443", "\u0103\u0115\u011f\u012d\u014f\u016d\u0439\u045e"),
  c("\u0307", "cegz", "\u010b\u0117\u0121\u017c"),
  c("\u0308", "aeiouy\u03b9\u03c5", "\u00e4\u00eb\u00ef\u00f6\u00fc\u00ff\u03ca\u03cb"),
  c("\u0308", "\u0435\u0456", "\u0451\u0457"),
  c("\u030a", "au", "\u00e5\u016f"),
  c("\u030b", "ou", "\u0151\u0171"),
  c("\u030c", "cdelnrst", "\u010d\u010f\u011b\u013e\u0148\u0159\u0161\u0165"),
  c("\u030c", "z", "\u017e"),
  c("\u0326", "st", "\u0219\u021b"),
  c("\u0327", "cgklnrst", "\u00e7\u0123\u0137\u013c\u0146\u0157\u015f\u0163"),
  c("\u0328", "aeiu", "\u0105\u0119\u012f\u0173")
)

# Small letters in their composed form, one kind of blank and of dash.
plain_text <- function(text) {
  text <- gsub("[\u00a0\u2007\u2009\u202f\u3000[:space:]]+", " ", enc2utf8(text))
  text <- gsub("[\u2010-\u2015\u2212]", "-", text)
  text <- gsub("\u2265", ">=", gsub("\u2264", "<=", text))
  text <- trimws(tolower(text))
  apart <- grepl("[\u0300-\u0328]", text)
  if (any(apart)) text[apart] <- compose_letters(text[apart])
  text
}

compose_letters <- function(text) {
  for (row in composed_letters) {
    pairs <- strsplit(row[-1], "")
    for (i in seq_along(pairs[[1]])) {
      text <- gsub(paste0(pairs[[1]][[i]], row[[1]]), pairs[[2]][[i]], text, fixed = TRUE)
    }
  }
  text
}

# Equal for texts that differ by case, blanks or Unicode form only.
spelling_key <- function(text) gsub(" ", "", plain_text(text), fixed = TRUE)

# More distinct texts are not compared: they are ids or answers in free text.
most_spellings <- 1e5

# Number of values of a column that differ from another one only in spelling.
count_alike <- function(x) {
  values <- known_texts(x)
  if (length(values) < 2 || length(values) > most_spellings) {
    return(0L)
  }
  key <- spelling_key(values)
  sum(key %in% key[duplicated(key)])
}

# The distinct texts of a column of text, none of other columns.
known_texts <- function(x) {
  if (is_candidates(x) || length(dim(x)) > 0) {
    return(character())
  }
  values <- if (is.factor(x)) {
    codes <- unique(as_bare(x))
    levels(x)[codes[codes > 0 & !is.na(codes)]]
  } else if (is.character(x)) {
    unique(as_bare(x))
  }
  as.character(values[!is.na(values)])
}

# One variable, in one table or several.
check_letters <- function(columns, name) {
  marks <- unique(unlist(lapply(columns, text_marks)))
  if ("bytes" %in% marks || "native" %in% marks && length(marks) > 1) {
    stop_sdc(
      "bad_column", "Text must be in an encoding that is known.",
      x = paste(
        quote_names(name),
        if ("bytes" %in% marks) {
          "has text that is marked as bytes."
        } else {
          "has text of unknown encoding and other text, and the locale is C."
        }
      ),
      i = paste0(
        "Say what it is: Encoding(", column_text(name), ") <- \"UTF-8\", or \"latin1\". ",
        "Of a factor, set it for its levels()."
      ),
      columns = name
    )
  }
}

# A message for columns of several tables, a list of each, whose texts have no equal in the
# other tables but one that is spelled otherwise only.
note_spellings <- function(columns) {
  distinct <- lapply(columns, lapply, known_texts)
  for (name in names(columns)) check_letters(distinct[[name]], name)
  counts <- vapply(distinct, function(texts) {
    if (length(unique(unlist(texts))) > most_spellings) {
      return(0L)
    }
    sum(vapply(seq_along(texts), function(i) {
      others <- unlist(texts[-i])
      alone <- setdiff(texts[[i]], others)
      if (length(alone) && length(others)) {
        sum(spelling_key(alone) %in% spelling_key(others))
      } else {
        0L
      }
    }, 0L))
  }, 0L)
  found <- counts[counts > 0]
  if (length(found)) {
    inform_sdc(
      "similar_text",
      "Texts that differ only by case, blanks or Unicode form are different values.",
      x = paste0(
        "Without an equal in the other table, but with such a text there: ",
        paste0(
          vapply(found, plural, "", "value"), " of ", quote_names_each(names(found)),
          collapse = ", "
        ), "."
      ),
      i = "Spell them alike in both: trimws(), tolower(), stringi::stri_trans_nfc().",
      columns = names(found), n_values = unname(found)
    )
  }
}

# Answers that are none, as `plain_text()`.
non_responses <- c(
  "", ".", "-", "?", "na", "n/a", "n.a.", "nan", "null", "missing", "unknown", "not known",
  "not stated", "not specified", "not available", "not applicable", "not answered", "no answer",
  "no response", "non-response", "inapplicable", "refused", "refusal", "don't know", "do not know",
  "k.a.", "k. a.", "keine angabe", "keine angaben", "ohne angabe", "o.a.", "unbekannt",
  "wei\u00df nicht", "weiss nicht", "verweigert", "entf\u00e4llt", "trifft nicht zu",
  "ne sait pas", "non r\u00e9ponse", "sans r\u00e9ponse", "refus", "inconnu",
  "non d\u00e9clar\u00e9", "non pr\u00e9cis\u00e9", "sans objet",
  "ns/nc", "no sabe", "no contesta", "no consta", "desconocido", "sin respuesta", "no aplica"
)

# Also behind a code, as in "-9. Refused" or "99 = don't know"; "2 missing" counts something.
is_non_response <- function(plain) {
  code <- "^([([]-?[0-9]+[])] ?|-[0-9]+([.]0+)? |-?[0-9]+([.]0+)?( ?[.:=)-]+ ?))(?=[[:alpha:]])"
  sub(code, "", plain, perl = TRUE) %in% non_responses
}
