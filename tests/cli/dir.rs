//! A temporary directory for each test, and the program started in it.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_replay");

/// Returns the root of the checkout.
pub fn checkout() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the content of the shipped trace.
pub fn shipped_trace() -> Vec<u8> {
    fs::read(checkout().join("traces/lublin-10x10.swf"))
        .expect("the trace that comes with the project")
}

/// A minimal trace: two jobs on four processors.
pub const TINY: &str = "; MaxProcs: 4\n1 0 0 5 2\n2 1 0 5 2\n";

/// Defines `trials()`, which returns the named functions as tests, titled `module::name`.
macro_rules! trials {
    ($($name:ident),+ $(,)?) => {
        /// Returns the tests of this file.
        pub fn trials() -> Vec<libtest_mimic::Trial> {
            vec![$(crate::cli::dir::trial(module_path!(), stringify!($name), $name)),+]
        }
    };
}

/// Creates a test from a function that panics on failure.
pub fn trial(module: &str, name: &str, test: fn()) -> libtest_mimic::Trial {
    libtest_mimic::Trial::test(title(module, name), move || {
        test();
        Ok(())
    })
}

/// Creates a test that is listed as ignored, with the reason.
pub fn ignored(module: &str, name: &str, why: &str) -> libtest_mimic::Trial {
    let absent = why.to_string();
    libtest_mimic::Trial::test(title(module, name), move || Err(absent.into()))
        .with_ignored_flag(true)
        .with_kind(why)
}

fn title(module: &str, name: &str) -> String {
    format!("{}::{name}", module.rsplit("::").next().unwrap_or(module))
}

/// A temporary directory in which the program runs with an empty environment; deleted on drop.
pub struct Dir {
    home: tempfile::TempDir,
    program: PathBuf,
    environment: Vec<(&'static str, OsString)>,
}

impl Dir {
    /// Creates an empty directory.
    pub fn new() -> Dir {
        let home = tempfile::tempdir().expect("a temporary directory");
        Dir { home, program: PROGRAM.into(), environment: Vec::new() }
    }

    /// Creates a directory with a copy of the shipped trace.
    pub fn with_trace() -> Dir {
        Dir::new().file("traces/lublin-10x10.swf", shipped_trace())
    }

    /// Creates a directory with a copy of the program. This directory is outside of the checkout.
    pub fn with_program() -> Dir {
        let mut dir = Dir::new();
        dir.program = dir.path("bin/replay");
        fs::create_dir(dir.path("bin")).expect("a directory");
        // A hard link is preferred, but it fails between different file systems.
        if fs::hard_link(PROGRAM, &dir.program).is_err() {
            fs::copy(PROGRAM, &dir.program).expect("a copy of the program");
        }
        dir
    }

    /// Adds a file.
    pub fn file(self, name: &str, content: impl AsRef<[u8]>) -> Dir {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, content).expect("a file");
        self
    }

    /// Adds an environment variable.
    pub fn variable(mut self, name: &'static str, value: impl Into<OsString>) -> Dir {
        self.environment.push((name, value.into()));
        self
    }

    /// Returns the path of `name` in this directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Returns the content of an existing file.
    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Runs a line of bash in this directory and returns the lines of its standard output.
    pub fn shell(&self, line: &str) -> Vec<String> {
        let mut bash = Command::new("bash");
        let output = bash.args(["-c", line]).current_dir(self.home.path()).output().expect("bash");
        let text = String::from_utf8_lossy(&output.stdout).replace('\r', "");
        text.lines().map(str::to_string).collect()
    }

    /// Runs the program in a terminal of `columns` columns and returns the lines of its output.
    pub fn in_terminal(&self, columns: usize, line: &str) -> Vec<String> {
        self.shell(&format!("script -qec 'stty cols {columns}; {PROGRAM} {line}' /dev/null"))
    }

    /// Returns the sorted paths of all files below `name`, relative to `name`.
    pub fn files(&self, name: &str) -> Vec<String> {
        let (top, mut files) = (self.path(name), Vec::new());
        let mut open = vec![top.clone()];
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(dir).expect("a directory") {
                let path = entry.expect("an entry").path();
                match path.is_dir() {
                    true => open.push(path),
                    false => files.push(
                        path.strip_prefix(&top)
                            .expect("a path below the top")
                            .display()
                            .to_string(),
                    ),
                }
            }
        }
        files.sort();
        files
    }

    /// Runs the program with `arguments`, split at blanks.
    pub fn replay(&self, arguments: &str) -> Outcome {
        self.replay_in(self.home.path(), arguments)
    }

    /// Runs the program with `place` as the current directory.
    pub fn replay_in(&self, place: &Path, arguments: &str) -> Outcome {
        let mut command = self.command(arguments);
        let output = command.current_dir(place).stdin(Stdio::null()).output();
        let output = output.expect("the program starts");
        Outcome::new(arguments, output)
    }

    /// Runs the program with `input` on standard input.
    pub fn replay_on(&self, input: &[u8], arguments: &str) -> Outcome {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut pipe = child.stdin.take().expect("a pipe");
        let output = std::thread::scope(|scope| {
            // The write fails if the program closes the pipe early; that is not an error here.
            scope.spawn(move || pipe.write_all(input));
            child.wait_with_output().expect("it ends")
        });
        Outcome::new(arguments, output)
    }

    /// Runs the program with standard output redirected to a file.
    pub fn replay_onto(&self, stdout: fs::File, arguments: &str) -> Outcome {
        let output = self.command(arguments).stdout(stdout).output().expect("the program starts");
        Outcome::new(arguments, output)
    }

    /// Starts the program with standard output and standard error in pipes.
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

/// Compresses `bytes` with gzip.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(bytes).expect("memory");
    packer.finish().expect("memory")
}

/// Returns the names of the files that a manifest lists.
pub fn listed(manifest: &Value) -> Vec<String> {
    let files = manifest["files"].as_array().expect("files").iter();
    files.map(|file| file["name"].as_str().expect("a name").to_string()).collect()
}

/// The result of a run of the program.
pub struct Outcome {
    arguments: String,
    code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Outcome {
    /// Returns whether a signal ended the program.
    pub fn is_killed(&self) -> bool {
        self.code.is_none()
    }

    /// Wraps the output of a process.
    ///
    /// # Panics
    ///
    /// Panics if the program panicked or its output is not UTF-8.
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

    /// Panics unless `holds` is true. The message has the arguments, the exit code, standard output
    /// and standard error.
    #[track_caller]
    pub fn demand(&self, holds: bool, what: &str) {
        let Outcome { arguments, code, stdout, stderr } = self;
        assert!(
            holds,
            "replay {arguments}: {what}\nexit code {code:?}\nstdout: {stdout}\nstderr: {stderr}"
        );
    }

    /// Requires an exit code.
    #[track_caller]
    pub fn code(self, expected: i32) -> Outcome {
        self.demand(self.code == Some(expected), &format!("exit code {expected} expected"));
        self
    }

    /// Requires that standard output contains `words`.
    #[track_caller]
    pub fn prints(self, words: &str) -> Outcome {
        self.demand(self.stdout.contains(words), &format!("\"{words}\" expected on stdout"));
        self
    }

    /// Requires that standard error contains `words`.
    #[track_caller]
    pub fn says(self, words: &str) -> Outcome {
        self.demand(self.stderr.contains(words), &format!("\"{words}\" expected on stderr"));
        self
    }

    /// Requires that standard error is empty.
    #[track_caller]
    pub fn says_nothing(self) -> Outcome {
        self.demand(self.stderr.is_empty(), "an empty stderr expected");
        self
    }

    /// Requires a failure with this exit code and with empty standard output. Standard error must
    /// contain only one message of `lines` lines, and the message must contain `words`.
    #[track_caller]
    pub fn fails(self, code: i32, lines: usize, words: &[&str]) -> Outcome {
        let failed = self.code(code);
        failed.demand(failed.stdout.is_empty(), "an empty stdout expected");
        failed.demand(failed.stderr.starts_with("replay: "), "the message alone expected");
        failed.demand(failed.stderr.lines().count() == lines, &format!("{lines} lines expected"));
        words.iter().fold(failed, |failed, words| failed.says(words))
    }

    /// Requires that clap rejects the command line with a message that contains `words`.
    #[track_caller]
    pub fn refused(self, words: &[&str]) -> Outcome {
        let refused = self.code(2);
        refused.demand(refused.stdout.is_empty(), "an empty stdout expected");
        refused.demand(refused.stderr.starts_with("error: "), "clap's message expected");
        words.iter().fold(refused, |refused, words| refused.says(words))
    }

    /// Parses each line of standard output as a JSON object.
    pub fn objects(&self) -> Vec<Value> {
        let object = |line: &str| {
            let value: Value = serde_json::from_str(line).unwrap_or_default();
            self.demand(value.is_object(), &format!("not a JSON object: {line}"));
            value
        };
        self.stdout.lines().map(object).collect()
    }

    /// Returns one string per object: the values of `names`, separated by blanks, with `-` for
    /// null.
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
