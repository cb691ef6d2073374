// How much CPU a box may use at once.
// Two cores, so that a JVM compiles and collects beside the program, in short periods: however many cores the host
// has, a box can pass its CPU limit by no more than two cores times the time until the next look at its clock.

/** Length of a period, in microseconds. */
export const cpuPeriodMicroseconds = 10_000
/** CPU time in a period, in microseconds. */
export const cpuQuotaMicroseconds = 20_000
