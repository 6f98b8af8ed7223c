# Declarations of joint_release_risk(): figures, print and sentences.

declare_measure(
  "joint_release_risk",
  reference = c("ganta2008", "li2021"), ids = "release", lead = seq_along(release),
  terms = c("n_unique", "population_uniqueness", "expected_correct", "n_certain", "n_records"),
  each = paste0(" (", release, ")"),
  title = "Risk of several releases together",
  question = "what do releases of one sample tell together?",
  size = paste0(
    plural(x$settings$n, "person"), " in ", plural(x$diagnostics$n_releases, "release"),
    ", ", plural(x$diagnostics$n_keys, "key variable"),
    if (!is.null(x$settings$pop_size)) {
      paste0(", population of ", format_count(round(x$settings$pop_size)))
    }, "; ", missing_clause(x$settings$missing), "."
  ),
  n_unique = figure(
    "Sample uniques", "count", scenario = "prosecutor", of = n_records,
    head = "sample uniques"
  ),
  population_uniqueness = figure(
    "Population uniqueness", "share", low = uniqueness_low,
    high = uniqueness_high, scenario = "journalist", head = "in the population",
    absent = ifelse(nzchar(note), note, "`pop_size` was not given")
  ),
  expected_correct = figure(
    "Records expected to be linked", "count", scenario = "prosecutor",
    attempt = TRUE, head = "linked", absent = ifelse(release == "joined", "links make it", "")
  ),
  spread = "Record risk 1/m, joined", notes = list(strongest_link(x$links)),
  knows = "the intruder links the releases without ids",
  measured = paste0(
    "The ", plural(x$diagnostics$n_releases, "release"), " of one sample (",
    plural(x$settings$n, "person"), ") were measured alone, linked without ids, and joined, on ",
    plural(x$diagnostics$n_keys, "key variable")
  ),
  found = joint_in_words(e, x$links),
  limits = "the joined file supposes that every link succeeds",
  source = "weighted links after Fellegi and Sunter 1969, population by a Gaussian copula",
  assuming = missing_clause(x$settings$missing),
  risk = 1 / needed_rows(x)$n_matches, frame = x$estimates
)

strongest_link <- function(links) {
  best <- links[which.max(links$expected_correct), ]
  paste0(
    quote_names(best$from), " to ", quote_names(best$to), ": ",
    format_one_digit(best$expected_correct), " of ", format_count(best$n_linked),
    " expected to be linked, ", format_count(best$n_certain), " certain (x$links)."
  )
}

joint_in_words <- function(e, links) {
  best <- links[which.max(links$expected_correct), ]
  share <- function(rows) {
    paste0(
      format_count(rows$n_unique), " (", rows$release,
      ifelse(is.na(rows$population_uniqueness), "", paste0(
        "; population uniqueness ", format_percent(rows$population_uniqueness)
      )), ")"
    )
  }
  last <- nrow(e)
  paste0(
    "sample uniques are ", paste(share(e[-last, ]), collapse = ", "), " alone and ",
    share(e[last, ]), "; an intruder is expected to link ",
    format_count(round(best$expected_correct)), " of ", plural(best$n_linked, "person"), ", ",
    format_count(best$n_certain), " of them with certainty"
  )
}

# Pictures -----------------------------------------------------------------

#' Pictures of the risk of several releases together
#'
#' Two pictures of a [joint_release_risk()] result; `plot()` draws the same.
#'
#' @param object A result of [joint_release_risk()].
#' @param type `"uniques"`: sample uniques and population uniqueness of each release alone and of
#'   the joined file; `"links"`: how many records of each release an intruder links to another.
#' @param ... None.
#' @return A ggplot.
#' @exportS3Method ggplot2::autoplot
#' @name autoplot.sdc_joint_release_risk
#' @examplesIf requireNamespace("ggplot2", quietly = TRUE)
#' sample <- cbind(id = 1:2000, adult[1:2000, c("age", "sex", "education_num", "race")])
#' plot(joint_release_risk(
#'   list(one = sample[-5], two = sample[-2]), "id", c("age", "sex", "race")
#' ))
autoplot.sdc_joint_release_risk <- function(object, type = c("uniques", "links"), ...) {
  switch(enter_picture(object, type),
    uniques = plot_joint_uniques(object), links = plot_joint_links(object)
  )
}

plot_joint_uniques <- function(x) {
  e <- x$estimates
  release <- factor(e$release, rev(e$release))
  words <- c("unique in the sample", "unique in the population")
  shown <- frame(
    release = rep(release, 2), share = c(e$n_unique / e$n_records, e$population_uniqueness),
    low = c(rep(NA, nrow(e)), e$uniqueness_low), high = c(rep(NA, nrow(e)), e$uniqueness_high),
    kind = factor(rep(words, each = nrow(e)), words)
  )
  shown <- shown[!is.na(shown$share), ]
  ggplot2::ggplot(shown, ggplot2::aes(x = .data$share, y = .data$release, colour = .data$kind)) +
    ggplot2::geom_linerange(
      ggplot2::aes(xmin = .data$low, xmax = .data$high), na.rm = TRUE, linewidth = 0.6
    ) +
    ggplot2::geom_point(size = 2.4) +
    ggplot2::scale_x_continuous(labels = format_percent, limits = c(0, NA)) +
    ggplot2::scale_colour_manual(values = rlang::set_names(c(sdc_blue, sdc_orange), words)) +
    sdc_labs(
      title = "How many people are alone with their key?", x = "share of the records",
      y = NULL, colour = NULL
    )
}

plot_joint_links <- function(x) {
  links <- x$links
  label <- paste(links$from, links$to, sep = " to ")
  words <- c("expected right", "certain")
  shown <- frame(
    pair = factor(rep(label, 2), rev(label)), n = c(links$expected_correct, links$n_certain),
    kind = factor(rep(words, each = nrow(links)), words)
  )
  ggplot2::ggplot(shown, ggplot2::aes(x = .data$n, y = .data$pair, colour = .data$kind)) +
    ggplot2::geom_point(size = 2.4) +
    ggplot2::scale_x_continuous(labels = format_count, limits = c(0, NA)) +
    ggplot2::scale_colour_manual(values = rlang::set_names(c(sdc_blue, sdc_orange), words)) +
    sdc_labs(
      title = "How many records are linked without ids?", x = "records", y = NULL, colour = NULL
    )
}
