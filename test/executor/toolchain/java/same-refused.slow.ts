// The resident javac refuses what javac refuses, in the same words. A file of its own: it takes as long as the other.
import t from 'tap'
import { compareAll } from './comparison.ts'
import { refused } from './example.ts'

t.test('mistakes are answered by the resident as in a box', (t) => compareAll(t, refused))
