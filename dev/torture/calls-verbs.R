# Generators of methods of R's own verbs, under the names of these verbs.

draws$predict <- function() {
  s <- some_fit()
  data <- as.data.frame(s$file$data)
  new <- data[sample(s$file$n, sample(4, 1), TRUE), , drop = FALSE]
  if (chance(0.3)) new[[s$file$keys[1]]] <- key_column(nrow(new))
  case("predict", drop_null(list(
    object = s$fit, newdata = new, pop_size = s$file$n * sample(c(1, 20), 1),
    score = maybe(0.5, pick(c("tree", "copula")))
  )), keep = "object", check = function(x) {
    if (nrow(x) != nrow(new)) "another number of records"
  })
}
draws$simulate <- function() {
  s <- some_fit()
  nsim <- sample(c(1, 7), 1)
  case("simulate", drop_null(list(object = s$fit, nsim = nsim, seed = maybe(0.5, 1))),
    keep = "object", check = function(x) if (nrow(x) != nsim) "another number of records"
  )
}
draws$coef <- function() case("coef", list(object = some_fit()$fit), p_spoilt = 0)
draws$summary <- function() {
  r <- some_result()
  args <- list(object = r$x)
  if (is.data.frame(r$data) && chance(0.6)) {
    args$by <- maybe(0.5, ".region", pick(c("zqca", "zqcb"), nrow(r$data)))
    args$data <- r$data
  }
  case("summary", args, keep = "object")
}
draws$autoplot <- function() {
  r <- some_result()
  args <- list(object = r$x)
  if (chance(0.2)) args <- c(args, list(pick(c("threshold", "shape", "lift", "records"))))
  case("autoplot", args, keep = "object")
}

# Functions given an object of sdcMicro. Without the package there is nothing to draw.
if (requireNamespace("sdcMicro", quietly = TRUE)) {
  draws$sdcMicroObj <- function() {
    object <- NULL
    while (!inherits(object, "sdcMicroObj")) object <- micro_object()
    if (chance(0.5)) {
      suppressed <- tryCatch(quiet(sdcMicro::localSuppression(object, k = 2)), error = identity)
      if (inherits(suppressed, "sdcMicroObj")) object <- suppressed
    }
    args <- c(list(data = object), drop_null(list(missing = maybe(0.1, "category"))))
    fun <- pick(c(
      "n_matches", "individual_risk", "qar_risk", "key_overview", "suppress_cells", "sdc_file",
      "loglinear_risk", "household_risk", "file_check", "invariant_pram", "copula_fit",
      "exhaustive_tabulation", "recode_search"
    ))
    if (fun %in% c("suppress_cells", "invariant_pram", "recode_search", "sdc_file")) {
      args$missing <- NULL
    }
    if (fun == "individual_risk" && chance(0.5)) args$weight_var <- ".w"
    if (fun == "recode_search") args$max_seconds <- 5
    n <- nrow(object@origData)
    case(fun, args, if (fun %in% c("n_matches", "individual_risk", "suppress_cells")) n,
      keep = "max_seconds"
    )
  }
}
