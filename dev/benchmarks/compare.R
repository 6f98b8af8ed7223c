# What got slower than the tracked results by more than noise.
#
# A task of ours is slower where its fastest time is above the slowest tracked one,
# and its median above the tracked median by a quarter and five milliseconds. Peers
# have not changed: how many times their tracked medians they take now is taken for
# the machine's doing, and divided out.

# The results of a group that the package ships, NULL if there are none.
tracked_results <- function(group) {
  rows <- utils::read.csv(shipped_file("performance"), comment.char = "#")
  if (group %in% rows$group) rows[rows$group == group, ]
}

# Both results of the tasks in common, one row a task.
beside_tracked <- function(now, before) {
  if (is.null(now) || is.null(before)) {
    return(NULL)
  }
  key <- c("task", "fixture", "threads")
  seconds <- c("min_s", "median_s", "max_s")
  both <- merge(
    now[c(key, seconds)], before[c(key, seconds)],
    by = key, suffixes = c("", "_before")
  )
  both$ours <- endsWith(both$task, "@sdcRisk")
  both
}

# How many times the tracked time peers take now, 1 without peers.
machine_factor <- function(both) {
  peers <- both[!both$ours, ]
  if (nrow(peers) == 0) 1 else stats::median(peers$median_s / peers$median_s_before)
}

slower_tasks <- function(both, machine = machine_factor(both)) {
  now <- both$median_s / machine
  slow <- both$ours & both$min_s / machine > both$max_s_before &
    now > 1.25 * both$median_s_before & now > both$median_s_before + 0.005
  found <- both[slow, ]
  found$times <- now[slow] / found$median_s_before
  found[order(-found$times), ]
}

report_slower <- function(both) {
  machine <- machine_factor(both)
  peers <- sum(!both$ours)
  message(
    sum(both$ours), " tasks beside their tracked results; ", if (peers) {
      paste0(peers, " tasks of peers take ", signif(machine, 3), " times theirs.")
    } else {
      "no task of a peer ran, so times are compared as they are."
    }
  )
  slow <- slower_tasks(both, machine)
  if (nrow(slow) == 0) {
    message("Nothing got slower by more than noise.")
  } else {
    message("Slower by more than noise:")
    message(paste0(
      "  ", slow$task, " on ", slow$fixture, ", ", slow$threads, " threads: ",
      signif(slow$median_s, 3), " s, was ", signif(slow$median_s_before, 3), " s (",
      signif(slow$times, 3), " times)", collapse = "\n"
    ))
  }
  invisible(slow)
}
