// C programs, compiled by Clang.
import { c } from './c.ts'
import type { Programs } from './program.ts'

export const clang: Programs = {
  ...c,
  broken: {
    code: 'int main(void) {\n  int a = 1;\n  int b = ;\n}\n',
    says: /main\.c:3:11: error: expected expression/,
  },
  // Clang optimises away memory that the program does not read.
  memoryBomb: `#include <stdlib.h>
#include <string.h>
int main(void) {
  volatile char sink;
  for (;;) {
    char *block = malloc(1 << 20);
    memset(block, 1, 1 << 20);
    sink = block[rand() % (1 << 20)];
  }
}`,
}
