use super::super::StochasticStream;
use super::*;
use proptest::prelude::*;

fn read(text: &[u8]) -> Result<ShapeFile, ShapeError> {
    ShapeFile::read(text, "s.csv")
}

fn job(number: i64, size: u32) -> Job {
    Job { number, submit: 0, run: 1, estimate: 1, size, line: 0, shape: None, limit: None }
}

#[test]
fn written_shapes_are_read_back() {
    let stream = StochasticStream::new([8, 9, 10]).generate(2, 2).expect("a possible model");
    let mut out = Vec::new();
    write_shapes(&stream.jobs, &mut out).expect("memory takes all");
    let shapes = read(&out).expect("what was written");
    assert_eq!(shapes.len(), stream.jobs.len());
    for jobs in [&stream.jobs[..], &stream.jobs[7..20]] {
        let mut again: Vec<Job> = jobs.iter().map(|&job| Job { shape: None, ..job }).collect();
        shapes.assign(&mut again, &Links::default()).expect("all shapes");
        assert_eq!(again, jobs);
    }
}

#[test]
fn ignores_blanks_and_line_ends() {
    let shapes = read(b"\r\n job, w,h ,d\r\n\n7, 2,3,1\r\n-1,1,1,5").expect("a good file");
    let mut jobs = [job(-1, 5), job(7, 6)];
    shapes.assign(&mut jobs, &Links::default()).expect("shapes");
    assert_eq!(jobs.map(|job| job.shape), [Some([1, 1, 5]), Some([2, 3, 1])]);
}

#[test]
fn errors_name_line_and_field() {
    let cases: [(&[u8], &str); 12] = [
        (b"", "s.csv:1: the header is \"\", but must be \"job,w,h,d\""),
        (b"\n1,2,3,4\n", "s.csv:2: the header is \"1,2,3,4\", but must be \"job,w,h,d\""),
        (b"job,w,h,d\n\nx,1,1,1", "s.csv:3: job \"x\" is not a job number (field 1 of 4)"),
        (b"job,w,h,d\n1,2", "s.csv:2: h \"\" is not a side from 1 to 65535 (field 3 of 4)"),
        (b"job,w,h,d\n1,0,1,1", "s.csv:2: w \"0\" is not a side from 1 to 65535 (field 2 of 4)"),
        (b"job,w,h,d\n1,1,-1,1", "s.csv:2: h \"-1\" is not a side from 1 to 65535 (field 3 of 4)"),
        (
            b"job,w,h,d\n1,1,1,65536",
            "s.csv:2: d \"65536\" is not a side from 1 to 65535 (field 4 of 4)",
        ),
        (b"job,w,h,d\n1,1,1,1,1,", "s.csv:2: the line has 6 fields, but must have 4"),
        (
            b"job,w,h,d\n1,1,1,1\n2,1,1,1\n1,2,1,1",
            "s.csv:4: job 1 already has a shape on line 2 (field 1 of 4)",
        ),
        (
            b"job,w,h,d\n1,\xff\x1b,1,1",
            "s.csv:2: w \"\u{fffd}\u{fffd}\" is not a side from 1 to 65535 (field 2 of 4)",
        ),
        (
            b"job,w,h,d\n1,1111111111222222222233333333334444444444X,1,1",
            "s.csv:2: w \"1111111111222222222233333333334444444444...\" is not a side from 1 to \
             65535 (field 2 of 4)",
        ),
        (b"job,w,h\n", "s.csv:1: the header is \"job,w,h\", but must be \"job,w,h,d\""),
    ];
    for (text, message) in cases {
        assert_eq!(read(text).unwrap_err().to_string(), message);
    }
}

#[test]
fn jobs_and_shapes_must_agree() {
    let shapes = read(b"job,w,h,d\n1,2,3,4\n2,65535,65535,65535\n").expect("a good file");
    let message =
        |jobs: &mut [Job]| shapes.assign(jobs, &Links::default()).unwrap_err().to_string();
    let none = "s.csv: none of the trace's jobs has a shape in this file; the first job is 3";
    assert_eq!(message(&mut [job(3, 1), job(4, 1)]), none);
    assert_eq!(
        message(&mut [job(1, 25)]),
        "s.csv:2: job 1 needs 25 processors in its trace, but its shape is 2 x 3 x 4"
    );
    // In 32 bits, the product of the sides wraps around to the size of the job.
    let wrapped = 65535_u32.wrapping_mul(65535).wrapping_mul(65535);
    assert!(shapes.assign(&mut [job(2, wrapped)], &Links::default()).is_err());
}

#[test]
fn the_shapes_file_is_beside_its_trace() {
    for (trace, shapes) in [
        ("lo.swf", "lo.shapes.csv"),
        ("a/lo.1.SWF.gz", "a/lo.1.shapes.csv"),
        ("lo.5", "lo.5.shapes.csv"),
    ] {
        assert_eq!(shapes_path(trace.as_ref()), Path::new(shapes));
    }
}

proptest! {
    #[test]
    fn any_input_gives_shapes_or_an_error(text: Vec<u8>, tail in "[0-9,\n ]{0,40}") {
        for text in [text, [b"job,w,h,d\n", tail.as_bytes()].concat()] {
            if let Err(error) = read(&text) {
                prop_assert!(error.to_string().starts_with("s.csv:"), "{error}");
            }
        }
    }
}
