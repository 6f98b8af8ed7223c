# One figure, one record. Every class of results declares its figures once, beside its
# function: declare_measure(). measures(), tidy(), compare_risk(), file_check(), the board
# and the checklist of a report read the declaration, and nothing else is registered.
#
# Code in a declaration is evaluated with the columns of `estimates`, the result `x`, its
# `estimates` as `e`, and the `limit` of the page.

declared <- new.env(parent = emptyenv())

# `of`: the function. `terms`: columns of `estimates` for tidy(), the one first that a
# comparison is about. `ids`: the columns that tell the analyses of a result apart;
# `aligned`: those by which two results are compared. `each`: what the label of a figure has
# besides. `lead`: what is largest in the analysis that words are about, if that is not the
# first. `reference`: where the method comes from, in R/aaa-references.R.
#
# The print: `title`, `question` and `size`, one line each; `table`: a data frame below the
# figures with `most` rows, of which `rest` has more; `spread`: what the risk of a record is
# called; `notes`: at most three texts, the most important one first; `scenario`: who attacks, if
# the figures do not say it, and `knows`: what else the intruder knows or does; `next_step`:
# code. The sentence: `measured`, `limits` and the clauses `source` and `assuming`; `found` is
# made of the figures.
#
# The verbs: `risk`: the risk of every record; `frame`: the main table, by default the records;
# `tables`: what summary() shows below the estimates, and `strata`: the name of its last table.
declare_measure <- function(of, ..., figures = list(), ids = character(), aligned = ids,
                            reference = NULL, rest = "x$estimates", most = 6) {
  given <- as.list(substitute(list(...)))[-1]
  are_figures <- vapply(given, function(e) is.call(e) && grepl("figure$", e[1]), NA)
  figures <- c(figures, lapply(given[are_figures], eval, parent.frame()))
  for (name in names(figures)) figures[[name]]$name <- name
  declared[[of]] <- c(given[!are_figures], list(
    figures = figures, ids = ids, aligned = aligned, reference = reference, rest = rest, most = most
  ))
}

# One figure. `label`: what it is called everywhere. `unit`: "matches", "count", "amount" (an
# expected number), "risk", "share" or "number". `scenario`: "prosecutor", "journalist",
# "tables", or "none". `direction`: whether "more" or "less" of it is more risk, or "none" if it
# does not measure risk. `value`: by default the column of its name, with the bounds of `low` and
# `high`; `of`: what a count is a share of. `key`: its name in `limit` and in file_check(), on
# whose page it has a row if it has a `question`. `limit`: what it is judged by, by default the
# limit of its key. `attempt`: it is conditional on an attempt. `board`: whether a page for a
# board has it; `print`: whether its own print has. `head`: its column if a result has several
# analyses. `says`: its words in a sentence, with %s for the value. `absent`: why it has no value.
# `unclear`: whether its value cannot be judged. `term`: of numbers of matches, the term of tidy()
# that is the risk of one over them.
figure <- function(label, unit, value = NULL, low = NULL, high = NULL, scenario, key = NULL,
                   question = NULL, limit = NULL, n_above = NULL, attempt = FALSE, note = NULL,
                   board = TRUE, absent = NULL, of = NULL, print = TRUE, head = NULL, says = NULL,
                   unclear = NULL, direction = if (unit == "matches") "less" else "more",
                   term = NULL) {
  list(
    label = substitute(label), unit = unit, value = substitute(value), low = substitute(low),
    high = substitute(high), scenario = scenario, key = key, question = question,
    limit = substitute(limit), n_above = substitute(n_above), attempt = attempt,
    note = substitute(note), board = substitute(board), absent = substitute(absent),
    of = substitute(of), print = print, head = head, says = substitute(says),
    unclear = substitute(unclear), direction = direction, term = term
  )
}

# The declaration of a result, or of a function by its name.
declaration_of <- function(x) {
  of <- if (is.character(x)) x else sub("^sdc_", "", class(x))
  of <- intersect(of, names(declared))
  if (length(of)) declared[[of[[1]]]]
}

# The limit that a protection promised to keep, as a risk: if a report asks for less risk than
# was `promised`, keeping the promise says nothing of the limit of the report.
promise <- function(own, promised, limit) {
  if (all(promised <= if (is.null(limit$k)) Inf else 1 / limit$k + 1e-9)) own else NA
}

# The meaning of an estimate's status; empty if all is well.
status_note <- function(status) {
  words <- c(
    ok = "", few = "from too few key sets to rely on",
    unreliable = "from too few records to rely on", no_exceedance = "no tail could be fitted",
    theta_one = "a key set identifies every record", single = "from a single key set",
    underfits = "the model does not fit: a rough figure",
    boundary = "the fit lies on the boundary of its model",
    overfits = "the model fits too closely", biased = "the model is biased"
  )
  known <- status %in% names(words)
  text <- ifelse(known, words[match(status, names(words))], gsub("_", " ", status))
  ifelse(is.na(status), "", text)
}

# On the boundary of a model a figure depends on where the iterations stopped.
on_boundary <- function(status) status %in% "boundary"

with_status <- function(text, status) {
  note <- status_note(status)
  paste0(text, ifelse(nzchar(note), "; ", ""), note)
}

# The rows that figures have on the page of file_check(), in its order.
page_figures <- function() {
  of <- rep(page_methods, vapply(page_methods, function(m) length(declared[[m]]$figures), 0L))
  all <- unlist(lapply(page_methods, function(m) declared[[m]]$figures), recursive = FALSE)
  on <- !vapply(lapply(all, `[[`, "question"), is.null, NA)
  all <- all[on]
  text <- function(field) vapply(all, `[[`, "", field, USE.NAMES = FALSE)
  frame(
    measure = text("key"), method = of[on], figure = text("name"), scenario = text("scenario"),
    unit = text("unit"), label = text("label"), question = text("question"),
    attempt = vapply(all, `[[`, NA, "attempt", USE.NAMES = FALSE)
  )
}

page_methods <- c(
  "n_matches", "special_uniques", "qar_risk", "population_risk", "exhaustive_tabulation"
)
