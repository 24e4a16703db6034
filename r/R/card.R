# The card of a release: what is promised, which columns were changed, and by which recipe.

read_card <- function(path) {
  if (!file.exists(path)) stop("there is no card ", path, call. = FALSE)
  card <- jsonlite::fromJSON(path, simplifyVector = FALSE)
  if (!identical(card[["format"]], "dalenius-card/2")) stop(path, " is not a card of version 2", call. = FALSE)
  beside <- sub("[.]json$", ".about.json", path)
  card[["about"]] <- if (file.exists(beside)) jsonlite::fromJSON(beside, simplifyVector = FALSE) else list()
  names(card[["variables"]]) <- vapply(card[["variables"]], function(v) v[["name"]], "")
  structure(card, class = "dalenius_card")
}

values_of <- function(card, name) {
  variable <- card[["variables"]][[name]]
  if (is.null(variable)) NULL else as.character(unlist(variable[["letters"]]))
}

released_columns <- function(card) as.character(unlist(card[["mechanism"]][["release"]]))

kept_columns <- function(card) {
  as.character(c(unlist(card[["mechanism"]][["keep"]]), unlist(card[["mechanism"]][["strata"]])))
}

print.dalenius_card <- function(x, ...) {
  cat("Released columns:", paste(released_columns(x), collapse = ", "), "\n")
  if (length(kept_columns(x))) cat("Released as they are:", paste(kept_columns(x), collapse = ", "), "\n")
  for (promise in x[["promises"]]) {
    about <- paste(unlist(promise[["secret"]]), collapse = ", ")
    level <- promise[["at_most_bits"]]
    cat("Promise:", promise[["promise"]], if (nzchar(about)) paste("of", about),
        if (!is.null(level)) paste("at most", level, "bits"), "\n")
  }
  invisible(x)
}

# The released table: each column a factor whose levels are the values of the card, in their order.
read_released <- function(path, card) {
  if (!file.exists(path)) stop("there is no table ", path, call. = FALSE)
  separator <- if (grepl("[.]tsv$", path)) "\t" else ","
  table <- utils::read.csv(path, sep = separator, colClasses = "character", check.names = FALSE, strip.white = TRUE,
                           na.strings = "?", encoding = "UTF-8")
  for (name in names(table)) {
    levels <- setdiff(values_of(card, name), "(missing)")
    if (!length(levels)) next
    unknown <- setdiff(stats::na.omit(unique(table[[name]])), levels)
    if (length(unknown)) {
      stop("column ", name, " holds \"", unknown[1], "\", which the card does not list", call. = FALSE)
    }
    table[[name]] <- factor(table[[name]], levels = levels)
  }
  lacking <- setdiff(c(released_columns(card), kept_columns(card)), names(table))
  if (length(lacking)) stop("the table has no column ", lacking[1], call. = FALSE)
  table
}

fraction <- function(text) {
  parts <- strsplit(as.character(text), "/", fixed = TRUE)[[1]]
  as.numeric(parts[1]) / (if (length(parts) > 1) as.numeric(parts[2]) else 1)
}

combinations <- function(card, names) {
  values <- lapply(names, function(name) values_of(card, name))
  # The last column changes fastest, as in the rows of the card.
  grid <- rev(expand.grid(rev(values), stringsAsFactors = FALSE))
  apply(grid, 1, paste, collapse = " \u00b7 ")
}

# The chance of each released combination (columns) for each original one (rows).
recipe <- function(card) {
  channel <- card[["channel"]]
  form <- if (is.null(channel)) "withheld" else channel[["form"]]
  original <- combinations(card, as.character(unlist(card[["mechanism"]][["observe"]])))
  if (identical(form, "dense")) {
    scale <- fraction(channel[["scale"]])
    rows <- lapply(channel[["rows"]], function(row) vapply(row, fraction, 0) / scale)
    matrix <- do.call(rbind, rows)
  } else if (identical(form, "pram")) {
    stay <- vapply(channel[["stay"]], fraction, 0)
    matrix <- matrix((1 - stay) / max(1, length(stay) - 1), length(stay), length(stay))  # row by row, others alike
    diag(matrix) <- stay
  } else {
    stop("the card does not show a recipe that can be written out (form ", form, ")", call. = FALSE)
  }
  dimnames(matrix) <- list(original, combinations(card, released_columns(card)))
  matrix
}
