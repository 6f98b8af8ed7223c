# Makes data/adult.rda. Run from the root of the package:
#   SDCRISK_DATA=<folder with adult.csv> Rscript data-raw/adult.R

folder <- Sys.getenv("SDCRISK_DATA")
if (!nzchar(folder)) {
  stop(
    "Set the environment variable SDCRISK_DATA to the folder ",
    "that holds adult.csv.",
    call. = FALSE
  )
}

types <- c(
  age = "integer", workclass = "character", education_num = "integer",
  marital_status = "character", occupation = "character",
  relationship = "character", race = "character", sex = "character",
  hours_per_week = "integer", native_country = "character",
  income = "character"
)

# Blank cells are missing. The file at UCI writes "?" there; none may be left,
# or it would become a category.
adult <- utils::read.csv(
  file.path(folder, "adult.csv"),
  colClasses = types, na.strings = ""
)
stopifnot(
  identical(names(adult), names(types)),
  identical(dim(adult), c(32561L, 11L)),
  !any(vapply(adult, function(x) any(x %in% "?"), NA)),
  all(adult$education_num %in% 1:16)
)

# education_num stays the number UCI gives to every level of education.

adult$income <- factor(
  adult$income,
  levels = c("small", "large"), ordered = TRUE
)

# The radix method sorts in the C locale, so that the levels do not depend on
# who runs this script.
nominal <- names(adult)[vapply(adult, is.character, NA)]
adult[nominal] <- lapply(adult[nominal], function(x) {
  factor(x, levels = sort(unique(x), method = "radix"))
})

# The share of unique records identifies the ADULT corpus of Rocher and others
# (2019); a file with other rows or columns stops here.
key <- do.call(paste, c(adult, sep = "\r"))
unique_record <- !(duplicated(key) | duplicated(key, fromLast = TRUE))
stopifnot(
  abs(mean(unique_record) - 0.793894536408587) < 1e-14
)

# version = 2 keeps the bytes independent of the locale; xz is smaller than
# bzip2 here (124 against 128 kB).
dir.create("data", showWarnings = FALSE)
save(
  adult,
  file = file.path("data", "adult.rda"),
  version = 2, compress = "xz", compression_level = 9
)
