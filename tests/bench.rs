//! Each command of the harness on settings that take no time. What it says is checked, never how
//! fast anything was.

mod browser;

use std::path::Path;
use std::process::Command;

use browser::{Look, look_at};
use serde_json::Value;

fn bench(args: &[&str]) -> String {
    let out = Command::new(env!("CARGO_BIN_EXE_cloak-bench"))
        .args(args)
        .args(["--gateway", env!("CARGO_BIN_EXE_cloakllm-gateway")])
        .output()
        .unwrap();
    told(out, args)
}

/// A command that starts no gateway.
fn inside(args: &[&str]) -> String {
    let out = Command::new(env!("CARGO_BIN_EXE_cloak-bench"))
        .args(args)
        .output()
        .unwrap();
    told(out, args)
}

fn told(out: std::process::Output, args: &[&str]) -> String {
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{args:?}: {errors}");
    String::from_utf8(out.stdout).unwrap()
}

/// The result, once what stands around it was checked.
fn result(text: &str, command: &str) -> Value {
    let mut report: Value = serde_json::from_str(text).unwrap();
    assert_eq!(report["program"], "cloak-bench");
    assert_eq!(report["command"], command);
    assert!(report["machine"]["cores"].as_u64().unwrap() > 0);
    report["result"].take()
}

fn check_summary(times: &Value) -> u64 {
    let steps = ["min", "p50", "p90", "p99", "max"];
    let values = steps.map(|step| times[step].as_f64().unwrap());
    assert!(values[0] > 0.0, "{times}");
    assert!(values.is_sorted(), "{times}");
    let mean = times["mean"].as_f64().unwrap();
    assert!(
        (values[0] * 0.99..=values[4] * 1.01).contains(&mean),
        "{times}"
    );
    times["samples"].as_u64().unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

#[test]
fn latency_measures_each_mode_with_each_text() {
    let args = "latency --json --kinds prose,csv --sizes 200,5KB --samples 20 --starts 2";
    let args: Vec<_> = args.split(' ').collect();
    let found = result(&bench(&args), "latency");
    assert_eq!(list(&found["starts"]).len(), 4);
    for start in list(&found["starts"]) {
        assert_eq!(check_summary(&start["initialized"]), 2);
    }
    let cells = list(&found["cells"]);
    assert_eq!(cells.len(), 2 * 2 * 4);
    for cell in cells {
        let samples = check_summary(&cell["times"]);
        assert!((5..=20).contains(&samples), "{cell}");
        assert_eq!(cell["refused"], Value::Null);
        // What protects may make a text shorter or longer, but not by as much as half.
        let (size, answer) = (&cell["size"], &cell["answer"]);
        assert!(
            answer.as_u64().unwrap() * 2 > size.as_u64().unwrap(),
            "{cell}"
        );
        if cfg!(target_os = "linux") {
            assert!(cell["cpu_per_call"].as_f64().unwrap() > 0.0, "{cell}");
            assert!(cell["peak_memory"].as_u64().unwrap() > 500_000, "{cell}");
        }
    }
    let answer = |mode: &str| {
        let same = |cell: &&Value| cell["mode"] == mode && cell["kind"] == "csv";
        cells.iter().find(same).unwrap()["answer"].as_u64().unwrap()
    };
    assert_eq!(answer("direct"), answer("transparent"));
    assert_ne!(
        answer("direct"),
        answer("protecting"),
        "values became tokens"
    );
}

#[test]
fn a_rate_counts_from_when_a_call_is_due() {
    let args = "latency --json --kinds logs --sizes 200 --modes direct,transparent --starts 1 \
                --seconds 0.2 --rate 200";
    let args: Vec<_> = args.split_whitespace().collect();
    let found = result(&bench(&args), "latency");
    assert_eq!(found["rate"], 200.0);
    for cell in list(&found["cells"]) {
        // A tenth of 0.2 s holds 4 calls that are due.
        assert_eq!(check_summary(&cell["times"]), 40);
    }
}

#[test]
fn scale_fits_every_sweep() {
    let args = "scale --json --kinds logs --sizes 1KB,2KB,4KB --values 10,20,40 \
                --ages 10,100,1000 --runs 2";
    let args: Vec<_> = args.split_whitespace().collect();
    let found = result(&inside(&args), "scale");
    let sweeps = list(&found["sweeps"]);
    assert_eq!(sweeps.len(), 1 + 1 + 3);
    for sweep in sweeps {
        assert_eq!(list(&sweep["points"]).len(), 3, "{sweep}");
        // What the values cost beyond their text may drown in noise; all else has an exponent.
        if sweep["variable"] != "values" {
            let [low, exponent, high] =
                ["low", "exponent", "high"].map(|key| sweep["growth"][key].as_f64().unwrap());
            assert!(low <= exponent && exponent <= high, "{sweep}");
        }
    }
}

#[test]
fn compare_makes_pairs() {
    let args = "compare --json --kinds prose --sizes 200 --pairs 12 --mode transparent";
    let args: Vec<_> = args.split(' ').collect();
    let found = result(&bench(&args), "compare");
    let [cell] = list(&found["cells"]) else {
        panic!("{found}");
    };
    assert_eq!(check_summary(&cell["gateway"]), 12);
    assert_eq!(check_summary(&cell["baseline"]), 12);
    let [low, median, high] =
        ["low", "median", "high"].map(|key| cell["ratio"][key].as_f64().unwrap());
    assert!(0.0 < low && low <= median && median <= high, "{cell}");
}

#[test]
fn a_baseline_is_any_command() {
    let baseline = format!("{} relay {{server}}", env!("CARGO_BIN_EXE_cloak-bench"));
    let args = [
        "compare", "--kinds", "prose", "--sizes", "200", "--pairs", "3",
    ];
    let shown = bench(&[&args[..], &["--baseline", &baseline]].concat());
    assert!(
        shown.contains(&baseline) && shown.contains("ratio"),
        "{shown}"
    );
}

#[test]
fn load_answers_everybody() {
    let args = "load --json --callers 3 --upstreams 2 --sizes 200,5KB --large 100KB --duration 1";
    let args: Vec<_> = args.split(' ').collect();
    let found = result(&bench(&args), "load");
    let runs = list(&found["runs"]);
    assert_eq!(runs.len(), 2 * 2);
    for run in runs {
        let waits = list(&run["waits"]);
        let asked: Vec<_> = waits
            .iter()
            .map(|wait| wait["what"].as_str().unwrap())
            .collect();
        assert_eq!(asked[0], "ping");
        assert_eq!(asked.contains(&"100 KB"), run["beside_large"] == true);
        for wait in waits {
            assert!(check_summary(&wait["times"]) > 0);
        }
        let held = list(&run["held"]);
        assert!(held.len() >= 2, "{run}");
        if cfg!(target_os = "linux") {
            let files = |held: &Value| held["files"].as_u64().unwrap();
            assert_eq!(
                files(&held[0]),
                files(held.last().unwrap()),
                "files stay open: {run}"
            );
        }
    }
}

#[test]
fn stages_are_switched_in_one_after_the_other() {
    let args = "stages --json --kinds csv,prose --sizes 1KB --runs 1 --volume 1KB";
    let args: Vec<_> = args.split(' ').collect();
    let found = result(&inside(&args), "stages");
    for cell in list(&found["cells"]) {
        let steps = list(&cell["steps"]);
        assert_eq!(steps.len(), 6);
        let added = steps.iter().map(|step| step["added"].as_f64().unwrap());
        let total = steps[5]["total"].as_f64().unwrap();
        assert!((added.sum::<f64>() - total).abs() < total * 1e-6, "{cell}");
    }
}

#[test]
fn gen_writes_the_same_files_for_the_same_seed() {
    let dir = tempfile::tempdir().unwrap();
    let make = |name: &str, seed: &str| {
        let to = dir.path().join(name);
        let to = to.to_str().unwrap();
        inside(&["gen", to, "--sizes", "200,3KB", "--seed", seed]);
        let read = |file: &str| std::fs::read(Path::new(to).join(file)).unwrap();
        (read("csv-3000.csv"), read("prose-200.txt"))
    };
    let (one, same, other) = (make("a", "1"), make("b", "1"), make("c", "2"));
    assert_eq!((one.0.len(), one.1.len()), (3000, 200));
    assert!(one == same && one != other);
}

#[test]
fn what_cannot_be_used_is_said() {
    for (args, said) in [
        (&["latency", "--sizes", "5XB"][..], "5KB or 50MB"),
        (
            &["latency", "--gateway", "/nowhere"],
            "no gateway at /nowhere",
        ),
        (&["latency", "--rate", "0"], "--rate must be above 0"),
        (&["compare", "--baseline", "'open"], "a quote is open"),
        (
            &[
                "latency",
                "--modes",
                "direct",
                "--upstream",
                "/no/such/server",
            ],
            "cannot start",
        ),
    ] {
        let out = Command::new(env!("CARGO_BIN_EXE_cloak-bench"))
            .args(args)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&out.stderr);
        assert!(
            !out.status.success() && errors.contains(said),
            "{args:?}: {errors}"
        );
    }
}

/// The page of a command that was run with tiny settings.
fn page(dir: &Path, args: &str) -> (std::path::PathBuf, String) {
    let path = dir.join("page.html");
    let mut args: Vec<_> = args.split_whitespace().collect();
    args.extend(["--html", path.to_str().unwrap()]);
    if args[0] == "latency" {
        bench(&args);
    } else {
        inside(&args);
    }
    let text = std::fs::read_to_string(&path).unwrap();
    (path, text)
}

const LATENCY: &str = "latency --kinds prose,csv --sizes 200,5KB --samples 10 --starts 1";

#[test]
fn the_page_needs_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    for (args, charts, marks) in [
        (LATENCY, 4, "class=\"line c3\""),
        (
            "stages --kinds csv --sizes 1KB --runs 1 --volume 1KB",
            1,
            "class=\"bar c5\"",
        ),
        (
            "scale --kinds logs --sizes 1KB,2KB --values 10,20 --ages 10,20 --runs 1",
            3,
            "class=\"reference\"",
        ),
    ] {
        let (_, text) = page(dir.path(), args);
        assert_eq!(
            text.matches("<figure class=\"chart").count(),
            charts,
            "{args}"
        );
        assert!(text.contains(marks), "{args}");
        assert!(text.contains("prefers-color-scheme: dark"));
        for foreign in ["http:", "https:", "<script", "<link", "url(", "NaN", "inf"] {
            assert!(!text.contains(foreign), "{args} holds {foreign}");
        }
    }
}

/// A browser draws the charts: their lines have a size on the page.
#[test]
fn the_page_can_be_looked_at() {
    let dir = tempfile::tempdir().unwrap();
    let (_, text) = page(dir.path(), LATENCY);
    let look = Look {
        window: "800,600",
        drawn: "b.width > 5 && b.height >= 0",
        told: "[count('svg'), count('svg .line'), count('tbody tr')]",
    };
    let Some(drawn) = look_at(&text, &look, dir.path()) else {
        return;
    };
    // 2 kinds × (by size, by rarity), 4 modes in each; 4 starts and 16 cells in tables.
    assert_eq!(drawn, "4,16,20");
}
