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
  people <- about$population
  sizes <- if (is.null(people)) values$counts else people_of(values$values, people, about)
  lapply(rare, function(limit) {
    least <- if (limit < 1) limit * sum(sizes) else limit
    few <- sizes < least
    # Areas that are merged must have enough people together.
    if (!is.null(people) && any(few)) {
      rising <- order(sizes)
      enough <- match(TRUE, cumsum(sizes[rising]) >= least, nomatch = length(sizes))
      few[rising[seq_len(enough)]] <- TRUE
    }
    labels <- value_names(values$values)
    labels[few] <- "(other)"
    level_step(
      merge_expr(values$values, labels, ordered = FALSE),
      paste0("with ", plural(sum(few), "rare value"), " merged")
    )
  })
}

# People of each value, from numbers that are named by the values.
people_of <- function(values, people, about) {
  shown <- value_names(values)
  if (!is.numeric(people) || is.null(names(people)) || anyDuplicated(names(people)) ||
        !all(is.finite(people)) || any(people < 0)) {
    stop_hierarchy(about, "have numbers of people named by the values as `population`")
  }
  without <- sum(!shown %in% names(people))
  if (without) {
    stop_hierarchy(
      about, "have a number of people for each value in `population`",
      paste0(plural(without, "value"), " of ", length(shown), " without a number.")
    )
  }
  as.double(people[shown])
}

# Proposals -----------------------------------------------------------------

proposed_kinds <- c(
  "proposal", "proposed_order", "proposed_codes", "proposed_prefix", "proposed_levels"
)

proposed_hierarchy <- function(values, about, drop = TRUE) {
  found <- proposed_steps(values, about)
  new_hierarchy(
    found$values, found$steps, drop, if (length(found$steps)) found$kind else "proposed_levels",
    about, values$has_missing
  )
}

# Levels by what the values are: bands and units if these join some, else merged values.
proposed_steps <- function(values, about) {
  x <- values$values
  if (is_time(x)) {
    return(steps_by_form(unit_steps(values, usual_units(x), about), values))
  }
  if (is.character(x) || is.factor(x) && !is.ordered(x)) {
    return(proposed_text_steps(values, about))
  }
  order <- label_order(values)
  if (!is.null(order)) {
    found <- steps_in_order(values, order, about)
    if (!is.null(order$codes) && found$kind == "proposed_order") found$kind <- "proposed_codes"
    return(found)
  }
  if (is.numeric(x)) proposed_number_steps(values, about) else merged_steps(values)
}

proposed_number_steps <- function(values, about) {
  x <- values$values
  whole <- all(x == round(x))
  widths <- if (length(x) > 12) usual_widths(range(x), whole)
  found <- if (length(widths)) steps_by_form(width_steps(values, widths, about), values)
  if (length(found$steps)) {
    return(found)
  }
  found <- merged_steps(values)
  # Few whole numbers are codes as often as numbers.
  if (length(x) <= 12 && whole) found$kind <- "proposed_codes"
  found
}

proposed_text_steps <- function(values, about) {
  text <- as.character(values$values)
  known <- text[!is_non_response(plain_text(text))]
  order <- text_order(text)
  by_digits <- is.null(order$dates) && are_digit_codes(known)
  if (!is.null(order) && !by_digits) {
    found <- steps_in_order(values, order, about)
    if (length(found$steps) && may_be_codes(known)) found$kind <- "proposed_codes"
    return(found)
  }
  prefix <- by_digits || are_letter_codes(known)
  found <- steps_by_form(if (prefix) prefix_steps(values, known, about), values)
  found$kind <- "proposed_prefix"
  if (length(found$steps)) found else merged_steps(values)
}

# Codes of a nomenclature, which say by their first characters what they are part of: many codes
# of one length with gaps, leading zeros ("0110", "01.11"), or letters and digits ("AT12", "C50.9").
# Two digits are ages and counts as often: their bands of 10 are those of the first digit.
are_digit_codes <- function(known) {
  size <- unique(nchar(known))
  digits <- all(grepl("^[0-9]+([.][0-9]+)*$", known))
  many <- length(known) > 12 && length(size) == 1 && size > 2 && may_be_codes(known)
  digits && (many || any(grepl("^0[0-9]", known)) && (length(size) > 1 || size > 2))
}

are_letter_codes <- function(known) {
  all(grepl("^[A-Z]{1,3}[-_.]?[0-9A-Z.]*$", known)) && mean(grepl("[0-9]", known)) >= 0.5
}

# Whole numbers that are text are codes as often as numbers. Many without gaps are numbers, unless
# zeros fill them up.
may_be_codes <- function(known) {
  if (!all(grepl("^[0-9]+$", known))) {
    return(FALSE)
  }
  n <- length(unique(known))
  n <= 12 || any(grepl("^0[0-9]", known)) || diff(range(as.double(known))) > 2 * n
}

prefix_steps <- function(values, known, about) {
  about$pad <- ""
  sizes <- rev(seq_len(max(nchar(known)) - 1))
  sizes <- Filter(function(size) !any(substr(known, size, size) %in% c(".", "-", "_")), sizes)
  digit_steps(values, sizes, about)
}

# Units and bands of values whose order is known, else merged neighbours.
steps_in_order <- function(values, order, about) {
  at <- order(order$rank, method = "radix")
  one_each <- lengths(order) == length(at)
  order[one_each] <- lapply(order[one_each], `[`, at)
  values[c("values", "counts")] <- list(values$values[at], values$counts[at])
  found <- steps_by_form(ordered_text_steps(values, order, about), values)
  if (length(found$steps)) found else merged_steps(values, order)
}

# The order that value labels give to codes: their own, else that of the codes, with
# non-responses apart. NULL of columns without labels and of numbers some of which have one.
label_order <- function(values) {
  labels <- values$labels
  if (is.null(labels)) {
    return(NULL)
  }
  outside <- is_non_response(plain_text(labels)) & !is.na(labels)
  if (all(outside) || anyNA(labels) && !any(outside)) {
    return(NULL)
  }
  order <- if (!anyNA(labels)) text_order(labels)
  if (is.null(order$rank) || !is.null(order$dates)) {
    number <- as.double(values$values)
    ends <- rep(FALSE, length(number))
    order <- list(
      rank = replace(dense_rank(number), outside, NA), low = number, high = number,
      low_open = ends, high_open = ends, outside = outside,
      codes = if (!anyNA(labels)) TRUE
    )
  }
  order
}

steps_by_form <- function(steps, values) {
  list(
    kind = "proposed_levels", steps = new_steps(steps, values$values), values = values$values
  )
}

usual_units <- function(x) {
  span <- as.double(difftime(max(x), min(x), units = "days")) / 365.25
  units <- c("day", "month", "quarter", "year", "5 years", "10 years")
  units[c(inherits(x, "POSIXct"), span < 50, span < 100, span >= 1, span >= 5, span >= 10)]
}

usual_widths <- function(ends, whole) {
  unit <- 10^floor(log10(diff(ends) / 20))
  if (whole) unit <- max(unit, 1)
  widths <- unit * c(5, 10, 20, 40)
  widths[widths < diff(ends) / 1.5]
}

# Units of dates and bands of whole numbers that are text; none where these do not nest.
ordered_text_steps <- function(values, order, about) {
  outside <- order$outside
  merged <- function(labels, words) {
    labels[outside] <- paste(values$values[outside], collapse = " | ")
    level_step(merge_expr(values$values, labels, ordered = !any(outside)), words)
  }
  if (!is.null(order$dates)) {
    dates <- order$dates
    steps <- unit_steps(list(values = dates[!outside]), usual_units(dates[!outside]), about)
    plain <- identical(as.Date(as.character(values$values), order$format), dates)
    return(lapply(steps, function(step) {
      if (any(outside) || !plain) {
        return(merged(step_labels(step, dates), step$words))
      }
      as_date <- list(x = bquote(as.Date(x, .(order$format))))
      level_step(do.call(substitute, list(step$expr, as_date)), step$words)
    }))
  }
  if (is.null(order$low)) {
    return(list())
  }
  # The least and the greatest whole number of each value; open ends are those of their band.
  low <- ifelse(is.finite(order$low), order$low, order$high - order$high_open)
  high <- ifelse(is.finite(order$high), order$high - order$high_open, order$low)
  numbers <- c(low, high)[!outside]
  if (sum(!outside) <= 12 || any(numbers != round(numbers)) || any(order$low_open[!outside])) {
    return(list())
  }
  widths <- usual_widths(range(numbers), TRUE)
  nested <- vapply(widths, function(w) all((low %/% w == high %/% w)[!outside]), NA)
  lapply(widths[nested], function(width) {
    band <- low %/% width
    labels <- paste0(number_text(band * width), "-", number_text((band + 1) * width - 1))
    open <- band == band[which(order$high == Inf)[1]]
    labels[open %in% TRUE] <- paste0(number_text(band[open %in% TRUE] * width), "+")
    open <- band == band[which(order$low == -Inf)[1]]
    labels[open %in% TRUE] <- paste0("<", number_text((band[open %in% TRUE] + 1) * width))
    merged(labels, paste("in bands of", format_number(width)))
  })
}

# Only levels that join something more than the one below.
new_steps <- function(steps, values) {
  n_groups <- vapply(steps, function(s) length(unique(step_labels(s, values))), 1L)
  steps[n_groups < c(length(values), utils::head(n_groups, -1)) & n_groups > 1]
}

# Values that are merged: of values in order (`order`: of text) only neighbours.
merged_steps <- function(values, order = NULL) {
  x <- values$values
  ordered <- !is.null(order) || is.ordered(x) || is.numeric(x)
  # Spellings of one interval have one place; answers that are none stay a group of their own.
  place <- if (is.null(order)) seq_along(x) else order$rank
  outside <- is.na(place)
  place <- match(place, unique(place[!outside]))
  k <- max(place, 0, na.rm = TRUE)
  m <- min(6, k)
  targets <- if (m >= 3) round(k^(1 - seq_len(m - 2) / (m - 1)))
  targets <- unique(c(if (k < sum(!outside)) k, targets[targets > 1 & targets < k]))
  counts <- c(rowsum(as.double(values$counts[!outside]), place[!outside]))
  labels <- value_names(x)
  is_text <- !is.null(order) && is.null(order$codes)
  steps <- lapply(merge_groups(counts, ordered, targets), function(group) {
    group <- ifelse(outside, 0, group[place])
    named <- vapply(split(labels, group), group_name, "", like = x, is_text = is_text)
    if (any(outside)) named[["0"]] <- paste(labels[outside], collapse = " | ")
    level_step(
      merge_expr(x, unname(named[as.character(group)]), ordered && !any(outside)),
      paste("merged to", length(unique(group)), "groups")
    )
  })
  list(kind = if (ordered) "proposed_order" else "proposal", steps = steps, values = x)
}

# A group is named by its members, one of numbers or text in order by the first and the last.
group_name <- function(members, like, is_text) {
  ends <- unique(members[c(1, length(members))])
  if (is_text) {
    paste(ends, collapse = " to ")
  } else if (is.numeric(like)) {
    paste(ends, collapse = "-")
  } else {
    paste(members, collapse = " | ")
  }
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
