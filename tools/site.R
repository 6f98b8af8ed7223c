# Builds the documentation site in site/ from the installed package, without a network:
#   site.R        everything
#   site.R fast   home, news and help pages without their examples
#   site.R pages  only what is done to pages that are there

how <- c(commandArgs(TRUE), "")[[1]]
if (how != "pages") {
  options(pkgdown.internet = FALSE)
  # For the pages of packages that articles name and this machine has not, downlit asks a
  # network, whatever the options say: here the list of them is empty.
  utils::assignInNamespace(
    "CRAN_urls", function() list(Package = character(), URL = character()), "downlit"
  )
  site <- pkgdown::as_pkgdown(".")
  pkgdown::check_pkgdown(site)
  pkgdown::init_site(site)
  pkgdown::build_home(site, quiet = TRUE, preview = FALSE)
  pkgdown::build_reference(
    site, examples = how != "fast", devel = FALSE, preview = FALSE, lazy = FALSE
  )
  if (how != "fast") pkgdown::build_articles(site, quiet = TRUE, lazy = FALSE, preview = FALSE)
  pkgdown::build_news(site, preview = FALSE)
}

# What pages ask of a network, or of this machine, is left out, and what these scripts do
# for a reader is done here: formulas as MathML, and the list of what is on a page. The
# place to search in goes with its script.
from_elsewhere <- "<(script|link)[^>]*(src|href)=\"(https|file)://[^>]*>(</script>)?"

read_page <- function(page) {
  paste(readLines(page, encoding = "UTF-8", warn = FALSE), collapse = "\n")
}

# A page in parts, of which those with odd numbers are no code.
without_code <- function(text) {
  at <- gregexpr("(?s)<(pre|code)\\b.*?</\\1>", text, perl = TRUE)[[1]]
  if (at[[1]] < 0) return(text)
  from <- c(rbind(c(1, at + attr(at, "match.length")), c(at, nchar(text) + 1)))
  substring(text, utils::head(from, -1), from[-1] - 1)
}

# Between \( and \) in the line, between $$ or \[ and \] on lines of their own.
formula <- "(?s)\\\\\\((.+?)\\\\\\)|\\$\\$(.+?)\\$\\$|\\\\\\[(.+?)\\\\\\]"

as_mathml <- function(formulas) {
  tex <- gsub("^(\\\\\\(|\\\\\\[|\\$\\$)|(\\\\\\)|\\\\\\]|\\$\\$)$", "", formulas)
  for (sign in list(c("&lt;", "<"), c("&gt;", ">"), c("&amp;", "&"))) {
    tex <- gsub(sign[[1]], sign[[2]], tex, fixed = TRUE)
  }
  # A sign of percent ends a line of TeX; one with a backslash stays.
  tex <- gsub("(?<!\\\\)%[^\n]*\n", " ", tex, perl = TRUE)
  mark <- ifelse(startsWith(formulas, "\\("), "$", "$$")
  source <- tempfile(fileext = ".md")
  writeLines(paste0(mark, trimws(gsub("\\s+", " ", tex)), mark, "\n"), source, useBytes = TRUE)
  lines <- system2("pandoc", c("-f", "markdown", "-t", "html", "--mathml", "--wrap=none", source),
    stdout = TRUE
  )
  lines <- gsub("</?p>", "", lines[startsWith(lines, "<p>")])
  stopifnot(length(lines) == length(formulas), startsWith(lines, "<math"))
  lines
}

# The headings that have a place on the page.
contents_of <- function(text) {
  heads <- regmatches(text, gregexpr("(?s)<h[23]\\b.*?</h[23]>", text, perl = TRUE))[[1]]
  place <- sub("(?s).*class=\"anchor\"[^>]*href=\"#([^\"]+)\".*", "\\1", heads, perl = TRUE)
  name <- trimws(gsub("(?s)<[^>]*>", "", heads, perl = TRUE))
  keep <- place != heads & nzchar(name)
  indent <- ifelse(startsWith(heads, "<h3"), " style=\"padding-left: 1rem\"", "")
  if (any(keep)) {
    items <- paste0("<li", indent, "><a href=\"#", place, "\">", name, "</a></li>")[keep]
    paste0("<ul class=\"list-unstyled\">", paste(items, collapse = "\n"), "</ul>")
  }
}

pages <- list.files("site", "[.]html$", recursive = TRUE, full.names = TRUE)
parts <- lapply(pages, function(page) {
  text <- gsub(from_elsewhere, "", read_page(page))
  text <- gsub("(?s)<form[^>]*role=\"search\".*?</form>", "", text, perl = TRUE)
  contents <- contents_of(text)
  toc <- "(<nav id=\"toc\"[^>]*>\\s*<h2[^>]*>[^<]*</h2>)\\s*(</nav>)"
  if (!is.null(contents)) text <- sub(toc, paste0("\\1", contents, "\\2"), text, perl = TRUE)
  without_code(text)
})
is_text <- lapply(parts, function(p) seq_along(p) %% 2 == 1)
found <- Map(function(p, shown) {
  lapply(p[shown], function(text) regmatches(text, gregexpr(formula, text, perl = TRUE))[[1]])
}, parts, is_text)
formulas <- unique(unlist(found))
mathml <- if (length(formulas)) as_mathml(formulas)
for (i in seq_along(pages)) {
  shown <- parts[[i]][is_text[[i]]]
  at <- gregexpr(formula, shown, perl = TRUE)
  regmatches(shown, at) <- lapply(found[[i]], function(f) mathml[match(f, formulas)])
  parts[[i]][is_text[[i]]] <- shown
  writeLines(paste(parts[[i]], collapse = ""), pages[[i]], useBytes = TRUE)
}
cat(length(pages), "pages with", length(formulas), "formulas in site\n")
