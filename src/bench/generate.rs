//! Writes the workloads to files.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;

use super::size::Size;
use super::workload::Kind;

/// What to write, and where.
#[derive(Debug, clap::Args)]
pub(super) struct Generate {
    /// The folder to write to; it is made if it is not there
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// The kinds of text
    #[arg(long, value_delimiter = ',', default_values_t = Kind::ALL)]
    kinds: Vec<Kind>,

    /// Their sizes
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "200,5KB,50KB,500KB,5MB,50MB"
    )]
    sizes: Vec<Size>,

    /// Another seed, other texts
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Generate {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        fs::create_dir_all(&self.dir)
            .with_context(|| format!("cannot make {}", self.dir.display()))?;
        for kind in &self.kinds {
            for size in &self.sizes {
                let path = self.dir.join(file_name(*kind, *size));
                fs::write(&path, kind.text(size.0, self.seed))
                    .with_context(|| format!("cannot write {}", path.display()))?;
                eprintln!("{}", path.display());
            }
        }
        Ok(())
    }
}

/// `csv-5000.csv`
pub(super) fn file_name(kind: Kind, size: Size) -> String {
    format!("{kind}-{}.{}", size.0, kind.extension())
}
