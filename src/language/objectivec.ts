// Objective-C: Clang with GNUstep's Foundation. GCC supports neither `@autoreleasepool` nor `@[…]`. Debian's Foundation is
// built for GCC's runtime, which has no ARC, no blocks and no `array[0]`; a property needs an instance variable that the class
// declares.
import { clang } from './clang.ts'
import type { LanguageDefinition } from './definition.ts'
import { words } from './words.ts'

// The runtime's headers are in a directory of GCC that Clang does not search. The script appends it to Clang's own directories.
const script = `
for objc in /usr/lib/gcc/*/*/include/objc; do :; done
exec clang -O2 -fobjc-runtime=gcc -fconstant-string-class=NSConstantString -fexceptions -fobjc-exceptions -D_NATIVE_OBJC_EXCEPTIONS \\
  -DGNUSTEP -DGNUSTEP_BASE_LIBRARY=1 -DGNU_RUNTIME=1 -I/usr/include/GNUstep -idirafter "\${objc%/objc}" \\
  -o main "$@" -lgnustep-base -lobjc -lm`

export const objectivec = {
  title: 'Objective-C',
  aliases: ['objective-c', 'objc'],
  // No extension, because `.m` belongs to Octave.
  comment: ['//', ''],
  packages: ['clang', 'libgnustep-base-dev'],
  tools: [
    ...clang.tools,
    // This program shows that Foundation is installed. No program prints Foundation's version.
    {
      program: 'gnustep-config',
      ask: ['--base-libs'],
      pattern: /-lgnustep-base()/u,
      oldest: [0, 0],
    },
  ],
  example: String.raw`#import <Foundation/Foundation.h>

int main(void) {
  @autoreleasepool {
    printf("%s\n", [@"Hello, world!" UTF8String]);
  }
}`,
  trial: String.raw`#import <Foundation/Foundation.h>
int main(void) {
  @autoreleasepool {
    NSData *text = [[NSFileHandle fileHandleWithStandardInput] readDataToEndOfFile];
    printf("%lu\n", (unsigned long)[text length]);
  }
}`,
  recipe: {
    source: 'main.m',
    compile: {
      commands: [['sh', '-c', script, 'sh', '{files}', 'main.m', '{arguments}']],
      makes: 'main',
      together: ['.m', '.c'],
    },
    run: ['./main'],
    typed: {
      compile: words(
        'clang $(gnustep-config --objc-flags) -O2 -o main main.m $(gnustep-config --base-libs)',
      ),
    },
    paths: ['/usr/include', '/usr/share/GNUstep', '/etc/GNUstep'],
  },
} as const satisfies LanguageDefinition
