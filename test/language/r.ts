// R's programs.
import type { Programs } from './program.ts'

export const r: Programs = {
  sum: 'numbers <- as.integer(readLines(file("stdin"), n = 2))\ncat(sum(numbers), "\\n", sep = "")',
  copy: 'lines <- readLines(file("stdin"))\nwriteLines(lines)',
  unicode:
    'cat("Grüße, 世界 🎉\\n")\nline <- readLines(file("stdin"), n = 1)\ncat(line, "\\n", sep = "")',
  exitThree: 'cat("out")\nmessage("err")\nquit(status = 3)',
  uncaught: {
    code: 'f <- function(x) {\n  stop("no such thing")\n}\nf(1)',
    says: /Error in f\(1\) : no such thing/,
  },
  broken: {
    code: 'a <- 1\nb <- 2\nc <- <- 3\n',
    says: /Error: unexpected assignment in "c <- <-"/,
  },
  busyLoop: 'repeat {}',
  sleeper: 'Sys.sleep(60)',
  memoryBomb: 'kept <- list()\nrepeat kept[[length(kept) + 1]] <- runif(1e6)',
  outputFlood: 'repeat cat(strrep("x", 100), "\\n")',
  scratch: 'writeLines("kept", "/tmp/file")\ncat(readLines("/tmp/file"), "\\n", sep = "")',
  threads: `library(parallel)
sums <- mclapply(0:3, function(part) sum(part * 250 + 1:250), mc.cores = 4)
cat(sum(unlist(sums)), "\\n", sep = "")`,
  network: `tryCatch(
  suppressWarnings(socketConnection("127.0.0.1", 9, timeout = 5)),
  error = function(e) cat("closed\\n")
)`,
  usual: `rows <- read.table(file("stdin"), col.names = c("name", "number"), stringsAsFactors = FALSE)
rows <- rows[order(rows$number, rows$name), ]
stopifnot(all(grepl("^[a-z]+$", rows$name)))
cat(sprintf("%s: %d\\n", rows$name, rows$number), sep = "")
cat(sprintf("mean: %.2f\\n", mean(rows$number)))`,
  arguments: 'writeLines(commandArgs(trailingOnly = TRUE))',
  variable: 'cat(Sys.getenv("GREETING"), "\\n", sep = "")',
  secondFile: {
    code: 'source("answer.R")\nwriteLines(format(answer()))',
    file: { name: 'answer.R', content: 'answer <- function() 42\n' },
  },
}
