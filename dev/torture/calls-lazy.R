# Generators of tables of a database (SQLite, in memory) and of pattern tables: the answer
# is that of the same records in R.

if (requireNamespace("dbplyr", quietly = TRUE) && requireNamespace("RSQLite", quietly = TRUE)) {
  engine <- new.env()
  engine$connection <- DBI::dbConnect(RSQLite::SQLite(), ":memory:")

  # What SQLite has no type for would be refused by its driver, or come back as text.
  engine_kinds <- c("factor", "character", "integer", "double", "logical", "wide", "constant",
    "unique", "long_text", "all_missing")

  engine_file <- function(n = sample(c(1, 2, 5, 12, 40, 80), 1), n_keys = sample(1:4, 1)) {
    old <- key_kinds
    key_kinds <<- engine_kinds
    on.exit(key_kinds <<- old)
    file <- draw_file(n, n_keys, plain = FALSE)
    data <- as.data.frame(file$data)
    # One record's id is what tells it apart: whole numbers, or text.
    data$.row <- sample(10 * n, n)
    if (chance(0.3)) data$.row <- sprintf("r%05d", data$.row)
    file$data <- data
    file
  }

  engine_table <- function(data) {
    text <- vapply(data, is.factor, NA)
    data[text] <- lapply(data[text], as.character)
    DBI::dbWriteTable(engine$connection, "drawn", data, overwrite = TRUE)
    named_table("drawn")
  }
  # A table under a name of its own.
  named_table <- function(name) dplyr::tbl(engine$connection, name)
  wave_table <- function(data, name) {
    text <- vapply(data, is.factor, NA)
    data[text] <- lapply(data[text], as.character)
    DBI::dbWriteTable(engine$connection, name, data, overwrite = TRUE)
    named_table(name)
  }
  collected <- function(table) as.data.frame(dplyr::collect(table))

  # A call that makes a table, which may be made twice.
  protect_table <- function(verb, seed, data, key_vars, into, ...) {
    if (identical(into, "released")) {
      DBI::dbExecute(engine$connection, "DROP TABLE IF EXISTS released")
    }
    set.seed(seed)
    get(verb)(data, key_vars, ..., into = into)
  }

  draws$lazy_release <- function() {
    file <- engine_file()
    table <- engine_table(file$data)
    verb <- pick(c("invariant_pram", "suppress_cells"))
    more <- drop_null(if (verb == "invariant_pram") {
      list(
        max_match_prob = maybe(0.5, stats::runif(1, 0.3, 1)), within = maybe(0.1, ".region"),
        scope = maybe(0.3, pick(c("all", "risky"))), weight_var = maybe(0.2, ".w"),
        prefer = maybe(0.3, pick(c("fewest_changes", "nearest"))),
        unprotected = pick(c("keep", "merge", "keep"))
      )
    } else {
      list(
        k = sample(1:4, 1), strata_var = maybe(0.1, ".region"), weight_var = maybe(0.2, ".w"),
        importance = maybe(0.2, stats::setNames(sample(9, 1), file$keys[1])),
        hh_id = maybe(0.05, ".home"), rule = maybe(0.1, "shared")
      )
    })
    seed <- sample.int(1e6, 1)
    args <- c(
      list(verb = verb, seed = seed, data = table, key_vars = file$keys, into = "released"), more,
      drop_null(list(
        row_id = ".row", chunk_size = maybe(0.7, pick(c(1, 3, 7, 1e6))),
        max_patterns = maybe(0.15, pick(c(1, 5, Inf)))
      ))
    )
    check <- function(x) {
      here <- collected(table)
      here <- here[order(here$.row, method = "radix"), ]
      rownames(here) <- NULL
      set.seed(seed)
      wanted <- do.call(verb, c(list(here, file$keys), more))
      released <- release_data(wanted, keep_ids = TRUE, shuffle = FALSE)
      found <- collected(release_data(x))
      if (nrow(found) != file$n) return("another number of records")
      found <- found[order(found$.row, method = "radix"), ]
      same <- function(v) {
        differs(paste("column", v), as.character(found[[v]]), as.character(released[[v]]))
      }
      numbers <- setdiff(names(wanted$estimates), "gap")
      c(
        unlist(lapply(names(here), same)),
        differs("estimates", x$estimates[numbers], wanted$estimates[numbers], 1e-9),
        if (!identical(collected(table)[names(here)], collected(table))) "the old table was touched"
      )
    }
    case("protect_table", args, check = check, keep = c("verb", "seed"))
  }

  # Functions that ask the database, or a pattern table, for patterns alone.
  draws$lazy_counts <- function() {
    file <- engine_file()
    table <- engine_table(file$data)
    verb <- pick(c(
      "qar_risk", "pattern_table", "key_overview", "individual_risk", "loglinear_risk",
      "population_uniqueness", "exhaustive_tabulation", "copula_fit", "n_matches"
    ))
    more <- drop_null(list(
      weight_var = if (verb %in% c("individual_risk", "loglinear_risk")) ".w",
      pop_size = if (verb == "population_uniqueness") file$n * 30,
      p = if (verb == "qar_risk") sample(length(file$keys), 1),
      pi_u = if (verb == "qar_risk") 0.4, min_records = if (verb == "copula_fit") 2,
      threshold = if (verb == "exhaustive_tabulation") 2,
      dims = if (verb == "exhaustive_tabulation") sample(length(file$keys), 1)
    ))
    patterns <- verb != "pattern_table" && chance(0.5)
    roles <- if (is.null(more$weight_var)) list() else more["weight_var"]
    data <- if (patterns) {
      quiet(do.call(pattern_table, c(list(table, file$keys), roles)))
    } else {
      table
    }
    if (patterns) more$weight_var <- NULL
    args <- c(list(data = data, key_vars = file$keys), more)
    if (verb %in% c("qar_risk", "pattern_table") && !patterns) {
      args$max_patterns <- maybe(0.3, pick(c(1, 5, Inf)))
    }
    check <- function(x) {
      if (is.null(x$estimates)) return(NULL)
      set.seed(1)
      asked <- c(list(collected(table), file$keys), more, if (patterns) roles)
      wanted <- quiet(do.call(verb, asked))
      numeric <- names(wanted$estimates)[vapply(wanted$estimates, is.numeric, NA)]
      order <- function(e) e[order_of(e), intersect(numeric, names(x$estimates)), drop = FALSE]
      differs("estimates", order(x$estimates), order(wanted$estimates), 1e-6)
    }
    case(verb, args, check = if (verb != "copula_fit") check)
  }
  # Rows of estimates by what they are of.
  order_of <- function(table) {
    if (is.null(table$variable)) seq_len(nrow(table)) else order(table$variable)
  }

  draws$lazy_waves <- function() {
    file <- engine_file(n = sample(c(2, 5, 12, 25, 60), 1))
    file$data$.id <- sample(5 * file$n, file$n)
    later <- draw_later(file)
    one <- wave_table(file$data, "one")
    two <- wave_table(later, "two")
    verb <- pick(c("longitudinal_link", "link_attack", "longitudinal_risk"))
    patterns <- chance(if (verb == "longitudinal_risk") 0.1 else 0.4)
    waves <- if (patterns) {
      list(quiet(pattern_table(one, file$keys)), quiet(pattern_table(two, file$keys)))
    } else {
      list(one, two)
    }
    id <- if (verb == "longitudinal_risk" || !patterns || chance(0.1)) ".id"
    more <- drop_null(switch(verb,
      longitudinal_link = list(min_overlap = sample(0:2, 1)),
      link_attack = list(
        weights = maybe(0.7, pick(c("calibrated", "prior", "em", "count")), if (patterns) "em"),
        by_value = chance(0.5), coverage = maybe(0.5, 0.6)
      ),
      longitudinal_risk = list(
        link_vars = file$keys, change_vars = file$keys[[1]], weight_var = maybe(0.6, ".w"),
        pop_size = maybe(0.5, file$n * 50), model = maybe(0.6, pick(c("independence", "two_way"))),
        detail = maybe(0.3, "previous_value"), missing = maybe(0.3, "category")
      )
    ))
    several <- verb == "longitudinal_risk" && chance(0.2)
    first <- if (several) list(a = waves[[1]], b = waves[[1]]) else waves[[1]]
    args <- c(
      list(first, waves[[2]], key_vars = file$keys, id = id), more,
      drop_null(list(max_patterns = maybe(0.15, pick(c(1, 5, Inf)))))
    )
    names(args)[1:2] <- if (verb == "link_attack") c("known", "released") else c("wave1", "wave2")
    check <- function(x) {
      here <- if (several) list(a = collected(one), b = collected(one)) else collected(one)
      wanted <- quiet(do.call(
        verb, c(list(here, collected(two), key_vars = file$keys, id = id), more)
      ))
      numbers <- names(wanted$estimates)[vapply(wanted$estimates, is.numeric, NA)]
      differs("estimates", x$estimates[numbers], wanted$estimates[numbers], 1e-6)
    }
    case(verb, drop_null(args), check = check)
  }
}
