// Reads which header a C++ source includes before anything else: a precompiled one may stand for no other, and only if
// nothing before it, such as a macro or a pragma, could change what it means. In doubt the answer is null.

// White space and comments, then the directive alone on its line. A backslash could continue a line, so it is doubt.
const firstInclude =
  /^(?:[ \t\n]|\r\n|\/\/[^\n\\]*\n|\/\*(?:[^*\\]|\*(?!\/))*\*\/)*#[ \t]*include[ \t]*<([\w./+]+)>[ \t]*(?:\r?\n|$)/

/** The name in `#include <name>`, if that is the first directive and stands before any code; else null. */
export function findFirstInclude(code: Uint8Array): string | null {
  return firstInclude.exec(Buffer.from(code).toString('latin1'))?.[1] ?? null
}
