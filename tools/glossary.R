# Words that texts for people do not use, and what they use instead. Searched in
# help pages, messages, README and vignettes.

glossary <- c(
  "anonymity set|class(es)? of (equal|records)|distinct records?\\b" = "equivalence class, key",
  "\\b(known|observed|shared|other|few|all) keys?\\b(?! (variable|set|group|pattern|value)|$)" =
    "key variable",
  "\\bthe keys\\b(?! (of|that))" = "the key variables",
  "given an attempt" = "conditional on an attempt",
  "by (its|their) full name\\b" = "must be named in full",
  "\\bhow likely do(es)?\\b" = "how likely is ... to",
  "\\b(is|are) no (key|probabilit|whole|anonymi|independent|promise|proof|random|certificate)" =
    "is not",
  "\\bso many (matches|records|keys|of)\\b|\\bwithin so much\\b|\\bso and so\\b" = "that many",
  "(^|[.:] )Who (?!is|was|could|are|links)[a-z]+s\\b[^?]*$" = "an intruder who, anyone who",
  "\\bby who(ever)? knows\\b|\\bfor who(ever)? knows\\b" = "by anyone who knows",
  "\\bdistinct key\\b(?! (pattern|set))" = "key",
  "\\b(columns?|order|released (file|values|numbers)) tells?\\b" = "reveal"
)

# The texts for people in a file, one per element, named by their lines.
texts_of <- function(path) {
  lines <- readLines(path, encoding = "UTF-8")
  if (!grepl("[.]R$", path)) {
    return(stats::setNames(lines, seq_along(lines)))
  }
  # Concepts are words by which people look for a page.
  help <- grep("^ *#'(?! @concept)", lines, perl = TRUE)
  data <- utils::getParseData(parse(path, keep.source = TRUE), includeText = TRUE)
  strings <- data[data$token == "STR_CONST", ]
  c(
    stats::setNames(sub("^ *#' ?", "", lines[help]), help),
    stats::setNames(gsub("^[\"']|[\"']$", "", strings$text), strings$line1)
  )
}

# "file:line: word, say ..." for every word that is not in the glossary.
find_words <- function(paths) {
  unlist(lapply(paths, function(path) {
    texts <- texts_of(path)
    unlist(lapply(names(glossary), function(word) {
      at <- grep(word, texts, ignore.case = !grepl("Who", word), perl = TRUE)
      if (length(at)) {
        found <- regmatches(texts[at], regexpr(word, texts[at], ignore.case = TRUE, perl = TRUE))
        paste0(path, ":", names(texts)[at], ": \"", found, "\", say \"", glossary[[word]], "\"")
      }
    }))
  }))
}

texts_for_people <- function() {
  c(
    setdiff(list.files("R", "[.]R$", full.names = TRUE), "R/extendr-wrappers.R"),
    "README.md", list.files("vignettes", "[.]Rmd$", full.names = TRUE)
  )
}
