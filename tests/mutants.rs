//! Tests every reader of the program with thousands of mutated files.
//!
//! ```text
//! cargo test --release --test mutants                           some cases for each reader
//! REPLAY_MUTANTS=10000 cargo test --release --test mutants      a campaign
//! ```
//!
//! A mutant is a valid input with a few random changes, determined by the seed, the name of the reader and the number
//! of the case. A reader must accept or reject the mutant without a panic, within ten seconds, and without changing
//! other files. Each reader runs in a separate process. An abort, a stack overflow or an allocation of more than four
//! gigabytes is therefore also counted, and the campaign continues with the next case.
//!
//! `REPLAY_MUTANTS` is the number of cases per reader, `REPLAY_MUTANTS_FROM` is the first case, and
//! `REPLAY_MUTANTS_SEED` is the seed.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};

use mutants::folders::Folders;
use mutants::mutate::{mutant, one_of, random};
use mutants::readers::READERS;

mod mutants {
    pub mod folders;
    pub mod mutate;
    pub mod readers;
}

/// Readers whose inputs are written by the program. `parquet` runs in this process; the other readers start the program
/// for each case.
const OF_FOLDERS: [&str; 3] = ["parquet", "manifest", "results"];

/// Number of cases in the short form: for readers in this process, and for readers that start a program for
/// each case.
const FEW: [u64; 2] = [500, 60];

/// Time limit of a case. A case that takes longer counts as a hang.
const PATIENCE: Duration = Duration::from_secs(10);

/// Limit on the address space of a reader, in KiB.
const MEMORY: u64 = 4 << 20;

/// Environment variable that makes this program the process of a reader. The value has the name of the reader, the
/// first case, the end of the cases and the seed.
const CHILD: &str = "REPLAY_MUTANTS_CHILD";

/// Maximum number of findings in the message of a failure.
const SHOWN: usize = 5;

/// The results of a campaign against a reader.
#[derive(Clone, Debug, Default)]
struct Row {
    reader: &'static str,
    panics: Vec<(u64, String)>,
    hangs: Vec<u64>,
    /// Number of changed bytes in files that do not belong to the reader.
    changed: u64,
}

fn main() -> ExitCode {
    if let Ok(task) = std::env::var(CHILD) {
        child(&task);
        return ExitCode::SUCCESS;
    }
    let arguments = Arguments::from_args();
    let seed = variable("SEED").unwrap_or(1);
    let names = READERS.iter().map(|reader| reader.name).chain(OF_FOLDERS);
    let trials = names.map(|name| {
        Trial::test(name, move || {
            let few = FEW[usize::from(name == "manifest" || name == "results")];
            let from = variable("FROM").unwrap_or(0);
            let until = variable("").map_or(from + few, |cases| from.max(cases));
            let row = campaign(name, from, until, seed);
            failure(&row, seed).map_or(Ok(()), |text| Err(Failed::from(text)))
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

fn variable(end: &str) -> Option<u64> {
    let name =
        if end.is_empty() { "REPLAY_MUTANTS".into() } else { format!("REPLAY_MUTANTS_{end}") };
    let text = std::env::var(&name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}

/// The current case of the process that runs a reader.
struct State(File);

impl State {
    fn set(&self, case: u64) {
        self.0.write_all_at(&case.to_le_bytes(), 0).expect("the state");
    }

    fn get(path: &Path) -> u64 {
        let mut bytes = [0; 8];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut bytes));
        read.map_or(0, |()| u64::from_le_bytes(bytes))
    }
}

/// Runs the cases of a reader in this process and prints a line for each finding.
fn child(task: &str) {
    let mut words = task.split(' ');
    let name = words.next().expect("a name");
    let [from, until, seed] =
        [0; 3].map(|_| words.next().and_then(|word| word.parse().ok()).expect("a number"));
    let state = State(File::create("../state").expect("a file"));
    state.set(from);
    let why = Arc::new(Mutex::new(String::new()));
    let noted = why.clone();
    panic::set_hook(Box::new(move |info| {
        let text = info.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        *noted.lock().unwrap_or_else(|error| error.into_inner()) = text.chars().take(600).collect();
    }));
    let folders = OF_FOLDERS.contains(&name).then(Folders::prepare);
    let reader = READERS.iter().find(|reader| reader.name == name);
    for input in reader.map_or(&[][..], |reader| reader.inputs) {
        let accepts = reader.is_some_and(|reader| (reader.read)(input.as_bytes(), 1));
        assert!(accepts, "{name} refuses a valid input: {input}");
    }
    for case in from..until {
        state.set(case);
        let (mut changed, mut hung) = (0, false);
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| match (&folders, reader, name) {
            (Some(folders), _, "parquet") => folders.parquet(seed, case),
            (Some(folders), _, "manifest") => (hung, changed) = folders.manifest(seed, case),
            (Some(folders), _, _) => (hung, changed) = folders.results(seed, case),
            (None, Some(reader), _) => {
                let random = &mut random(seed, name, case);
                let input = one_of(random, reader.inputs).as_bytes();
                (reader.read)(&mutant(random, input), case);
            }
            (None, None, _) => unreachable!("{name} is a reader"),
        }));
        if outcome.is_err() {
            println!("panic {case} {}", why.lock().expect("no panic"));
        }
        if hung {
            println!("hang {case}");
        }
        if changed > 0 {
            println!("changed {case} {changed}");
        }
    }
    state.set(until);
}

/// Runs the cases of a reader, in a new process after each abort or hang.
fn campaign(reader: &'static str, from: u64, until: u64, seed: u64) -> Row {
    let memory = Path::new("/dev/shm");
    let home = match memory.is_dir() {
        true => tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir()),
        false => tempfile::tempdir(),
    };
    let home = home.expect("a folder");
    let others = Others::new(home.path());
    let mut row = Row { reader, ..Row::default() };
    let mut next = from;
    while next < until {
        let work = home.path().join("work");
        let _ = fs::remove_dir_all(&work);
        fs::create_dir(&work).expect("a folder");
        let ended = process(reader, [next, until, seed], &work);
        let case = State::get(&home.path().join("state"));
        let log = fs::read(home.path().join("log")).expect("the log");
        for line in String::from_utf8_lossy(&log).lines() {
            let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
            let (case, why) = rest.split_once(' ').unwrap_or((rest, ""));
            let case = case.parse().expect("a number");
            match what {
                "panic" => row.panics.push((case, why.to_string())),
                "hang" => row.hangs.push(case),
                _ => row.changed += why.parse::<u64>().expect("a number"),
            }
        }
        match ended {
            Process::Done => next = until,
            Process::Hung => row.hangs.push(case),
            Process::Died(why) => row.panics.push((case, why)),
        }
        next = next.max(case + 1);
    }
    row.changed += others.changed();
    row
}

enum Process {
    Done,
    Hung,
    Died(String),
}

/// Starts the process of a reader, and waits until the process ends or a case takes too long.
fn process(reader: &str, [from, until, seed]: [u64; 3], work: &Path) -> Process {
    let home = work.parent().expect("a folder");
    let log = |name: &str| File::create(home.join(name)).expect("a file");
    let program = std::env::current_exe().expect("this program");
    let limited = format!("ulimit -c 0; ulimit -v {MEMORY}; exec \"$0\"");
    let mut child = Command::new("bash")
        .args([std::ffi::OsStr::new("-c"), limited.as_ref(), program.as_os_str()])
        .env(CHILD, format!("{reader} {from} {until} {seed}"))
        .current_dir(work)
        .stdin(Stdio::null())
        .stdout(log("log"))
        .stderr(log("stderr"))
        .spawn()
        .expect("bash");
    // Readers that start programs have a longer limit, because the preparation and each started program have separate
    // time limits.
    let patience = if OF_FOLDERS.contains(&reader) { 6 * PATIENCE } else { PATIENCE };
    let (mut seen, mut since) = (u64::MAX, Instant::now());
    loop {
        if let Some(status) = child.try_wait().expect("the process can be waited for") {
            if status.success() {
                return Process::Done;
            }
            let stderr = fs::read(home.join("stderr")).unwrap_or_default();
            let last = String::from_utf8_lossy(&stderr).lines().last().unwrap_or("").to_string();
            let signal =
                status.signal().map_or(String::new(), |signal| format!(" by signal {signal}"));
            return Process::Died(format!("the process ended{signal}: {last}"));
        }
        let state = State::get(&home.join("state"));
        if state != seen {
            (seen, since) = (state, Instant::now());
        } else if since.elapsed() > patience {
            child.kill().expect("it still runs");
            child.wait().expect("the process can be waited for");
            return Process::Hung;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Files outside of the working directory of the readers. A reader must not change these files.
struct Others {
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Others {
    fn new(home: &Path) -> Self {
        let names = ["others/trace.swf", "others/trace.shapes.csv", "others/out/manifest.json"];
        let files =
            names.map(|name| (home.join(name), format!("the content of {name}\n").into_bytes()));
        for (path, bytes) in &files {
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, bytes).expect("a file");
        }
        Self { files: files.into() }
    }

    /// Returns the number of changed bytes in these files.
    fn changed(&self) -> u64 {
        let changed =
            self.files.iter().filter(|(path, bytes)| fs::read(path).ok().as_ref() != Some(bytes));
        changed.map(|(_, bytes)| bytes.len() as u64).sum()
    }
}

/// Returns a description of the findings and of how to repeat them; `None` if there are no findings.
fn failure(row: &Row, seed: u64) -> Option<String> {
    let Row { reader, panics, hangs, changed, .. } = row;
    if panics.is_empty() && hangs.is_empty() && *changed == 0 {
        return None;
    }
    let mut text = format!(
        "{} panics, {} hangs, {changed} bytes of other files changed",
        panics.len(),
        hangs.len()
    );
    let hung = hangs.iter().map(|&case| (case, format!("more than {} s", PATIENCE.as_secs())));
    for (case, why) in panics.iter().cloned().chain(hung).take(SHOWN) {
        text += &format!(
            "\n  case {case}: {why}\n    REPLAY_MUTANTS_FROM={case} REPLAY_MUTANTS={} REPLAY_MUTANTS_SEED={seed} \
             cargo test --release --test mutants -- {reader}",
            case + 1
        );
    }
    Some(text)
}
