// What holds for reruns of many, from a command line or over HTTP.

/** Characters of a campaign's name. */
export const campaignNameMost = 500

/** Of the queue, which belongs to those who submit. */
const shareOfQueue = 0.5

/** Unfinished submissions over all keys, from which on a campaign repeats nothing. */
export function capCampaign(queueCapacity: number): number {
  return Math.max(1, Math.floor(queueCapacity * shareOfQueue))
}
