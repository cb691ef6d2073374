// What a C++ source tells before it is compiled: which precompiled header may stand for what it includes first, and whether it adds
// to the library's namespace.

// White space and comments, then the directive alone on its line. A backslash could continue a line, so it is doubt.
const firstInclude =
  /^(?:[ \t\n]|\r\n|\/\/[^\n\\]*\n|\/\*(?:[^*\\]|\*(?!\/))*\*\/)*#[ \t]*include[ \t]*<([\w./+]+)>[ \t]*(?:\r?\n|$)/

/**
 * The name in `#include <name>` if that is the first directive, before any code; else null: a macro or a pragma before it can change
 * what the header means.
 */
export function findFirstInclude(code: Uint8Array): string | null {
  return firstInclude.exec(Buffer.from(code).toString('latin1'))?.[1] ?? null
}

// `using namespace std;` is followed by its semicolon. A comment, a continued line or an attribute could hide the name.
const opensStd = /\bnamespace(?:\s+std\s*[^\s;]|\s*[/\\[])/

/** Whether any adds to namespace std. What is declared there a header's templates see, where they are made after it. */
export function addsToStd(texts: readonly Uint8Array[]): boolean {
  return texts.some((text) => opensStd.test(Buffer.from(text).toString('latin1')))
}
