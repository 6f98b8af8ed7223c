# Levels that merge values, rare ones or those that are rarest together, and the
# levels proposed where nothing was said.

# Merged values -------------------------------------------------------------

# factor() joins values that share a label.
merge_expr <- function(values, labels, ordered = is.ordered(values)) {
  shown <- if (is.object(values)) as.character(values) else values
  if (ordered) {
    bquote(factor(x, .(shown), .(labels), ordered = TRUE))
  } else {
    bquote(factor(x, .(shown), .(labels)))
  }
}

rare_steps <- function(values, rare, about) {
  check_rising(rare, about, "rare")
  if (any(rare <= 0)) stop_hierarchy(about, "have numbers above 0 as `rare`", given_words(rare))
  n <- sum(values$counts)
  lapply(rare, function(limit) {
    least <- if (limit < 1) limit * n else limit
    few <- values$counts < least
    labels <- value_names(values$values)
    labels[few] <- "(other)"
    level_step(
      merge_expr(values$values, labels, ordered = FALSE),
      paste0("with ", plural(sum(few), "rare value"), " merged")
    )
  })
}

# Proposals -----------------------------------------------------------------

proposed_steps <- function(values, about) {
  x <- values$values
  n <- length(x)
  if (is_time(x)) {
    span <- as.double(difftime(max(x), min(x), units = "days")) / 365.25
    units <- c("day", "month", "quarter", "year", "5 years", "10 years")
    keep <- c(inherits(x, "POSIXct"), span < 50, span < 100, span >= 1, span >= 5, span >= 10)
    return(new_steps(unit_steps(values, units[keep], about), x))
  }
  if (is.numeric(x) && n > 12) {
    unit <- 10^floor(log10(diff(range(x)) / 20))
    if (all(x == round(x))) unit <- max(unit, 1)
    widths <- unit * c(5, 10, 20, 40)
    widths <- widths[widths < diff(range(x)) / 1.5]
    if (length(widths)) {
      return(new_steps(width_steps(values, widths, about), x))
    }
  }
  text <- if (is.character(x) || is.factor(x)) as.character(x)
  if (n > 12 && !is.null(text) && all(grepl("^[0-9]+$", text))) {
    size <- unique(nchar(text))
    if (length(size) == 1 && size > 1) {
      return(new_steps(digit_steps(values, seq(size - 1, 1), about), x))
    }
  }
  merged_steps(values)
}

# Only levels that join something more than the one below.
new_steps <- function(steps, values) {
  n_groups <- vapply(steps, function(s) length(unique(step_labels(s, values))), 1L)
  steps[n_groups < c(length(values), utils::head(n_groups, -1)) & n_groups > 1]
}

merged_steps <- function(values) {
  k <- length(values$values)
  m <- min(6, k)
  if (m < 3) {
    return(list())
  }
  targets <- unique(round(k^(1 - seq_len(m - 2) / (m - 1))))
  targets <- targets[targets > 1 & targets < k]
  ordered <- is.ordered(values$values) || is.numeric(values$values)
  merges <- merge_groups(values$counts, ordered, targets)
  labels <- value_names(values$values)
  lapply(merges, function(group) {
    named <- vapply(split(labels, group), function(members) {
      if (ordered && is.numeric(values$values) && length(members) > 1) {
        paste0(members[[1]], "-", members[[length(members)]])
      } else {
        paste(members, collapse = " | ")
      }
    }, "")
    level_step(
      merge_expr(values$values, unname(named[as.character(group)]), ordered),
      paste("merged to", max(match(group, unique(group))), "groups")
    )
  })
}

# Merges until so many groups are left: the two rarest, or of ordered values the
# neighbours that are rarest together.
merge_groups <- function(counts, ordered, targets) {
  group <- seq_along(counts)
  sizes <- as.double(counts)
  ids <- group
  out <- list()
  for (target in targets) {
    while (length(ids) > target) {
      pair <- if (ordered) {
        which.min(utils::head(sizes, -1) + sizes[-1]) + 0:1
      } else {
        sort(order(sizes, seq_along(sizes))[1:2])
      }
      group[group == ids[[pair[[2]]]]] <- ids[[pair[[1]]]]
      sizes[[pair[[1]]]] <- sum(sizes[pair])
      sizes <- sizes[-pair[[2]]]
      ids <- ids[-pair[[2]]]
    }
    out <- c(out, list(group))
  }
  out
}
