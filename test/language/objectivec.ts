// Objective-C's programs.
import type { Programs } from './program.ts'

/** A program around the body of its `main`, with an autorelease pool. */
function main(body: string, before = ''): string {
  return `#import <Foundation/Foundation.h>\n#include <stdio.h>\n${before}int main(int count, const char *words[]) {\n  @autoreleasepool {\n${body}\n  }\n  return 0;\n}\n`
}

const readAll = `    NSString *text = [[[NSString alloc] initWithData:[[NSFileHandle fileHandleWithStandardInput] readDataToEndOfFile] encoding:NSUTF8StringEncoding] autorelease];`

export const objectivec: Programs = {
  sum: main('    int a, b;\n    scanf("%d %d", &a, &b);\n    printf("%d\\n", a + b);'),
  copy: main(
    `    NSData *all = [[NSFileHandle fileHandleWithStandardInput] readDataToEndOfFile];
    [[NSFileHandle fileHandleWithStandardOutput] writeData:all];`,
  ),
  unicode: main(
    `    NSString *greeting = @"Grüße, 世界 🎉";
    char line[100];
    printf("%s\\n", [greeting UTF8String]);
    printf("%s", [[NSString stringWithUTF8String:fgets(line, 100, stdin)] UTF8String]);`,
  ),
  exitThree: main('    printf("out");\n    fprintf(stderr, "err");\n    return 3;'),
  uncaught: {
    code: main(
      '    NSArray *numbers = @[@1, @2, @3];\n    NSLog(@"%@", [numbers objectAtIndex:7]);',
    ),
    says: /Uncaught exception NSRangeException, reason: Index 7 is out of range 3/,
  },
  broken: {
    code: '#import <Foundation/Foundation.h>\nint main(void) {\n  NSString *a = ;\n}\n',
    says: /main\.m:3:17: error: expected expression/,
  },
  busyLoop: main('    volatile unsigned n = 0;\n    for (;;) n = n + 1;'),
  sleeper: main('    [NSThread sleepForTimeInterval:60];'),
  memoryBomb: main(
    '    NSMutableArray *kept = [NSMutableArray array];\n    for (;;) {\n      NSMutableData *one = [NSMutableData dataWithLength:1 << 20];\n      memset([one mutableBytes], 1, 1 << 20);\n      [kept addObject:one];\n    }',
  ),
  outputFlood: main('    for (;;) puts("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");'),
  scratch: main(
    `    [@"kept\\n" writeToFile:@"/tmp/file" atomically:YES encoding:NSUTF8StringEncoding error:NULL];
    printf("%s", [[NSString stringWithContentsOfFile:@"/tmp/file" encoding:NSUTF8StringEncoding error:NULL] UTF8String]);`,
  ),
  threads: main(
    `    NSOperationQueue *queue = [[NSOperationQueue alloc] init];
    [queue setMaxConcurrentOperationCount:4];
    NSMutableArray *parts = [NSMutableArray array];
    for (int n = 0; n < 4; n++) {
      Part *part = [[Part alloc] initWithNumber:n];
      [parts addObject:part];
      [queue addOperation:part];
    }
    [queue waitUntilAllOperationsAreFinished];
    long sum = 0;
    for (Part *part in parts) sum += [part sum];
    printf("%ld\\n", sum);`,
    `@interface Part : NSOperation { int number; long sum; }
- (id)initWithNumber:(int)given;
- (long)sum;
@end
@implementation Part
- (id)initWithNumber:(int)given { if ((self = [super init])) number = given; return self; }
- (void)main { for (long n = 1; n <= 250; n++) sum += number * 250 + n; }
- (long)sum { return sum; }
@end
`,
  ),
  network: main(
    `    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int s = socket(AF_INET, SOCK_STREAM, 0);
    if (s < 0 || connect(s, (struct sockaddr *)&to, sizeof to) != 0) puts("closed");`,
    '#include <arpa/inet.h>\n',
  ),
  usual: main(
    `${readAll}
    NSMutableArray *rows = [NSMutableArray array];
    double sum = 0;
    for (NSString *line in [text componentsSeparatedByString:@"\\n"]) {
      NSArray *parts = [line componentsSeparatedByString:@" "];
      if ([parts count] != 2) continue;
      [rows addObject:@{@"name": [parts objectAtIndex:0], @"number": @([[parts objectAtIndex:1] intValue])}];
      sum += [[parts objectAtIndex:1] intValue];
    }
    NSSortDescriptor *number = [[[NSSortDescriptor alloc] initWithKey:@"number" ascending:YES] autorelease];
    NSSortDescriptor *name = [[[NSSortDescriptor alloc] initWithKey:@"name" ascending:YES] autorelease];
    for (NSDictionary *row in [rows sortedArrayUsingDescriptors:@[number, name]])
      printf("%s: %d\\n", [[row objectForKey:@"name"] UTF8String], [[row objectForKey:@"number"] intValue]);
    printf("%s\\n", [[NSString stringWithFormat:@"mean: %.2f", sum / [rows count]] UTF8String]);`,
  ),
  arguments: main(
    '    for (NSString *word in [[[NSProcessInfo processInfo] arguments] subarrayWithRange:NSMakeRange(1, count - 1)])\n      puts([word UTF8String]);',
  ),
  variable: main(
    '    puts([[[[NSProcessInfo processInfo] environment] objectForKey:@"GREETING"] UTF8String]);',
  ),
  secondFile: {
    code: main(
      '    printf("%d\\n", [[[[Answer alloc] init] autorelease] number]);',
      '#import "Answer.h"\n',
    ),
    file: {
      name: 'Answer.h',
      content:
        '#import <Foundation/Foundation.h>\n@interface Answer : NSObject\n- (int)number;\n@end\n@implementation Answer\n- (int)number { return 42; }\n@end\n',
    },
  },
  compileArguments: {
    words: ['-DN=42'],
    code: '#import <Foundation/Foundation.h>\nint main(void) { printf("%d\\n", N); }',
  },
}
