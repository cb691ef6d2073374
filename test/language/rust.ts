// Rust's programs.
import type { Programs } from './program.ts'

export const rust: Programs = {
  sum: `use std::io;

fn read() -> i64 {
    let mut line = String::new();
    io::stdin().read_line(&mut line).expect("a line");
    line.trim().parse().expect("a number")
}

fn main() {
    println!("{}", read() + read());
}`,
  copy: `use std::io::{self, BufRead};

fn main() {
    for line in io::stdin().lock().lines() {
        println!("{}", line.unwrap());
    }
}`,
  unicode: `fn main() {
    println!("Grüße, 世界 🎉");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    print!("{line}");
}`,
  exitThree: `fn main() {
    print!("out");
    eprint!("err");
    std::process::exit(3);
}`,
  uncaught: {
    code: 'fn main() {\n    let none: Option<i32> = None;\n    none.expect("no such thing");\n}',
    says: /panicked at (?:main\.rs:3:10:\n)?'?no such thing/,
  },
  broken: {
    code: 'fn main() {\n    let a: i32 = 1;\n    let b: String = a;\n}\n',
    says: /error\[E0308\][^]* main\.rs:3:21/,
  },
  busyLoop: 'fn main() {\n    loop {}\n}',
  sleeper: `use std::{thread, time::Duration};
fn main() {
    thread::sleep(Duration::from_secs(60));
}`,
  memoryBomb: `fn main() {
    let mut kept = Vec::new();
    loop {
        kept.push(vec![1u8; 1 << 20]);
    }
}`,
  outputFlood: 'fn main() {\n    loop {\n        println!("{}", "x".repeat(100));\n    }\n}',
  scratch: `use std::fs;
fn main() -> std::io::Result<()> {
    fs::write("/tmp/file", "kept")?;
    println!("{}", fs::read_to_string("/tmp/file")?);
    Ok(())
}`,
  threads: `use std::thread;
fn main() {
    let parts: Vec<_> = (0..4)
        .map(|part| thread::spawn(move || (part * 250 + 1..=part * 250 + 250).sum::<u32>()))
        .collect();
    let sum: u32 = parts.into_iter().map(|part| part.join().unwrap()).sum();
    println!("{sum}");
}`,
  network: `use std::net::TcpStream;
fn main() {
    if TcpStream::connect("127.0.0.1:9").is_err() {
        println!("closed");
    }
}`,
  usual: `use std::collections::BTreeMap;
use std::io::{self, Read};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text)?;
    let mut names: BTreeMap<i32, Vec<&str>> = BTreeMap::new();
    for line in text.lines() {
        let (name, number) = line.split_once(' ').ok_or("no number")?;
        names.entry(number.parse()?).or_default().push(name);
    }
    let (mut sum, mut count) = (0.0, 0.0);
    for (number, all) in &mut names {
        all.sort();
        for name in all {
            println!("{name}: {number}");
            sum += f64::from(*number);
            count += 1.0;
        }
    }
    println!("mean: {:.2}", sum / count);
    Ok(())
}`,
  arguments: `fn main() {
    for word in std::env::args().skip(1) {
        println!("{}", word);
    }
}`,
  variable: `fn main() {
    println!("{}", std::env::var("GREETING").unwrap());
}`,
  secondFile: {
    code: 'mod answer;\n\nfn main() {\n    println!("{}", answer::get());\n}',
    file: { name: 'answer.rs', content: 'pub fn get() -> i32 {\n    42\n}\n' },
  },
  compileArguments: {
    words: ['--cfg', 'own'],
    code: '#[cfg(own)]\nfn main() {\n    println!("42");\n}',
  },
}
