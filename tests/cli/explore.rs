//! `replay explore`: one page of HTML to look into runs.

use super::dir::Dir;

trials!(
    page_is_one_file_without_requests,
    folders_give_the_page_of_their_options,
    threads_do_not_change_the_page,
    a_job_has_fewer_than_twelve_bytes_without_placements,
    refuses_what_a_page_cannot_show,
    replaces_only_pages,
    machines_of_files_are_read_again,
    names_do_not_end_the_script,
    outages_are_columns,
);

fn page(dir: &Dir, name: &str) -> String {
    String::from_utf8(dir.read(name)).expect("UTF-8")
}

/// Returns the base64 text of the columns.
fn data(page: &str) -> &str {
    let (_, rest) = page.split_once("id=\"data\">").expect("data");
    rest.split_once('<').expect("an end").0
}

/// Returns the description of the runs and of the columns.
fn header(page: &str) -> serde_json::Value {
    let (_, rest) = page.split_once("id=\"header\">").expect("a header");
    serde_json::from_str(rest.split_once("</script>").expect("an end").0).expect("JSON")
}

fn page_is_one_file_without_requests() {
    let dir = Dir::with_trace();
    let run = dir.replay("explore --jobs 300 --sched fcfs,easy --explain 250");
    run.code(0).says("explore.html: 2 runs, ");
    let page = page(&dir, "explore.html");
    assert!(page.starts_with("<!DOCTYPE html>\n"));
    for request in ["src=\"", "http://", "https://", "@import", "url("] {
        assert!(!page.contains(request), "{request}");
    }
    let header = header(&page);
    assert_eq!(header["jobs"], 300);
    assert_eq!(header["runs"].as_array().map(Vec::len), Some(2));
    let metrics = header["runs"][0]["metrics"].as_array().expect("metrics");
    assert!(metrics.iter().any(|metric| metric[0] == "mean_wait"));
    let steps = header["runs"][1]["explained"]["250"].as_array().expect("steps");
    assert!(steps.iter().any(|step| step[0] == "scheduler"));
}

fn folders_give_the_page_of_their_options() {
    let dir = Dir::with_trace();
    let grid = "--jobs 300 --sched easy --alloc mc1x1,first-fit";
    dir.replay(&format!("{grid} --placements --no-plots --out out -q")).code(0);
    dir.replay("explore out -q --write folder.html").code(0).says_nothing();
    dir.replay(&format!("explore {grid} -q --write options.html")).code(0);
    let [folder, options] = ["folder.html", "options.html"].map(|name| page(&dir, name));
    assert_eq!(data(&folder), data(&options));
    // Each run of two folders, and one run of a folder.
    dir.replay(&format!("{grid} --no-plots --out other -q")).code(0);
    dir.replay("explore out other --write both.html").code(0).says("both.html: 4 runs, ");
    dir.replay("explore out --run 1 --write one.html").code(0).says("one.html: 1 run, ");
    assert_eq!(header(&page(&dir, "one.html"))["runs"][0]["allocator"], "first-fit");
    let placements =
        |run: usize| header(&page(&dir, "both.html"))["runs"][run]["placements"].clone();
    assert_eq!([placements(0), placements(2)], [true, false]);
}

fn threads_do_not_change_the_page() {
    let dir = Dir::with_trace();
    for threads in ["1", "4"] {
        let options = "explore --jobs 300 --sched fcfs,easy -q";
        dir.replay(&format!("{options} --threads {threads} --write {threads}.html")).code(0);
    }
    assert_eq!(dir.read("1.html"), dir.read("4.html"));
}

fn a_job_has_fewer_than_twelve_bytes_without_placements() {
    let dir = Dir::with_trace();
    dir.replay("explore --sched easy --no-placements -q --write page.html").code(0);
    let page = page(&dir, "page.html");
    let bytes = data(&page).len() as f64 / 5000.0;
    assert!(bytes < 12.0, "{bytes} bytes a job");
    assert_eq!(header(&page)["runs"][0]["placements"], false);
}

fn refuses_what_a_page_cannot_show() {
    let dir = Dir::with_trace().file("two.swf", "; MaxProcs: 4\n1 0 0 5 2\n2 1 0 5 2\n");
    dir.replay("--jobs 100 --alloc mc1x1 --no-jobs --no-plots --out bare -q").code(0);
    dir.replay("explore bare").code(3).says("bare: has no table of jobs").says("--no-jobs");
    dir.replay("--jobs 100 --alloc mc1x1 --no-plots --out one -q").code(0);
    dir.replay("--jobs 101 --alloc mc1x1 --no-plots --out longer -q").code(0);
    dir.replay("--trace two.swf --alloc mc1x1 --no-plots --out two -q").code(0);
    for other in ["longer", "two"] {
        let words = format!("{other}: run 0 replays");
        dir.replay(&format!("explore one {other}")).code(3).says(&words).says("runs of one trace");
    }
    dir.replay("explore absent").code(3).says("absent");
    dir.replay("explore one --run 7").code(2).says("--run 7: no folder has this run");
    dir.replay("explore one --sched easy").code(2).says("cannot be used with");
    dir.replay("explore one --explain 3").code(2).says("cannot be used with");
    let many = "explore --jobs 10 --sched fcfs,easy --alloc mc1x1,mm,random";
    dir.replay(many).code(2).says("at most 4 runs; the options give 6 runs");
    dir.replay("explore --trace two.swf --trace lublin-10x10 --jobs 2").code(2).says("one trace");
    dir.replay("explore --jobs 10 --explain 99").code(2).says("--job 99");
    assert!(!dir.path("explore.html").exists());
}

fn replaces_only_pages() {
    let dir = Dir::with_trace().file("notes.txt", "mine").file("explore.html", "<!DOCTYPE html>\n");
    dir.replay("explore --jobs 10").code(2).says("explore.html: was not written by replay");
    dir.replay("explore --jobs 10 --write notes.txt").code(2).says("is not a page of HTML");
    dir.replay("explore --jobs 10 --write explore.html -q").code(0);
    dir.replay("explore --jobs 10 -q").code(0);
}

fn machines_of_files_are_read_again() {
    let conf = "SwitchName=a Nodes=n[0-3]\nSwitchName=b Nodes=n[4-7]\nSwitchName=r Switches=a,b\n";
    let trace = "; MaxProcs: 8\n1 0 0 5 6\n2 1 0 5 2\n";
    let dir = Dir::new().file("two.swf", trace).file("t.conf", conf);
    let grid = "--trace two.swf --machine t.conf --alloc slurm-tree -q";
    dir.replay(&format!("{grid} --placements --no-plots --out out")).code(0);
    dir.replay("explore out -q --write folder.html").code(0);
    dir.replay(&format!("explore {grid} --write options.html")).code(0);
    let [folder, options] = ["folder.html", "options.html"].map(|name| page(&dir, name));
    assert_eq!(data(&folder), data(&options));
    assert_eq!(header(&folder)["machine"]["groups"], serde_json::json!([[0, "a"], [4, "b"]]));
    std::fs::remove_file(dir.path("t.conf")).expect("removed");
    dir.replay("explore out -q").code(3).says("the machine of out: ").says("t.conf");
}

fn names_do_not_end_the_script() {
    let name = "a<script>&\"'\u{202e}b";
    let dir = Dir::new().file(&format!("{name}.swf"), "; MaxProcs: 4\n1 0 0 5 2\n2 1 0 5 2\n");
    dir.replay(&format!("explore --trace {name}.swf -q --write page.html")).code(0);
    let page = page(&dir, "page.html");
    assert_eq!(header(&page)["trace"], name);
    assert_eq!(page.matches("<script").count(), 3);
    assert!(page.contains("<title>a&lt;script&gt;&amp;&quot;"));
}

fn outages_are_columns() {
    let dir =
        Dir::with_trace().file("down.csv", "from,until,what\n9000,,node 5-9\n100,2000,node 3\n");
    let grid = "--jobs 200 --alloc mc1x1 --down down.csv -q";
    dir.replay(&format!("explore {grid} --write options.html")).code(0);
    dir.replay(&format!("{grid} --placements --no-plots --out out")).code(0);
    dir.replay("explore out --write folder.html").code(0);
    let [options, folder] = ["options.html", "folder.html"].map(|name| page(&dir, name));
    assert_eq!(data(&options), data(&folder));
    let lengths = |page: &str, name: &str| {
        let columns = header(page)["columns"].as_array().cloned().expect("columns");
        columns.iter().find(|one| one["name"] == name).map(|one| one["length"].as_u64())
    };
    assert_eq!(lengths(&options, "0.down_from"), Some(Some(2)));
    assert_eq!(lengths(&options, "0.down_counts"), Some(Some(2)));
    // The page without the file states that the outages are not known, and so does a warning.
    let dir = dir.file("down.csv", "from,until,what\n9000,,node 5-8\n");
    dir.replay("explore out --write changed.html")
        .code(0)
        .says("down.csv has changed since the runs");
    let changed = page(&dir, "changed.html");
    assert_eq!(header(&changed)["runs"][0]["outages_known"], false);
    assert_eq!(lengths(&changed, "0.down_from"), None);
}
