# Makes data/nals_prison.rda. Run from the root of the package:
#   SDCRISK_DATA=<folder with nals_prison.csv> Rscript data-raw/nals_prison.R

folder <- Sys.getenv("SDCRISK_DATA")
if (!nzchar(folder)) {
  stop(
    "Set the environment variable SDCRISK_DATA to the folder ",
    "that holds nals_prison.csv.",
    call. = FALSE
  )
}

# What the public-use file codes stays a code; the four columns with decimals
# are doubles. CASEID is quoted in the file, which an integer column refuses,
# so it is read as text first.
types <- c(
  CENREG = "integer", DAGE3 = "integer", EDUC3 = "integer", DAGE = "integer",
  WEIGHT = "numeric", DIC0401 = "numeric", EDUC_DET = "integer",
  BIB1201 = "integer", BIC0501 = "integer", BID0101 = "integer",
  BIE0601 = "integer", GENDER = "integer", CASEID = "character",
  BORNUSA = "integer", DRACE3 = "integer", SCORE = "numeric",
  RATE = "numeric", VARUNIT = "integer", VARSTRAT = "integer"
)

# Blank cells are missing.
nals_prison <- utils::read.csv(
  file.path(folder, "nals_prison.csv"),
  colClasses = types, na.strings = ""
)
nals_prison$CASEID <- as.integer(nals_prison$CASEID)

# The documented figures of the six key variables identify the file; another
# one stops here.
keys <- c("BORNUSA", "CENREG", "DAGE3", "DRACE3", "EDUC3", "GENDER")
cells <- table(nals_prison[keys])
stopifnot(
  identical(names(nals_prison), names(types)),
  identical(dim(nals_prison), c(182L, 19L)),
  length(cells) == 432,
  sum(cells == 1) == 52
)

# version = 2 keeps the bytes independent of the locale; xz is smaller than
# bzip2 here (4.3 against 4.9 kB).
dir.create("data", showWarnings = FALSE)
save(
  nals_prison,
  file = file.path("data", "nals_prison.rda"),
  version = 2, compress = "xz", compression_level = 9
)
