// The resident javac refuses what javac refuses, in the same words. A file of its own: it takes as long as the other.
import t from 'tap'
import { compareAll, seconds } from './comparison.ts'
import { refused } from './example.ts'

t.setTimeout(seconds * 1000)
t.test('mistakes are answered by the resident as in a box', { timeout: seconds * 1000 }, (t) =>
  compareAll(t, refused),
)
