// R: Rscript.
import type { LanguageDefinition } from './definition.ts'

export const r = {
  title: 'R',
  extensions: ['.r', '.R'],
  comment: ['#', ''],
  packages: ['r-base-core'],
  tools: [{ program: 'Rscript', pattern: /version (\d+)\.(\d+)\.\d+/mu, oldest: [3, 6] }],
  least: { memory: 48 * 1024 * 1024, processes: 4 },
  example: String.raw`cat("Hello, world!\n")`,
  trial: String.raw`cat(length(readBin(file("stdin", "rb"), "raw", 1e8)), "\n", sep = "")`,
  recipe: {
    source: 'main.R',
    // Replaces detectCores of the package `parallel`, which reads /proc/cpuinfo. No box has that file, so it would find no
    // processor.
    run: [
      '/bin/sh',
      '-c',
      `R_PROFILE=/dev/fd/3 exec Rscript main.R "$@" 3<<'end'
Sys.unsetenv("R_PROFILE")
setHook(packageEvent("parallel", "onLoad"), function(...) {
  parallel <- asNamespace("parallel")
  unlockBinding("detectCores", parallel)
  count <- function(all.tests = FALSE, logical = TRUE) as.integer(system("nproc", TRUE))
  assign("detectCores", count, parallel)
  lockBinding("detectCores", parallel)
})
end`,
      'sh',
    ],
    typed: { run: ['Rscript', 'main.R'] },
    paths: ['/etc/R/Renviron', '/etc/R/ldpaths', '/usr/share/R'],
    outOfMemory: /cannot allocate (vector|memory)/u,
  },
} as const satisfies LanguageDefinition
