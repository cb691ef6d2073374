// Finds what an operator looks up: a submission by its id, an account by its name, an API key by its first characters or name.
import type { Database } from '#database'
import { isUuid } from '#id'

type Row = Readonly<Record<string, unknown>>

/** The most rows of each kind. A text that matches more identifies nothing. */
const most = 20
/** The length of a key's label: enough characters to distinguish keys, too few to be a secret. */
const labelCharacters = 12

/**
 * Finds what matches a text, as `Found` of the OpenAPI document describes it:
 * - the submission with this id, or the newest ones of the account with this name;
 * - accounts whose name contains the text;
 * - keys with this label, id or name, or of the account with this name.
 * @param text not empty.
 */
export async function find(
  sql: Database,
  text: string,
): Promise<Readonly<Record<'submissions' | 'accounts' | 'keys', readonly Row[]>>> {
  const id = isUuid(text) ? text : null
  const label = text.slice(0, labelCharacters)
  const [accounts, keys, submissions] = await Promise.all([
    sql<Row[]>`
      select id, name, created_at, blob_bytes::float8 as blob_bytes from audit.account
      where position(lower(${text}) in lower(name)) > 0 or id = ${id}
      order by name <> ${text}, name limit ${most}`,
    sql<Row[]>`
      select id, account, label, name, tier, role, created_at, expires_at, revoked_at from audit.api_key
      where label = ${label} or name = ${text} or account = ${text} or id = ${id}
      order by revoked_at is not null, created_at desc limit ${most}`,
    sql<Row[]>`
      select s.id, a.name as account, k.label as api_key, s.language, s.status, s.verdict, s.created_at, s.started_at, s.finished_at
      from (
        (select * from runledger.submission where id = ${id})
        union all
        (select * from runledger.submission
          where account_id = (select id from audit.account where name = ${text}) order by id desc limit ${most})
      ) s
      left join audit.account a on a.id = s.account_id
      left join audit.api_key k on k.id = s.api_key_id
      order by s.id desc`,
  ])
  return { submissions, accounts, keys }
}
