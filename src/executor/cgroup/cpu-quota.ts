// How much CPU a box may use at once: two cores, so that a JVM compiles and collects beside the program. So a box
// passes its CPU limit by at most two cores times the pause between two readings. Periods are short for that.

export const cpuPeriodMicroseconds = 10_000
/** CPU time per period. */
export const cpuQuotaMicroseconds = 20_000
