# State of this session. `tick`: the progress callback of the core, NULL if nobody watches. `ask`:
# the innermost exported function that is running, see announce().
running <- new.env(parent = emptyenv())
