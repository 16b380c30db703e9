//! `replay report`: output directories as one HTML page.

use super::dir::Dir;

trials!(
    page_contains_all_results,
    links_to_the_page_of_explore,
    escapes_markup_in_names,
    verdict_has_an_interval,
    rejects_other_files,
    answers_with_a_title_and_a_link,
    rejects_folders_of_different_traces,
);

fn page_contains_all_results() {
    let dir = Dir::with_trace();
    dir.replay("--jobs 200 --alloc mc1x1,random --sched fcfs,easy --out out -q").code(0);
    dir.replay("stream --machine 8x8 --arrivals 1,4 --jobs 50 --alloc mbs,paging --min-replications 3 --max-replications 3 --out streams -q")
        .code(0);
    dir.replay("verify scheduling --write checks.csv -q").code(0);
    let run = dir.replay("report out streams checks.csv --write page.html").code(0);
    run.says("page.html: ");
    let page = String::from_utf8(dir.read("page.html")).expect("UTF-8");
    for text in [
        "lublin-10x10 on 10x10: 200 jobs kept of 5,000 records",
        "jobs are closest together under mc1x1",
        "turnaround is shortest under",
        "published numbers:",
        "mean pairwise l1 (hops)",
        "utilization (%)",
        "Student's t for the logarithm of the ratio over weeks of submission",
        "Waits and turnarounds are the same under all 2",
    ] {
        assert!(page.contains(text), "{text}");
    }
    // The page contains every figure of both directories and no external resources.
    let svg =
        |folder: &str| dir.files(folder).into_iter().filter(|name| name.ends_with(".svg")).count();
    let figures = svg("out/plots") + svg("streams/plots");
    assert!(figures > 3 && page.matches("<figure>").count() >= figures);
    assert!(
        !page.contains("src=\"http") && !page.contains("href=\"http") && page.len() < 3_000_000
    );
    // Equal directories give an equal page.
    dir.replay("report out streams checks.csv --write again.html -q").code(0).says_nothing();
    assert_eq!(dir.read("again.html"), dir.read("page.html"));
}

/// Markup in names of traces, folders and users, in trace headers and in check tables is escaped.
fn links_to_the_page_of_explore() {
    let dir = Dir::with_trace();
    let report = |folder: &str, page: &str| {
        dir.replay(&format!("report {folder} --write {page}")).code(0);
        String::from_utf8(dir.read(page)).expect("UTF-8")
    };
    dir.replay("--jobs 100 --alloc mbs --no-plots --out out/a#1 -q").code(0);
    let text = report("out/a#1", "page.html");
    assert!(
        text.contains("<code>replay explore 'out/a#1' --write 'out/a#1/explore.html'</code>"),
        "{text}"
    );
    assert!(!text.contains("Look into the runs"));
    dir.replay("explore out/a#1 --write out/a#1/explore.html -q").code(0);
    for (page, address) in [
        ("page.html", "out/a%231/explore.html"),
        ("pages/new/page.html", "../../out/a%231/explore.html"),
        ("out/a#1/page.html", "explore.html"),
    ] {
        let text = report("out/a#1", page);
        assert!(text.contains(&format!("<a href=\"{address}\">Look into the runs</a>")), "{text}");
    }
    // Without a table of jobs there is nothing to look into.
    dir.replay("--jobs 100 --alloc mbs --no-jobs --no-plots --out none -q").code(0);
    assert!(!report("none", "page.html").contains("explore"));
}

fn escapes_markup_in_names() {
    let trace = "; MaxProcs: 4\n; Computer: <i>odd</i>\n; User: 1 <b>ann</b>\n\
                 1 0 0 5 2 -1 -1 2 9 -1 1 1 1 1 1\n2 1 0 5 2 -1 -1 2 9 -1 1 1 1 1 1\n";
    let checks = "figure,published,ours,verdict\n<i>one</i>,1,1,<i>same</i>\n";
    let dir = Dir::new().file("a<script>&\"'b.swf", trace).file("<u>.csv", checks);
    dir.replay("--trace a<script>&\"'b.swf --alloc mc1x1,random --out o<u>t -q").code(0);
    dir.replay("report o<u>t <u>.csv --write page.html -q").code(0);
    let page = String::from_utf8(dir.read("page.html")).expect("UTF-8");
    for text in [
        "a&lt;script&gt;&amp;&quot;'b on ",
        "o&lt;u&gt;t",
        "&lt;u&gt;.csv",
        "&lt;i&gt;same&lt;/i&gt;",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert_eq!(page.matches("<script>").count(), 1);
    for tag in ["<i>", "<u>", "<b>"] {
        assert!(!page.contains(tag), "{tag}");
    }
}

/// The verdict equals that of `compare`; without a table of jobs, the page has no interval.
fn verdict_has_an_interval() {
    let dir = Dir::with_trace();
    let run = "--jobs 2500 --alloc mc1x1,random,hilbert-first-fit -q";
    dir.replay(&format!("{run} --out out")).code(0);
    dir.replay("report out --write page.html -q").code(0);
    let page = String::from_utf8(dir.read("page.html")).expect("UTF-8");
    let mut verdicts = page.split("<p class=\"verdict\">");
    let verdict = verdicts.find(|text| text.contains("closest together")).expect("a verdict");
    let verdict = verdict.split("</p>").next().unwrap_or_default();
    let compared = dir.replay("compare out:2 out:0 --measure pairwise_l1 --format json").code(0);
    let compared = &compared.objects()[0];
    let percent = |name: &str| format!("{:.2}", -compared[name].as_f64().expect("a number"));
    let interval = [percent("change_high_percent"), percent("change_low_percent")];
    let text = format!(
        "{} % less (95 %: {} to {}) than under hilbert-first-fit",
        percent("change_percent"),
        interval[0],
        interval[1]
    );
    assert!(verdict.contains(&text), "{text}: {verdict}");
    dir.replay(&format!("{run} --no-jobs --out short")).code(0);
    dir.replay("report short --write short.html -q").code(0);
    let page = String::from_utf8(dir.read("short.html")).expect("UTF-8");
    assert!(page.contains("no interval, because the directory has no jobs.parquet"));
}

fn rejects_other_files() {
    let dir = Dir::new()
        .file("other.csv", "a,b\n1,2\n")
        .file("folder/manifest.json", "{\"program\": \"other\"}")
        .file("broken/manifest.json", "{")
        .file("empty/readme", "");
    dir.replay("report").code(2).says("DIR|FILE.csv");
    dir.replay("report absent").code(3).says("absent: no such file: name a directory");
    dir.replay("report other.csv").code(3).says("other.csv: is neither a folder of results");
    dir.replay("report folder").code(3).says("manifest.json: not a manifest of replay");
    dir.replay("report broken").code(3).says("broken/manifest.json: not a manifest of replay");
    dir.replay("report empty").code(3).says("empty/manifest.json: no such file; name a directory");
    dir.replay("report folder --write other.csv")
        .code(2)
        .says("other.csv: exists and is not a page");
    assert_eq!(dir.read("other.csv"), b"a,b\n1,2\n");
    assert!(!dir.files("").contains(&"report.html".to_string()));
}

fn answers_with_a_title_and_a_link() {
    let dir = Dir::new();
    dir.replay("--jobs 200 --alloc mc1x1,random --sched fcfs,easy --out out -q").code(0);
    dir.replay("explore out --write out/explore.html -q").code(0);
    dir.replay("report out --title A<b> --author A.<i>Miller --write out/page.html -q").code(0);
    let page = String::from_utf8(dir.read("out/page.html")).expect("UTF-8");
    for text in [
        "<h1>A&lt;b&gt;</h1><p class=\"author\">A.&lt;i&gt;Miller</p>",
        "Compared: 2 strategies (mc1x1, random) under 2 schedulers (fcfs, easy) on 1 trace",
        "EASY: wait -",
        "Paid for it: ",
        "<th scope=\"col\" class=\"number\">wait (s)</th>",
        "<a href=\"explore.html\">",
        "function compileFilter(",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

fn rejects_folders_of_different_traces() {
    let job = "1 0 0 5 2 -1 -1 2 9 -1 1 1 1 1 1\n";
    let dir = Dir::new().file("a.swf", job).file("b.swf", job);
    for name in ["a", "b"] {
        let run = format!(
            "--trace {name}.swf --machine 2x2 --alloc mc1x1 --out out-{name} -q --no-plots"
        );
        dir.replay(&run).code(0);
    }
    let words = ["out-a has results of a", "out-b has results of b", "a page for each folder"];
    dir.replay("report out-a out-b --write page.html").fails(2, 1, &words);
    dir.replay("report out-a out-a --write page.html -q").code(0);
}
