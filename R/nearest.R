# The nearest record by continuous and other variables, exactly: what differences cost, and the
# search of the core.

square_cost <- function(missing = 2) {
  list(shape = "square", costs = numeric(), edges = numeric(), missing = missing)
}

# `known` and `released` are lists of columns of doubles. For each released record the least cost
# (`first`) and the next one (`second`, the same if several are nearest), how many known records
# are nearest (`n_best`), and whether its partner is among them.
find_nearest <- function(known, released, metric, partners = NULL) {
  core(rs_nearest, unname(known), unname(released), unname(metric), partners)
}
