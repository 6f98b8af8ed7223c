#' Risk of several releases of one sample together
#'
#' Two files of one sample can be safe alone and not together. An intruder links them without ids
#' by the columns that they share, and then knows of every person what both say. The function
#' measures every release alone, how many records can be linked, and the file that links would
#' give. Use it before a second file of a sample is released: a teaching file, a public file next
#' to a scientific one, or the next release of a panel.
#'
#' @details
#' **Links.** For every ordered pair of releases the records of `from` are the targets and those
#' of `to` are searched, by [link_attack()] with `weights = "calibrated"`: each key variable
#' weighs by how often it agrees for one person and for two, and a missing value adds no weight.
#' With \eqn{b_i} records that weigh most for record \eqn{i}, the person's own among them, the
#' link is right with probability \eqn{1/b_i}, else 0; `expected_correct` is the sum, and
#' `n_certain` counts single best records that are right. Releases that share no column are linked
#' at chance, one record of the other at random.
#'
#' **Joined.** The joined file is what the releases say together of each person, put together by
#' `id`: the worst case, in which every link succeeds. Its key variables are those of all
#' releases. A variable of which the releases say different things for one person, as waves do,
#' has a column for each release. A release that does not have a person leaves the key variables
#' that only it has missing.
#'
#' **Alone and together.** Sample uniques are counted by [n_matches()]; a missing value matches
#' everything. Uniqueness in the population is that of [copula_uniqueness()], of the joined file
#' for the people in all releases; a missing value is a category there. In three samples of 8,000
#' of 58,654 people (two releases and their joined file, truth 0.15%, 2.32% and 9.85%) it was
#' 0.12 to 0.13%, 2.4 to 2.5% and 11%, and all nine intervals held the truth.
#'
#' @section Recodings:
#' A variable that the releases hold in different detail, such as the age in years and in bands,
#' needs an entry in `recodings`, named by the variable:
#' * cut points, or a list of joined categories, as in [global_recode()];
#' * a [hierarchy()], of which every release has one level;
#' * a table with a row for every value and a column for each version, from fine to coarse, such
#'   as `data.frame(age = 0:99, band = 0:99 %/% 10)`. Versions need not be nested.
#'
#' A release holds the version that has all its values; of several, the first one that agrees with
#' the other releases about most people. If one version tells the other, the finer one is recoded
#' for linking, and the joined file has the finer one. If neither does, values are candidates of
#' each other if a person can have both.
#'
#' @section Remedies:
#' A release that has left cannot change, the next one can. Join both by `id` and protect the joined
#' file: `recode_search(keep = )` with level 0, and `suppress_cells(importance = )` with `Inf`,
#' leave the variables of the earlier release as they are, so that every limit of these functions is
#' one on both releases together. `vignette("releases-together")` does this.
#'
#' @section Missing values:
#' In counts a missing value matches every value, and in a link it adds no weight.
#'
#' @section Cost:
#' That of [link_attack()] for every ordered pair and of [copula_uniqueness()] for every release
#' and the joined file. Two releases of 50,000 records take 1.1 s of one processor,
#' with `pop_size = 58654` 1.4 s.
#'
#' @inheritParams sdcRisk-params
#' @param releases A list of two or more releases of one sample, if possible with names: data
#'   frames, files of [sdc_file()], or results of remedies such as [suppress_cells()].
#' @param key_vars Names of the key variables. Each release counts with those that it has. `NULL`:
#'   those of the [sdc_file()]s among the releases.
#' @param recodings How versions of a variable are related: a list named by variables, see below.
#' @param pop_size Number of people in the population. `NULL`: uniqueness in the population is not
#'   estimated.
#' @param link_vars Names of the columns by which records are linked, as far as two releases
#'   share them. `NULL`: all columns that they share but `id` and `weight_var`, also columns
#'   that are not key variables, such as an income that both files hold.
#' @param weight_var Name of the column of weights in all releases, for the uniqueness in the
#'   population.
#'
#' @return An object of class `sdc_joint_release_risk`, an [sdc_result] with
#' \describe{
#'   \item{`estimates`}{one row per release and one with `release == "joined"`: `release`,
#'     `n_records`, `n_keys`, `n_unique`, `population_uniqueness` with `uniqueness_low` and
#'     `uniqueness_high` (90%), `note`, why it is `NA`, and `expected_correct` and
#'     `n_certain`, the links to the release to which most is linked; this is `as.data.frame()`}
#'   \item{`links`}{one row per ordered pair: `from`, `to`, `n_keys` (columns linked by),
#'     `n_linked` (records of `from` whose person is in `to`), `expected_correct`,
#'     `prop_expected` (of `n_linked`), `n_certain`, `n_single_best_wrong`}
#'   \item{`records`}{one row per person: `id`, `n_matches` in the joined file,
#'     `n_matches_alone`, the fewest in a release alone, and `match_prob`, the largest probability
#'     that a link between two releases is right, `NA` for a person in one release}
#' }
#' Errors: `bad_data` for fewer than two releases, an id that occurs twice in a release;
#' `unknown_key_var`; `bad_argument` for missing ids, values without a place in `recodings`;
#' `bad_column` for ids or variables that are numbers in one release and text in another.
#' @references
#' Ganta, S. R., Kasiviswanathan, S. P. and Smith, A. (2008). Composition attacks and auxiliary
#' information in data privacy. Proceedings of the 14th ACM SIGKDD, 265-273.
#' \doi{10.1145/1401890.1401926}
#'
#' Li, J., Li, L., Krenzke, T. and Chang, W.-Y. (2021). An approach to estimate the
#' re-identification risk in longitudinal survey microdata. Joint Statistical Meetings 2021.
#' Section 4.
#' @family links
#' @concept composition attack
#' @concept record linkage
#' @export
#' @examples
#' sample <- cbind(id = 1:2000, adult[1:2000, c("age", "sex", "education_num", "race")])
#' teaching <- sample[c("id", "age", "sex", "education_num")]
#' public <- transform(sample, age = age %/% 10)
#' joint <- joint_release_risk(
#'   list(teaching = teaching, public = public), "id", c("age", "sex", "race"),
#'   recodings = list(age = data.frame(years = 0:99, tens = 0:99 %/% 10))
#' )
#' joint
#' joint$links$expected_correct
joint_release_risk <- function(releases, id, key_vars = NULL, recodings = NULL, pop_size = NULL,
                               ..., link_vars = NULL, weight_var = NULL) {
  ask <- enter_waves("joint_release_risk", "releases")
  check_given("id")
  check_no_dots(...)
  files <- check_several_releases(ask$releases)
  if (is.null(ask$key_vars)) ask$key_vars <- keys_of_releases(releases)
  asked <- in_words(check_release_columns(files, ask, id, link_vars), release_words)
  check_same_kind(files, setdiff(union(asked$all_keys, asked$link_vars), names(recodings)))
  check_fraction(max(vapply(files, nrow, 0L)), ask$pop_size, NULL)
  with_progress("Releases together", {
    versions <- with_versions(files, recoding_tables(recodings, files), asked)
    in_all <- which(tabulate(unlist(asked$person)) == length(files))
    said_of_each(once_each({
      joined <- join_releases(versions$files, asked, versions$labels)
      pairs <- link_releases_by_pair(versions, asked)
      measured <- Map(
        measure_release, c(files, list(joined = joined)),
        c(asked$keys, list(setdiff(names(joined), asked$apart))),
        c(lapply(files, function(file) seq_len(nrow(file))), list(in_all)),
        list(asked), list(ask$pop_size)
      )
    }))
    new_joint_release_risk(measured, pairs, files, asked, names(recodings), ask)
  })
}

check_several_releases <- function(releases) {
  is_several <- is.list(releases) && !is.data.frame(releases) && !is.object(releases)
  if (!is_several || length(releases) < 2) {
    stop_sdc("bad_data", c(
      "`releases` must be a list of two or more releases.",
      x = if (is_several) {
        paste0("It has ", plural(length(releases), "element"), ".")
      } else {
        given_words(releases)
      },
      i = "joint_release_risk(list(teaching = one, public = two), \"id\", c(\"age\", \"sex\"))"
    ), data_class = class(releases))
  }
  labels <- release_labels(releases, "releases")
  if ("joined" %in% labels) {
    stop_argument("releases", "not have a release named \"joined\"", "One has this name.")
  }
  check_tables(rlang::set_names(releases, labels), "releases")
}

# The key variables of the files with roles.
keys_of_releases <- function(releases) {
  unique(unlist(lapply(releases, function(x) {
    if (is_file(x) || is_remedy(x)) as_file(x, "releases")$roles$key_vars
  })))
}

release_words <- c(
  "columns of `data`" = "columns of the releases", "Columns of `data`" = "Columns",
  "The waves" = "The releases", "both waves" = "two releases", "each wave" = "each release",
  "person and wave" = "person and release", "in all waves" = "in all releases"
)

# Uses of columns. `keys` are those of each release, `apart` the columns that are no key variables;
# `person` numbers the people of each release, and `ids` are theirs.
check_release_columns <- function(files, ask, id, link_vars) {
  all <- as.list(rlang::set_names(unique(unlist(lapply(files, names)))))
  if (length(ask$key_vars) == 0) {
    stop_argument("key_vars", "name the key variables", "No file of the releases names any.")
  }
  keys <- names(all)[check_columns(ask$key_vars, all, "key_vars")]
  roles <- list(id = id, weight_var = ask$weight_var)
  for (arg in names(Filter(Negate(is.null), roles))) {
    for (file in files) check_column(roles[[arg]], file, arg)
  }
  apart <- unlist(roles, use.names = FALSE)
  refuse_names(
    intersect(keys, apart), "key_vars", "leave out the columns that other arguments name", "In both"
  )
  of_release <- lapply(files, function(file) intersect(keys, names(file)))
  without <- lengths(of_release) == 0
  refuse_names(
    names(files)[without], "key_vars", "name a column of every release", "Without a key variable"
  )
  linking <- if (is.null(link_vars)) all else all[check_columns(link_vars, all, "link_vars")]
  people <- number_shared_ids(lapply(files, `[[`, id), id)
  person <- split(
    people$number, rep(factor(names(files), names(files)), vapply(files, nrow, 0L))
  )
  check_ids_once(vapply(person, function(p) sum(duplicated(p)), 0L), names(files), id)
  starts <- cumsum(c(0L, vapply(unname(files), nrow, 0L)))
  ids <- pick_rows(id, unname(files), starts, people$first)
  if (!anyDuplicated(people$number)) warn_no_common_ids(id)
  list(
    id = id, keys = of_release, all_keys = keys, apart = apart, weight_var = ask$weight_var,
    link_vars = setdiff(names(linking), apart), person = person,
    ids = ids
  )
}

# A number in one release and text in another are no versions of each other without a recoding.
check_same_kind <- function(files, variables) {
  several <- Filter(function(name) {
    columns <- Filter(function(x) !all(is.na(x)), lapply(unname(files), `[[`, name))
    length(unique(unlist(lapply(columns, function(x) column_source(x, length(x))$scale)))) > 1
  }, variables)
  if (length(several)) {
    stop_sdc("bad_column", c(
      "A variable must be of the same type in all releases, or be named in `recodings`.",
      x = paste0("Numbers here and text or dates there: ", quote_names(several), "."),
      i = "For instance recodings = list(age = c(0, 15, 30, 65))."
    ), columns = several)
  }
}

# Versions of a variable ------------------------------------------------------

# Of every variable that is recoded its versions as text: one row per value, the finest first.
recoding_tables <- function(recodings, files) {
  if (is.null(recodings)) {
    return(list())
  }
  check_named_list(
    recodings, "recodings", "be a list of recodings, each named by its variable, once",
    unique(unlist(lapply(files, names))),
    advice = "For instance recodings = list(age = c(0, 15, 30, 65))."
  )
  Map(function(by, name) {
    table <- if (is_csv_name(by)) {
      as.data.frame(hierarchy(by))
    } else if (is_level_table(by) || inherits(by, "sdc_hierarchy")) {
      as.data.frame(by)
    } else {
      values <- finest_values(Filter(Negate(is.null), lapply(unname(files), `[[`, name)), by, name)
      list(value = values, recoded = recode_by(list(x = values), by, name)$column)
    }
    lapply(as.list(table), text_values, name)
  }, recodings, names(recodings))
}

# The values before recoding: numbers that are cut, or text except the names of groups.
finest_values <- function(columns, by, name) {
  if (!is.list(by)) {
    return(unique(as.double(unlist(Filter(is_plain_number, columns)))))
  }
  text <- unique(unlist(lapply(columns, text_values, name)))
  setdiff(text, c(NA, setdiff(names(by), unlist(by))))
}

text_values <- function(x, name) {
  source <- column_source(x, length(x))
  if (is.null(source)) {
    stop_sdc("bad_column", c(
      "A recoded variable must be text, a factor or a number.",
      x = paste0(quote_names(name), " has class ", quote_names(class(x)), ".")
    ), columns = name, classes = class(x))
  }
  enc2utf8(as.character(source_text(source, name)))
}

# The releases with every version of recoded variables that each can tell, and people as numbers.
# `labels` are the columns of every variable, the finest first, named by the
# versions in `tables`.
with_versions <- function(files, tables, asked) {
  files <- Map(function(file, person) {
    file <- as.list(file)
    file[[asked$id]] <- person
    file
  }, files, asked$person)
  names <- union(asked$all_keys, asked$link_vars)
  labels <- as.list(rlang::set_names(names))
  for (name in names(tables)) {
    table <- tables[[name]]
    holds <- Filter(function(r) name %in% names(files[[r]]), names(files))
    text <- lapply(rlang::set_names(holds), function(r) text_values(files[[r]][[name]], name))
    version <- versions_held(text, table, name, asked$person[holds])
    used <- sort(unique(version))
    labels[[name]] <- rlang::set_names(
      c(name, sprintf("%s (%s)", name, names(table)[used[-1]])),
      names(table)[used]
    )
    for (r in holds) {
      told <- lapply(used, function(to) told_version(text[[r]], table, version[[r]], to))
      files[[r]][[name]] <- NULL
      known <- !vapply(told, is.null, NA)
      files[[r]][unname(labels[[name]])[known]] <- told[known]
    }
  }
  list(files = lapply(files, function(f) do.call(frame, f)), labels = labels, tables = tables)
}

# The version that each release has: one that holds all its values, and of several the one that
# agrees with the other releases about most people.
versions_held <- function(text, table, name, person) {
  possible <- lapply(rlang::set_names(names(text)), function(r) {
    values <- unique(text[[r]][!is.na(text[[r]])])
    absent <- vapply(table, function(version) sum(!values %in% version), 0L)
    if (all(absent > 0)) {
      stop_argument(
        paste0("recodings$", name), "have all values of each release in one of its versions",
        found = paste0(
          "In no version: ", plural(min(absent), "value"), " of release ", quote_names(r), "."
        ),
        advice = "Give a table with a column for each version and a row for each value."
      )
    }
    unname(which(absent == 0))
  })
  agreeing <- function(r, own) {
    sum(vapply(setdiff(names(text), r), function(other) {
      theirs <- text[[other]][match(person[[r]], person[[other]])]
      max(vapply(possible[[other]], function(version) {
        sum(paste(text[[r]], theirs) %in% paste(table[[own]], table[[version]]))
      }, 0L))
    }, 0L))
  }
  vapply(names(text), function(r) {
    own <- possible[[r]]
    if (length(own) == 1) own else own[[which.max(vapply(own, agreeing, 0, r = r))]]
  }, 0L)
}

# The values of another version that those of one tell, NULL if they do not tell them.
told_version <- function(text, table, from, to) {
  told <- unique(frame(from = table[[from]], to = table[[to]]))
  if (!anyDuplicated(told$from)) {
    values <- told$to[match(text, told$from)]
    factor(values, intersect(table[[to]], values))
  }
}

# Links ------------------------------------------------------------------------

link_releases_by_pair <- function(versions, asked) {
  pairs <- expand.grid(
    to = names(versions$files), from = names(versions$files), stringsAsFactors = FALSE
  )
  pairs <- pairs[pairs$from != pairs$to, ]
  Map(link_pair, pairs$from, pairs$to, list(versions), list(asked))
}

# The row of `links` of a pair, and the probability that the link of each person is right.
link_pair <- function(from, to, versions, asked) {
  shared <- shared_columns(versions$files[[to]], versions$files[[from]], versions, asked)
  person <- asked$person[[from]]
  known <- person %in% asked$person[[to]]
  right <- ifelse(known, 1 / nrow(shared$to), NA_real_)
  wrong <- NA
  if (any(known) && length(shared$keys)) {
    attack <- link_attack(
      shared$to, shared$from, shared$keys, asked$id, weights = "calibrated", sensitivity = FALSE,
      tolerance = if (length(shared$tolerance)) shared$tolerance
    )
    right <- attack$records$match_prob
    wrong <- attack$estimates$n_single_best_wrong[[1]]
  }
  expected <- sum(right, na.rm = TRUE)
  list(
    row = frame(
      from = from, to = to, n_keys = length(shared$keys), n_linked = sum(known),
      expected_correct = expected, prop_expected = if (any(known)) expected / sum(known) else NA,
      n_certain = sum(right == 1, na.rm = TRUE), n_single_best_wrong = as.integer(wrong)
    ),
    person = person, right = right
  )
}

# Two releases with the columns by which they are linked: of every variable the finest version
# that both tell, or their own ones, and which of these a person can have together.
shared_columns <- function(to, from, versions, asked) {
  shared <- list(keys = character(), tolerance = list(), to = to, from = from)
  for (name in asked$link_vars) {
    labels <- versions$labels[[name]]
    in_to <- labels[labels %in% names(to)]
    in_from <- labels[labels %in% names(from)]
    common <- intersect(in_to, in_from)
    if (length(common) == 0 && length(in_to) && length(in_from)) {
      common <- name
      shared$to[[name]] <- to[[in_to[[1]]]]
      shared$from[[name]] <- from[[in_from[[1]]]]
      shared$tolerance[[name]] <- held_together(
        versions$tables[[name]], names(in_to)[[1]], names(in_from)[[1]]
      )
    }
    shared$keys <- c(shared$keys, common[seq_len(min(1, length(common)))])
  }
  shared
}

# TRUE if a person can have a value of one version (rows) and one of another.
held_together <- function(table, one, two) {
  values <- lapply(table[c(one, two)], function(x) unique(x[!is.na(x)]))
  out <- matrix(FALSE, length(values[[1]]), length(values[[2]]), dimnames = unname(values))
  both <- !is.na(table[[one]]) & !is.na(table[[two]])
  out[cbind(table[[one]][both], table[[two]][both])] <- TRUE
  out
}

# The joined file ----------------------------------------------------------------

# Joins the releases by person. A column that two of them contradict stays once for each.
join_releases <- function(files, asked, labels) {
  labels <- labels[asked$all_keys]
  known <- lapply(files, function(file) {
    names(file)[!vapply(file, function(x) all(is.na(x)), NA)]
  })
  # A column without values, of whatever type, says nothing if another release has some.
  parts <- Map(function(file, own) {
    all <- intersect(c(asked$apart, unlist(labels, use.names = FALSE)), names(file))
    file[setdiff(all, setdiff(unlist(known), own))]
  }, files, known)
  pairs <- utils::combn(names(parts), 2, simplify = FALSE)
  differing <- unique(unlist(lapply(pairs, function(pair) {
    contradicted(parts[[pair[[1]]]], parts[[pair[[2]]]], asked)
  })))
  parts <- Map(function(part, release) {
    own <- names(part) %in% differing
    names(part)[own] <- sprintf("%s (%s)", names(part)[own], release)
    part
  }, parts, names(parts))
  joined <- as.data.frame(latest_values(parts, asked$id, origin = FALSE))
  for (columns in Filter(function(l) length(l) > 1, labels)) {
    joined <- without_told_columns(joined, setdiff(columns, differing))
  }
  joined
}

contradicted <- function(one, two, asked) {
  common <- setdiff(intersect(names(one), names(two)), asked$apart)
  if (length(common) == 0 || !any(one[[asked$id]] %in% two[[asked$id]])) {
    return(NULL)
  }
  changes <- as.data.frame(key_stability(one, two, common, asked$id, steps = "none"))
  changes$variable[changes$n_changed > 0]
}

# Of versions of a variable, those that a finer one does not tell of everybody.
without_told_columns <- function(joined, columns) {
  for (k in rev(seq_along(columns))[-length(columns)]) {
    told <- vapply(columns[seq_len(k - 1)], function(finer) {
      pairs <- unique(frame(finer = joined[[finer]], coarse = joined[[columns[[k]]]]))
      !anyDuplicated(pairs$finer) && all(!is.na(pairs$finer) | is.na(pairs$coarse))
    }, NA)
    if (any(told)) joined[[columns[[k]]]] <- NULL
  }
  joined
}

# Warnings that hold for any release are muffled: levels that some lack, and identifying keys.
said_of_each <- function(expr) {
  suppressMessages(
    suppressWarnings(expr, "sdcRisk_warning_waves_differ"),
    c("sdcRisk_message_identifying_key", "sdcRisk_message_weak_calibration")
  )
}

# Sample uniques of a release, or of the joined file, and the uniqueness in the population of
# the people in `rows`.
measure_release <- function(data, keys, rows, asked, pop_size) {
  matches <- n_matches(data, keys)
  found <- list(population_uniqueness = NA_real_, uniqueness_low = NA_real_,
                uniqueness_high = NA_real_)
  note <- ""
  if (!is.null(pop_size)) {
    tryCatch(
      found <- copula_uniqueness(
        data[rows, , drop = FALSE], keys, pop_size, weight_var = asked$weight_var, records = FALSE
      )$estimates,
      sdcRisk_error_bad_data = function(e) note <<- first_line(e)
    )
  }
  list(
    row = do.call(frame, c(
      list(
        n_records = nrow(data), n_keys = length(keys),
        n_unique = as_count(matches$estimates$n_unique)
      ),
      as.list(found)[c("population_uniqueness", "uniqueness_low", "uniqueness_high")],
      list(note = note)
    )),
    n_matches = matches$records$n_matches, fingerprint = matches$settings$fingerprint
  )
}

new_joint_release_risk <- function(measured, pairs, files, asked, recoded, ask) {
  n <- length(asked$ids)
  alone <- rep(Inf, n)
  for (r in names(files)) {
    at <- asked$person[[r]]
    alone[at] <- pmin(alone[at], measured[[r]]$n_matches)
  }
  right <- rep(NA_real_, n)
  for (pair in pairs) right[pair$person] <- pmax(right[pair$person], pair$right, na.rm = TRUE)
  prints <- vapply(measured, `[[`, "", "fingerprint")
  rows <- stack_frames(lapply(unname(measured), `[[`, "row"))
  links <- stack_frames(lapply(unname(pairs), `[[`, "row"))
  # The other release to which most is linked.
  best <- lapply(names(measured), function(r) {
    own <- links[links$from == r, ]
    own[which.max(own$expected_correct), c("expected_correct", "n_certain")]
  })
  of_best <- function(name) {
    vapply(best, function(own) c(as.double(own[[name]]), NA)[[1]], 0)
  }
  new_sdc_result(
    "sdc_joint_release_risk",
    estimates = do.call(frame, c(
      list(release = names(measured)), as.list(rows),
      list(expected_correct = of_best("expected_correct"), n_certain = of_best("n_certain"))
    )),
    records = frame(
      id = asked$ids, n_matches = measured$joined$n_matches,
      n_matches_alone = as_count(alone),
      match_prob = right
    ),
    settings = list(
      key_vars = asked$all_keys, link_vars = asked$link_vars, id = asked$id,
      recodings = recoded, pop_size = ask$pop_size, missing = "wildcard",
      weight_var = asked$weight_var, n = n,
      fingerprint = prints[["joined"]], wave_fingerprints = as.list(prints[names(files)]),
      version = own_version()
    ),
    diagnostics = list(n_keys = length(asked$all_keys), n_releases = length(files)),
    call = ask$call,
    links = links
  )
}
