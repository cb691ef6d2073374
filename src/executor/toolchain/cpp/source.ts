// Finds the header that a C++ source includes first. A precompiled header may stand for this one alone, and only if nothing
// before it, such as a macro or a pragma, can change its meaning. In doubt there is none.

// White space and comments, then the directive alone on its line. A backslash could continue a line, so it is doubt.
const firstInclude =
  /^(?:[ \t\n]|\r\n|\/\/[^\n\\]*\n|\/\*(?:[^*\\]|\*(?!\/))*\*\/)*#[ \t]*include[ \t]*<([\w./+]+)>[ \t]*(?:\r?\n|$)/

/** The name in `#include <name>` if that is the first directive, before any code; else null. */
export function findFirstInclude(code: Uint8Array): string | null {
  return firstInclude.exec(Buffer.from(code).toString('latin1'))?.[1] ?? null
}
