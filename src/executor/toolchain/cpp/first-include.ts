// A shell function that finds the precompiled header for a program, in the program's own box, so that the worker reads no
// source.
//
// A precompiled header may replace only the first directive, and only if nothing before it, such as a macro or a pragma, can
// change its meaning. GCC would find the headers by itself, if each program were compiled with them. But a program without a
// precompiled header and with a message would then be compiled twice in full, which is 1.1 s of CPU more with <bits/stdc++.h>.

/** Longer lines are not searched, because the shell takes quadratic time. */
const lineBytesMost = 1000

/**
 * Returns the definition of `find_header`, which reads a program from stdin and sets `header` to the directory of the
 * precompiled header in the program's first directive. It sets nothing if that directive follows code, is not alone on its line,
 * or includes another header. A line with a backslash ends the search, because the backslash may continue it.
 * @param directories by header.
 */
export function findHeader(directories: ReadonlyMap<string, string>): string {
  const choices = [...directories].map(
    ([name, directory]) => `'include <${name}>' | 'include<${name}>') header=${directory} ;;`,
  )
  return `
header= comment=
find_header() {
  set -f
  while IFS=' \t' read -r line || [ -n "$line" ]; do
    line=\${line%'\r'}
    case $line in *'\\'*) return ;; esac
    [ \${#line} -le ${lineBytesMost} ] || return
    while [ -n "$line" ]; do
      case $comment$line in
        //*) line= ;;
        '/*'*)
          [ -n "$comment" ] || line=\${line#'/*'}
          comment='/*'
          case $line in
            *'*/'*) line=\${line#*'*/'} comment= ;;
            *) line= ;;
          esac ;;
        ' '* | '\t'*) line=\${line#?} ;;
        '#'*)
          set -- \${line#'#'}
          case "$*" in
            ${choices.join('\n            ')}
          esac
          return ;;
        *) return ;;
      esac
    done
  done
}
`
}
