// Where everything that tests make at random begins. `make test` tries the same each time, so that what is green once is green
// again; `make test-fuzz` takes a new seed and prints it. SEED repeats a run.

export const seed = Number(process.env['SEED'] ?? 1)
