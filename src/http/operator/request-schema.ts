// The schemas of operators' requests: the parameters of queries, and the bodies of bulk, verify and webhooks/{id}/replay.
import * as v from 'valibot'
import { verdicts } from '#event'
import { fields, languageSchema, tagSchema, wellFormedTextWithoutNul } from '#options'
import { bulkActions, campaignNameMost } from '#operator'
import { webhookStates } from '#result'
import { described, timeText } from '#schema'
import { webhookSecret } from '../webhook.ts'

const name = (most: number) =>
  v.pipe(
    wellFormedTextWithoutNul,
    v.minLength(1, 'must not be empty'),
    v.maxLength(most, `is longer than ${most} characters`),
  )

const oneOf = <const Words extends readonly string[]>(
  words: Words,
): v.PicklistSchema<Words, string> => v.picklist(words, `must be one of ${words.join(', ')}`)

const accountName = name(200)
const campaignName = name(campaignNameMost)

/** Each field is optional; an item must match all that are given. */
const filter = fields(
  {
    since: v.optional(timeText),
    until: v.optional(timeText),
    account: v.optional(described(accountName, 'The name of the account.')),
    language: v.optional(languageSchema),
    status: v.optional(oneOf(['queued', 'running', 'completed', 'failed'])),
    verdict: v.optional(oneOf(verdicts)),
    tag: v.optional(tagSchema),
    webhook: v.optional(oneOf(['delivered', 'abandoned'])),
  },
  'a filter',
)

const idParameter = v.pipe(v.string(), v.uuid('must be a UUID'))

/** The query parameters of operators' routes; all are optional but `campaign` and `q`. */
export const operatorParameters = {
  gone: described(
    v.picklist(['true', 'false'], 'must be true or false'),
    'true: the answer also has workers that ended in the last day.',
  ),
  state: oneOf(webhookStates),
  before: described(idParameter, 'The last webhook_id of the previous page.'),
  campaign: campaignName,
  after: described(idParameter, 'The next of the previous page.'),
  account: described(
    accountName,
    'The name of an account; 404 when there is no account of this name.',
  ),
  // The first characters of a key are enough, because a whole key in a URL would end up in logs.
  q: described(
    accountName,
    'A submission’s id, an account’s name or a part of it, or a key’s id or first 12 characters.',
  ),
} as const

const after = v.optional(
  described(
    v.nullable(
      v.pipe(v.string('must be a string'), v.uuid('must be the next of the previous step')),
    ),
    'The next of the previous step.',
  ),
)

export const verifySchema = fields({ after }, 'a step', 'must be a JSON object')

export const replaySchema = fields({ secret: webhookSecret }, 'a replay', 'must be a JSON object')

export const bulkSchema = fields(
  {
    action: oneOf(bulkActions),
    filter,
    dry_run: described(v.boolean('must be true or false'), 'true: only count.'),
    after,
    campaign: v.optional(
      described(
        campaignName,
        'For rerun: the campaign’s name. Under one name each submission is repeated once.',
      ),
    ),
    at_once: v.optional(
      v.pipe(
        v.number('must be a whole number from 1 to 99999'),
        v.integer('must be a whole number from 1 to 99999'),
        v.minValue(1, 'must be a whole number from 1 to 99999'),
        v.maxValue(99_999, 'must be a whole number from 1 to 99999'),
        v.description(
          'For rerun: the most submissions of the campaign that are unfinished at once. The default is 10.',
        ),
      ),
    ),
    secret: v.optional(
      described(
        webhookSecret,
        'For replay: the secret that signs the webhooks. The earlier one was deleted.',
      ),
    ),
  },
  'a step',
  'must be a JSON object',
)
