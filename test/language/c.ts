// C's programs.
import type { Programs } from './program.ts'

const include =
  '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n'

export const c: Programs = {
  sum: `${include}int main(void) { int a, b; scanf("%d %d", &a, &b); printf("%d\\n", a + b); }`,
  copy: `${include}int main(void) { int c; while ((c = getchar()) != EOF) putchar(c); }`,
  unicode: `${include}int main(void) { char line[100]; puts("Grüße, 世界 🎉"); fputs(fgets(line, 100, stdin), stdout); }`,
  exitThree: `${include}int main(void) { printf("out"); fprintf(stderr, "err"); return 3; }`,
  uncaught: {
    code: `${include}#include <assert.h>\nint main(void) { assert(1 == 2); }`,
    says: /Assertion `1 == 2' failed/,
  },
  broken: { code: 'int main(void) {\n  int a = 1;\n  int b = ;\n}\n', says: /main\.c:3:11: error/ },
  busyLoop: 'int main(void) { volatile unsigned n = 0; for (;;) n = n + 1; }',
  sleeper: `${include}int main(void) { sleep(60); }`,
  memoryBomb: `${include}int main(void) { for (;;) memset(malloc(1 << 20), 1, 1 << 20); }`,
  outputFlood: `${include}int main(void) { for (;;) puts("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"); }`,
  scratch: `${include}int main(void) { char text[9]; FILE *f = fopen("/tmp/file", "w+"); fputs("kept\\n", f); rewind(f); fputs(fgets(text, 9, f), stdout); }`,
  threads: `${include}#include <pthread.h>
static void *add(void *part) { long sum = 0; for (long n = 1; n <= 250; n++) sum += (long)part * 250 + n; return (void *)sum; }
int main(void) {
  pthread_t all[4]; long sum = 0;
  for (long n = 0; n < 4; n++) pthread_create(&all[n], NULL, add, (void *)n);
  for (int n = 0; n < 4; n++) { void *part; pthread_join(all[n], &part); sum += (long)part; }
  printf("%ld\\n", sum);
}`,
  network: `${include}#include <arpa/inet.h>
int main(void) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int s = socket(AF_INET, SOCK_STREAM, 0);
  if (s < 0 || connect(s, (struct sockaddr *)&to, sizeof to) != 0) puts("closed");
}`,
  usual: `${include}#include <math.h>
struct row { char name[32]; int number; };
static int compare(const void *a, const void *b) {
  const struct row *x = a, *y = b;
  return x->number != y->number ? x->number - y->number : strcmp(x->name, y->name);
}
int main(void) {
  static struct row rows[1000]; int n = 0; double sum = 0;
  while (scanf("%31s %d", rows[n].name, &rows[n].number) == 2) sum += rows[n++].number;
  qsort(rows, n, sizeof *rows, compare);
  for (int i = 0; i < n; i++) printf("%s: %d\\n", rows[i].name, rows[i].number);
  printf("mean: %.2f\\n", round(sum / n * 100) / 100);
}`,
  arguments: String.raw`#include <stdio.h>
int main(int count, char **words) {
  for (int n = 1; n < count; n++) puts(words[n]);
}`,
  variable: `#include <stdio.h>
#include <stdlib.h>
int main(void) {
  puts(getenv("GREETING"));
}`,
  secondFile: {
    code: String.raw`#include <stdio.h>
int answer(void);
int main(void) { printf("%d\n", answer()); }`,
    file: { name: 'answer.c', content: 'int answer(void) { return 42; }\n' },
  },
  compileArguments: {
    words: ['-DN=42'],
    code: String.raw`#include <stdio.h>
int main(void) { printf("%d\n", N); }`,
  },
}
