//! Figures: their size and text, their names, and what is written in them.

use std::collections::BTreeSet;

use super::dir::Dir;

trials!(
    sizes_hold_in_every_format,
    wrong_sizes_are_refused,
    every_command_that_draws_has_the_options,
    names_do_not_depend_on_what_else_is_there,
    strategies_beyond_twelve_are_counted,
    markup_of_a_trace_is_text,
    bars_have_dates,
);

fn text(dir: &Dir, file: &str) -> String {
    String::from_utf8(dir.read(file)).expect("text")
}

/// Four bytes of a PNG as a number.
fn number(bytes: &[u8], at: usize) -> f64 {
    f64::from(u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes")))
}

fn sizes_hold_in_every_format() {
    let dir = Dir::with_trace();
    let run = "--jobs 200 --alloc mc1x1,mm --tie none --tie 2,13,20,6 -q";
    let stem = "improvement-by-size--lublin-10x10--10x10--fcfs--mc1x1-2-13-20-6";
    dir.replay(&format!("{run} --out a --figure-size 85x60mm --font-size 8")).code(0);
    dir.replay(&format!("{run} --out b --figure-size 8.5x6cm --no-title")).code(0);
    let file = |out: &str, end: &str| format!("{out}/plots/{stem}.{end}");
    let svg = text(&dir, &file("a", "svg"));
    // With all of its title it needs more height.
    assert!(svg.starts_with("<svg width=\"85mm\" height=\""), "{}", &svg[..100]);
    // 8 pt where the page is 240.94 pt wide.
    let view: f64 = svg
        .split("viewBox=\"0 0 ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next())
        .expect("a view")
        .parse()
        .expect("a number");
    let tick =
        svg.split("font-size=\"").filter_map(|rest| rest.split('"').next()?.parse::<f64>().ok());
    let least = tick.fold(f64::INFINITY, f64::min) * 85.0 / 25.4 * 72.0 / view;
    assert!((least - 8.0).abs() < 0.05, "{least} pt");
    // A PDF of this page, and a PNG of its size on paper, of 600 dots per inch about.
    let pdf = dir.read(&file("b", "pdf"));
    let media = String::from_utf8_lossy(&pdf);
    let media = media.split("/MediaBox [0 0 ").nth(1).and_then(|rest| rest.split(']').next());
    let sides: Vec<f64> =
        media.expect("a page").split(' ').map(|side| side.parse().expect("a number")).collect();
    assert!((sides[0] - 240.945).abs() < 0.01 && (sides[1] - 170.079).abs() < 0.01, "{sides:?}");
    let png = dir.read(&file("a", "png"));
    let at = png.windows(4).position(|four| four == b"pHYs").expect("dots per metre");
    let [wide, per_metre] = [number(&png, 16), number(&png, at + 4)];
    assert!((wide / per_metre - 0.085).abs() < 0.0005, "{wide} {per_metre}");
    assert!(per_metre * 0.0254 > 300.0);
    // The same size in another unit, without titles.
    let plain = text(&dir, &file("b", "svg"));
    assert!(plain.starts_with("<svg width=\"85mm\" height=\"60mm\""));
    let words = ["Improvement by job size", "over all jobs"];
    assert!(words.iter().all(|words| svg.contains(words)));
    assert!(words.iter().all(|words| !plain.contains(words)));
    assert!(plain.contains("closer together"), "the legend stays");
    // Without the options a page is 1000 wide.
    dir.replay(&format!("{run} --out c")).code(0);
    assert!(text(&dir, &file("c", "svg")).starts_with("<svg width=\"1000\" height=\"620\""));
}

fn wrong_sizes_are_refused() {
    let dir = Dir::with_trace();
    for (options, words) in [
        ("--figure-size 85", "85x60mm"),
        ("--figure-size 85x60", "85x60mm"),
        ("--figure-size 85x60px", "85x60mm"),
        ("--figure-size 0x60mm", "10 to 600 mm"),
        ("--figure-size 85xNaNmm", "10 to 600 mm"),
        ("--font-size 0", "from 4 to 36"),
        ("--font-size big", "from 4 to 36"),
        ("--figure-size 40x40mm --font-size 12", "which needs 95 mm"),
        ("--figure-strategies 0", "figure-strategies"),
    ] {
        let failed = dir.replay(&format!("--jobs 9 --out out -q {options}")).code(2);
        failed.says(words);
        assert!(!dir.path("out/runs.csv").exists(), "{options}");
    }
    for option in ["--figure-size 85x60mm", "--font-size 8", "--no-title", "--figure-strategies 3"]
    {
        dir.replay(&format!("--jobs 9 {option}")).refused(&["--out <DIR>"]);
    }
    dir.replay("verify turner --no-title").code(2).says("--out <DIR>");
}

fn every_command_that_draws_has_the_options() {
    let dir = Dir::with_trace();
    let style = "--figure-size 85x60mm --font-size 8 --no-title -q";
    for command in [
        "--jobs 60 --alloc mc1x1,mm",
        "search --jobs 60 --sr 1 --factors 0..1",
        "stream --machine 4x4 --arrivals 1,2 --jobs 5 --alloc mbs --max-replications 30",
        "contend --jobs 20 --scale 0.05 --alloc mbs",
        "show --jobs 60 --job 50",
        "show --jobs 60 --job 50 --candidates",
        "show --jobs 60 --gantt 0..9000",
        "show --jobs 60 --film 0..9000",
    ] {
        dir.replay(&format!("{command} {style} --out out --force")).code(0);
        let drawn = dir.files("out/plots");
        let svgs: Vec<&String> = drawn.iter().filter(|file| file.ends_with(".svg")).collect();
        assert!(!svgs.is_empty(), "{command}");
        for svg in svgs {
            let begin = text(&dir, &format!("out/plots/{svg}"));
            let begin = begin.split('>').next().expect("a tag");
            assert!(
                begin.contains("width=\"85mm\"") || begin.contains("width=\"85.00mm\""),
                "{command} {svg}: {begin}"
            );
        }
    }
    dir.replay("--jobs 60 --sched fcfs,easy --no-plots -q --out runs").code(0);
    dir.replay("compare runs:0 runs:4 --schedule --out drawn --no-title --figure-size 85x60mm")
        .code(0);
    assert!(dir.files("drawn").iter().any(|file| file.ends_with(".svg")));
}

/// The figure of a run is called the same, whatever else ran.
fn names_do_not_depend_on_what_else_is_there() {
    let dir = Dir::with_trace();
    let names = |options: &str, out: &str| -> BTreeSet<String> {
        dir.replay(&format!("{options} --jobs 60 --out {out} -q")).code(0);
        let stem = |file: String| file.split_once(".svg").map(|(stem, _)| stem.to_string());
        dir.files(&format!("{out}/plots")).into_iter().filter_map(stem).collect()
    };
    let grid = "--alloc random,mc1x1 --tie none --tie 2,13,20,6 --sched easy";
    let alone = names(grid, "alone");
    assert!(alone.contains("load--lublin-10x10--10x10--easy--random"), "{alone:?}");
    for (more, out) in [
        (format!("{grid},fcfs --seed 0,7"), "seeds"),
        (format!("{grid} --machine 10x10,torus:10x10"), "machines"),
    ] {
        let all = names(&more, out);
        let missing: Vec<_> = alone.difference(&all).collect();
        assert!(missing.is_empty(), "{missing:?} of {all:?}");
    }
    let policy = names(&format!("{grid} --policy pwa"), "policy");
    assert!(policy.contains("strategies--lublin-10x10--10x10--easy--pwa"), "{policy:?}");
    let contend = "contend --scale 0.05 --alloc mbs";
    let alone = names(contend, "one");
    let all = names(&format!("{contend} --machine 10x10,torus:10x10 --seed 0,3"), "two");
    assert!(alone.is_subset(&all), "{alone:?} {all:?}");
}

fn strategies_beyond_twelve_are_counted() {
    let dir = Dir::with_trace();
    let bars = "strategies--lublin-10x10--10x10--easy";
    let rows = |out: &str| text(&dir, &format!("{out}/plots/{bars}.csv")).lines().count() - 1;
    let run = "--jobs 60 --sched easy --alloc all -q --no-jobs";
    dir.replay(&format!("{run} --out usual")).code(0);
    assert_eq!(rows("usual"), 12);
    let runs = text(&dir, "usual/runs.csv").lines().count() - 1;
    dir.replay(&format!("{run} --out all --figure-strategies 500")).code(0);
    // Strategies that fold jobs have no bar of distance.
    let comparable = rows("all");
    assert!((13..runs).contains(&comparable), "{comparable} of {runs}");
    for (figure, all) in [(bars, comparable), ("comparison--lublin-10x10--10x10--easy", runs)] {
        let svg = text(&dir, &format!("usual/plots/{figure}.svg"));
        let said = format!("{} more strategies are not shown", all - 12);
        assert!(svg.contains(&said), "{figure}: {said}");
        assert!(!svg.contains("and 3 others"));
        // Those that fold jobs are the last: where none is drawn, none is counted.
        let is_last = figure != bars;
        assert!(!(is_last && svg.contains("jobs are folded")), "{figure}");
    }
    let all = text(&dir, "all/plots/comparison--lublin-10x10--10x10--easy.svg");
    assert!(all.contains(&format!("jobs are folded: {} strategies", runs - comparable)));
}

/// What a trace, its header or its file is called is never markup in a figure.
fn markup_of_a_trace_is_text() {
    let log = "; Computer: <script>alert(1)</script> & \"x\"\n; Note: <b onload='y'>\n; UnixStartTime: 843436800\n\
               ; MaxProcs: 16\n1 0 0 100 4 -1 -1 4 200 -1 1 1 1 1 1 1\n2 5 0 100 8 -1 -1 8 200 -1 1 1 1 1 1 1\n\
               3 9 0 100 8 -1 -1 8 200 -1 1 1 1 1 1 1\n4 12 0 60 8 -1 -1 8 200 -1 1 1 1 1 1 1\n";
    let name = "<script>&\"'x";
    let dir = Dir::new().file(&format!("{name}.swf"), log);
    for command in [
        "--alloc mc1x1,mm --tie none --tie 2,13,20,6 --ties",
        "contend --scale 0.1 --alloc mbs",
        "show --job 2",
        "show --job 2 --candidates",
        "show --gantt 0..200",
        "show --film 0..200",
    ] {
        dir.replay(&format!("{command} --trace {name}.swf -q --force --out out")).code(0);
        let drawn = dir.files("out/plots");
        let svgs: Vec<&String> = drawn.iter().filter(|file| file.ends_with(".svg")).collect();
        assert!(!svgs.is_empty(), "{command}");
        let mut named = false;
        for file in svgs {
            let svg = text(&dir, &format!("out/plots/{file}"));
            assert!(!svg.contains("<script") && !svg.contains("<b "), "{command} {file}");
            assert!(!file.contains(['<', '&', '"', '\'']), "{file}");
            named |= svg.contains("&lt;script&gt;&amp;");
        }
        assert!(named, "{command} names the trace");
    }
}

fn bars_have_dates() {
    let log = "; UnixStartTime: 843436800\n; MaxProcs: 16\n1 0 -1 90000 4\n2 86400 -1 9000 8\n";
    let dir = Dir::new().file("a.swf", log).file("b.swf", log.split_once('\n').expect("lines").1);
    dir.replay("show --trace a.swf --gantt 0..86400 -q --out a").code(0);
    dir.replay("show --trace b.swf --gantt 0..86400 -q --out b").code(0);
    // A window beyond the run ends with it, and has dates.
    dir.replay("show --trace a.swf --gantt 0..9999999999 -q --out c").code(0);
    let cut = text(&dir, "c/plots/gantt.svg");
    assert!(cut.contains("from 0 s to 95,400 s") && cut.contains("from 1996-09-23"), "{cut}");
    let [dated, plain] = ["a", "b"].map(|out| text(&dir, &format!("{out}/plots/gantt.svg")));
    assert!(dated.contains("09-23 12:00") && dated.contains("from 1996-09-23"), "{dated}");
    assert!(plain.contains("Time of the trace (h)") && !plain.contains("1996"), "{plain}");
}
