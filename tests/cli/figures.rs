//! Figures: size, font size, file names and text.

use std::collections::BTreeSet;

use super::dir::Dir;

trials!(
    sizes_apply_to_all_formats,
    rejects_bad_sizes,
    options_apply_to_every_command_with_figures,
    file_names_do_not_depend_on_other_runs,
    figures_count_strategies_beyond_twelve,
    escapes_markup_in_traces,
    gantt_charts_have_dates,
);

fn text(dir: &Dir, file: &str) -> String {
    String::from_utf8(dir.read(file)).expect("text")
}

/// Returns the big-endian number in four bytes of a PNG.
fn number(bytes: &[u8], at: usize) -> f64 {
    f64::from(u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes")))
}

fn sizes_apply_to_all_formats() {
    let dir = Dir::with_trace();
    let run = "--jobs 200 --alloc mc1x1,mm --tie none --tie 2,13,20,6 -q";
    let stem = "improvement-by-size--lublin-10x10--10x10--fcfs--mc1x1-2-13-20-6";
    dir.replay(&format!("{run} --out a --figure-size 85x60mm --font-size 8")).code(0);
    dir.replay(&format!("{run} --out b --figure-size 8.5x6cm --no-title")).code(0);
    let file = |out: &str, end: &str| format!("{out}/plots/{stem}.{end}");
    let svg = text(&dir, &file("a", "svg"));
    // The title increases the height.
    assert!(svg.starts_with("<svg width=\"85mm\" height=\""), "{}", &svg[..100]);
    // The page is 240.94 pt wide; the smallest text is 8 pt.
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
    // The PDF has this page size; the PNG has the same size on paper at about 600 dots per inch.
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
    // Draw a figure of the same size, given in centimetres, without title.
    let plain = text(&dir, &file("b", "svg"));
    assert!(plain.starts_with("<svg width=\"85mm\" height=\"60mm\""));
    let words = ["Improvement by job size", "over all jobs"];
    assert!(words.iter().all(|words| svg.contains(words)));
    assert!(words.iter().all(|words| !plain.contains(words)));
    assert!(plain.contains("closer together"), "the legend stays");
    // By default, a figure has the width 1000.
    dir.replay(&format!("{run} --out c")).code(0);
    assert!(text(&dir, &file("c", "svg")).starts_with("<svg width=\"1000\" height=\"620\""));
}

fn rejects_bad_sizes() {
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

fn options_apply_to_every_command_with_figures() {
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

fn file_names_do_not_depend_on_other_runs() {
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

fn figures_count_strategies_beyond_twelve() {
    let dir = Dir::with_trace();
    let bars = "strategies--lublin-10x10--10x10--easy";
    let rows = |out: &str| text(&dir, &format!("{out}/plots/{bars}.csv")).lines().count() - 1;
    let run = "--jobs 60 --sched easy --alloc all -q --no-jobs";
    dir.replay(&format!("{run} --out usual")).code(0);
    assert_eq!(rows("usual"), 12);
    let runs = text(&dir, "usual/runs.csv").lines().count() - 1;
    dir.replay(&format!("{run} --out all --figure-strategies 500")).code(0);
    // The bar chart of distances does not contain strategies that fold jobs.
    let comparable = rows("all");
    assert!((13..runs).contains(&comparable), "{comparable} of {runs}");
    for (figure, all) in [(bars, comparable), ("comparison--lublin-10x10--10x10--easy", runs)] {
        let svg = text(&dir, &format!("usual/plots/{figure}.svg"));
        let note = format!("{} more strategies are not shown", all - 12);
        assert!(svg.contains(&note), "{figure}: {note}");
        assert!(!svg.contains("and 3 others"));
        // Strategies that fold jobs come last. A figure counts strategies that fold jobs only if it shows at least one
        // of them.
        let is_last = figure != bars;
        assert!(!(is_last && svg.contains("jobs are folded")), "{figure}");
    }
    let all = text(&dir, "all/plots/comparison--lublin-10x10--10x10--easy.svg");
    assert!(all.contains(&format!("jobs are folded: {} strategies", runs - comparable)));
}

/// The file name, the computer and the notes of a trace never become markup in a figure.
fn escapes_markup_in_traces() {
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

fn gantt_charts_have_dates() {
    let log = "; UnixStartTime: 843436800\n; MaxProcs: 16\n1 0 -1 90000 4\n2 86400 -1 9000 8\n";
    let dir = Dir::new().file("a.swf", log).file("b.swf", log.split_once('\n').expect("lines").1);
    dir.replay("show --trace a.swf --gantt 0..86400 -q --out a").code(0);
    dir.replay("show --trace b.swf --gantt 0..86400 -q --out b").code(0);
    // A window ends at the end of the run.
    dir.replay("show --trace a.swf --gantt 0..9999999999 -q --out c").code(0);
    let cut = text(&dir, "c/plots/gantt.svg");
    assert!(cut.contains("from 1996-09-23 00:00 to 1996-09-24 02:30 (1 d 02 h)"), "{cut}");
    let [dated, plain] = ["a", "b"].map(|out| text(&dir, &format!("{out}/plots/gantt.svg")));
    assert!(dated.contains("09-23 12:00") && dated.contains("from 1996-09-23"), "{dated}");
    assert!(plain.contains("Time of the trace (h)") && !plain.contains("1996"), "{plain}");
}
