//! A directory of its own for every test, and the program started in it.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_replay");

/// The checkout, where the shipped trace is.
pub fn checkout() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text of the shipped trace.
pub fn shipped_trace() -> Vec<u8> {
    fs::read(checkout().join("traces/lublin-10x10.swf"))
        .expect("the trace that comes with the project")
}

/// Two jobs on four processors: the least that runs.
pub const TINY: &str = "; MaxProcs: 4\n1 0 0 5 2\n2 1 0 5 2\n";

/// `name` functions as trials, each under its module's name.
macro_rules! trials {
    ($($name:ident),+ $(,)?) => {
        /// The tests of this file.
        pub fn trials() -> Vec<libtest_mimic::Trial> {
            vec![$(crate::cli::dir::trial(module_path!(), stringify!($name), $name)),+]
        }
    };
}

/// A test from a function that panics when it fails.
pub fn trial(module: &str, name: &str, test: fn()) -> libtest_mimic::Trial {
    libtest_mimic::Trial::test(title(module, name), move || {
        test();
        Ok(())
    })
}

/// A test that cannot run here, and why.
pub fn ignored(module: &str, name: &str, why: &str) -> libtest_mimic::Trial {
    let absent = why.to_string();
    libtest_mimic::Trial::test(title(module, name), move || Err(absent.into()))
        .with_ignored_flag(true)
        .with_kind(why)
}

fn title(module: &str, name: &str) -> String {
    format!("{}::{name}", module.rsplit("::").next().unwrap_or(module))
}

/// An empty directory from which the program runs with an empty environment; it goes with
/// the value.
pub struct Dir {
    home: tempfile::TempDir,
    program: PathBuf,
    environment: Vec<(&'static str, OsString)>,
}

impl Dir {
    /// With nothing in it.
    pub fn new() -> Dir {
        let home = tempfile::tempdir().expect("a temporary directory");
        Dir { home, program: PROGRAM.into(), environment: Vec::new() }
    }

    /// With the shipped trace, wherever the program was built.
    pub fn with_trace() -> Dir {
        Dir::new().file("traces/lublin-10x10.swf", shipped_trace())
    }

    /// With a program of its own, which finds no checkout around it.
    pub fn with_program() -> Dir {
        let mut dir = Dir::new();
        dir.program = dir.path("bin/replay");
        fs::create_dir(dir.path("bin")).expect("a directory");
        // A link is cheap; between file systems there is none.
        if fs::hard_link(PROGRAM, &dir.program).is_err() {
            fs::copy(PROGRAM, &dir.program).expect("a copy of the program");
        }
        dir
    }

    /// One more file.
    pub fn file(self, name: &str, content: impl AsRef<[u8]>) -> Dir {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, content).expect("a file");
        self
    }

    /// One more variable.
    pub fn variable(mut self, name: &'static str, value: impl Into<OsString>) -> Dir {
        self.environment.push((name, value.into()));
        self
    }

    /// Where a file of this name is.
    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// The bytes of a file that must be there.
    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// What a line of bash prints here, line by line.
    pub fn shell(&self, line: &str) -> Vec<String> {
        let mut bash = Command::new("bash");
        let output = bash.args(["-c", line]).current_dir(self.home.path()).output().expect("bash");
        let text = String::from_utf8_lossy(&output.stdout).replace('\r', "");
        text.lines().map(str::to_string).collect()
    }

    /// What the program prints in a terminal so many characters wide.
    pub fn in_terminal(&self, columns: usize, line: &str) -> Vec<String> {
        self.shell(&format!("script -qec 'stty cols {columns}; {PROGRAM} {line}' /dev/null"))
    }

    /// Every file below `name`, relative to it, sorted.
    pub fn files(&self, name: &str) -> Vec<String> {
        let (top, mut files) = (self.path(name), Vec::new());
        let mut open = vec![top.clone()];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(dir).expect("a directory") {
                let path = entry.expect("an entry").path();
                match path.is_dir() {
                    true => open.push(path),
                    false => {
                        files.push(path.strip_prefix(&top).expect("below").display().to_string())
                    }
                }
            }
        }
        files.sort();
        files
    }

    /// Runs the program with these arguments, split at blanks.
    pub fn replay(&self, arguments: &str) -> Outcome {
        self.replay_in(self.home.path(), arguments)
    }

    /// The same, from another place.
    pub fn replay_in(&self, place: &Path, arguments: &str) -> Outcome {
        let mut command = self.command(arguments);
        let output = command.current_dir(place).stdin(Stdio::null()).output();
        let output = output.expect("the program starts");
        Outcome::new(arguments, output)
    }

    /// The same, with `input` on standard input.
    pub fn replay_on(&self, input: &[u8], arguments: &str) -> Outcome {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut pipe = child.stdin.take().expect("a pipe");
        let output = std::thread::scope(|scope| {
            // Who reads no more of it closes the pipe.
            scope.spawn(move || pipe.write_all(input));
            child.wait_with_output().expect("it ends")
        });
        Outcome::new(arguments, output)
    }

    /// The same, with stdout into a file.
    pub fn replay_onto(&self, stdout: fs::File, arguments: &str) -> Outcome {
        let output = self.command(arguments).stdout(stdout).output().expect("the program starts");
        Outcome::new(arguments, output)
    }

    /// Starts the program with both streams in pipes.
    pub fn start(&self, arguments: &str) -> Child {
        let mut command = self.command(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the program starts")
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments.split_whitespace()).current_dir(self.home.path());
        command.env_clear().env("NO_COLOR", "1").envs(self.environment.iter().cloned());
        command
    }
}

/// Bytes packed.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(bytes).expect("memory");
    packer.finish().expect("memory")
}

/// Names of the files that a manifest lists.
pub fn listed(manifest: &Value) -> Vec<String> {
    let files = manifest["files"].as_array().expect("files").iter();
    files.map(|file| file["name"].as_str().expect("a name").to_string()).collect()
}

/// What a run gave.
pub struct Outcome {
    arguments: String,
    code: Option<i32>,
    /// What came on standard output.
    pub stdout: String,
    /// What came on standard error.
    pub stderr: String,
}

impl Outcome {
    /// Whether a signal ended it.
    pub fn is_killed(&self) -> bool {
        self.code.is_none()
    }

    /// Whatever happens, it is no panic.
    pub fn new(arguments: &str, output: Output) -> Outcome {
        let text = |bytes| String::from_utf8(bytes).expect("both streams are text");
        let outcome = Outcome {
            arguments: arguments.to_string(),
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        };
        outcome.demand(!outcome.stderr.contains("panicked"), "a panic");
        outcome
    }

    /// Fails with everything there is to know.
    #[track_caller]
    pub fn demand(&self, holds: bool, what: &str) {
        let Outcome { arguments, code, stdout, stderr } = self;
        assert!(
            holds,
            "replay {arguments}: {what}\nexit code {code:?}\nstdout: {stdout}\nstderr: {stderr}"
        );
    }

    /// It ended with this code.
    #[track_caller]
    pub fn code(self, expected: i32) -> Outcome {
        self.demand(self.code == Some(expected), &format!("exit code {expected} expected"));
        self
    }

    /// These words are on standard output.
    #[track_caller]
    pub fn prints(self, words: &str) -> Outcome {
        self.demand(self.stdout.contains(words), &format!("\"{words}\" expected on stdout"));
        self
    }

    /// These words are on standard error.
    #[track_caller]
    pub fn says(self, words: &str) -> Outcome {
        self.demand(self.stderr.contains(words), &format!("\"{words}\" expected on stderr"));
        self
    }

    /// Standard error is empty.
    #[track_caller]
    pub fn says_nothing(self) -> Outcome {
        self.demand(self.stderr.is_empty(), "an empty stderr expected");
        self
    }

    /// A failure: the code, no data, and on stderr nothing but one message of so many
    /// lines with these words.
    #[track_caller]
    pub fn fails(self, code: i32, lines: usize, words: &[&str]) -> Outcome {
        let failed = self.code(code);
        failed.demand(failed.stdout.is_empty(), "an empty stdout expected");
        failed.demand(failed.stderr.starts_with("replay: "), "the message alone expected");
        failed.demand(failed.stderr.lines().count() == lines, &format!("{lines} lines expected"));
        words.iter().fold(failed, |failed, words| failed.says(words))
    }

    /// A command line that clap refuses; what surrounds the message is clap's.
    #[track_caller]
    pub fn refused(self, words: &[&str]) -> Outcome {
        let refused = self.code(2);
        refused.demand(refused.stdout.is_empty(), "an empty stdout expected");
        refused.demand(refused.stderr.starts_with("error: "), "clap's message expected");
        words.iter().fold(refused, |refused, words| refused.says(words))
    }

    /// Every line of stdout as an object.
    pub fn objects(&self) -> Vec<Value> {
        let object = |line: &str| {
            let value: Value = serde_json::from_str(line).unwrap_or_default();
            self.demand(value.is_object(), &format!("no object: {line}"));
            value
        };
        self.stdout.lines().map(object).collect()
    }

    /// One text per object: these fields, with blanks between; null is "-".
    pub fn fields(&self, names: &[&str]) -> Vec<String> {
        let field = |object: &Value, name: &&str| match &object[*name] {
            Value::Null => "-".to_string(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let line = |object: &Value| {
            names.iter().map(|name| field(object, name)).collect::<Vec<_>>().join(" ")
        };
        self.objects().iter().map(line).collect()
    }
}
