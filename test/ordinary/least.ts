// A runtime that cannot start within its limits: the record names the limit, instead of only the runtime's obscure message.
import type { Behaviour } from './behaviour.ts'

export const leastBehaviours: readonly Behaviour[] = [
  {
    name: 'too few processes for the runtime are named',
    request: { limits: { processes: 2 } },
    expected: {
      verdict: 'RE',
      exit_code: /^[0-9]+$/u,
      stderr: /(?:)/u,
      message: /needs some \d+ processes and threads \(the limit is 2\)/,
    },
    programs: {
      java: 'public class Main { public static void main(String[] a) {} }',
      go: 'package main\nfunc main() {}',
    },
  },
]
