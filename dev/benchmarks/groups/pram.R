# Invariant PRAM. Targets: 10^6 records in 10^5 cells 1 s with exact match
# probabilities, exact calibration with 10^6 cells 10 s. The peer does what a
# user would write by hand: group with data.table, draw moves between all cells.

# `n` records on keys that make about `cells` cells of falling size.
fixtures$cells <- function(n, cells) {
  n <- as.numeric(n)
  cells <- as.numeric(cells)
  set.seed(20261121)
  side <- round(cells^(1 / 4))
  # Every cell is seen once; the rest of the records fall where most people are.
  each <- seq_len(side^4) - 1
  rest <- floor(side^4 * stats::runif(max(n - side^4, 0))^2)
  cell <- c(each, rest)[seq_len(n)]
  data.frame(
    area = factor(cell %% side), age = as.integer(cell %/% side %% side),
    work = factor(cell %/% side^2 %% side), school = as.integer(cell %/% side^3)
  )
}

tasks$pram <- rbind(
  c("pram_all@sdcRisk", "cells:1e6:1e5", 1, 5),
  c("pram_all@sdcRisk", "cells:1e6:1e5", 2, 5),
  c("pram_risky@sdcRisk", "cells:1e6:1e5", 2, 3),
  c("pram_by_hand@data.table", "cells:1e6:1e5", 2, 5),
  c("pram_all@sdcRisk", "cells:2e6:1e6", 2, 3),
  c("pram_risky@sdcRisk", "cells:2e6:1e6", 2, 3),
  c("pram_audit@sdcRisk", "cells:1e6:1e5", 2, 3)
)

pram_of <- function(...) {
  set.seed(1)
  suppressMessages(invariant_pram(data, ...))
}

# What the audit starts from, made once and not timed.
released_file <- local({
  x <- NULL
  function() {
    if (is.null(x)) x <<- pram_of(scope = "all")
    x
  }
})

runs[["pram_all@sdcRisk"]] <- function() pram_of(scope = "all")$estimates$n_cells

runs[["pram_risky@sdcRisk"]] <- function() pram_of()$estimates$n_cells

runs[["pram_audit@sdcRisk"]] <- function() {
  set.seed(1)
  pram_audit(released_file(), data, 100)$diagnostics$n_groups
}

# The published scheme without audit: one theta, moves to any other cell.
runs[["pram_by_hand@data.table"]] <- function() {
  set.seed(1)
  keys <- names(data)
  count <- copy(data)[, `:=`(cell = .GRP, n = .N), by = keys]
  firsts <- count[, list(row = .I[1]), by = "cell"]
  moves <- which(runif(nrow(count)) < 0.3904 / count$n)
  to <- (count$cell[moves] + sample.int(nrow(firsts) - 1, length(moves), TRUE) - 1) %%
    nrow(firsts) + 1
  rows <- firsts$row[to]
  for (key in keys) set(count, moves, key, data[[key]][rows])
  nrow(firsts)
}
