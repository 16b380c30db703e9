//! Storage of jobs until the trace is written. The jobs are stored in compact form: the first 16 MiB in memory, the
//! rest on the disk.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process;

/// Number of bytes that are stored in memory.
const KEPT: usize = 1 << 24;

/// Number of values of a job.
pub(super) const FIELDS: usize = 10;

/// The jobs of a log in their order, stored as numbers. A number takes as many bytes as necessary.
pub(super) struct Spill {
    buffer: Vec<u8>,
    file: Option<File>,
    dir: PathBuf,
    jobs: u64,
}

impl Spill {
    /// Creates an empty spill. If a file is needed, it is created in `dir`, without a name.
    pub fn new(dir: &Path) -> Spill {
        Spill { buffer: Vec::new(), file: None, dir: dir.to_path_buf(), jobs: 0 }
    }

    /// Adds a job.
    pub fn push(&mut self, fields: [i64; FIELDS]) -> io::Result<()> {
        for field in fields {
            // The zigzag encoding makes small negative numbers as short as small positive numbers.
            let mut rest = ((field << 1) ^ (field >> 63)) as u64;
            while rest >= 0x80 {
                self.buffer.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            self.buffer.push(rest as u8);
        }
        self.jobs += 1;
        if self.buffer.len() < KEPT {
            return Ok(());
        }
        if self.file.is_none() {
            self.file = Some(nameless(&self.dir)?);
        }
        if let Some(file) = &mut self.file {
            file.write_all(&self.buffer)?;
        }
        self.buffer.clear();
        Ok(())
    }

    /// Passes all jobs to `take`, in order.
    pub fn read(self, mut take: impl FnMut([i64; FIELDS]) -> io::Result<()>) -> io::Result<()> {
        let earlier: Box<dyn Read> = match self.file {
            None => Box::new(io::empty()),
            Some(mut file) => {
                file.rewind()?;
                Box::new(file)
            }
        };
        let mut packed = BufReader::with_capacity(1 << 18, earlier.chain(self.buffer.as_slice()));
        for _ in 0..self.jobs {
            let mut fields = [0; FIELDS];
            for field in &mut fields {
                *field = unpacked(&mut packed)?;
            }
            take(fields)?;
        }
        Ok(())
    }
}

/// Reads one number.
fn unpacked(packed: &mut impl Read) -> io::Result<i64> {
    let (mut number, mut shift) = (0u64, 0);
    loop {
        let mut byte = [0];
        packed.read_exact(&mut byte)?;
        number |= u64::from(byte[0] & 0x7f) << shift;
        if byte[0] < 0x80 || shift >= 63 {
            return Ok((number >> 1) as i64 ^ -((number & 1) as i64));
        }
        shift += 7;
    }
}

/// Creates a file without a name. The system removes the file when its last handle is closed.
pub(super) fn nameless(dir: &Path) -> io::Result<File> {
    let mut attempt = 0;
    loop {
        let path = dir.join(format!(".replay-import-{}-{attempt}", process::id()));
        match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
            Ok(file) => return fs::remove_file(&path).map(|()| file),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 100 => {
                attempt += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The jobs need more space than the spill may use in memory, and their numbers have the largest possible length.
    #[test]
    fn jobs_are_read_in_order() {
        let dir = tempfile::tempdir().expect("a folder");
        for jobs in [0, 3, 600_000i64] {
            let job = |i: i64| [i, -i, i64::MAX - i, i64::MIN + i, i << 40, -1, 0, 127, 128, -129];
            let mut spill = Spill::new(dir.path());
            (0..jobs).for_each(|i| spill.push(job(i)).expect("a disk"));
            assert_eq!(spill.file.is_some(), jobs > 3);
            assert!(fs::read_dir(dir.path()).expect("a folder").next().is_none(), "no name");
            let mut next = 0;
            spill
                .read(|fields| {
                    assert_eq!(fields, job(next));
                    next += 1;
                    Ok(())
                })
                .expect("a disk");
            assert_eq!(next, jobs);
        }
    }
}
