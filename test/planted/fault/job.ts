// Faults in how a submission is run, judged and given back.
import type { Fault } from '../fault.ts'

export const jobFaults: readonly Fault[] = [
  {
    name: 'job: a program that exits with a failure is accepted for its output',
    text: "return exitCode === 0 ? null : nothingBut('RE')",
    instead: 'return null',
    tests: ['job/verdict'],
  },
  {
    name: 'job: passing the memory limit is a runtime error',
    text: "memory_limit: 'MLE',",
    instead: "memory_limit: 'RE',",
    tests: ['job/verdict'],
  },
  {
    name: 'job: the hash of stderr is that of stdout',
    text: 'stderr: digestOutput(stderr, run?.stderrTruncated ?? false),',
    instead: 'stderr: digestOutput(stdout, run?.stderrTruncated ?? false),',
    tests: ['job/verdict'],
  },
  {
    name: 'job: a compiler that passed a limit does not say so',
    text: 'if (limit === undefined) return compile.stderr',
    instead: "if (limit !== '') return compile.stderr",
    tests: ['job/verdict'],
  },
  {
    name: 'job: a submission is lost once more before it is given up',
    text: 'export const maxLosses = 3',
    instead: 'export const maxLosses = 4',
    tests: ['job/execute'],
  },
  {
    name: 'job: right after an outage workers are given up that had no time to renew',
    text: 'if (now - unsettledAt < settleMilliseconds) return',
    instead: '',
    tests: ['job/sweep'],
  },
  {
    name: 'job: a trial that passed outweighs runs that fail',
    text: '    suspended = false\n    because = null\n',
    instead: '    suspended = false\n    failures = 0\n    because = null\n',
    tests: ['job/suspension'],
  },
  {
    name: 'job: the cache of compiled programs is shared by all accounts',
    text: 'const request = { language, code, cacheScope: accountId, ...rest }',
    instead: "const request = { language, code, cacheScope: 'all', ...rest }",
    tests: ['job/execute'],
  },
  {
    name: 'job: a loss that is not ours to count spends an attempt',
    text: "    and event.type = 'execution.interrupted'\n    and (event.data ->> 'spends_attempt')::boolean;",
    instead: "    and event.type = 'execution.interrupted';",
    tests: ['job/take'],
  },
  {
    name: 'job: the result of an attempt that a crash has forgotten is stored',
    text: "or started.type = 'execution.started' and started.data ->> 'run' = store_completion.run",
    instead: 'or true',
    tests: ['job/take'],
  },
  {
    name: 'job: what was cancelled while it ran is completed all the same',
    text: 'if _previous.is_cancelled then',
    instead: 'if false then',
    tests: ['job/cancel'],
  },
  {
    name: 'job: what is cancelled stays in the queue',
    text: '        perform job.remove_execute(store_cancel.submission_id);\n',
    instead: '',
    tests: ['job/cancel'],
  },
  {
    name: 'job: what was cancelled is run again when its worker is lost',
    text: "      and event.type = 'submission.cancel_requested'\n  ) then",
    instead: '      and false\n  ) then',
    tests: ['job/cancel'],
  },
  {
    name: "job: whoever knows its id cancels another's submission",
    text: 'where r.id = store_cancel.submission_id and r.account_id = store_cancel.account_id',
    instead: 'where r.id = store_cancel.submission_id',
    tests: ['job/cancel'],
  },
  {
    name: "job: whoever knows its id runs another's submission again",
    text: 'join runledger.api_key k on k.account_id = r.account_id\n  join runledger.event received on received.stream_id = rerun_submission.original',
    instead:
      'join runledger.api_key k on true\n  join runledger.event received on received.stream_id = rerun_submission.original',
    tests: ['http/rerun'],
  },
  {
    name: 'job: what was purged is run again, with nothing',
    text: "when not _original.is_kept then 'purged' end",
    instead: 'end',
    tests: ['http/rerun'],
  },
  {
    name: "job: a rerun's rerun names that and not the first",
    text: "coalesce(_original.data -> 'rerun_of', to_jsonb(rerun_submission.original))",
    instead: 'to_jsonb(rerun_submission.original)',
    tests: ['http/rerun'],
  },
  {
    name: 'job: a campaign forgets what it has repeated',
    text: 'where r.campaign = rerun_in_campaign.campaign and r.rerun_of = rerun_in_campaign.original',
    instead: 'where false',
    tests: ['cli/rerun'],
  },
  {
    name: 'job: a campaign has everything under way at once',
    text: 'if _under_way >= rerun_in_campaign.at_once then',
    instead: 'if false then',
    tests: ['cli/rerun'],
  },
  {
    name: 'job: a submission runs twice beside itself',
    text: "and runledger.is_worker_alive((_head.data ->> 'worker')::uuid)\n      then",
    instead: 'and false\n      then',
    tests: ['job/take'],
  },
  {
    name: "job: the key's next submission is not admitted when one ends",
    text: '  if _pending.is_limited then\n    perform runledger.admit_waiting(_pending.api_key_id);\n  end if;',
    instead: '',
    tests: ['job/execute'],
  },
  {
    name: 'job: a webhook is not enqueued when its submission ends',
    text: '    perform job.enqueue_deliver(_webhook_id, now());\n  end if;\n\n  finish_submission',
    instead: '    null;\n  end if;\n\n  finish_submission',
    tests: ['job/deliver'],
  },
  {
    name: 'job: an empty queue that was announced is not asked',
    text: 'return announced > gone || unclear > cleared || isDue',
    instead: 'return announced > gone || isDue',
    tests: ['job/hint'],
  },
  {
    name: 'job: what a lost answer has begun is not sought again',
    text: 'if cardinality(take_execution.sought) > 0 then',
    instead: 'if false then',
    tests: ['job/take'],
  },
  {
    name: 'job: the hash of another input stands in the log',
    text: 'stdin: digestBody(stdin),',
    instead: 'stdin: digestBody(code),',
    tests: ['job/execute'],
  },
  {
    name: 'job: the tests after a failure run although they should not',
    text: "return verdict === 'AC' || !stopsOnFailure",
    instead: 'return true',
    tests: ['http/tests'],
  },
  {
    name: 'job: the last test that fails decides',
    text: "(decisive.verdict === 'AC' && verdict !== 'AC')",
    instead: "verdict !== 'AC'",
    tests: ['http/tests'],
  },
  {
    name: "job: the log tells the language's limits for the submission's own",
    text: "    if _received ? 'limits' then\n",
    instead: '    if false then\n',
    tests: ['http/detail'],
  },
]
