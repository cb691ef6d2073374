// Octave's programs.
import type { Programs } from './program.ts'

export const octave: Programs = {
  sum: 'a = input("");\nb = input("");\nprintf("%d\\n", a + b);',
  copy: 'while ischar(line = fgets(stdin))\n  fputs(stdout, line);\nendwhile',
  unicode: 'disp("Grüße, 世界 🎉")\ndisp(fgetl(stdin))',
  exitThree: 'printf("out");\nfprintf(stderr, "err");\nexit(3)',
  uncaught: {
    code: 'function f(x)\n  error("no such thing: %d", x);\nend\nf(1)',
    says: /^error: no such thing: 1\nerror: called from\n\s+f at line 2/m,
  },
  broken: {
    code: 'a = 1;\nb = 2;\nc = = 3;\n',
    says: /parse error near line 3 of file .*\/box\/main$/m,
  },
  busyLoop: 'n = 0;\nwhile true\n  n++;\nend',
  sleeper: 'pause(60)',
  memoryBomb: 'kept = {};\nwhile true\n  kept{end + 1} = ones(1000, 100);\nend',
  outputFlood: 'while true\n  disp(repmat("x", 1, 100))\nend',
  scratch: `f = fopen("/tmp/file", "w");
fprintf(f, "kept\\n");
fclose(f);
printf("%s", fileread("/tmp/file"));`,
  // Threads need a package (parallel); processes are part of the core.
  threads: `sums = 0;
for part = 0:3
  [r, w] = pipe();
  if fork() == 0
    fprintf(w, "%d\\n", sum(part * 250 + (1:250)));
    fclose(w);
    exit(0)
  end
  fclose(w);
  sums += fscanf(r, "%d");
end
disp(sums)`,
  network: 'try\n  urlread("http://127.0.0.1:9/");\ncatch\n  disp("closed")\nend',
  usual: `names = {};
numbers = [];
while ischar(line = fgetl(stdin))
  parts = regexp(line, '^(\\w+) (-?\\d+)$', 'tokens'){1};
  names{end + 1} = parts{1};
  numbers(end + 1) = str2double(parts{2});
end
rows = containers.Map('KeyType', 'double', 'ValueType', 'any');
for k = 1:numel(numbers)
  if !isKey(rows, numbers(k))
    rows(numbers(k)) = {};
  end
  rows(numbers(k)) = sort([rows(numbers(k)), names(k)]);
end
for number = cell2mat(keys(rows))
  cellfun(@(name) printf("%s: %d\\n", name, number), rows(number));
end
printf("mean: %.2f\\n", mean(numbers));`,
  arguments: 'printf("%s\\n", argv(){:});',
  variable: 'disp(getenv("GREETING"))',
  secondFile: {
    code: 'disp(answer())',
    file: { name: 'answer.m', content: 'function n = answer()\n  n = 42;\nend\n' },
  },
}
