// The seed of all random data of tests. `make test` uses the same seed each time, so that its result is repeatable.
// `make test-fuzz` takes a new seed and prints it; SEED repeats such a run.

export const seed = Number(process.env['SEED'] ?? 1)
