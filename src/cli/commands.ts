// The table of commands, in the order of the help.
import { auditCommands } from './audit-commands.ts'
import type { Command } from './command.ts'
import { evaluateCommands } from './evaluate/evaluate.ts'
import { keyCommands } from './keys.ts'
import { languageCommands } from './language-commands.ts'
import { mcpCommands } from './mcp.ts'
import { rerunCommands } from './rerun.ts'
import { submitCommands } from './submit.ts'
import { tierCommands } from './tiers.ts'
import { topCommands } from './top.ts'
import { webhookCommands } from './webhooks.ts'
import { hostCommands, workerCommands } from './worker-commands.ts'

export const commands: readonly Command[] = [
  ...submitCommands,
  ...evaluateCommands,
  ...mcpCommands,
  ...keyCommands,
  ...tierCommands,
  ...hostCommands,
  ...topCommands,
  ...workerCommands,
  ...languageCommands,
  ...webhookCommands,
  ...rerunCommands,
  ...auditCommands,
]
