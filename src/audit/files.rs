//! What the writer asks of a file system; a test puts one that fails in its place.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The operations of the writer on files.
pub trait Files: Send {
    /// Opens a file to append to, and creates it, readable by its owner only, if it is not there.
    ///
    /// # Errors
    ///
    /// Those of the system; also if the path is a symbolic link.
    fn append_to(&mut self, path: &Path) -> io::Result<Box<dyn Append>>;

    /// Puts a file with this content at `path`, at once and durably: after a crash it is either
    /// the old file or the new one.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn replace(&mut self, path: &Path, content: &[u8]) -> io::Result<()>;

    /// Like [`Files::replace`], creating directories, but not durably: what can be computed again
    /// need not be waited for.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn store(&mut self, path: &Path, content: &[u8]) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn remove(&mut self, path: &Path) -> io::Result<()>;
}

/// A file that is only ever appended to.
pub trait Append: Send {
    /// Appends a beginning of `bytes` and says how long it is.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Returns once all that was written will survive the loss of power.
    ///
    /// # Errors
    ///
    /// Those of the system.
    fn sync(&mut self) -> io::Result<()>;
}

/// The file system of the machine.
#[derive(Debug)]
pub struct Disk;

impl Files for Disk {
    fn append_to(&mut self, path: &Path) -> io::Result<Box<dyn Append>> {
        let is_new = !path.try_exists()?;
        let file = private(OpenOptions::new().append(true).create(true)).open(path)?;
        if is_new {
            sync_parent(path)?;
        }
        Ok(Box::new(file))
    }

    fn replace(&mut self, path: &Path, content: &[u8]) -> io::Result<()> {
        write_beside(path, content)?.sync_all()?;
        fs::rename(beside(path), path)?;
        sync_parent(path)
    }

    fn store(&mut self, path: &Path, content: &[u8]) -> io::Result<()> {
        let written = write_beside(path, content).or_else(|error| match path.parent() {
            Some(parent) if error.kind() == io::ErrorKind::NotFound => {
                private_dirs(parent)?;
                write_beside(path, content)
            }
            _ => Err(error),
        });
        written.and_then(|_| fs::rename(beside(path), path))
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
}

impl Append for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Write::write(self, bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

fn beside(path: &Path) -> PathBuf {
    extended(path, "new")
}

/// The path with `.extension` after whatever it ends with.
pub(super) fn extended(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}

fn write_beside(path: &Path, content: &[u8]) -> io::Result<File> {
    let mut file =
        private(OpenOptions::new().write(true).create(true).truncate(true)).open(beside(path))?;
    file.write_all(content)?;
    Ok(file)
}

/// Whoever is not the owner must not read, and a symbolic link must not lead elsewhere.
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600).custom_flags(libc::O_NOFOLLOW);
    }
    options
}

/// Creates directories that only their owner can enter.
pub(super) fn private_dirs(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

/// A new name in a directory is durable once the directory is.
fn sync_parent(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(parent) = path.parent() {
        File::open(parent)?.sync_all()?;
    }
    Ok(())
}
