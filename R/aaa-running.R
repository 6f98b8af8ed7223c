# What is going on in this session. `tick`: what the core tells its progress, NULL if nobody
# watches. `ask`: the innermost exported function that is running, see announce().
running <- new.env(parent = emptyenv())
