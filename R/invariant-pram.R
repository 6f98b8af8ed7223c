#' Perturb key variables with a proven bound on correct matches
#'
#' How can a file be released so that whoever matches a person on the key
#' variables is right with at most a stated probability? Records are moved
#' between cells of the key variables at random (invariant post-randomisation,
#' PRAM), so that all expected counts stay as they are and the bound holds
#' exactly, for every cell.
#'
#' @details
#' The key variables cross-classify the records into \eqn{k} non-empty cells
#' with counts \eqn{T_i}. The intruder knows the cell \eqn{j} of a person and
#' that the person is in the file, and picks at random one of the \eqn{S_j}
#' records released there. CM says that the pick is the person. The promise is
#' \deqn{P(CM \mid S_j = a, T) \le \xi \quad \mbox{for every } j \mbox{ and } a \ge 1}{%
#'   P(CM | S_j = a, T) <= xi for every j and a >= 1}
#' with \eqn{\xi}{xi} = `max_match_prob`. Every record is randomised by itself:
#' \deqn{p_{stay}(i) = 1 - \theta / T_i, \quad
#'   p_{move}(i \to j) = \theta / ((k - 1) T_i),}{%
#'   p_stay(i) = 1 - theta / T_i, p_move(i, j) = theta / ((k - 1) T_i),}
#' so that \eqn{E(S \mid T) = T}{E(S | T) = T}. Moves go to cells that occur in
#' the file, and a record takes all key values of its new cell together: no new
#' combination of keys appears. A missing value is a value like any other.
#'
#' **Theta.** `calibration = "paper"` takes the published closed form, the root
#' of \eqn{(1 - \theta) / (1 - \theta + \theta^2) = \xi}{%
#' (1 - theta) / (1 - theta + theta^2) = xi}, proven for \eqn{\xi}{xi} from 1/2,
#' and from 3/7 with three or more cells. `"exact"` takes, block by block, the
#' smallest theta whose exact worst case over all cells and all \eqn{a} meets
#' the bound, for any bound that the file can reach: ten cells of one record
#' reach 0.1 and no less. Theta ends where a record would be found in another
#' given cell more easily than in its own: an intruder would look there.
#'
#' **Blocks.** With `within`, records move only inside a level of these
#' variables, whose joint counts are then kept exactly. A variable there that is
#' not a key makes cells finer; the bound holds for those who know it, hence for
#' those who do not. `scope = "risky"` leaves every cell with
#' \eqn{1/T_i \le \xi}{1 / T_i <= xi} untouched and puts each of the others into a
#' small block with near cells: fewest differing keys, then fewest steps (the
#' difference of ranks in an ordered key, one step in a nominal key). For very
#' many cells that differ in many keys nearest means near. `forbid` keeps pairs
#' of values apart; whole levels are then cut into classes without such a pair.
#'
#' **Cells that cannot be protected**, above all a cell that is alone in its
#' level: `unprotected = "error"` says so and names the lowest bound that can be
#' reached; `"merge"` merges its level with that of its nearest cell; `"keep"`
#' gives what protection there is, and a warning.
#'
#' **Households.** With `hh_id` and `hh_vars`, key variables that a household
#' shares never differ inside a household. Where all keys are such, households
#' are the units: counts are of households, each is drawn once, and the bound
#' is on matching a household, hence on matching one of its members. Otherwise
#' people of one-person households move with all their keys, and people of larger
#' ones only inside their household's own keys. To move these keys too, run
#' `invariant_pram()` twice: on the household keys, then on its `data` with
#' all keys. The bound of the second run holds for the whole, as it holds whatever
#' the first run did.
#'
#' **Weights.** Weighted counts are not invariant. With `weight_var` the cells
#' show them before and as expected after, and a shift of more than 1 % in any
#' one-way margin is a warning; `prefer = "similar_weights"` forms blocks of
#' similar mean weight.
#'
#' @section What the bound does not say:
#' It is on the intruder who knows all key variables, the counts before, and
#' the number of records released in the target's cell, and picks one of these.
#' Fewer known keys: see [pram_audit()]. Who also uses the released counts of
#' the *other* cells of a small block can know more: with three uniques as a
#' block at a bound of 0.8, and one record released in each cell, each is in its
#' place with probability 0.84. In blocks of two cells of one record, to which
#' `scope = "risky"` comes wherever it can, the other count tells nothing new.
#' The bound is on identity, not on what groups reveal. `records$changed` and the
#' blocks are confidential; the settings, theta and the transition probabilities
#' may be published.
#'
#' @section Cost:
#' One grouping of the records and one draw for each that can move: about a
#' second for a million records. Forming small blocks sorts the risky cells once
#' per key variable, more often where uniques differ in many keys. Memory beyond
#' `data` and its copy: about 60 bytes a record.
#'
#' @param data A data frame, tibble or data.table.
#' @param key_vars Names or positions of the key variables. `NULL`: all columns
#'   that no other argument names.
#' @param max_match_prob The bound, between 0 and 1.
#' @param ... None: what follows is given by its full name.
#' @param within Columns inside whose joint levels records move.
#' @param scope `"all"`: every level is one block. `"risky"`: small blocks around
#'   the cells above the bound.
#' @param calibration How theta is chosen, see Details.
#' @param prefer With `scope = "risky"`: `"fewest_changes"` groups cells of the
#'   same count with each other where the level holds several (a pair of uniques
#'   moves 0.67 records at a bound of 0.8, a unique and a cell of two 0.72),
#'   `"nearest"` takes the nearest cell of whatever count, `"similar_weights"`
#'   cells of the same count and similar mean weight.
#' @param forbid Values never exchanged: a list named by key variables, each a
#'   matrix or data frame of two columns with one pair of values per row.
#' @param unprotected What happens to cells that cannot be protected.
#' @param hh_id Column that identifies households.
#' @param hh_vars Key variables that the members of a household share.
#' @param weight_var Column of sampling weights.
#'
#' @return An object of class `sdc_invariant_pram`, an [sdc_result] with
#' \describe{
#'   \item{`data`}{the data to be released: class, column types, levels, labels
#'     and order of records are those of the input}
#'   \item{`cells`}{the [as.data.frame()] table, one row per cell: `block` (`NA`:
#'     untouched), `count`, `stay_prob`, `match_prob_before` (1 / count),
#'     `match_prob` (exact worst case over \eqn{a}) and, with weights,
#'     `weighted_before`, `weighted_expected`; with households as units
#'     `persons_before`, `persons_expected`}
#'   \item{`blocks`}{`block`, `n_cells`, `n`, `theta`}
#'   \item{`variables`}{per key variable: `variable`, `expected_changed`,
#'     `n_changed` (records), `se_inflation` (factor by which the standard
#'     error of the proportion of a level grows, the largest over levels)}
#'   \item{`plausibility`}{per key variable and other column of at most 1,000
#'     values, half as many as records: records whose key changed, and the share of them whose new value
#'     stands beside their value of the other column nowhere in the original}
#'   \item{`estimates`}{one row: `max_match_prob`, `theta_min`, `theta_max`,
#'     `n_blocks`, `worst_match_prob`, `expected_changed`, `n_changed`, and
#'     `n_records`, `n_cells`, `n_risky` (cells above the bound before),
#'     `n_unprotected` (after)}
#'   \item{`records`}{one row per record: `cell` (row of `cells`), `changed`,
#'     `match_prob_before`, `match_prob` (of its original cell)}
#' }
#' Errors: `bad_argument` (a bound outside its range, a pair of `forbid` that
#' does not exist), `unprotectable` (with field `lowest`), `bad_data`
#' (households whose members differ), `bad_weights`. Warnings:
#' `weighted_shift`, `unprotected_cells`. Messages: `nothing_to_do`,
#' `merged_levels`. Data that are no data frame, an sdcMicroObj among them, are
#' an error of class `sdcRisk_error_bad_data`: give its key columns as a data
#' frame.
#' @references
#' Nayak, T. K. Identity disclosure risk control in microdata release via
#' post-randomization. Department of Statistics, George Washington University.
#'
#' Gouweleeuw, J. M., Kooiman, P., Willenborg, L. C. R. J. and de Wolf, P.-P.
#' (1998). Post randomisation for statistical disclosure control: theory and
#' implementation. Journal of Official Statistics 14, 463-478.
#'
#' This is, as far as we know, the first implementation of the bound; the exact
#' calibration, its closed form over all \eqn{a} and small blocks are additions
#' of ours. `sdcMicro::pram()` perturbs single variables without a bound.
#' @family perturbation
#' @export
#' @examples
#' keys <- c("CENREG", "DAGE3", "EDUC3", "GENDER", "BORNUSA", "DRACE3")
#' set.seed(1)
#' released <- invariant_pram(nals_prison, keys, within = "GENDER", scope = "risky")
#' released
#' released$estimates$worst_match_prob # 0.8
#' head(released$data[keys])
invariant_pram <- function(data, key_vars = NULL, max_match_prob = 0.8, ...,
                           within = NULL, scope = c("all", "risky"),
                           calibration = c("exact", "paper"),
                           prefer = c("fewest_changes", "nearest", "similar_weights"),
                           forbid = NULL, unprotected = c("error", "merge", "keep"),
                           hh_id = NULL, hh_vars = NULL, weight_var = NULL) {
  call <- rlang::current_env()
  this_call <- call_without_data(match.call(), "invariant_pram")
  check_no_dots(..., call = call)
  asked <- list(
    max_match_prob = check_probability(max_match_prob, "max_match_prob", call = call),
    scope = check_choice(scope, c("all", "risky"), "scope", call),
    calibration = check_choice(calibration, c("exact", "paper"), "calibration", call),
    prefer = check_choice(
      prefer, c("fewest_changes", "nearest", "similar_weights"), "prefer", call
    ),
    unprotected = check_choice(
      unprotected, c("error", "merge", "keep"), "unprotected", call
    )
  )
  if (asked$calibration == "paper") {
    check_paper_bound(asked$max_match_prob, call)
  }
  if (asked$prefer == "similar_weights" && is.null(weight_var)) {
    stop_argument("weight_var", "be given where `prefer` is \"similar_weights\"", call = call)
  }
  if (!is.data.frame(data)) {
    key_table(data, call = call)
  }
  columns <- list(
    within = if (!is.null(within)) check_columns(within, data, "within", call),
    hh_id = if (!is.null(hh_id)) check_column(hh_id, data, "hh_id", call),
    hh_vars = if (!is.null(hh_vars)) check_columns(hh_vars, data, "hh_vars", call),
    weight = if (!is.null(weight_var)) check_column(weight_var, data, "weight_var", call)
  )
  weights <- check_weights(data, weight_var, call)
  with_progress("Invariant PRAM", function(tick) {
    table <- key_table(
      data, key_vars,
      exclude = c(columns$within, columns$hh_id, columns$weight), tick = tick, call = call
    )
    on.exit(release(table))
    check_pram_columns(data, table, columns, call)
    rules <- pram_rules(forbid, data, table, call)
    units <- pram_units(data, table, columns, call)
    levels <- pram_levels(data, table, columns, units, call)
    drawn <- pram_draw(table, asked, rules, units, levels, weights, tick, call)
    report_unreached(drawn, asked, call)
    drawn$release <- pram_release(data, table, drawn, units)
    new_invariant_pram(
      data, table, asked, columns, forbid, units, weights, drawn, tick, this_call, call
    )
  })
}

# Checks -------------------------------------------------------------------

check_paper_bound <- function(bound, call) {
  if (any(bound < 3 / 7 - 1e-12)) {
    stop_argument(
      "max_match_prob", "lie in [3/7, 1) with calibration = \"paper\"",
      found = paste0("It is ", format(min(bound), digits = 4), "."),
      advice = paste(
        "The theorem: for a bound of at least 1/2, or of at least 3/7 = 0.4286 with three",
        "or more cells, the root theta of (1 - theta) / (1 - theta + theta^2) = bound keeps",
        "every correct-match probability below it. calibration = \"exact\" takes any bound",
        "that the file can reach."
      ),
      call = call
    )
  }
}

check_pram_columns <- function(data, table, columns, call) {
  serving <- c(columns$hh_id, columns$weight)
  clash <- intersect(table$positions, serving)
  if (length(clash)) {
    stop_argument(
      "key_vars", "not name the columns of households or weights",
      found = paste0("Found: ", quote_names(names(data)[clash]), "."), call = call
    )
  }
  if (is.null(columns$hh_id) != is.null(columns$hh_vars)) {
    stop_argument(
      if (is.null(columns$hh_id)) "hh_id" else "hh_vars",
      "be given where the other one of `hh_id` and `hh_vars` is",
      advice = "`hh_vars` are the key variables that the members of a household share.",
      call = call
    )
  }
  outside <- setdiff(columns$hh_vars, table$positions)
  if (length(outside)) {
    stop_argument(
      "hh_vars", "be key variables",
      found = paste0("Not in `key_vars`: ", quote_names(names(data)[outside]), "."),
      call = call
    )
  }
}

# Pairs of values never exchanged, as codes.
pram_rules <- function(forbid, data, table, call) {
  if (is.null(forbid)) {
    return(list())
  }
  named <- is.list(forbid) && length(forbid) > 0 && !is.data.frame(forbid) &&
    length(names(forbid)) == length(forbid) && !anyDuplicated(names(forbid))
  if (!named) {
    stop_argument(
      "forbid", "be a list named by key variables, with a matrix of two columns for each",
      advice = "list(sex = matrix(c(\"m\", \"f\"), ncol = 2))", call = call
    )
  }
  unknown <- setdiff(names(forbid), table$variables)
  if (length(unknown)) {
    stop_argument(
      "forbid", "name key variables",
      found = paste0("Not a key variable: ", quote_names(unknown), "."), call = call
    )
  }
  unname(Map(function(pairs, name) {
    if (length(dim(pairs)) != 2 || ncol(pairs) != 2 || nrow(pairs) == 0) {
      stop_argument(
        "forbid", "have two columns and at least one row for every key variable",
        found = paste0("Found otherwise for ", quote_names(name), "."), call = call
      )
    }
    key <- match(name, table$variables)
    values <- as.character(data[[table$positions[[key]]]][table$first_rows[[key]]])
    codes <- lapply(1:2, function(side) {
      given <- as.character(pairs[, side, drop = TRUE])
      code <- match(given, values)
      code[is.na(given)] <- 0L
      if (anyNA(code)) {
        stop_argument(
          "forbid", "name values that occur",
          found = paste0(
            sum(is.na(code)), " of the values for ", quote_names(name), " do not occur."
          ),
          call = call
        )
      }
      as.integer(code)
    })
    if (any(codes[[1]] == codes[[2]])) {
      stop_argument(
        "forbid", "pair different values",
        found = paste0("A value of ", quote_names(name), " is paired with itself."),
        call = call
      )
    }
    list(key, codes[[1]], codes[[2]])
  }, forbid, names(forbid)))
}

# Units and levels ---------------------------------------------------------

# What is drawn: records, or households where all keys are theirs. `of_record`
# is the unit of every record and `first` the first record of every unit, NULL
# where records are units; `single` marks one-person households.
pram_units <- function(data, table, columns, call) {
  if (is.null(columns$hh_id)) {
    return(list(kind = "records"))
  }
  household <- household_index(data, columns$hh_id, call)
  shared <- match(columns$hh_vars, table$positions)
  differs <- vapply(shared, function(v) {
    codes <- unwrap(rs_codes(table$pointer, v), call)
    any(codes != codes[household$first][household$of_record])
  }, NA)
  if (any(differs)) {
    stop_sdc(
      "bad_data",
      c(
        "The members of a household must share the values of `hh_vars`.",
        x = paste0("They differ in ", quote_names(table$variables[shared[differs]]), "."),
        i = "Leave these variables out of `hh_vars`, or mend the data."
      ),
      names = table$variables[shared[differs]], call = call
    )
  }
  if (length(shared) < length(table$variables)) {
    return(list(
      kind = "members", single = household$size[household$of_record] == 1L, shared = shared
    ))
  }
  c(list(kind = "households"), household)
}

household_index <- function(data, position, call) {
  ids <- key_table(data, position, call = call)
  on.exit(release(ids))
  if (ids$n_missing > 0) {
    stop_sdc(
      "bad_data",
      c(
        "Every record must belong to a household.",
        x = paste0(
          plural(ids$n_missing, "record"), " without a value of ",
          quote_names(names(data)[position]), "."
        )
      ),
      names = names(data)[position], call = call
    )
  }
  groups <- group_records(ids, call = call)
  list(of_record = groups$row_group, first = groups$first_rows, size = groups$counts)
}

# The number, from 0, of the combination of values that a record has.
level_numbers <- function(data, positions, call) {
  if (length(positions) == 0) {
    return(NULL)
  }
  table <- key_table(data, positions, call = call)
  on.exit(release(table))
  group_records(table, call = call)$row_group - 1L
}

# Levels inside which records move, and the families in which levels may be
# merged; one entry per unit.
pram_levels <- function(data, table, columns, units, call) {
  level <- level_numbers(data, columns$within, call)
  if (units$kind == "records") {
    return(list(level = level))
  }
  if (units$kind == "households") {
    if (!is.null(level) && any(level != level[units$first][units$of_record])) {
      stop_sdc(
        "bad_data",
        c(
          "The members of a household must share the values of `within`.",
          i = "All keys are those of households here, so households are drawn as a whole."
        ),
        names = names(data)[columns$within], call = call
      )
    }
    return(list(level = level[units$first]))
  }
  # People of larger households stay with the keys of their household.
  home <- level_numbers(data, columns$hh_vars, call) + 1L
  home[units$single] <- 0L
  parts <- data.frame(home = home)
  parts$within <- level
  both <- level_numbers(parts, seq_along(parts), call)
  list(level = both, family = home[match(seq_len(max(both) + 1L) - 1L, both)])
}

# The core -----------------------------------------------------------------

pram_draw <- function(table, asked, rules, units, levels, weights, tick, call) {
  if (units$kind == "households") {
    unit_weights <- if (!is.null(weights)) rowsum(weights, units$of_record)[, 1]
    # The table of records stays whole: select_records() would release it.
    table$pointer <- unwrap(rs_select_rows(table$pointer, units$first), call)$table
    on.exit(release(table))
  } else {
    unit_weights <- weights
  }
  unwrap(rs_invariant_pram(
    table$pointer, asked$max_match_prob, asked$scope, asked$calibration, asked$prefer,
    asked$unprotected, table$ordered, rules, levels$level, levels$family,
    if (!is.null(unit_weights)) as.double(unit_weights), draw_seed(), sdc_threads(), tick
  ), call)
}

report_unreached <- function(drawn, asked, call) {
  if (length(drawn$unreached) == 0) {
    return(invisible())
  }
  # Rounded up, so that the number named can be asked for.
  lowest <- ceiling(drawn$lowest * 1e4 - 1e-6) / 1e4
  alone <- sum(drawn$unreached_sizes == 1)
  found <- paste0(
    plural(length(drawn$unreached), "cell"), " cannot be brought below ",
    format(asked$max_match_prob, digits = 4), "; the lowest bound this file can reach is ",
    format(lowest, digits = 4), if (alone > 0) {
      paste0(" (", plural(alone, "cell"), " without another cell to exchange records with)")
    }, "."
  )
  if (asked$unprotected == "keep") {
    warn_sdc(
      "unprotected_cells",
      c("Some cells keep a higher match probability than the bound.", x = found),
      lowest = drawn$lowest, n_cells = length(drawn$unreached), call = call
    )
    return(invisible())
  }
  theorem <- asked$calibration == "paper" && asked$max_match_prob < 0.5 - 1e-12 &&
    any(drawn$unreached_sizes == 2)
  if (theorem) {
    stop_sdc(
      c("bad_argument", "unprotectable"),
      c(
        paste(
          "A bound in [3/7, 1/2) must have at least three cells in every block with",
          "calibration = \"paper\"."
        ),
        x = paste0(
          plural(sum(drawn$unreached_sizes == 2), "block"), " of two cells."
        ),
        i = paste(
          "The theorem: with two cells, P(CM | S = 2) can exceed P(CM | S = 1), and the",
          "published theta is proven for bounds of at least 1/2 only."
        ),
        i = "Take calibration = \"exact\", a bound of at least 1/2, or unprotected = \"merge\"."
      ),
      argument = "max_match_prob", lowest = drawn$lowest, call = call
    )
  }
  stop_sdc(
    "unprotectable",
    c(
      "Every cell must have a block that can keep it below `max_match_prob`.",
      x = found,
      i = if (asked$unprotected == "merge") {
        "Merging levels did not help: take a higher bound or coarser key variables."
      } else {
        paste(
          "Take a higher bound, coarser variables in `within`, or unprotected = \"merge\"",
          "or \"keep\"."
        )
      }
    ),
    lowest = lowest, n_cells = length(drawn$unreached), call = call
  )
}

# The released data ---------------------------------------------------------

# Which records change, the donor of every record, and the data with the
# donors' values: columns keep their class, levels, labels and attributes.
pram_release <- function(data, table, drawn, units) {
  if (units$kind == "households") {
    donor_unit <- drawn$donors[units$of_record]
    changed <- donor_unit != units$of_record
    donors <- seq_along(units$of_record)
    donors[changed] <- units$first[donor_unit[changed]]
    cell <- drawn$row_cell[units$of_record]
  } else {
    donors <- drawn$donors
    changed <- donors != seq_along(donors)
    cell <- drawn$row_cell
  }
  list(
    data = replace_values(data, table$positions, which(changed), donors[changed]),
    changed = changed, donors = donors, cell = cell
  )
}

replace_values <- function(data, positions, rows, donors) {
  if (length(rows) == 0) {
    return(data)
  }
  is_data_table <- inherits(data, "data.table") &&
    requireNamespace("data.table", quietly = TRUE)
  if (is_data_table) {
    data <- data.table::copy(data)
  }
  for (position in positions) {
    values <- data[[position]]
    values[rows] <- values[donors]
    if (is_data_table) {
      data.table::set(data, j = position, value = values)
    } else {
      data[[position]] <- values
    }
  }
  data
}

# The result ---------------------------------------------------------------

new_invariant_pram <- function(data, table, asked, columns, forbid, units, weights, drawn,
                               tick, this_call, call) {
  released <- drawn$release
  n <- length(released$changed)
  size <- if (units$kind == "households") units$size else NULL
  cells <- frame(
    block = drawn$block, count = drawn$counts, stay_prob = drawn$stay_prob,
    match_prob_before = 1 / drawn$counts, match_prob = drawn$match_prob
  )
  theta <- theta_of_cells(cells, drawn$thetas)
  totals <- pram_totals(cells, theta, drawn, units, weights)
  cells[names(totals$columns)] <- totals$columns
  extra <- list(
    design = list(cells = cells, thetas = drawn$thetas),
    n = n, squares = if (!is.null(size)) as.vector(rowsum(size^2, drawn$row_cell)),
    persons = if (!is.null(size)) as.vector(rowsum(size, drawn$row_cell))
  )
  cell_size <- if (is.null(size)) 1 else extra$persons / cells$count
  expected <- sum(theta * cell_size)
  first_record <- if (is.null(size)) drawn$first_row else units$first[drawn$first_row]
  variables <- pram_variables(table, drawn, first_record, extra, tick, call)
  if (!is.null(size) && sum(theta) > 0) {
    # Households weigh by their mean size.
    variables$expected_changed <- variables$expected_changed * expected / sum(theta)
  }
  shift <- report_shift(totals, table, first_record, call)
  result <- new_sdc_result(
    "sdc_invariant_pram",
    estimates = pram_estimates(asked, cells, drawn, expected, released, n),
    records = frame(
      cell = released$cell, changed = released$changed,
      match_prob_before = cells$match_prob_before[released$cell],
      match_prob = cells$match_prob[released$cell]
    ),
    settings = list(
      key_vars = table$variables, key_groups = NULL,
      max_match_prob = asked$max_match_prob, within = names(data)[columns$within],
      scope = asked$scope, calibration = asked$calibration, prefer = asked$prefer,
      unprotected = asked$unprotected, forbid = names(forbid),
      hh_id = names(data)[columns$hh_id], hh_vars = names(data)[columns$hh_vars],
      weight_var = names(data)[columns$weight], missing = "category", n = n,
      fingerprint = fingerprint(table, call),
      version = as.character(utils::packageVersion("sdcRisk"))
    ),
    diagnostics = list(
      units = units$kind, n_merged = drawn$n_merged, largest_shift = shift,
      unit_squares = extra$squares, unit_sizes = size, first_record = first_record,
      new_cell = drawn$row_cell[drawn$donors]
    ),
    call = this_call, data = released$data, cells = cells,
    blocks = pram_blocks(cells, drawn$thetas), variables = variables,
    plausibility = pram_plausibility(data, table, columns, released, tick, call)
  )
  inform_pram(result, asked, call)
  result
}

theta_of_cells <- function(cells, thetas) {
  theta <- thetas[cells$block]
  theta[is.na(theta)] <- 0
  theta
}

pram_blocks <- function(cells, thetas) {
  in_block <- !is.na(cells$block)
  block <- factor(cells$block[in_block], seq_along(thetas))
  frame(
    block = seq_along(thetas), n_cells = as.vector(table(block)),
    n = as.vector(rowsum(cells$count[in_block], block)), theta = thetas
  )
}

pram_estimates <- function(asked, cells, drawn, expected, released, n) {
  thetas <- if (length(drawn$thetas)) drawn$thetas else 0
  above <- function(probability) sum(probability > asked$max_match_prob + 1e-9)
  frame(
    max_match_prob = asked$max_match_prob,
    theta_min = min(thetas), theta_max = max(thetas), n_blocks = length(drawn$thetas),
    worst_match_prob = max(cells$match_prob), expected_changed = expected,
    n_changed = sum(released$changed), n_records = n, n_cells = nrow(cells),
    n_risky = above(cells$match_prob_before), n_unprotected = above(cells$match_prob)
  )
}

# Per key variable: records expected to change and changed, and what it does to
# the standard errors of its margin.
pram_variables <- function(table, drawn, first_record, extra, tick, call) {
  moved <- which(drawn$release$changed)
  donors <- drawn$release$donors[moved]
  parts <- lapply(seq_along(table$variables), function(v) {
    codes <- unwrap(rs_codes(table$pointer, v), call)
    of_cell <- match(codes[first_record], sort(unique(codes[first_record])))
    c(
      sum(codes[moved] != codes[donors]),
      max(margin_inflation(extra, of_cell, tick, call)$se_inflation)
    )
  })
  frame(
    variable = table$variables, expected_changed = drawn$expected_changes,
    n_changed = as.integer(vapply(parts, `[[`, 0, 1)),
    se_inflation = vapply(parts, `[[`, 0, 2)
  )
}

# Counts, variances and growth of standard errors of groups of cells; `group`
# numbers the group of every cell from 1.
margin_inflation <- function(extra, group, tick, call) {
  cells <- extra$design$cells
  found <- unwrap(rs_pram_margins(
    cells$count, cells$block, extra$design$thetas, as.integer(group), as.integer(max(group)),
    extra$squares, sdc_threads(), tick
  ), call)
  persons <- if (is.null(extra$persons)) found$count else rowsum(extra$persons, group)[, 1]
  share <- persons / extra$n
  # Variance of a proportion: p (1 - p) / n from sampling, V / n^2 from PRAM.
  inflation <- sqrt(1 + found$variance / (extra$n * share * (1 - share)))
  inflation[found$variance <= 0] <- 1
  list(
    count = as.vector(persons), match_prob = found$match_prob, variance = found$variance,
    se_inflation = as.vector(inflation)
  )
}

# Totals of weights, or of persons where households are units, before and as
# expected after.
pram_totals <- function(cells, theta, drawn, units, weights) {
  if (units$kind == "households") {
    values <- if (is.null(weights)) {
      units$size
    } else {
      as.vector(rowsum(weights, units$of_record))
    }
  } else {
    values <- weights
  }
  if (is.null(values)) {
    return(list(columns = list()))
  }
  before <- as.vector(rowsum(values, drawn$row_cell))
  mean_value <- before / cells$count
  block <- ifelse(is.na(cells$block), 0L, cells$block)
  in_block <- tabulate(block + 1L, max(block) + 1L)[block + 1L]
  sums <- rowsum(mean_value, block)
  of_block <- sums[match(block, as.integer(rownames(sums))), 1]
  arriving <- ifelse(
    theta > 0, theta / pmax(in_block - 1, 1) * (of_block - mean_value), 0
  )
  expected <- before * (1 - theta / cells$count) + as.vector(arriving)
  columns <- list(before, expected)
  names(columns) <- if (is.null(weights)) {
    c("persons_before", "persons_expected")
  } else {
    c("weighted_before", "weighted_expected")
  }
  list(columns = columns, weighted = !is.null(weights))
}

# The largest expected shift of a one-way margin of totals, relative to what it
# was; above 1 % with a warning.
report_shift <- function(totals, table, first_record, call) {
  if (length(totals$columns) == 0) {
    return(NULL)
  }
  shift <- vapply(seq_along(table$variables), function(v) {
    codes <- unwrap(rs_codes(table$pointer, v), call)[first_record]
    sums <- rowsum(do.call(cbind, totals$columns), codes)
    max(abs(sums[, 2] / sums[, 1] - 1))
  }, 0)
  if (any(shift > 0.01)) {
    moved <- shift > 0.01
    warn_sdc(
      "weighted_shift",
      c(
        paste(
          if (totals$weighted) "Weighted counts" else "Counts of persons",
          "of the margins of key variables should stay within 1 % of what they were."
        ),
        x = paste0(
          "Expected to shift: ", quote_names(table$variables[moved]), ", by up to ",
          format_percent(max(shift)), "."
        ),
        i = paste(
          if (totals$weighted) {
            "Try prefer = \"similar_weights\" with scope = \"risky\","
          } else {
            "Try the household size in `within`,"
          },
          "or calibrate the weights of the released file."
        )
      ),
      variables = table$variables[moved], shift = shift[moved], call = call
    )
  }
  max(shift)
}

# Pairs of a new key value and a value of another column that the original does
# not hold.
pram_plausibility <- function(data, table, columns, released, tick, call) {
  serving <- c(columns$hh_id, columns$weight)
  candidates <- setdiff(seq_along(data), c(table$positions, serving))
  usable <- vapply(candidates, function(v) !is.null(column_source(data[[v]], nrow(data))), NA)
  candidates <- candidates[usable]
  if (length(candidates) == 0 || anyDuplicated(names(data)[candidates])) {
    return(frame(
      variable = character(), other = character(), n_changed = integer(), n_new = integer(),
      prop_new = double()
    ))
  }
  others <- key_table(data, candidates, tick = tick, call = call)
  on.exit(release(others))
  # Identifiers and measurements pair with everything for the first time.
  few <- others$n_values <= min(1000, others$n / 2)
  found <- unwrap(rs_pram_new_pairs(
    table$pointer, others$pointer, released$donors, sdc_threads(), tick
  ), call)
  pairs <- frame(
    variable = rep(table$variables, each = length(candidates)),
    other = rep(others$variables, length(table$variables)),
    n_changed = as.integer(found$changed), n_new = as.integer(found$new),
    prop_new = ifelse(found$changed > 0, found$new / found$changed, 0)
  )
  pairs <- pairs[rep(few, length(table$variables)) & !is.na(found$changed), ]
  rownames(pairs) <- NULL
  pairs
}

inform_pram <- function(x, asked, call) {
  if (x$diagnostics$n_merged > 0) {
    inform_sdc(
      "merged_levels",
      c(
        paste0(
          plural(x$diagnostics$n_merged, "level"), " of `within` merged with another."
        ),
        i = "Joint counts of `within` are kept inside merged levels only."
      ),
      n_merged = x$diagnostics$n_merged, call = call
    )
  }
  if (x$estimates$n_risky > 0) {
    return(invisible())
  }
  unchanged <- x$estimates$theta_max <= 0
  inform_sdc(
    "nothing_to_do",
    c(
      paste0(
        "No cell exceeds the bound: the largest match probability is ",
        format_risk(max(x$cells$match_prob_before)), " as it is."
      ),
      i = if (unchanged) {
        "The data are returned unchanged."
      } else {
        paste(
          "The published scheme perturbs them all the same;",
          "calibration = \"exact\" returns them unchanged."
        )
      }
    ),
    call = call
  )
}
