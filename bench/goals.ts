// The project's goals. Each goal compares one figure of a bench with its floor in the same run, because on a machine that
// is three times as slow, both are three times as slow. judge.ts decides whether goals are met.

/** The bound of a goal. `Over`: milliseconds above the floor. `times`: the ratio to the floor, the median over the rounds. */
export type Bound =
  | { readonly kind: 'p50Over' | 'p95Over'; readonly most: number }
  | { readonly kind: 'timesP50' | 'timesP95'; readonly most: number }
  | { readonly kind: 'timesRate'; readonly least: number }

/** One goal about time. */
export interface Goal {
  readonly id: string
  readonly what: string
  /** The floor that the goal is compared with, in a few words. */
  readonly floor: string
  readonly bench: string
  readonly row: string
  readonly bound: Bound
  /** The best of the known services and sandboxes, in the unit of `bound`. */
  readonly peer?: { readonly name: string; readonly value: number }
}

/** A goal for the ratio of two figures of a bench. */
export interface FigureGoal {
  readonly id: string
  readonly what: string
  /** The floor that the goal is compared with, in a few words. */
  readonly floor: string
  readonly bench: string
  readonly figure: string
  readonly floorFigure: string
  readonly unit: string
  /** The highest ratio to the floor's figure. */
  readonly most: number
}

/** A goal for memory that stays allocated, in megabytes. */
export interface MemoryGoal {
  readonly id: string
  readonly what: string
  readonly bench: string
  readonly figure: string
  readonly most: number
}

// G1 to G8, G10, G11. The peers' figures were measured beside the same floors, on a machine like the one on which these
// benches were written.
export const goals: readonly Goal[] = [
  ...['', ', after 100 ms'].flatMap((when): Goal[] => {
    const row = `boxed static binary${when}`
    const common = { id: 'G1', floor: 'bare clone', bench: 'executor/box', row }
    return [
      { ...common, what: `box${when}, p50`, bound: { kind: 'timesP50', most: 1.25 } },
      { ...common, what: `box${when}, p95`, bound: { kind: 'timesP95', most: 1.5 } },
    ]
  }),
  {
    id: 'G2',
    what: 'Python, executor, 2 at once',
    floor: 'python3 hello.py',
    bench: 'executor/python',
    row: 'boxed python hello, 2 at once',
    bound: { kind: 'timesRate', least: 4 },
    peer: { name: 'bubblewrap', value: 0.62 },
  },
  {
    id: 'G3',
    what: 'Python over HTTP, 16 clients',
    floor: 'python3 hello.py',
    bench: 'http/submit',
    row: 'python hello, 16 clients',
    bound: { kind: 'timesRate', least: 2.2 },
    peer: { name: 'Piston', value: 0.49 },
  },
  {
    id: 'G4',
    what: 'Python over HTTP, 1 client',
    floor: 'python3 hello.py',
    bench: 'http/submit',
    row: 'python hello, 1 client',
    bound: { kind: 'timesP50', most: 0.42 },
    peer: { name: 'Piston', value: 2 },
  },
  {
    id: 'G5',
    what: 'C++ <iostream>, cold',
    floor: 'g++ -O2, ./main',
    bench: 'executor/compile',
    row: 'boxed g++ <iostream>',
    bound: { kind: 'timesP50', most: 0.3 },
    peer: { name: 'plain g++', value: 1 },
  },
  {
    id: 'G5',
    what: 'C++ <bits/stdc++.h>, cold',
    floor: 'g++ -O2, ./main',
    bench: 'executor/compile',
    row: 'boxed g++ <bits/stdc++.h>',
    bound: { kind: 'timesP50', most: 0.18 },
    peer: { name: 'plain g++', value: 1 },
  },
  {
    id: 'G6',
    what: 'Java, cold',
    floor: 'javac, java',
    bench: 'executor/compile',
    row: 'boxed javac',
    bound: { kind: 'timesP50', most: 0.08 },
    peer: { name: 'plain javac', value: 1 },
  },
  {
    id: 'G6',
    what: 'Java, cold, 2 at once',
    floor: 'javac, java',
    bench: 'executor/compile',
    row: 'boxed javac, 2 at once',
    bound: { kind: 'timesRate', least: 16 },
    peer: { name: 'plain javac', value: 1 },
  },
  {
    id: 'G7',
    what: 'C++ again, other input',
    floor: './main',
    bench: 'executor/repeat',
    row: 'C++ again',
    bound: { kind: 'timesP50', most: 2 },
  },
  {
    id: 'G7',
    what: 'Java again, other input',
    floor: 'java Main',
    bench: 'executor/repeat',
    row: 'Java again',
    bound: { kind: 'timesP50', most: 1.1 },
  },
  {
    id: 'G8',
    what: 'nothing run over HTTP, 1 client',
    floor: 'a route that inserts a row',
    bench: 'http/submit',
    row: 'nothing run, 1 client',
    bound: { kind: 'timesP50', most: 2 },
  },
  {
    id: 'G8',
    what: 'nothing run over HTTP, 16 clients',
    floor: 'a route that inserts a row',
    bench: 'http/submit',
    row: 'nothing run, 16 clients',
    bound: { kind: 'timesRate', least: 0.6 },
  },
  {
    id: 'G10',
    what: 'Python, a test of 100',
    floor: 'python3 main.py',
    bench: 'executor/tests',
    row: 'python, a test of 100',
    // The reciprocal of three and a half times the rate, one run at a time.
    bound: { kind: 'timesP50', most: 0.286 },
  },
  {
    id: 'G11',
    what: 'C++, a test of 100',
    floor: './main',
    bench: 'executor/tests',
    row: 'C++, a test of 100',
    bound: { kind: 'p50Over', most: 0.8 },
  },
]

export const figureGoals: readonly FigureGoal[] = [
  {
    id: 'G12',
    what: "PostgreSQL's CPU, 4 workers",
    floor: 'one row inserted',
    bench: 'scale/capacity',
    figure: "4 workers, PostgreSQL's CPU ms",
    floorFigure: "one row inserted, PostgreSQL's CPU ms",
    unit: 'ms',
    most: 4,
  },
]

export const memoryGoals: readonly MemoryGoal[] = ['worker', 'web'].map((process) => ({
  id: 'G9',
  what: `memory of ${process}, thousands of runs`,
  bench: 'http/leak',
  figure: `${process} MB`,
  most: 10,
}))
