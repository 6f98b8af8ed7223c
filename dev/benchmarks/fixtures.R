# The data and the tasks of all groups. A file of groups/ adds
#   fixtures$<name>     a function of the words after "<name>:", giving data
#   tasks$<group>       rows of task@tool, fixture, threads, repeats
#   runs[["<task>@<tool>"]]   what is timed; it finds `data` and `more`, and
#                       returns a number that tools must agree on
#   prepare$<group>     what a group's tasks need made before the clock starts
#   summaries$<group>   what is said and written of the group's rows of results

fixtures <- list()
tasks <- list()
runs <- list()
prepare <- list()
summaries <- list()

# A file of the folder that SDCRISK_DATA names, NULL without it.
real_file <- function(name) {
  folder <- Sys.getenv("SDCRISK_DATA")
  path <- file.path(folder, paste0(name, ".csv"))
  if (nzchar(folder) && file.exists(path)) utils::read.csv(path)
}

fixtures$adult <- function() sdcRisk::adult

for (file in list.files("dev/benchmarks/groups", full.names = TRUE)) source(file)

fixture <- function(name) {
  words <- strsplit(name, ":", fixed = TRUE)[[1]]
  make <- fixtures[[words[[1]]]]
  if (is.null(make)) real_file(words[[1]]) else do.call(make, as.list(words[-1]))
}
