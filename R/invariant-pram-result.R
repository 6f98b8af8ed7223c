# Figures of a release of invariant_pram().

new_invariant_pram <- function(data, table, asked, columns, forbid, units, weights, drawn,
                               this_call, file, from = NULL) {
  released <- drawn$release
  n <- n_records(data)
  by_pattern <- !is.null(times_of(data))
  as_households <- units$kind == "households"
  first_record <- if (as_households) units$first[drawn$first_row] else drawn$first_row
  cells <- frame(
    block = drawn$block, count = drawn$counts, stay_prob = drawn$stay_prob,
    match_prob_before = 1 / drawn$counts, match_prob = drawn$match_prob
  )
  if (units$kind != "records") {
    cells$household_size <- units$size[units$of_record[first_record]]
  }
  if (as_households) {
    # Households change places with others of their size only.
    cells$persons_before <- cells$persons_expected <- cells$count * cells$household_size
  }
  theta <- theta_of_cells(cells, drawn$thetas)
  totals <- pram_totals(cells, theta, drawn, units, weights)
  cells[names(totals)] <- totals
  extra <- pram_design(cells, drawn$thetas, n)
  expected <- sum(theta * if (as_households) cells$household_size else 1)
  variables <- pram_variables(table, drawn, first_record, extra)
  if (as_households && sum(theta) > 0) {
    # Households weigh by their mean size.
    variables$expected_changed <- variables$expected_changed * expected / sum(theta)
  }
  others <- table$labels$others
  if (by_pattern) {
    told_by_ids <- attr(released$data, "told_by_order")
    attr(released$data, "told_by_order") <- NULL
  }
  earlier <- earlier_variables(from, data)
  chain <- union(table$variables, earlier)
  if (is.null(from)) from <- data
  homes <- units_of(file, c(names(data)[columns$hh_id], asked$torn$hh_id))
  told <- chain_told_by_columns(from, data, released$data, chain, homes$ids, earlier)
  order_told <- if (by_pattern) {
    told_by_ids
  } else if (length(earlier)) {
    chain_told(from, released$data, chain, homes)
  } else {
    # Exchanged values that the order of the records reveals.
    codes <- rlang::set_names(codes_at(table, table$positions), table$variables)
    after <- lapply(codes, function(codes) codes[released$donors])
    order_tells(data, codes, after, homes)
  }
  result <- new_sdc_result(
    "sdc_invariant_pram",
    estimates = pram_estimates(asked, cells, drawn, expected, released, n),
    records = do.call(frame, c(
      list(cell = released$cell),
      rlang::set_names(list(released$changed), if (by_pattern) "n_changed" else "changed"),
      list(
        match_prob_before = cells$match_prob_before[released$cell],
        match_prob = cells$match_prob[released$cell]
      )
    )),
    settings = list(
      key_vars = table$variables, key_groups = NULL,
      max_match_prob = asked$max_match_prob, within = names(data)[columns$within],
      scope = asked$scope, calibration = asked$calibration, prefer = asked$prefer,
      unprotected = asked$unprotected, forbid = names(forbid),
      hh_id = names(data)[columns$hh_id], hh_vars = names(data)[columns$hh_vars],
      weight_var = names(data)[columns$weight], missing = "category", n = n,
      fingerprint = table$fingerprint,
      version = own_version()
    ),
    diagnostics = list(
      units = units$kind, n_households = if (as_households) length(units$first),
      n_merged = drawn$n_merged, largest_shift = report_shift(totals, table, first_record),
      first_record = first_record, new_counts = released$new_counts, told_by_columns = told,
      told_by_order = order_told, torn = asked$torn,
      earlier = earlier
    ),
    call = this_call, data = with_sorted_levels(released$data, data),
    order = if (!by_pattern && anyNA(order_told$by)) secret_order(n), cells = cells,
    blocks = pram_blocks(cells, drawn), variables = variables,
    plausibility = pram_plausibility(table, others, released)
  )
  result <- with_original(result, from, released$data, chain)
  inform_torn(asked$torn)
  inform_told(told_unasked(told), pram_told_advice(told, data, columns, asked$torn))
  if (!by_pattern) inform_order(order_told, shuffle_advice)
  inform_pram(result)
  result
}

# The design as margin_inflation() takes it. Where households are units, cells
# have `persons_before`.
pram_design <- function(cells, thetas, n) {
  list(
    design = list(cells = cells, thetas = thetas), n = n, persons = cells$persons_before,
    squares = if (!is.null(cells$persons_before)) {
      as.double(cells$persons_before * cells$household_size)
    }
  )
}

theta_of_cells <- function(cells, thetas) {
  theta <- thetas[cells$block]
  theta[is.na(theta)] <- 0
  theta
}

pram_blocks <- function(cells, drawn) {
  in_block <- !is.na(cells$block)
  numbers <- seq_along(drawn$thetas)
  block <- factor(cells$block[in_block], numbers)
  frame(
    block = numbers, n_cells = as.vector(table(block)),
    n = as.vector(rowsum(cells$count[in_block], block)), theta = drawn$thetas,
    all_counts_prob = drawn$all_counts
  )
}

pram_estimates <- function(asked, cells, drawn, expected, released, n) {
  thetas <- if (length(drawn$thetas)) drawn$thetas else 0
  above <- function(probability) sum(probability > asked$max_match_prob + 1e-9)
  frame(
    max_match_prob = asked$max_match_prob,
    theta_min = min(thetas), theta_max = max(thetas), n_blocks = length(drawn$thetas),
    worst_match_prob = max(cells$match_prob),
    all_counts_prob = max(cells$match_prob, drawn$all_counts), expected_changed = expected,
    n_changed = sum(released$changed), n_records = n, n_cells = nrow(cells),
    n_risky = above(cells$match_prob_before), n_unprotected = above(cells$match_prob)
  )
}

# Per key variable: records expected to change and changed, and what it does to
# the standard errors of its margin.
pram_variables <- function(table, drawn, first_record, extra) {
  codes <- codes_at(table, table$positions)
  groups <- lapply(codes, function(codes) {
    match(codes[first_record], sort(unique(codes[first_record])))
  })
  margins <- margin_inflation(extra, groups)
  frame(
    variable = table$variables, expected_changed = drawn$expected_changes,
    n_changed = drawn$release$n_changed,
    se_inflation = vapply(margins, function(margin) max(margin$se_inflation), 0)
  )
}

# Counts, variances and growth of standard errors of groups of cells, for every
# grouping; each numbers the group of every cell from 1.
margin_inflation <- function(extra, groups) {
  cells <- extra$design$cells
  found <- core(rs_pram_margins, list(
    counts = cells$count, block = cells$block, thetas = extra$design$thetas,
    groups = lapply(unname(groups), as.integer), squares = extra$squares
  ))
  Map(one_inflation, found, groups, MoreArgs = list(extra = extra))
}

one_inflation <- function(found, group, extra) {
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

# Totals of weights before and as expected after.
pram_totals <- function(cells, theta, drawn, units, weights) {
  if (is.null(weights)) {
    return(list())
  }
  values <- if (units$kind == "households") {
    as.vector(rowsum(weights, units$of_record))
  } else {
    weights
  }
  before <- as.vector(rowsum(values, drawn$row_cell))
  mean_value <- before / cells$count
  block <- ifelse(is.na(cells$block), 0L, cells$block)
  in_block <- tabulate(block + 1L, max(block) + 1L)[block + 1L]
  sums <- rowsum(mean_value, block)
  of_block <- sums[match(block, as.integer(rownames(sums))), 1]
  arriving <- ifelse(theta > 0, theta / pmax(in_block - 1, 1) * (of_block - mean_value), 0)
  expected <- before * (1 - theta / cells$count) + as.vector(arriving)
  list(weighted_before = before, weighted_expected = expected)
}

# The largest expected shift of a one-way margin of totals, relative to what it
# was; above 1% with a warning.
report_shift <- function(totals, table, first_record) {
  if (length(totals) == 0) {
    return(NULL)
  }
  shift <- vapply(codes_at(table, table$positions), function(codes) {
    sums <- rowsum(do.call(cbind, totals), codes[first_record])
    max(abs(sums[, 2] / sums[, 1] - 1))
  }, 0)
  if (any(shift > 0.01)) {
    moved <- shift > 0.01
    warn_sdc(
      "weighted_shift",
      "Weighted counts of the margins of key variables should stay within 1% of what they were.",
      x = paste0(
        "Expected to shift: ", quote_names(table$variables[moved]), ", by up to ",
        format_percent(max(shift)), "."
      ),
      i = paste(
        "Try prefer = \"similar_weights\" with scope = \"risky\",",
        "or calibrate the weights of the released file."
      ),
      variables = table$variables[moved], shift = shift[moved]
    )
  }
  max(shift)
}

# Pairs of a new key value and a value of another column that the original does
# not hold.
pram_plausibility <- function(table, others, released) {
  if (is.null(others)) {
    return(frame(
      variable = character(), other = character(), n_changed = integer(), n_new = integer(),
      prop_new = double()
    ))
  }
  # Identifiers and measurements pair with everything for the first time.
  few <- others$n_values <= min(1000, others$n / 2)
  found <- core(
    rs_pram_new_pairs, table$pointer, list(others = others$pointer, donors = released$donors)
  )
  pairs <- frame(
    variable = rep(table$variables, each = length(others$variables)),
    other = rep(others$variables, length(table$variables)),
    n_changed = as.integer(found$changed), n_new = as.integer(found$new),
    prop_new = ifelse(found$changed > 0, found$new / found$changed, 0)
  )
  pairs <- pairs[rep(few, length(table$variables)) & !is.na(found$changed), ]
  rownames(pairs) <- NULL
  pairs
}

pram_told_advice <- function(told, data, columns, torn) {
  c(
    drop_advice(told_unasked(told), data), "Or make them key variables, or name them in `within`.",
    if (is.null(columns$hh_id) && is.null(torn)) paste(
      "Households stay together if `hh_vars` names the key variables that all members share,",
      "and `hh_id` or the file the column of households."
    )
  )
}

inform_pram <- function(x) {
  if (x$diagnostics$n_merged > 0) {
    inform_sdc(
      "merged_levels",
      paste0(plural(x$diagnostics$n_merged, "level"), " of `within` merged with another."),
      i = "Joint counts of `within` are kept inside merged levels only.",
      n_merged = x$diagnostics$n_merged
    )
  }
  if (x$estimates$n_risky > 0) {
    return(invisible())
  }
  inform_sdc(
    "nothing_to_do",
    paste0(
      "No key exceeds the bound: the largest match probability is ",
      format_risk(max(x$cells$match_prob_before)), " as it is."
    ),
    i = if (x$estimates$theta_max <= 0) {
      "The data are returned unchanged."
    } else {
      paste(
        "The published scheme perturbs them all the same;",
        "calibration = \"exact\" returns them unchanged."
      )
    }
  )
}

# Notes for an sdcMicroObj on a release: number of changes per variable, and the expected share of
# each value that becomes each other one, NULL if that table is large.
pram_notes <- function(result, data) {
  cells <- result$cells
  n <- if (is.null(cells$persons_before)) cells$count else cells$persons_before
  block <- ifelse(is.na(cells$block), max(0, cells$block, na.rm = TRUE) + seq_along(n), cells$block)
  size <- tabulate(block)[block]
  leave <- ifelse(size > 1, (1 - cells$stay_prob) / pmax(size - 1, 1), 0)
  first <- result$diagnostics$first_record
  transitions <- lapply(rlang::set_names(result$settings$key_vars), function(name) {
    values <- value_names(data[[name]])
    levels <- if (is.factor(data[[name]])) levels(data[[name]]) else sorted_values(values)
    level <- match(values[first], levels, nomatch = length(levels) + 1L)
    names <- c(levels, if (any(level > length(levels))) "NA")
    if (length(names) * as.double(max(block)) > 1e7) {
      return(NULL)
    }
    cells_of <- unclass(table(factor(block, seq_len(max(block))), factor(level, seq_along(names))))
    flow <- rowsum(n * leave * cells_of[block, , drop = FALSE], factor(level, seq_along(names)))
    full <- matrix(0, length(names), length(names), dimnames = list(names, names))
    full[as.integer(rownames(flow)), ] <- flow
    stays <- rowsum(n * (1 - leave * size), factor(level, seq_along(names)))
    at <- as.integer(rownames(stays))
    full[cbind(at, at)] <- full[cbind(at, at)] + stays
    full / pmax(rowSums(full), 1e-300)
  })
  changed <- rlang::set_names(result$variables$n_changed, result$variables$variable)
  list(transitions = transitions, n_changed = changed)
}
