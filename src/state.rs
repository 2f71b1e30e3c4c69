//! The numbers that tokens had, remembered from session to session.
//!
//! A token from yesterday's chat must never stand for somebody else today, so no number is given
//! out twice by an installation. A small file keeps, for each category, one past the highest
//! number that any session may have used. It holds counters and nothing else.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cloak_stages::vault::{InMemory, Numbers};
use serde::{Deserialize, Serialize};

use crate::os;

/// The file of counters.
const FILE: &str = "counters.json";

/// The file that is locked while the counters change. The counters themselves are replaced, and a
/// lock would go with the old file.
const LOCK: &str = "counters.lock";

/// How long another process may hold the lock: it writes a few hundred bytes.
const PATIENCE: Duration = Duration::from_secs(2);

/// The format of the file.
const VERSION: u32 = 1;

/// Where numbering starts when it is not known which numbers were used: somewhere among a thousand
/// million, so that two sessions do not meet.
const UNKNOWN: Range<u64> = 1_000_000_000..2_000_000_000;

/// The counters of an installation. Several processes may use the same folder.
#[derive(Debug)]
pub struct Counters {
    dir: PathBuf,
    /// What the file held when it was read last.
    last: Mutex<Book>,
    /// Gives numbers once the file cannot be written any more.
    spare: InMemory,
}

/// What is in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Book {
    version: u32,
    /// Where the numbers of categories start that are not in `next`.
    #[serde(default)]
    floor: u64,
    /// One past the highest number that may have been used, for each category.
    next: BTreeMap<String, u64>,
}

impl Default for Book {
    fn default() -> Self {
        Self {
            version: VERSION,
            floor: 0,
            next: BTreeMap::new(),
        }
    }
}

impl Book {
    fn next(&self, category: &str) -> u64 {
        self.next.get(category).copied().unwrap_or(self.floor)
    }
}

/// Where counters are kept when the configuration does not say.
#[must_use]
pub fn default_dir() -> Option<PathBuf> {
    os::state_dir(|name| std::env::var_os(name)).map(|dir| dir.join(env!("CARGO_PKG_NAME")))
}

/// The numbers of this installation: from the counters in `dir`, or from a random start if they
/// cannot be kept, and then a warning for the user.
#[must_use]
pub fn numbers(dir: Option<PathBuf>) -> (Box<dyn Numbers>, Option<String>) {
    let Some(dir) = dir.or_else(default_dir) else {
        let why = "there is no home folder to remember the numbers of tokens in; set \"state_dir\"";
        return (
            Box::new(InMemory::starting_at(unknown())),
            Some(warning(why)),
        );
    };
    match Counters::open(dir) {
        Ok((counters, warning)) => (Box::new(counters), warning),
        Err(why) => (
            Box::new(InMemory::starting_at(unknown())),
            Some(warning(&why)),
        ),
    }
}

fn warning(why: &str) -> String {
    format!("tokens of this session are numbered from a random start: {why}")
}

impl Counters {
    /// Opens the counters in `dir`, which is made if it is not there. With them comes a warning
    /// for the user, if their file was damaged.
    ///
    /// # Errors
    ///
    /// Why they cannot be kept there: the text names the folder.
    pub fn open(dir: PathBuf) -> Result<(Self, Option<String>), String> {
        let told = |error: io::Error| format!("{}: {error}", dir.display());
        os::private_dir(&dir).map_err(told)?;
        let lock = lock(&dir).map_err(told)?;
        let (book, warning) = match read(&dir) {
            Ok(book) => (book, None),
            Err(Unreadable::Io(error)) => return Err(told(error)),
            Err(Unreadable::Newer(version)) => {
                return Err(format!(
                    "{}: was written by a later version of this program (format {version})",
                    dir.join(FILE).display()
                ));
            }
            Err(Unreadable::Damaged) => {
                let aside = set_aside(&dir).map_err(told)?;
                let book = Book {
                    floor: unknown(),
                    ..Book::default()
                };
                let warning = format!(
                    "the numbers of tokens could not be read and start anew at {}; the damaged \
                     file is now {}",
                    book.floor,
                    aside.display()
                );
                (book, Some(warning))
            }
        };
        // That it can be written shows now, and not with the first token.
        write(&dir, &book).map_err(told)?;
        drop(lock);
        let counters = Self {
            dir,
            last: Mutex::new(book),
            spare: InMemory::starting_at(unknown()),
        };
        Ok((counters, warning))
    }

    /// Changes the counters, alone among all processes.
    fn change<T>(&self, change: impl FnOnce(&mut Book) -> Option<T>) -> io::Result<Option<T>> {
        let mut last = self.last();
        let _lock = lock(&self.dir)?;
        let mut book = match read(&self.dir) {
            Ok(book) => book,
            Err(Unreadable::Io(error)) => return Err(error),
            Err(Unreadable::Newer(_) | Unreadable::Damaged) => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "cannot be understood",
                ));
            }
        };
        // The file may have been removed; what was given out stays given out.
        for (category, next) in &last.next {
            let known = book.next(category);
            book.next.insert(category.clone(), known.max(*next));
        }
        book.floor = book.floor.max(last.floor);
        let result = change(&mut book);
        if result.is_some() {
            write(&self.dir, &book)?;
        }
        *last = book;
        Ok(result)
    }

    fn last(&self) -> MutexGuard<'_, Book> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Numbers for Counters {
    fn reserve(&self, category: &str, want: u64) -> Result<Range<u64>, String> {
        let reserved = self.change(|book| {
            let start = book.next(category);
            let end = start.checked_add(want.max(1))?;
            book.next.insert(category.to_owned(), end);
            Some(start..end)
        });
        match reserved {
            Ok(Some(numbers)) => Ok(numbers),
            Ok(None) => Err("all numbers are used up; remove the folder of the state".to_owned()),
            Err(error) => {
                let told = format!("{}: {error}", self.dir.join(FILE).display());
                tracing::warn!("{}", warning(&told));
                self.spare.reserve(category, want)
            }
        }
    }

    fn issued_below(&self, category: &str) -> u64 {
        // Another process may have gone on since.
        let now = read(&self.dir).map_or(0, |book| book.next(category));
        now.max(self.last().next(category))
    }

    fn give_back(&self, category: &str, unused: Range<u64>) {
        // Failing is no harm: the numbers are then never used.
        let _ = self.change(|book| {
            let next = book
                .next
                .get_mut(category)
                .filter(|next| **next == unused.end)?;
            *next = unused.start;
            Some(())
        });
    }

    fn categories(&self) -> Vec<String> {
        self.last().next.keys().cloned().collect()
    }
}

/// Why there are no counters.
enum Unreadable {
    Io(io::Error),
    /// A later version wrote them.
    Newer(u32),
    Damaged,
}

/// The counters as the file has them; fresh ones if there is none.
fn read(dir: &Path) -> Result<Book, Unreadable> {
    #[derive(Deserialize)]
    struct Format {
        version: u32,
    }

    let text = match fs::read(dir.join(FILE)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Book::default()),
        Err(error) => return Err(Unreadable::Io(error)),
    };
    match serde_json::from_slice::<Format>(&text) {
        Ok(Format { version }) if version > VERSION => Err(Unreadable::Newer(version)),
        _ => serde_json::from_slice(&text).map_err(|_| Unreadable::Damaged),
    }
}

/// Replaces the file: after a crash it is the old one or the new one.
fn write(dir: &Path, book: &Book) -> io::Result<()> {
    let next = dir.join(format!("{FILE}.new"));
    let mut file = os::private_file()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&next)?;
    file.write_all(&serde_json::to_vec(book)?)?;
    file.sync_data()?;
    fs::rename(next, dir.join(FILE))
}

/// Takes the lock; it ends with the file that is returned.
fn lock(dir: &Path) -> io::Result<File> {
    let file = os::private_file()
        .write(true)
        .create(true)
        .truncate(false)
        .open(dir.join(LOCK))?;
    let begin = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if begin.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "another process holds the lock",
                ));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Moves the file to a name that is free.
fn set_aside(dir: &Path) -> io::Result<PathBuf> {
    let free = |n: &u32| !dir.join(format!("{FILE}.damaged-{n}")).exists();
    let n = (1..=u32::MAX).find(free).unwrap_or(u32::MAX);
    let aside = dir.join(format!("{FILE}.damaged-{n}"));
    fs::rename(dir.join(FILE), &aside)?;
    Ok(aside)
}

/// A start among [`UNKNOWN`]. The seeds of hash maps are random enough to stay apart.
fn unknown() -> u64 {
    UNKNOWN.start + RandomState::new().build_hasher().finish() % (UNKNOWN.end - UNKNOWN.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(dir: &Path) -> Counters {
        let (counters, warning) = Counters::open(dir.to_owned()).unwrap();
        assert_eq!(warning, None);
        counters
    }

    #[test]
    fn no_number_is_given_twice() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (open(dir.path()), open(dir.path()));
        assert_eq!(first.reserve("EMAIL", 64), Ok(0..64));
        assert_eq!(second.reserve("EMAIL", 64), Ok(64..128));
        assert_eq!(second.reserve("IBAN", 0), Ok(0..1));
        assert_eq!(first.reserve("EMAIL", 128), Ok(128..256));
        assert_eq!(second.issued_below("EMAIL"), 256, "another process went on");
        assert_eq!(first.issued_below("PHONE"), 0);
        drop((first, second));
        let third = open(dir.path());
        assert_eq!(third.categories(), ["EMAIL", "IBAN"]);
        assert_eq!(third.reserve("EMAIL", 1), Ok(256..257));
    }

    #[test]
    fn what_was_reserved_last_can_be_given_back() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (open(dir.path()), open(dir.path()));
        first.reserve("EMAIL", 64).unwrap();
        first.give_back("EMAIL", 3..64);
        assert_eq!(second.reserve("EMAIL", 64), Ok(3..67));
        first.reserve("EMAIL", 10).unwrap();
        second.give_back("EMAIL", 5..67);
        assert_eq!(
            open(dir.path()).issued_below("EMAIL"),
            77,
            "somebody reserved since"
        );
    }

    #[test]
    fn threads_and_processes_take_turns() {
        let dir = tempfile::tempdir().unwrap();
        let reserve = || {
            let counters = open(dir.path());
            (0..25)
                .map(|_| counters.reserve("EMAIL", 2).unwrap().start)
                .collect::<Vec<_>>()
        };
        let mut all = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(reserve)).collect();
            threads
                .into_iter()
                .flat_map(|thread| thread.join().unwrap())
                .collect::<Vec<_>>()
        });
        all.sort_unstable();
        assert_eq!(all, (0..100).map(|n| n * 2).collect::<Vec<u64>>());
    }

    #[test]
    fn a_damaged_file_is_moved_aside() {
        for damage in [
            "",
            "{",
            r#"{"version":1}"#,
            r#"{"version":1,"next":{"EMAIL":-1}}"#,
        ] {
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join(FILE), damage).unwrap();
            let (counters, warning) = Counters::open(dir.path().to_owned()).unwrap();
            assert!(warning.unwrap().contains("damaged-1"));
            let start = counters.reserve("EMAIL", 8).unwrap().start;
            assert!(UNKNOWN.contains(&start));
            assert_eq!(
                fs::read_to_string(dir.path().join("counters.json.damaged-1")).unwrap(),
                damage
            );
            drop(counters);
            assert_eq!(
                open(dir.path()).reserve("EMAIL", 1),
                Ok(start + 8..start + 9)
            );
            assert_eq!(open(dir.path()).reserve("IBAN", 1).unwrap().start, start);
        }
    }

    #[test]
    fn a_file_of_a_later_version_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let later = r#"{"version":2,"next":[]}"#;
        fs::write(dir.path().join(FILE), later).unwrap();
        let (numbers, warning) = numbers(Some(dir.path().to_owned()));
        assert!(warning.unwrap().contains("later version"));
        assert!(UNKNOWN.contains(&numbers.reserve("EMAIL", 1).unwrap().start));
        assert_eq!(fs::read_to_string(dir.path().join(FILE)).unwrap(), later);
    }

    #[test]
    fn without_a_folder_numbering_starts_anywhere() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let (numbers, warning) = numbers(Some(file.join("below")));
        assert!(warning.unwrap().contains("random start"));
        let start = numbers.reserve("EMAIL", 1).unwrap().start;
        assert!(UNKNOWN.contains(&start));
        assert_eq!(
            numbers.issued_below("IBAN"),
            start,
            "all below counts as used"
        );
    }

    #[test]
    fn a_folder_that_goes_away_does_not_stop_the_session() {
        let dir = tempfile::tempdir().unwrap();
        let counters = open(&dir.path().join("state"));
        assert_eq!(counters.reserve("EMAIL", 4), Ok(0..4));
        fs::remove_dir_all(dir.path()).unwrap();
        assert!(UNKNOWN.contains(&counters.reserve("EMAIL", 4).unwrap().start));
        assert_eq!(counters.issued_below("EMAIL"), 4);
    }

    #[test]
    fn a_file_that_was_removed_does_not_start_anew() {
        let dir = tempfile::tempdir().unwrap();
        let counters = open(dir.path());
        counters.reserve("EMAIL", 4).unwrap();
        fs::remove_file(dir.path().join(FILE)).unwrap();
        assert_eq!(counters.reserve("EMAIL", 4), Ok(4..8));
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_look() {
        use std::os::unix::fs::PermissionsExt;

        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("a/state");
        open(&state).reserve("EMAIL", 1).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&state), 0o700);
        assert_eq!(mode(&state.join(FILE)), 0o600);
        assert_eq!(mode(&state.join(LOCK)), 0o600);
        let text = fs::read_to_string(state.join(FILE)).unwrap();
        assert_eq!(text, r#"{"version":1,"floor":0,"next":{"EMAIL":1}}"#);
    }
}
