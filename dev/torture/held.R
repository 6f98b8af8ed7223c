# What R and the C library hold of memory, by their own accounts. Linux with glibc.

# Loads `held()` and `trimmed()`: what the C library has given out and what it keeps free, of
# which R's large vectors are part; and to give back what is free.
allocator <- function() {
  folder <- tempfile("trim")
  dir.create(folder)
  code <- file.path(folder, "trim.c")
  writeLines(c(
    "#include <malloc.h>",
    "void trimmed(int *out) { *out = malloc_trim(0); }",
    "void held(double *out) {",
    "  struct mallinfo2 m = mallinfo2();",
    "  out[0] = m.uordblks + m.hblkhd; out[1] = m.fordblks;",
    "}"
  ), code)
  system(paste("cd", folder, "&& R CMD SHLIB trim.c > /dev/null"))
  dyn.load(file.path(folder, paste0("trim", .Platform$dynlib.ext)))
}

mb <- function(bytes) round(bytes / 2^20)

# A field of /proc/self/status.
status_of <- function(field) {
  line <- grep(paste0("^", field, ":"), readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line))
}

figures <- function() {
  heap <- gc(full = TRUE)
  held <- .C("held", numeric(2))[[1]]
  c(
    resident = round(status_of("VmRSS") / 1024),
    r_in_use = round(sum(heap[, 2])), malloc_in_use = mb(held[[1]]), malloc_free = mb(held[[2]])
  )
}
