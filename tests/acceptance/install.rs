//! Installs what the tests run, once, in the versions that are pinned beside this file.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The packages of npm and the scripts that use them: Node.js looks for packages beside a script.
const NODE: [(&str, &str); 4] = [
    ("package.json", include_str!("package.json")),
    ("package-lock.json", include_str!("package-lock.json")),
    ("client.mjs", include_str!("client.mjs")),
    ("schemas.mjs", include_str!("schemas.mjs")),
];

const PYTHON: [(&str, &str); 2] = [
    ("requirements.txt", include_str!("requirements.txt")),
    ("client.py", include_str!("client.py")),
];

/// The folder with scripts and npm's packages; None, after saying so, where there is no Node.js.
pub(crate) fn node(test: &str) -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        (runs("node") && runs("npm")).then(|| {
            install("node", &NODE, |folder| {
                let mut npm = Command::new("npm");
                npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
                    .current_dir(folder);
                npm
            })
        })
    });
    folder.as_deref().or_else(|| skip(test, "Node.js with npm"))
}

/// As [`node`], for Python. The packages are for `PYTHONPATH`, in `packages`.
pub(crate) fn python(test: &str) -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        runs("python3").then(|| {
            install("python", &PYTHON, |folder| {
                let mut pip = Command::new("python3");
                pip.args([
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--disable-pip-version-check",
                ])
                .args([
                    "--upgrade",
                    "--target",
                    "packages",
                    "-r",
                    "requirements.txt",
                ])
                .current_dir(folder);
                pip
            })
        })
    });
    folder.as_deref().or_else(|| skip(test, "Python 3"))
}

fn runs(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Puts `files` into a folder of its own and runs the installer there, unless they have not changed
/// since it last succeeded.
fn install(name: &str, files: &[(&str, &str)], installer: fn(&Path) -> Command) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/acceptance/.deps")
        .join(name);
    fs::create_dir_all(&folder).unwrap();
    // Tests may run in several processes.
    let lock = File::create(folder.join(".lock")).unwrap();
    lock.lock().unwrap();
    for (file, text) in &files[1..] {
        fs::write(folder.join(file), text).unwrap();
    }
    let wanted: String = files.iter().map(|(_, text)| *text).collect();
    let stamp = folder.join(".installed");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return folder;
    }
    let (file, text) = files[0];
    fs::write(folder.join(file), text).unwrap();
    let out = installer(&folder).output().unwrap();
    assert!(
        out.status.success(),
        "what the {name} tests need cannot be installed: {}{}",
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr),
    );
    fs::write(stamp, wanted).unwrap();
    folder
}

fn skip<T>(test: &str, missing: &str) -> Option<T> {
    assert!(
        std::env::var_os("CI").is_none_or(|ci| ci != "true"),
        "{test} needs {missing}",
    );
    // Not with a macro: the test harness would keep it to itself.
    let _ = writeln!(std::io::stderr(), "skipped: {test}: there is no {missing}");
    None
}
