// A runtime that its limits keep from coming up: the record says which one, instead of the runtime's riddle.
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
