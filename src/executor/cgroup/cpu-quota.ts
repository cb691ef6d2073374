// How much CPU a box may use at once. Two cores, so that a JVM compiles and collects beside the program. However many
// cores the host has, a box passes its CPU limit by at most two cores times the pause between two readings; the periods
// are short for that.

export const cpuPeriodMicroseconds = 10_000
/** CPU time per period. */
export const cpuQuotaMicroseconds = 20_000
