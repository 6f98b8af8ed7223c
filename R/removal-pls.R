# Predicting contributions from the records' own values by partial least
# squares, with the package pls.

# Predictions for all records in use, which of them are predicted to lower the
# risk when removed, and how well that works.
predict_contribution <- function(contribution, coded, model) {
  known <- which(!is.na(contribution))
  positive <- contribution > tie_width
  response <- if (model$response == "sign") as.double(positive) else contribution
  train <- known[sort(sample.int(length(known), round(0.75 * length(known))))]
  test <- setdiff(known, train)
  if (length(train) < 3 || length(unique(response[train])) < 2) {
    stop_sdc(
      "bad_data", "PLS needs training records with different contributions.",
      x = paste0("Training records: ", format_count(length(train)), "."),
      i = "Take another `by`."
    )
  }
  features <- pls_features(coded, model$degree, train)
  fit <- pls::plsr(
    response ~ features,
    ncomp = min(model$ncomp, ncol(features), length(train) - 1),
    data = list(response = response[train], features = features[train, , drop = FALSE])
  )
  predicted <- as.vector(stats::predict(
    fit,
    newdata = list(features = features), ncomp = fit$ncomp
  ))
  cut <- if (model$response == "sign") mean(response[train]) else 0
  quality <- function(rows) {
    c(
      r_squared = determination(response[rows], predicted[rows]),
      auc = area_under_curve(positive[rows], predicted[rows])
    )
  }
  both <- rbind(quality(train), quality(test))
  roc <- lapply(list(train = train, test = test), function(rows) {
    roc_curve(positive[rows], predicted[rows])
  })
  list(
    predicted = predicted, lowers = predicted > cut,
    quality = frame(
      sample = c("train", "test"), n = c(length(train), length(test)),
      r_squared = both[, "r_squared"], auc = both[, "auc"]
    ),
    roc = cbind(sample = rep(names(roc), vapply(roc, nrow, 0L)), do.call(rbind, unname(roc)))
  )
}

# One scaled column per key variable, with squares and products for degree 2.
pls_features <- function(coded, degree, train) {
  n_keys <- length(coded$ordered)
  n_columns <- if (degree == 1) n_keys else n_keys + n_keys * (n_keys + 1) / 2
  if (coded$table$n * n_columns > 2e8) {
    stop_sdc(
      "too_large", "The table of predictors must stay below 200 million values.",
      x = paste0(format_count(coded$table$n), " records, ", n_columns, " predictors."),
      i = "Take `pls_degree = 1`, or another `by`."
    )
  }
  all_codes <- all_codes(list(coded$table))[[1]]
  columns <- lapply(seq_len(n_keys), function(i) {
    codes <- all_codes[[i]]
    if (coded$ordered[[i]]) {
      return(as.double(codes))
    }
    -log(tabulate(codes + 1L)[codes + 1L] / length(codes))
  })
  linear <- scaled(do.call(cbind, columns), train)
  if (degree == 1) {
    return(linear)
  }
  pairs <- cbind(utils::combn(ncol(linear), 2), rbind(seq_len(ncol(linear)), seq_len(ncol(linear))))
  products <- linear[, pairs[1, ], drop = FALSE] * linear[, pairs[2, ], drop = FALSE]
  cbind(linear, scaled(products, train))
}

# Columns with mean 0 and standard deviation 1 in the training rows; columns
# without variation there are left out.
scaled <- function(x, train) {
  center <- colMeans(x[train, , drop = FALSE])
  spread <- apply(x[train, , drop = FALSE], 2, stats::sd)
  varies <- spread > 1e-8 * pmax(1, abs(center))
  scale(x[, varies, drop = FALSE], center[varies], spread[varies])
}

determination <- function(observed, predicted) {
  total <- sum((observed - mean(observed))^2)
  if (length(observed) == 0 || total <= 0) NA_real_ else 1 - sum((observed - predicted)^2) / total
}
