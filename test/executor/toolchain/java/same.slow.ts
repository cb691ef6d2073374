// The resident javac compiles what javac compiles, to the same class files, and refuses what it refuses, in the same words.
import t from 'tap'
import { compareAll } from './comparison.ts'
import { accepted, refused } from './example.ts'

t.test('programs come out of the resident as out of a box', (t) => compareAll(t, accepted))
t.test('mistakes are answered by the resident as in a box', (t) => compareAll(t, refused))
