// What is asked of POST /api/operator/bulk and verify.
import * as v from 'valibot'
import { bulkActions } from '#operator'
import { resultVerdicts } from '#result'
import { tagSchema } from '../detail-field.ts'
import { languageSchema } from '../language-name.ts'
import { wellFormedTextWithoutNul } from '../text.ts'
import { webhookSecret } from '../webhook-secret.ts'

const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)$/
const time = v.pipe(
  v.string(),
  v.check(
    (text) => form.test(text) && !Number.isNaN(Date.parse(text)),
    'must be a time such as 2030-01-31T12:00:00Z',
  ),
  v.metadata({ format: 'date-time' }),
)
const name = v.pipe(
  wellFormedTextWithoutNul,
  v.minLength(1, 'must not be empty'),
  v.maxLength(200, 'is longer than 200 characters'),
)

/** Each is optional; all have to fit. */
const filter = v.strictObject({
  since: v.optional(time),
  until: v.optional(time),
  account: v.optional(v.pipe(name, v.description('Its name.'))),
  language: v.optional(languageSchema),
  status: v.optional(v.picklist(['queued', 'running', 'completed', 'failed'])),
  verdict: v.optional(v.picklist(resultVerdicts)),
  tag: v.optional(tagSchema),
  webhook: v.optional(v.picklist(['delivered', 'abandoned'])),
})

const after = v.optional(
  v.pipe(
    v.nullable(
      v.pipe(
        v.string(),
        v.regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'must be next of the step before'),
        v.metadata({ format: 'uuid' }),
      ),
    ),
    v.description('next of the step before.'),
  ),
)

export const verifySchema = v.strictObject({ after })

export const bulkSchema = v.strictObject({
  action: v.picklist(bulkActions),
  filter,
  dry_run: v.pipe(v.boolean(), v.description('true: count alone.')),
  after,
  campaign: v.optional(
    v.pipe(name, v.description('For rerun: under one name each is repeated once.')),
  ),
  secret: v.optional(
    v.pipe(webhookSecret, v.description('For replay: signs them; the one they had was deleted.')),
  ),
})
