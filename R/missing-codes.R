# Values that stand for missing to people and not to R: numbers such as 9, 99, 998 or -9
# that are apart from all others, as numbers or as text, those that a label says to be missing, and
# texts such as "NA".
missing_codes <- function(x) {
  x <- plain_column(x)
  if (is_candidates(x) || length(dim(x)) > 0) {
    return(character())
  }
  if (is.factor(x) || is.character(x)) {
    values <- sorted_values(known_texts(x))
    plain <- plain_text(values)
    is_text <- is_non_response(plain) | plain == "none"
    order <- if (length(values) <= most_ordered_codes) text_order(values)
    outside <- if (is.null(order)) codes_among_words(plain[!is_text]) else order$outside
    return(values[is_text | if (is.null(order)) plain %in% outside else outside])
  }
  labelled <- labelled_missing(x)
  x <- column_values(x)
  if (is.object(x) || !is.numeric(x) || !is_whole_column(x) && length(labelled) == 0) {
    return(character())
  }
  values <- as.double(sorted_values(x))
  apart <- if (is_whole_column(x)) c(low_codes(values), high_codes(values))
  values[values %in% c(as_bare(labelled), apart)]
}

# Value labels such as "no answer".
labelled_missing <- function(x) {
  labels <- attr(x, "labels", exact = TRUE)
  labels[is_non_response(plain_text(as.character(names(labels))))]
}

# Texts such as "-9" and "99" if all others, two at least, are words.
codes_among_words <- function(texts) {
  numbers <- texts[grepl("^-?[0-9]+$", texts)]
  coded <- grepl("^(-[1-9][0-9]{0,2}|9{1,4}[78]?|7{2,4}|8{2,4})$", numbers)
  if (all(coded) && length(texts) - length(numbers) > 1) numbers
}

# More levels than ages in years are looked at for texts alone.
most_ordered_codes <- 200
