//! Every check over its seeds and over seeded chance.
//!
//! `CHECKS_INPUTS` says how many inputs each check gets; `CHECKS_SEED` repeats a failure.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

/// How many inputs each check gets unless the environment says otherwise.
const INPUTS: u64 = 2_000;

/// The longest input made up here; a fuzzer makes longer ones.
const LONGEST: usize = 200;

macro_rules! checks {
    ($($name:ident)*) => { $(
        #[test]
        fn $name() {
            run(stringify!($name), cloak_checks::$name);
        }
    )* };
}

checks! { config detect edits frame json restore session views }

fn run(name: &str, check: fn(&[u8])) {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../seeds")
        .join(name);
    let mut files: Vec<_> = std::fs::read_dir(&seeds)
        .unwrap_or_else(|why| panic!("{}: {why}", seeds.display()))
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    for file in files {
        let input = std::fs::read(&file).unwrap();
        guarded(&file.display().to_string(), check, &input);
    }
    let seeds = match number("CHECKS_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("CHECKS_INPUTS").unwrap_or(INPUTS),
    };
    for seed in seeds {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut input = vec![0; rng.usize(..LONGEST)];
        rng.fill(&mut input);
        guarded(&format!("CHECKS_SEED={seed}"), check, &input);
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Says which input it was that made a check fail.
fn guarded(which: &str, check: fn(&[u8]), input: &[u8]) {
    if let Err(why) = catch_unwind(AssertUnwindSafe(|| check(input))) {
        eprintln!("the input: {which}");
        resume_unwind(why);
    }
}
