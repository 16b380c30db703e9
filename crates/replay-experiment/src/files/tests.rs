use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::dir::faults;
use super::*;
use serde_json::json;

fn put(dir: &Path, file: &str, text: &str) {
    fs::create_dir_all(dir.join(file).parent().expect("a parent")).expect("a folder");
    fs::write(dir.join(file), text).expect("a file");
}

fn read(dir: &Path, file: &str) -> Option<String> {
    fs::read_to_string(dir.join(file)).ok()
}

fn claim(dir: &Path, force: bool) -> Result<Folder, FolderError> {
    Folder::claim(dir, "1 on a", force)
}

fn manifest(files: &[FileRecord]) -> Result<String, serde_json::Error> {
    Ok(json!({"program": "replay", "format": 1, "kind": "run", "files": files}).to_string())
}

/// Writes results. `files` contains the name and the text of each file.
fn results(dir: &Path, force: bool, files: &[(&str, &str)]) -> Result<(), FolderError> {
    let staging = claim(dir, force)?.stage()?;
    let write = |(name, text): &(&str, &str)| {
        put(staging.path(), name, text);
        staging.path().join(name)
    };
    let paths: Vec<PathBuf> = files.iter().map(write).collect();
    staging.commit(&paths, manifest).map(drop)
}

/// Returns the name and the text of each file of a directory, except the manifest. Links are not followed.
fn files_in(dir: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match fs::symlink_metadata(&path).expect("there").is_dir() {
                true => open.push(path),
                false => {
                    let name = path.strip_prefix(dir).expect("below").display().to_string();
                    let text = fs::read_to_string(&path).unwrap_or_default();
                    files.extend((name != MANIFEST).then_some((name, text)));
                }
            }
        }
    }
    files.sort();
    files
}

fn owned(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect()
}

const OLD: [(&str, &str); 3] =
    [("a.csv", "old"), ("plots/old.svg", "old"), ("plots/same.svg", "old")];
const NEW: [(&str, &str); 3] =
    [("a.csv", "new, longer"), ("plots/same.svg", "new"), ("tables/b.csv", "new")];

#[test]
fn results_replace_earlier_results() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path();
    results(dir, false, &OLD).expect("written");
    put(dir, "plots/own.svg", "the user's");
    results(dir, false, &NEW).expect("written");
    let mut expected = owned(&NEW);
    expected.push(("plots/own.svg".to_string(), "the user's".to_string()));
    expected.sort();
    assert_eq!(files_in(dir), expected);
    let folder = claim(dir, false).expect("claimed");
    assert_eq!(folder.earlier().map(|earlier| earlier.kind.as_str()), Some("run"));
    let names: Vec<_> = NEW.iter().map(|(name, _)| *name).collect();
    folder.check(&names).expect("they are ours");
}

#[test]
fn incomplete_results_change_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path();
    results(dir, false, &OLD).expect("written");
    let staging = claim(dir, false).and_then(Folder::stage).expect("begun");
    put(staging.path(), "a.csv", "half");
    drop(staging);
    assert_eq!(read(dir, "a.csv").as_deref(), Some("old"));
    assert_eq!(read(dir, "unfinished.part/new/a.csv").as_deref(), Some("half"));
    results(dir, false, &NEW).expect("written");
    assert_eq!(files_in(dir), owned(&NEW));
}

#[test]
fn files_of_other_programs_are_kept() {
    let manifests = [
        json!({"files": ["precious.txt"]}).to_string(),
        json!({"program": "other", "format": 1, "kind": "run", "files": []}).to_string(),
        json!({"program": "replay", "format": 99, "kind": "run", "files": []}).to_string(),
        json!({"program": "replay", "format": 1, "files": ["precious.txt"]}).to_string(),
        "my cargo: 12 crates".to_string(),
    ];
    for text in &manifests {
        let dir = tempfile::tempdir().expect("a folder");
        let dir = dir.path();
        put(dir, MANIFEST, text);
        put(dir, "precious.txt", "mine");
        for force in [false, true] {
            let error = results(dir, force, &NEW).expect_err("it is not ours");
            assert!(matches!(error, FolderError::Foreign(path) if path.ends_with(MANIFEST)));
        }
        assert_eq!(read(dir, MANIFEST).as_ref(), Some(text));
        assert_eq!(files_in(dir), owned(&[("precious.txt", "mine")]));
    }
    // A manifest entry is rejected if its path leads outside the directory or through a link.
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path();
    put(dir, "outside/x.csv", "mine");
    let outside = Dir::open(&dir.join("outside")).expect("a folder");
    let mut record = FileRecord::of(&outside, "x.csv").expect("read").expect("there");
    for name in ["../outside/x.csv", "link/x.csv", "x.csv"] {
        put(dir, "out/own.txt", "mine");
        let _ = symlink("../outside", dir.join("out/link"));
        let _ = symlink("../outside/x.csv", dir.join("out/x.csv"));
        record.name = name.to_string();
        put(&dir.join("out"), MANIFEST, &manifest(&[record.clone()]).expect("JSON"));
        assert!(results(&dir.join("out"), true, &[("a.csv", "new")]).is_err(), "{name}");
        assert_eq!(read(dir, "outside/x.csv").as_deref(), Some("mine"), "{name}");
        assert!(!dir.join("out/a.csv").exists(), "{name}");
    }
}

#[test]
fn unlisted_files_are_not_replaced() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path();
    put(dir, "a.csv", "mine");
    for force in [false, true] {
        let folder = claim(dir, force).expect("claimed");
        assert!(matches!(folder.check(&["a.csv"]), Err(FolderError::Foreign(_))));
        drop(folder);
        assert!(matches!(results(dir, force, &NEW), Err(FolderError::Foreign(_))));
        assert_eq!(read(dir, "a.csv").as_deref(), Some("mine"));
        assert!(!dir.join(MANIFEST).exists());
    }
    assert_eq!(read(dir, "unfinished.part/new/a.csv").as_deref(), Some("new, longer"));
}

#[test]
fn changed_files_are_not_replaced_without_force() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path();
    results(dir, false, &OLD).expect("written");
    put(dir, "a.csv", "my");
    put(dir, "plots/old.svg", "my");
    let folder = claim(dir, false).expect("claimed");
    let error = folder.check(&["a.csv"]).expect_err("it has changed");
    assert!(error.to_string().contains("replace it with --force"), "{error}");
    drop(folder);
    assert!(matches!(results(dir, false, &NEW), Err(FolderError::Changed(_))));
    assert_eq!(read(dir, "a.csv").as_deref(), Some("my"));
    assert_eq!(read(dir, "plots/same.svg").as_deref(), Some("old"));
    // If no new file replaces a changed file, the changed file is kept.
    results(dir, false, &NEW[1..]).expect("written");
    let mut expected = owned(&NEW[1..]);
    expected.extend(owned(&[("a.csv", "my"), ("plots/old.svg", "my")]));
    expected.sort();
    assert_eq!(files_in(dir), expected);
    // With --force, changed files that the manifest lists are replaced.
    results(dir, true, &NEW[1..]).expect("written");
    put(dir, "tables/b.csv", "my");
    results(dir, true, &NEW[1..]).expect("written");
    assert_eq!(read(dir, "tables/b.csv").as_deref(), Some("new"));
    // With --force, a new file can replace a changed file; a changed file that no new file replaces is kept.
    put(dir, "plots/same.svg", "my");
    results(dir, true, &NEW[2..]).expect("written");
    assert_eq!(read(dir, "plots/same.svg").as_deref(), Some("my"));
}

/// A process that this program starts holds the lock of a closed folder for a moment.
#[test]
fn a_lock_that_is_released_soon_is_awaited() {
    let folder = tempfile::tempdir().expect("a folder");
    let held = std::fs::File::open(folder.path()).expect("a folder");
    held.try_lock().expect("no other process has it");
    let holder = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        drop(held);
    });
    results(folder.path(), false, &NEW).expect("written");
    holder.join().expect("it ends");
}

#[test]
fn an_empty_new_directory_is_removed() {
    let dir = tempfile::tempdir().expect("a folder");
    let [new, full, old] = ["new", "full", "old"].map(|name| dir.path().join(name));
    std::fs::create_dir(&old).expect("a folder");
    for place in [&new, &full, &old] {
        let folder = claim(place, false).expect("claimed");
        if place == &full {
            put(place, "mine.txt", "keep");
        }
        drop(folder);
    }
    assert_eq!([new, full, old].map(|place| place.exists()), [false, true, true]);
}

#[test]
fn links_are_not_followed() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path();
    put(dir, "outside/plots/same.svg", "mine");
    put(dir, "outside/file", "mine");
    let begun = |name: &str, target: &str| {
        let out = dir.join("out");
        let _ = fs::remove_dir_all(&out);
        fs::create_dir(&out).expect("a folder");
        symlink(target, out.join(name)).expect("a link");
        results(&out, true, &NEW).map_err(|error| error.to_string())
    };
    // The links that are created here have the names of result files.
    for (name, target) in [
        ("lock", "../outside/file"),
        ("lock", "../outside/new"),
        ("plots", "../outside/plots"),
        ("unfinished.part", "../outside/plots"),
        (MANIFEST, "../outside/file"),
        ("a.csv", "../outside/file"),
    ] {
        let error = begun(name, target).expect_err(name);
        assert!(error.contains(name), "{name}: {error}");
    }
    // If a file with the temporary name exists, another temporary name is used.
    for name in ["manifest.json.part", "a.csv.part"] {
        begun(name, "../outside/file").expect(name);
    }
    assert_eq!(read(dir, "outside/plots/same.svg").as_deref(), Some("mine"));
    assert_eq!(read(dir, "outside/file").as_deref(), Some("mine"));
    assert_eq!(fs::read_dir(dir.join("outside")).expect("a folder").count(), 2);
    // The directory itself may be a link, because the user named it.
    fs::create_dir(dir.join("there")).expect("a folder");
    symlink("there", dir.join("here")).expect("a link");
    results(&dir.join("here"), false, &NEW).expect("written");
    assert_eq!(read(dir, "there/a.csv").as_deref(), Some("new, longer"));
}

/// A pipe without a writer must not block, and neither a pipe nor a directory is replaced.
#[test]
fn files_that_are_not_regular_are_kept() {
    for name in ["lock", MANIFEST, "unfinished.part", "a.csv", "plots", "plots/same.svg"] {
        for is_pipe in [true, false] {
            let dir = tempfile::tempdir().expect("a folder");
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            match is_pipe {
                true => {
                    let made = std::process::Command::new("mkfifo").arg(&path).status();
                    assert!(made.is_ok_and(|made| made.success()));
                }
                // A directory `plots` is not in the way.
                false if name == "plots" => continue,
                false => put(dir.path(), &format!("{name}/mine"), "mine"),
            }
            let error = results(dir.path(), true, &NEW).expect_err(name).to_string();
            assert!(error.contains(name), "{name}: {error}");
            assert!(fs::symlink_metadata(&path).is_ok_and(|kept| kept.is_dir() != is_pipe));
            assert!(is_pipe || read(&path, "mine").is_some(), "{name}");
            assert!(!dir.path().join("tables/b.csv").exists(), "{name}");
        }
    }
}

#[test]
fn a_foreign_directory_named_unfinished_is_kept() {
    let dir = tempfile::tempdir().expect("a folder");
    put(dir.path(), "unfinished.part/mine.txt", "mine");
    assert!(matches!(results(dir.path(), true, &NEW), Err(FolderError::Foreign(_))));
    assert_eq!(files_in(dir.path()), owned(&[("unfinished.part/mine.txt", "mine")]));
}

#[test]
fn a_directory_has_one_writer() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path();
    let open = || Dir::open(dir).expect("a folder");
    let held = DirLock::exclusive(open(), "1 on a").expect("the first");
    for rejected in [DirLock::exclusive(open(), "b").err(), DirLock::shared(open()).err()] {
        let message = rejected.expect("held").to_string();
        assert!(message.ends_with(" is in use by process 1 on a"), "{message}");
    }
    drop(held);
    let readers = [DirLock::shared(open()), DirLock::shared(open())];
    assert!(readers.iter().all(Result::is_ok));
    assert!(DirLock::exclusive(open(), "c").is_err());
    drop(readers);
    assert!(DirLock::exclusive(open(), "c").is_ok());
    assert_eq!(fs::read_dir(dir).expect("a folder").count(), 0);
    // A foreign lock file; lock files of this program are never empty.
    for text in ["my notes\n", ""] {
        put(dir, "lock", text);
        assert!(matches!(DirLock::exclusive(open(), "d"), Err(FolderError::Foreign(_))));
        assert_eq!(read(dir, "lock").as_deref(), Some(text));
    }
    // Lock file of a process that was killed.
    put(dir, "lock", "process 7 on b\n");
    drop(DirLock::exclusive(open(), "e").expect("free"));
    assert!(!dir.join("lock").exists());
}

/// One, several or all steps fail, beginning with an arbitrary step. In each case, either all results are replaced or
/// no result is replaced, and the next command completes the move.
#[test]
fn results_are_never_replaced_partially() {
    for failing in [1, 4, 1000] {
        let (mut old, mut new, mut recoveries) = (0, 0, 0);
        for step in 0.. {
            let dir = tempfile::tempdir().expect("a folder");
            let dir = dir.path();
            results(dir, false, &OLD).expect("written");
            faults::at(step..step + failing);
            let outcome = results(dir, false, &NEW);
            faults::at(0..0);
            let folder = claim(dir, false);
            let folder = folder.unwrap_or_else(|error| panic!("step {step}: {error}"));
            recoveries += u32::from(folder.has_recovered());
            let earlier = folder.earlier.as_ref().expect("a manifest");
            let all = |files: &[(&str, &str)]| {
                earlier.files.len() == files.len()
                    && files.iter().all(|(name, text)| read(dir, name).as_deref() == Some(text))
                    && earlier
                        .files
                        .iter()
                        .all(|f| f.is_unchanged(folder.dir()).ok() == Some(Some(true)))
            };
            let gone = |name: &str| !dir.join(name).exists();
            match (all(&OLD) && gone("tables/b.csv"), all(&NEW) && gone("plots/old.svg")) {
                (true, false) => old += 1,
                (false, true) => new += 1,
                _ => panic!("step {step} of {failing}: {:?}", files_in(dir)),
            }
            if outcome.is_ok() {
                assert!(all(&NEW), "step {step} of {failing}: done but not there");
            }
            // A failure of a single step either changes nothing or is repaired at once.
            if failing == 1 && outcome.is_err() {
                assert!(!folder.has_recovered(), "step {step}: not completed");
            }
            // Further results can be written.
            drop(folder);
            results(dir, false, &OLD[..1]).expect("written");
            assert_eq!(files_in(dir), owned(&OLD[..1]));
            if outcome.is_ok() && step > 50 {
                break;
            }
        }
        assert!(old > 5 && new > 5, "{failing}: {old} old, {new} new");
        assert!(recoveries > 3 || failing < 1000, "{failing}: {recoveries}");
    }
}

#[test]
fn foreign_files_created_during_a_move_are_kept() {
    // A process is killed during the move. After that, the user creates a file with the name of a result that has been
    // moved away.
    let killed = |step| {
        let dir = tempfile::tempdir().expect("a folder");
        results(dir.path(), false, &OLD).expect("written");
        faults::at(step..1000);
        let outcome = results(dir.path(), false, &NEW);
        faults::at(0..0);
        assert!(outcome.is_err(), "no step leaves the place empty");
        (!dir.path().join("a.csv").exists()).then_some(dir)
    };
    let dir = (0..).find_map(killed).expect("it was killed");
    let dir = dir.path();
    put(dir, "a.csv", "mine");
    let error = claim(dir, false).expect_err("a foreign file is in the way").to_string();
    for part in ["a.csv: the file was not written by replay", "the next command in this directory"]
    {
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(read(dir, "a.csv").as_deref(), Some("mine"));
    fs::rename(dir.join("a.csv"), dir.join("my.csv")).expect("moved away");
    drop(claim(dir, false).expect("completed"));
    assert_eq!(read(dir, "a.csv").as_deref(), Some("new, longer"));
    assert_eq!(read(dir, "my.csv").as_deref(), Some("mine"));
}

/// Version 0.1.0 moves old files to `unfinished.part/old` before it moves new files. A process of this version may have
/// been killed after any number of moves.
#[test]
fn moves_of_version_0_1_0_are_completed() {
    let names = |files: &[(&str, &str)]| {
        let names = files.iter().map(|(name, _)| name.to_string());
        names.chain([MANIFEST.to_string()]).collect::<Vec<_>>()
    };
    let (mut old, new) = (names(&OLD), names(&NEW));
    old.rotate_right(1);
    for done in 0..=old.len() + new.len() {
        let (dir, other) =
            (tempfile::tempdir().expect("one"), tempfile::tempdir().expect("another"));
        let dir = dir.path();
        results(dir, false, &OLD).expect("written");
        results(other.path(), false, &NEW).expect("written");
        let records = |dir: &Path, names: &[String]| {
            let dir = Dir::open(dir).expect("a folder");
            let record = |name: &String| FileRecord::of(&dir, name).expect("read").expect("there");
            names.iter().map(record).collect::<Vec<_>>()
        };
        let moving = json!({"new": records(other.path(), &new), "old": records(dir, &old)});
        let state = json!({"program": "replay", "format": 1, "state": {"moving": moving}});
        let part = dir.join("unfinished.part");
        put(&part, "state.json", &state.to_string());
        for name in &new {
            put(&part.join("new"), name, &read(other.path(), name).expect("text"));
        }
        let old = old.iter().map(|name| (dir.join(name), part.join("old").join(name)));
        let new = new.iter().map(|name| (part.join("new").join(name), dir.join(name)));
        for (from, to) in old.chain(new).take(done) {
            fs::create_dir_all(to.parent().expect("a parent")).expect("a folder");
            fs::rename(from, to).expect("moved");
        }
        assert!(claim(dir, false).expect("claimed").has_recovered(), "{done}");
        assert_eq!(files_in(dir), owned(&NEW), "{done}");
    }
}

/// A process that is killed while it writes a file leaves a part of the file under a temporary name. The next writer of
/// the same file removes this temporary file, but no other file.
#[test]
fn the_next_write_removes_an_incomplete_temporary_file() {
    let held = tempfile::tempdir().expect("a folder");
    let dir = Dir::create(held.path()).expect("a folder");
    for (name, left, stays) in [
        ("plan.json.replay-1-0.part", "{\"pl", false),
        ("plan.json.replay-1-0.part", "", false),
        ("plan.json.part", "mine", true),
        ("plan.json.part", "", true),
        ("other.json.replay-1-0.part", "", true),
    ] {
        put(held.path(), name, left);
        dir.put("plan.json", b"{\"plan\": 1}\n").expect("it is written");
        assert_eq!(read(held.path(), "plan.json").as_deref(), Some("{\"plan\": 1}\n"));
        assert_eq!(read(held.path(), name).as_deref(), stays.then_some(left), "{name}: {left:?}");
    }
}
