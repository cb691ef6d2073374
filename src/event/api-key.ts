// api_key.*: a key's life. Never holds the key or its digest.

interface ApiKeyIssued {
  readonly type: 'api_key.issued'
  readonly data: {
    readonly account: string
    readonly tier: string
    readonly label: string
    readonly expires_at: string | null
    /** The key that this one replaces. */
    readonly replaces: string | null
    /** Left out for a key that submits. */
    readonly role?: 'operator'
    /** It looks alone; an operator's has it always. */
    readonly read_only?: boolean
    /** Left out for a key without one. */
    readonly name?: string
  }
}

interface ApiKeyRotated {
  readonly type: 'api_key.rotated'
  /** The old key works beside its successor until `works_until`. */
  readonly data: { readonly replaced_by: string; readonly works_until: string }
}

interface ApiKeyChanged {
  readonly type: 'api_key.changed'
  /** From now on. */
  readonly data: { readonly tier: string }
}

interface ApiKeyRevoked {
  readonly type: 'api_key.revoked'
  readonly data: Readonly<Record<string, never>>
}

export type ApiKeyEvent = ApiKeyIssued | ApiKeyRotated | ApiKeyChanged | ApiKeyRevoked
