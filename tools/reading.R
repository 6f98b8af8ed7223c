# Reads the texts for people as an editor would: forbidden habits, long sentences, long help
# pages, and "where" in the place of "if". Run alone: Rscript tools/reading.R

none <- paste0(
  "(?<!there )\\b(is|are|was|were) (no|none)\\b",
  "(?! (longer|more|larger|smaller|less|fewer|later|further|greater|better)\\b)"
)
bare_who <- paste0(
  "(^|[.:;(] |\\b(and|or|by|for|of|that|to|as|if|than|from) )(?-i:[Ww])ho(ever)? ",
  "(knows|sees|weighs|takes|finds|holds|matches|prefers|infers|stands|does)\\b(?![^.]*[?])"
)
bare_start <- paste0(
  "(^|[.!?] )(What|Who|Whether|The same|Where)\\b",
  "(?! (is|are|do|does|did|can|must|should|has|have) [^.]*[?])[^.?!]*([.!]|$)"
)
acting <- paste0(
  "\\b(page|engine|print|bits|counts?|figures?|table) ",
  "(says?|asks?|sees?|knows?|tells? of)\\b"
)

habits <- c(
  "is not a, has no" = none,
  "anyone who, an intruder who" = bare_who,
  "anyone who" = "\\bwhoever\\b",
  "a subject first: values that, an intruder who, if" = bare_start,
  "malformed" = "\\bput together by hand\\b",
  "is in, next to" = "\\bstands? (beside|in)\\b",
  "next to, with" = "\\bbeside\\b",
  "no ... of" = "\\bnothing of\\b",
  "negligible" = "\\bnext to nothing\\b",
  "fixed" = "\\bmended\\b",
  "no blank before the percent sign" = "[0-9] %(?![a-z/(]|%)",
  "shows, has, means" = acting,
  "ignore" = "\\b(bits|counts|distances|pages|bounds?) do(es)? not (see|know|say)\\b",
  "as is, unchanged" = "\\bas (it|they) stands?\\b",
  "it is never" = "\\bit never is\\b"
)

# Longest sentence, in words.
most_words <- 35
# Longest help page, in lines.
most_lines <- 250

# Lines of prose joined to paragraphs, which are named by their first lines.
paragraphs <- function(lines, numbers = seq_along(lines)) {
  starts <- !nzchar(trimws(lines)) | grepl("^\\s*([-*|#]|[0-9]+[.]|@|\\\\item|```)", lines)
  group <- cumsum(starts | c(TRUE, diff(numbers) > 1)[seq_along(lines)])
  text <- vapply(split(trimws(lines), group), paste, "", collapse = " ")
  stats::setNames(text, numbers[!duplicated(group)])
}

# Code is no prose.
without_code <- function(text) {
  text <- gsub("`[^`]*`", "code", text)
  text <- gsub("\\\\(eqn|deqn|code|url|doi|href)(\\{[^{}]*\\})+", "code", text)
  gsub("\\$[^$]*\\$", "code", text)
}

prose_of <- function(path) {
  lines <- readLines(path, encoding = "UTF-8")
  if (grepl("[.]R$", path)) {
    help <- grep("^ *#'(?! @(concept|examples))", lines, perl = TRUE)
    data <- utils::getParseData(parse(path, keep.source = TRUE), includeText = TRUE)
    strings <- data[data$token == "STR_CONST", ]
    text <- gsub("^[\"']|[\"']$", "", strings$text)
    # Sentences that code builds of several strings are read in parts.
    return(c(
      paragraphs(sub("^ *#' ?(@(param|return|section|details) )?", "", lines[help]), help),
      stats::setNames(text, strings$line1)[grepl(" ", text)]
    ))
  }
  fences <- grepl("^ *```", lines)
  code <- cumsum(fences) %% 2 == 1 | fences
  paragraphs(lines[!code], which(!code))
}

sentences_of <- function(text) {
  unlist(strsplit(text, "(?<=[.!?:;])\\s+(?=[A-Z`\"(\\\\])", perl = TRUE))
}

count_words <- function(text) lengths(strsplit(trimws(text), "\\s+"))

find_habits <- function(paths) {
  unlist(lapply(paths, function(path) {
    text <- without_code(prose_of(path))
    unlist(Map(function(habit, instead) {
      place <- regexpr(habit, text, ignore.case = habit != bare_start, perl = TRUE)
      if (any(place > 0)) {
        found <- substr(regmatches(text, place), 1, 60)
        paste0(path, ":", names(text)[place > 0], ": \"", found, "\", say \"", instead, "\"")
      }
    }, habits, names(habits)), use.names = FALSE)
  }))
}

# The parts of a help page as text.
help_page <- function(path) {
  rd <- tools::parse_Rd(path)
  tags <- vapply(rd, attr, "", "Rd_tag")
  text <- function(part) gsub("\\s+", " ", paste(unlist(part), collapse = ""))
  sections <- rd[!tags %in% c("\\usage", "\\examples", "\\alias", "\\concept", "\\name", "TEXT")]
  list(
    description = text(rd[tags == "\\description"]), all = text(sections),
    n_lines = length(readLines(path)), concepts = text(rd[tags == "\\concept"])
  )
}

# The field's words, which help.search() must find.
concepts <- c(
  "statistical disclosure control", "k-anonymity", "l-diversity", "t-closeness", "SUDA",
  "local suppression", "global recoding", "top coding", "equivalence class", "information loss",
  "data utility", "quasi-identifier", "direct identifier", "attribute disclosure",
  "identity disclosure", "re-identification risk", "sample unique", "population unique",
  "microaggregation", "post-randomisation", "record linkage", "household risk"
)

read_texts <- function() {
  texts <- c(
    setdiff(list.files("R", "[.]R$", full.names = TRUE), "R/extendr-wrappers.R"),
    list.files("vignettes", "[.]Rmd$", full.names = TRUE), "README.md", "NEWS.md",
    "CONTRIBUTING.md"
  )
  pages <- lapply(stats::setNames(nm = list.files("man", "[.]Rd$", full.names = TRUE)), help_page)
  long <- function(text, path) {
    sentences <- sentences_of(without_code(text))
    n <- count_words(sentences)
    found <- n > most_words & !grepl("^[|]", sentences)
    if (any(found)) {
      paste0(path, ": ", n[found], " words: \"", substr(sentences[found], 1, 60), "...\"")
    }
  }
  n_lines <- vapply(pages, function(page) page$n_lines, 0L)
  count <- function(word) {
    all <- vapply(pages, function(page) page$all, "")
    sum(lengths(regmatches(all, gregexpr(paste0("\\b", word, "\\b"), all, ignore.case = TRUE))))
  }
  ratio <- c(count("if"), count("where"))
  named <- vapply(pages, function(page) page$concepts, "")
  absent <- Filter(function(concept) !any(grepl(concept, named, fixed = TRUE)), concepts)
  c(
    find_habits(texts),
    long(prose_of("README.md"), "README.md"),
    unlist(Map(function(page, path) long(page$description, path), pages, names(pages))),
    if (any(n_lines > most_lines)) {
      paste0(names(pages)[n_lines > most_lines], ": ", n_lines[n_lines > most_lines], " lines")
    },
    if (ratio[[1]] < 3 * ratio[[2]]) {
      paste0("man: \"if\" ", ratio[[1]], " times, \"where\" ", ratio[[2]], " times")
    },
    if (length(absent)) paste("man: no page has the concept", absent)
  )
}

if (sys.nframe() == 0) {
  found <- read_texts()
  for (line in found) cat(line, "\n")
  cat(length(found), "sentences to rewrite\n")
  if (length(found)) quit(status = 1)
}
