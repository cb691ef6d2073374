// How often a submission may be lost. Its own file: the web process sweeps too, and never loads the executor.

/** So many attempts may be lost to our own failures before a submission is given up with verdict IE. */
export const maxLosses = 3
