# Builds the documentation site in site/ from the installed package, without a network:
#   site.R        everything
#   site.R fast   home, news and help pages without their examples

fast <- identical(commandArgs(TRUE), "fast")
options(pkgdown.internet = FALSE)
site <- pkgdown::as_pkgdown(".")
pkgdown::check_pkgdown(site)
pkgdown::init_site(site)
pkgdown::build_home(site, quiet = TRUE, preview = FALSE)
pkgdown::build_reference(site, examples = !fast, devel = FALSE, preview = FALSE, lazy = FALSE)
if (!fast) pkgdown::build_articles(site, quiet = TRUE, lazy = FALSE, preview = FALSE)
pkgdown::build_news(site, preview = FALSE)

# Scripts and fonts that pages ask of a network are left out: what they do, such as
# search, a reader without one has not either.
pages <- list.files(site$dst_path, "[.]html$", recursive = TRUE, full.names = TRUE)
from_network <- "<(script|link)[^>]*(src|href)=\"https://[^>]*>(</script>)?"
for (page in pages) {
  text <- paste(readLines(page, encoding = "UTF-8", warn = FALSE), collapse = "\n")
  writeLines(gsub(from_network, "", text), page, useBytes = TRUE)
}
cat(length(pages), "pages in", site$dst_path, "\n")
