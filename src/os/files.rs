//! Folders, files and the clock on Linux and macOS.

use std::ffi::OsString;
use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::time::{ClockId, clock_gettime};

/// Where programs keep their state: `$XDG_STATE_HOME` (XDG Base Directory Specification 0.8) or
/// `~/.local/state`; `~/Library/Application Support` on macOS. `None` without a home.
pub(crate) fn state_dir(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    base_dir(variable, "XDG_STATE_HOME", ".local/state")
}

/// Where programs keep what was installed for them: `$XDG_DATA_HOME` or `~/.local/share`; on macOS
/// where their state is.
#[cfg(feature = "ner")]
pub(crate) fn data_dir(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    base_dir(variable, "XDG_DATA_HOME", ".local/share")
}

fn base_dir(
    variable: impl Fn(&str) -> Option<OsString>,
    name: &str,
    below_home: &str,
) -> Option<PathBuf> {
    let absolute = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let home = absolute("HOME");
    if cfg!(target_os = "macos") {
        return home.map(|home| home.join("Library/Application Support"));
    }
    absolute(name).or_else(|| home.map(|home| home.join(below_home)))
}

/// Makes a folder, and those above it, that only their owner can enter.
pub(crate) fn private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Options with which a new file can be read by its owner only.
pub(crate) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// Processor time that this thread has used.
pub(crate) fn cpu_nanoseconds() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
        + u64::try_from(time.tv_nsec).unwrap_or(0)
}
