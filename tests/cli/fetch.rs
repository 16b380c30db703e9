//! `replay fetch`, with a server on the loopback interface.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::dir::{Dir, Outcome, TINY, gzip, shipped_trace};

trials!(
    fetches_by_alias_into_a_folder_that_replay_searches,
    new_files_go_where_replay_looks_first,
    deletes_a_file_with_another_digest,
    resumes_after_a_cut,
    restarts_if_the_server_cannot_resume,
    restarts_if_the_part_is_too_long,
    refuses_another_range,
    follows_redirections,
    reports_answers_other_than_the_file,
    reports_a_refused_connection,
    gives_up_on_a_silent_server,
    verifies_a_complete_part_without_a_request,
    keeps_existing_files,
    copies_from_a_folder,
    counts_records_without_a_digest,
    interruption_leaves_the_part,
    fetches_all,
    never_writes_through_a_link,
    rejects_wrong_usage,
    traces_of_the_program_need_no_download,
);

/// How the server answers a request. A list of answers is used in order; then the server closes its port.
enum Answer {
    /// The whole file, without regard to a requested range.
    Whole,
    /// The requested range, as a server that can resume.
    Range,
    /// A partial response that begins at this byte.
    RangeFrom(usize),
    /// The length of the file and its first bytes; then the connection ends.
    Cut(usize),
    /// The length of the file and its first bytes; then nothing.
    Stall(usize),
    /// Another status, with a header.
    Status(&'static str, &'static str),
}

struct Server {
    address: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(content: &[u8], answers: Vec<Answer>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (content, log) = (content.to_vec(), requests.clone());
        thread::spawn(move || {
            for answer in answers {
                let (stream, _) = listener.accept().expect("a connection");
                respond(stream, &content, &answer, &log);
            }
        });
        Server { address, requests }
    }

    /// Returns the paths of the requests so far, each followed by the requested range.
    fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("a log").clone()
    }
}

fn respond(mut stream: TcpStream, content: &[u8], answer: &Answer, log: &Mutex<Vec<String>>) {
    let (mut request, mut begin) = (String::new(), 0);
    for line in BufReader::new(stream.try_clone().expect("a socket")).lines() {
        let line = line.expect("a request");
        if let Some(path) = line.strip_prefix("GET ") {
            request = path.split(' ').next().expect("a path").to_string();
        }
        if let Some(range) = line.to_lowercase().strip_prefix("range: ") {
            request += &format!(" {range}");
            let range = range.strip_prefix("bytes=").and_then(|range| range.strip_suffix('-'));
            begin = range.and_then(|begin| begin.parse().ok()).expect("an open range");
        }
        if line.is_empty() {
            break;
        }
    }
    log.lock().expect("a log").push(request);
    let all = content.len();
    let range = |first: usize| {
        let last = all - 1;
        format!("206 Partial Content\r\nContent-Range: bytes {first}-{last}/{all}")
    };
    let (head, body) = match answer {
        Answer::Range if begin >= all && begin > 0 => {
            (format!("416 Range Not Satisfiable\r\nContent-Range: bytes */{all}"), &[][..])
        }
        Answer::Range if begin > 0 => (range(begin), &content[begin..]),
        Answer::RangeFrom(first) => (range(*first), &content[*first..]),
        Answer::Whole | Answer::Range => ("200 OK".to_string(), content),
        Answer::Cut(count) | Answer::Stall(count) => ("200 OK".to_string(), &content[..*count]),
        Answer::Status(status, header) => (format!("{status}\r\n{header}"), &b"<html>"[..]),
    };
    let length = if matches!(answer, Answer::Cut(_) | Answer::Stall(_)) { all } else { body.len() };
    let head = format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    // The program may close the connection early.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
    if matches!(answer, Answer::Stall(_)) {
        // Until the program closes the connection.
        let _ = stream.read(&mut [0]);
    }
}

/// The content of the trace that the tests fetch.
fn packed() -> Vec<u8> {
    gzip(&shipped_trace())
}

/// Returns a list with the trace `Log-1` (alias `Log`), whose digest is that of `content`.
fn list(address: &str, content: &[u8]) -> String {
    let digest: String = Sha256::digest(content).iter().map(|b| format!("{b:02x}")).collect();
    entry("Log-1", address, &format!("sha256 = \"{digest}\""))
}

fn entry(name: &str, address: &str, check: &str) -> String {
    format!(
        "[[trace]]\nname = \"{name}\"\naliases = [\"Log\"]\nurl = \"{address}/a/{name}.swf.gz\"\n{check}\nprocs = 100\n"
    )
}

/// Returns an empty folder with a list of traces for this server.
fn folder(server: &Server) -> Dir {
    Dir::with_program().file("list.toml", list(&server.address, &packed()))
}

fn fetch(dir: &Dir, arguments: &str) -> Outcome {
    dir.replay(&format!("fetch --manifest list.toml {arguments}"))
}

const FILE: &str = "traces/Log-1.swf.gz";
const PART: &str = "traces/Log-1.swf.gz.part";

fn is_correct(dir: &Dir) {
    assert!(dir.read(FILE) == packed(), "the file differs from the original");
    assert_eq!(dir.files("traces"), ["Log-1.swf.gz"]);
}

fn fetches_by_alias_into_a_folder_that_replay_searches() {
    let server = Server::start(&packed(), vec![Answer::Whole]);
    let dir = folder(&server);
    let run = fetch(&dir, "LOG.swf").code(0).says_nothing();
    assert_eq!(run.stdout, format!("Log-1: fetched and verified: {FILE}\n"));
    is_correct(&dir);
    dir.replay("-q --trace Log-1 --jobs 10 --alloc mc1x1").code(0).prints("Log-1");
    // The present file is not requested again.
    let run = fetch(&dir, "log-1").code(0).says_nothing();
    assert_eq!(run.stdout, format!("Log-1: already present and verified: {FILE}\n"));
    assert_eq!(server.requests(), ["/a/Log-1.swf.gz"]);
}

fn new_files_go_where_replay_looks_first() {
    let server = Server::start(&packed(), vec![Answer::Whole, Answer::Whole]);
    let dir = folder(&server);
    let shared = dir.path("shared");
    let dir = dir.file("shared/README", "").variable("REPLAY_TRACES", &shared);
    fetch(&dir, "Log").code(0).prints(&shared.join("Log-1.swf.gz").display().to_string());
    dir.replay("-q --trace Log-1 --jobs 10 --alloc mc1x1").code(0);
    // The named folder counts, and the folder is created.
    fetch(&dir, "Log --to new/folder").code(0).prints("Log-1: fetched and verified\n");
    assert_eq!(dir.files("new"), ["folder/Log-1.swf.gz"]);
    assert_eq!(server.requests().len(), 2);
}

fn deletes_a_file_with_another_digest() {
    let other = gzip(TINY.as_bytes());
    let server = Server::start(&other, vec![Answer::Whole, Answer::Whole]);
    let dir = folder(&server);
    for _ in 0..2 {
        let words = [&format!("Log-1: {PART}: SHA-256 is ") as &str, ", expected ", "is deleted"];
        fetch(&dir, "Log").fails(1, 2, &words);
        assert!(!dir.path("traces").exists());
    }
    // The second download does not resume the first.
    assert_eq!(server.requests(), ["/a/Log-1.swf.gz"; 2]);
}

fn resumes_after_a_cut() {
    let answers = vec![Answer::Cut(1000), Answer::Range];
    let server = Server::start(&packed(), answers);
    let dir = folder(&server);
    let cut = format!("the connection ended after 1000 of {} bytes", packed().len());
    let address = format!("Log-1: cannot fetch {}/a/Log-1.swf.gz: ", server.address);
    let words = [&cut as &str, &address, "run the command again to resume the download"];
    fetch(&dir, "Log").fails(1, 3, &words);
    assert!(dir.read(PART) == packed()[..1000]);
    fetch(&dir, "Log").code(0).says_nothing();
    is_correct(&dir);
    assert_eq!(server.requests()[1], "/a/Log-1.swf.gz bytes=1000-");
}

fn restarts_if_the_server_cannot_resume() {
    let server = Server::start(&packed(), vec![Answer::Cut(1000), Answer::Cut(500), Answer::Whole]);
    let dir = folder(&server);
    fetch(&dir, "Log").code(1);
    fetch(&dir, "Log").code(1);
    assert!(dir.read(PART) == packed()[..500]);
    fetch(&dir, "Log").code(0);
    is_correct(&dir);
    assert_eq!(server.requests()[2], "/a/Log-1.swf.gz bytes=500-");
}

fn restarts_if_the_part_is_too_long() {
    let server = Server::start(&packed(), vec![Answer::Range, Answer::Range]);
    let dir = folder(&server).file(PART, [packed(), vec![0]].concat());
    fetch(&dir, "Log").code(0);
    is_correct(&dir);
    let range = format!("/a/Log-1.swf.gz bytes={}-", packed().len() + 1);
    assert_eq!(server.requests(), [&range, "/a/Log-1.swf.gz"]);
}

fn refuses_another_range() {
    let server = Server::start(&packed(), vec![Answer::RangeFrom(7)]);
    let dir = folder(&server).file(PART, &packed()[..100]);
    fetch(&dir, "Log").fails(1, 3, &["the server sends another part of the file"]);
    assert!(dir.read(PART) == packed()[..100]);
}

fn follows_redirections() {
    let moved = Answer::Status("302 Found", "Location: /b/elsewhere");
    let server = Server::start(&packed(), vec![moved, Answer::Range]);
    let dir = folder(&server).file(PART, &packed()[..100]);
    fetch(&dir, "Log").code(0);
    is_correct(&dir);
    assert_eq!(server.requests()[1], "/b/elsewhere bytes=100-");
}

fn reports_answers_other_than_the_file() {
    let absent = Answer::Status("404 Not Found", "X: y");
    let broken = Answer::Status("503 Service Unavailable", "X: y");
    let server = Server::start(&packed(), vec![absent, broken]);
    let dir = folder(&server);
    let words = ["/a/Log-1.swf.gz: the server answers 404 Not Found\n", FILE, "--from DIR"];
    fetch(&dir, "Log").fails(1, 2, &words);
    assert!(!dir.path("traces").exists());
    // A failed request keeps the part.
    let dir = dir.file(PART, &packed()[..100]);
    fetch(&dir, "Log").fails(1, 3, &["the server answers 503 Service Unavailable"]);
    assert!(dir.read(PART) == packed()[..100]);
}

fn reports_a_refused_connection() {
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let address = format!("http://{port}");
    let dir = Dir::with_program().file("list.toml", list(&address, &packed()));
    let words = [
        &format!("replay: Log-1: cannot fetch {address}/a/Log-1.swf.gz: Connection refused")
            as &str,
        &format!("download the address by other means to {FILE}, "),
        "copy the file from a folder with --from DIR",
    ];
    fetch(&dir, "Log").fails(1, 2, &words);
    assert!(!dir.path("traces").exists());
    let dir = dir.file(PART, &packed()[..100]);
    fetch(&dir, "Log").fails(1, 3, &["run the command again"]);
    assert!(dir.read(PART) == packed()[..100]);
}

fn gives_up_on_a_silent_server() {
    let server = Server::start(&packed(), vec![Answer::Stall(10)]);
    let dir = folder(&server);
    let words = ["failed after 10 bytes: the server sends nothing within --timeout", "again"];
    fetch(&dir, "Log --timeout 1").fails(1, 3, &words);
    assert!(dir.read(PART) == packed()[..10]);
}

fn verifies_a_complete_part_without_a_request() {
    let server = Server::start(&packed(), Vec::new());
    let dir = folder(&server).file(PART, packed());
    fetch(&dir, "Log").code(0).prints("Log-1: fetched and verified");
    is_correct(&dir);
    assert!(server.requests().is_empty());
}

fn keeps_existing_files() {
    let server = Server::start(&packed(), Vec::new());
    let dir = folder(&server).file(FILE, packed());
    let before = fs::metadata(dir.path(FILE)).expect("a file").ino();
    fetch(&dir, "Log").code(0).prints("already present and verified");
    assert_eq!(fs::metadata(dir.path(FILE)).expect("a file").ino(), before);
    // Neither a download nor a copy replaces another file.
    let dir = dir.file(FILE, "mine").file("from/Log-1.swf.gz", packed());
    for source in ["", "--from from", "--to traces --from from"] {
        let words = [&format!("{FILE}: SHA-256 is ") as &str, "is not replaced: move it away"];
        fetch(&dir, &format!("Log {source}")).fails(1, 2, &words);
        assert_eq!(dir.read(FILE), b"mine");
        assert_eq!(dir.files("traces"), ["Log-1.swf.gz"]);
    }
    assert!(server.requests().is_empty());
}

fn copies_from_a_folder() {
    let server = Server::start(&packed(), Vec::new());
    let dir = folder(&server).file("from/Log-1.swf.gz", packed());
    fetch(&dir, "Log --from from").code(0).prints("Log-1: fetched and verified");
    is_correct(&dir);
    assert!(dir.read("from/Log-1.swf.gz") == packed());
    // The named file is wrong, absent, or replaces the part of a download.
    let dir = folder(&server).file("from/Log-1.swf.gz", "other").file("empty/README", "");
    let words = ["Log-1: from/Log-1.swf.gz: SHA-256 is ", ", expected "];
    fetch(&dir, "Log --from from").fails(1, 2, &words);
    assert_eq!(dir.read("from/Log-1.swf.gz"), b"other");
    fetch(&dir, "Log --from empty").fails(1, 1, &["Log-1: no Log-1.swf.gz in empty"]);
    assert!(!dir.path("traces").exists());
    let dir = dir.file("from/Log-1.swf.gz", packed()).file(PART, [packed(), vec![1]].concat());
    fetch(&dir, "Log --from from").code(0);
    is_correct(&dir);
    assert!(server.requests().is_empty());
}

fn counts_records_without_a_digest() {
    let entries = [
        entry("Right-1", "http://127.0.0.1:9", "records = 2"),
        entry("Wrong-1", "http://127.0.0.1:9", "records = 3"),
        entry("Page-1", "http://127.0.0.1:9", "records = 2"),
        entry("Cut-1", "http://127.0.0.1:9", ""),
        entry("Unknown-1", "http://127.0.0.1:9", ""),
    ];
    let tiny = gzip(TINY.as_bytes());
    let dir = Dir::with_program().file("list.toml", entries.concat());
    let dir = ["Right-1", "Wrong-1", "Unknown-1"]
        .iter()
        .fold(dir, |dir, name| dir.file(&format!("from/{name}.swf.gz"), &tiny));
    let dir = dir.file("from/Page-1.swf.gz", "1 0 0 5 2\n2 1 0 5 2\n");
    let dir = dir.file("from/Cut-1.swf.gz", &tiny[..tiny.len() - 5]);
    let run = fetch(&dir, "--all --from from").code(1);
    let run = run.prints("Right-1: fetched and verified: ");
    let run = run.prints("Unknown-1: fetched and not verified (its SHA-256 and number of records");
    let run = run.says("replay: Wrong-1: from/Wrong-1.swf.gz: 2 records, expected 3\n");
    let run = run.says("replay: Page-1: from/Page-1.swf.gz: not a gzip file\n");
    run.says("replay: Cut-1: from/Cut-1.swf.gz: not a complete trace: ");
    assert_eq!(dir.files("traces"), ["Right-1.swf.gz", "Unknown-1.swf.gz"]);
}

fn interruption_leaves_the_part() {
    let server = Server::start(&packed(), vec![Answer::Stall(10), Answer::Range]);
    let dir = folder(&server);
    let child = dir.start("fetch --manifest list.toml Log");
    let begun = Instant::now();
    while fs::metadata(dir.path(PART)).map_or(0, |part| part.len()) < 10 {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing was written");
        thread::sleep(Duration::from_millis(10));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(killed.expect("kill").success());
    let output = child.wait_with_output().expect("it ends");
    Outcome::new("fetch", output).fails(130, 1, &["interrupted"]);
    assert!(dir.read(PART) == packed()[..10]);
    fetch(&dir, "Log").code(0);
    is_correct(&dir);
    assert_eq!(server.requests()[1], "/a/Log-1.swf.gz bytes=10-");
}

fn fetches_all() {
    let server = Server::start(&packed(), vec![Answer::Whole, Answer::Whole]);
    let second = list(&server.address, &packed()).replace("Log-1", "Log-2");
    let elsewhere = "[[trace]]\nname = \"Other\"\nprocs = 1\n".to_string();
    let all = [list(&server.address, &packed()), second, elsewhere].concat();
    let dir = Dir::with_program().file("list.toml", all);
    let run = fetch(&dir, "--all --to got").code(0).says_nothing();
    assert_eq!(run.stdout, "Log-1: fetched and verified\nLog-2: fetched and verified\n");
    assert_eq!(dir.files("got"), ["Log-1.swf.gz", "Log-2.swf.gz"]);
    fetch(&dir, "Other").fails(1, 1, &["Other: not in the archive", "--from DIR"]);
    // An alias selects the trace that is present.
    fs::remove_file(dir.path("got/Log-1.swf.gz")).expect("a file");
    fetch(&dir, "Log --to got").code(0).prints("Log-2: already present and verified\n");
}

fn never_writes_through_a_link() {
    let server = Server::start(&packed(), Vec::new());
    let dir = folder(&server).file("mine", "mine").file("traces/README", "");
    std::os::unix::fs::symlink("../mine", dir.path(PART)).expect("a link");
    fetch(&dir, "Log").fails(1, 1, &[&format!("{PART}: not a regular file; move it away")]);
    std::os::unix::fs::symlink("../absent", dir.path(FILE)).expect("a link");
    fetch(&dir, "Log").fails(1, 2, &["Log-1.swf.gz: not a regular file", "is not replaced"]);
    assert_eq!(dir.read("mine"), b"mine");
    assert!(!dir.path("absent").exists());
    assert!(server.requests().is_empty());
}

fn rejects_wrong_usage() {
    let server = Server::start(&packed(), Vec::new());
    let dir = folder(&server).file("empty/README", "").file("bad.toml", "[[trace]]\n");
    let dir = dir.file("up.toml", "[[trace]]\nname = \"../a\"\nprocs = 1\n").file("file", "");
    fetch(&dir, "").fails(2, 1, &["no trace named", "replay list traces", "--all"]);
    fetch(&dir, "Log Logg-1").fails(2, 2, &["unknown trace \"Logg-1\"; did you mean Log-1"]);
    fetch(&dir, "quarks").fails(2, 2, &["unknown trace \"quarks\"\n", "replay list traces"]);
    fetch(&dir, "Log --from nowhere").fails(2, 1, &["--from nowhere: no such directory"]);
    fetch(&dir, "--all --from empty").fails(2, 1, &["--from empty: no file of a known trace"]);
    fetch(&dir, "Log --to file/below").fails(
        1,
        1,
        &["file/below", "select another folder with --to"],
    );
    fetch(&dir, "Log --all").refused(&["--all"]);
    fetch(&dir, "Log --timeout 0").refused(&["--timeout"]);
    dir.replay("fetch Log --manifest bad.toml").code(2).says("--manifest bad.toml: cannot parse");
    dir.replay("fetch Log --manifest up.toml").fails(2, 1, &["\"../a\" is not the name of a file"]);
    dir.replay("fetch Log --manifest none.toml").fails(2, 1, &["--manifest none.toml: No such"]);
    assert!(!dir.path("traces").exists());
}

fn traces_of_the_program_need_no_download() {
    let dir = Dir::with_program();
    let run = dir.replay("fetch lublin").code(0).says_nothing();
    assert_eq!(run.stdout, "lublin-10x10: comes with the program\n");
    // Addresses and digests are built into the program.
    let dir = dir.file("from/KTH-SP2-1996-2.swf.gz", gzip(TINY.as_bytes()));
    let expected = "expected 07f87eefc377964b3755abd58c658462e4976dcb8a85656ae7eed0cedf6170f6";
    dir.replay("fetch kth --from from").fails(1, 2, &[expected]);
}
