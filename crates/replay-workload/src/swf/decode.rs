//! Decoder of plain or gzip-compressed input. Compression is detected by content because file names are unreliable.

use std::io::{self, Chain, Cursor, Read};

use flate2::read::MultiGzDecoder;

const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];

/// First bytes of unsupported inputs, and their descriptions.
const OTHERS: [(&[u8], &str); 7] = [
    (b"\xfd7zXZ", "compressed with xz"),
    (b"BZh", "compressed with bzip2"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd"),
    (b"\x1f\x9d", "compressed with compress"),
    (b"\xff\xfe", "text in UTF-16"),
    (b"\xfe\xff", "text in UTF-16"),
];

/// Number of bytes at the beginning of an input that are read to determine its type.
const MAGIC_BYTES: u64 = 5;

/// A defect of gzip data. The defect is wrapped in an [`io::Error`]; [`GzipFault::of`] extracts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GzipFault {
    /// The data are truncated.
    #[error("the gzip data are truncated (incomplete download?)")]
    Truncated,
    /// The data are damaged (header, compressed stream or checksum).
    #[error("the gzip data are damaged")]
    Corrupt,
}

impl GzipFault {
    /// Returns the gzip defect in an input error; `None` if the error does not come from decompression.
    pub fn of(error: &io::Error) -> Option<GzipFault> {
        error.get_ref()?.downcast_ref::<GzipFault>().copied()
    }
}

/// The text of an input: decompressed if the input starts with gzip's magic bytes, otherwise unchanged.
pub struct Decoder<R: Read> {
    source: Source<R>,
}

/// An input preceded by the bytes that were already read.
type Rewound<R> = Chain<Cursor<Vec<u8>>, MarkedErrors<R>>;

enum Source<R: Read> {
    Plain(Rewound<R>),
    Gzip(Box<MultiGzDecoder<Rewound<R>>>),
}

impl<R: Read> Decoder<R> {
    /// Creates a decoder. The first bytes of `inner` determine whether the input is compressed.
    ///
    /// # Errors
    /// Returns the error of reading `inner`, or [`io::ErrorKind::InvalidData`] if the input has an unsupported
    /// compression or encoding.
    pub fn new(inner: R) -> io::Result<Decoder<R>> {
        let mut inner = MarkedErrors { inner };
        let mut start = Vec::with_capacity(MAGIC_BYTES as usize);
        (&mut inner).take(MAGIC_BYTES).read_to_end(&mut start)?;
        if let Some((_, what)) = OTHERS.iter().find(|(magic, _)| start.starts_with(magic)) {
            let what = format!("the input is {what}; supported are UTF-8 text and gzip");
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let gzip = start.starts_with(GZIP_MAGIC);
        let rewound = Cursor::new(start).chain(inner);
        let source = match gzip {
            true => Source::Gzip(Box::new(MultiGzDecoder::new(rewound))),
            false => Source::Plain(rewound),
        };
        Ok(Decoder { source })
    }
}

impl<R: Read> Read for Decoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.source {
            Source::Plain(inner) => inner.read(buffer),
            Source::Gzip(inner) => inner.read(buffer),
        }
        .map_err(gzip_error)
    }
}

/// Converts an error. An error of the device keeps its kind and text, and an error of the decompressor becomes a
/// [`GzipFault`].
fn gzip_error(error: io::Error) -> io::Error {
    if error.get_ref().is_some_and(|inner| inner.is::<DeviceError>()) {
        return match error.into_inner().map(|inner| inner.downcast::<DeviceError>()) {
            Some(Ok(device)) => device.0,
            _ => io::Error::other("input failed"),
        };
    }
    match error.kind() {
        io::ErrorKind::Interrupted => error,
        io::ErrorKind::UnexpectedEof => {
            io::Error::new(io::ErrorKind::UnexpectedEof, GzipFault::Truncated)
        }
        _ => io::Error::new(io::ErrorKind::InvalidData, GzipFault::Corrupt),
    }
}

/// A reader that marks its errors, to distinguish errors of the device from errors of the decompressor.
struct MarkedErrors<R> {
    inner: R,
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct DeviceError(io::Error);

impl<R: Read> Read for MarkedErrors<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.inner.read(buffer).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            kind => io::Error::new(kind, DeviceError(error)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn decode(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        Decoder::new(bytes)?.read_to_end(&mut text).map(|_| text)
    }

    #[test]
    fn detects_the_format_by_content() {
        assert_eq!(decode(b"").unwrap(), b"");
        assert_eq!(decode(b"\x1f").unwrap(), b"\x1f");
        assert_eq!(decode(b"; plain").unwrap(), b"; plain");
        assert_eq!(decode(&gzip(b"; packed")).unwrap(), b"; packed");
        for (other, what) in
            [(&b"\xfd7zXZ\0"[..], "xz"), (b"PK\x03\x04", "zip"), (b"\xff\xfe;\0", "UTF-16")]
        {
            let error = decode(other).unwrap_err();
            assert!(error.to_string().contains(what), "{error}");
        }
        let two = [gzip(b"one "), gzip(b"two")].concat();
        assert_eq!(decode(&two).unwrap(), b"one two");
    }

    #[test]
    fn every_truncation_is_an_error() {
        let packed = gzip(&b"1 2 3 4 5\n".repeat(50));
        for end in 2..packed.len() {
            let error = decode(&packed[..end]).unwrap_err();
            assert_eq!(GzipFault::of(&error), Some(GzipFault::Truncated), "cut to {end}: {error}");
        }
    }

    #[test]
    fn damage_is_an_error() {
        let mut packed = gzip(&b"1 2 3 4 5\n".repeat(50));
        let checksum = packed.len() - 8;
        packed[checksum] ^= 1;
        assert_eq!(GzipFault::of(&decode(&packed).unwrap_err()), Some(GzipFault::Corrupt));
    }

    #[test]
    fn keeps_errors_of_the_device() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::new(io::ErrorKind::PermissionDenied, "no"))
            }
        }
        let mut decoder =
            Decoder::new(io::Cursor::new(gzip(b"x")[..5].to_vec()).chain(Broken)).unwrap();
        let error = decoder.read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (io::ErrorKind::PermissionDenied, "no")
        );
    }
}
