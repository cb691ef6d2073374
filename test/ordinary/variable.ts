// Environment variables of the request: the program finds them beside those that every program has, in each of its tests, too.
import type { Behaviour } from './behaviour.ts'

const env = { GREETING: 'Grüße, "world" $HOME', EMPTY: '', ENV: '/box/none', TZ: 'Europe/Berlin' }

export const variableBehaviours: readonly Behaviour[] = [
  {
    name: 'a variable of the request is there, beside ours',
    programs: {
      python: `
import os
print(os.environ["GREETING"], os.environ["EMPTY"] == "", os.environ["HOME"])`,
      pypy: `
import os
print(os.environ["GREETING"], os.environ["EMPTY"] == "", os.environ["HOME"])`,
      c: `
#include <stdio.h>
#include <stdlib.h>
int main(void) { printf("%s %s %s\\n", getenv("GREETING"), *getenv("EMPTY") == 0 ? "True" : "False", getenv("HOME")); }`,
      cpp: `
#include <cstdlib>
#include <iostream>
int main() { std::cout << std::getenv("GREETING") << " " << (*std::getenv("EMPTY") ? "False" : "True") << " " << std::getenv("HOME") << "\\n"; }`,
      java: `
public class Main {
  public static void main(String[] args) {
    System.out.println(System.getenv("GREETING") + " " + System.getenv("EMPTY").isEmpty() + " " + System.getenv().get("HOME"));
  }
}`,
      kotlin: `
fun main() { println(System.getenv("GREETING") + " " + System.getenv("EMPTY").isEmpty() + " " + System.getenv("HOME")) }`,
      javascript: `
console.log(process.env.GREETING, process.env.EMPTY === '', process.env.HOME)`,
      typescript: `
console.log(process.env['GREETING'], process.env['EMPTY'] === '', process.env['HOME'])`,
      go: `
package main
import ("fmt"; "os")
func main() {
  value, isSet := os.LookupEnv("EMPTY")
  fmt.Println(os.Getenv("GREETING"), isSet && value == "", os.Getenv("HOME"))
}`,
      rust: `
use std::env::var;
fn main() { println!("{} {} {}", var("GREETING").unwrap(), var("EMPTY").unwrap().is_empty(), var("HOME").unwrap()); }`,
      ruby: 'puts [ENV["GREETING"], ENV["EMPTY"] == "", ENV["HOME"]].join(" ")',
      bash: 'echo "$GREETING $([ -z "${EMPTY-unset}" ] && echo true) $HOME"',
      perl: 'print "$ENV{GREETING} ", ($ENV{EMPTY} eq "" ? "true" : "false"), " $ENV{HOME}\\n";',
      php: '<?php echo getenv("GREETING"), " ", getenv("EMPTY") === "" ? "true" : "false", " ", getenv("HOME"), "\\n";',
      r: 'cat(Sys.getenv("GREETING"), Sys.getenv("EMPTY", "unset") == "", Sys.getenv("HOME"), "\\n", sep = " ")',
      lua: 'print(os.getenv("GREETING") .. " " .. tostring(os.getenv("EMPTY") == "") .. " " .. os.getenv("HOME"))',
    },
    request: { env, limits: { wall_time: 60 } },
    expected: { stdout: /^Grüße, "world" \$HOME true \/box ?\n$/i },
  },
  {
    name: 'each test has the variables of the request',
    programs: {
      python: 'import os, sys; print(os.environ["GREETING"], *sys.argv[1:])',
      javascript: 'console.log(process.env.GREETING, ...process.argv.slice(2))',
    },
    request: {
      env: { GREETING: 'hello' },
      tests: [{ expected_stdout: 'hello' }, { args: ['a'], expected_stdout: 'hello a' }],
    },
    expected: { tests: [{ verdict: 'AC' }, { verdict: 'AC' }] },
  },
  {
    name: 'a time zone of the request is that of the program',
    programs: {
      python: 'import time; print(time.localtime(0).tm_hour)',
      javascript: 'console.log(new Date(0).getHours())',
      java: 'public class Main { public static void main(String[] a) { System.out.println(java.time.ZonedDateTime.ofInstant(java.time.Instant.EPOCH, java.time.ZoneId.systemDefault()).getHour()); } }',
      bash: 'date -d @0 +%-H',
    },
    request: { env },
    expected: { stdout: '1\n' },
  },
]
