//! Downloads by HTTP.

use std::io::{self, Read, Write};
use std::time::Duration;

use ureq::http::{Response, StatusCode, header};
use ureq::{Agent, Body, Timeout};

use super::part::{Part, PartError};
use crate::cli::progress::bar;

/// Number of bytes that are read and written at a time.
const BUFFER: usize = 1 << 16;

/// Error: a file was not downloaded. The part that was received remains.
#[derive(Debug, thiserror::Error)]
pub enum DownloadError {
    /// The request failed.
    #[error("{}", explained(.0))]
    Request(#[from] ureq::Error),
    /// The server refuses the request.
    #[error("the server answers {0}")]
    Status(StatusCode),
    /// The server sends another part of the file than requested.
    #[error("the server sends another part of the file than requested")]
    Range,
    /// The connection ended early.
    #[error("the connection ended after {received} of {expected} bytes")]
    Short { received: u64, expected: u64 },
    /// The connection failed while the file was received.
    #[error("the connection failed after {received} bytes: {problem}")]
    Interrupted { received: u64, problem: String },
    /// The part cannot be written.
    #[error(transparent)]
    Part(#[from] PartError),
}

/// Describes an error of a request.
fn explained(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
            "the server does not connect within --timeout".to_string()
        }
        ureq::Error::Timeout(_) => "the server sends nothing within --timeout".to_string(),
        ureq::Error::Io(error) => error.to_string(),
        error => error.to_string(),
    }
}

/// Downloads a file and writes it to `part`. If the part has content, requests only the rest. If the server sends the
/// whole file or cannot resume, the content is replaced. The program waits at most `patience` for the connection and for
/// each read.
///
/// # Errors
/// [`DownloadError`]; the content that was received remains in the part.
pub fn download(
    url: &str,
    part: &mut Part,
    name: &str,
    patience: Duration,
    quiet: bool,
) -> Result<(), DownloadError> {
    let agent: Agent = Agent::config_builder()
        .http_status_as_error(false)
        // A redirection to an address without encryption is refused.
        .https_only(url.starts_with("https:"))
        .user_agent(concat!("replay/", env!("CARGO_PKG_VERSION")))
        .timeout_resolve(Some(patience))
        .timeout_connect(Some(patience))
        .timeout_recv_response(Some(patience))
        .timeout_per_read(Some(patience))
        .timeout_per_write(Some(patience))
        .build()
        .into();
    let mut offset = part.append()?;
    let mut response = request(&agent, url, offset)?;
    if response.status() == StatusCode::RANGE_NOT_SATISFIABLE && offset > 0 {
        // The part is longer than the file.
        part.restart()?;
        offset = 0;
        response = request(&agent, url, offset)?;
    }
    match response.status() {
        StatusCode::OK => {
            part.restart()?;
            offset = 0;
        }
        StatusCode::PARTIAL_CONTENT if first_byte(&response) == Some(offset) => {}
        StatusCode::PARTIAL_CONTENT => return Err(DownloadError::Range),
        status => return Err(DownloadError::Status(status)),
    }
    receive(response, part, offset, name, quiet)
}

/// Requests a file from the byte `offset` on.
fn request(agent: &Agent, url: &str, offset: u64) -> Result<Response<Body>, ureq::Error> {
    let request = agent.get(url);
    let request = match offset {
        0 => request,
        offset => request.header(header::RANGE, format!("bytes={offset}-")),
    };
    request.call()
}

/// Returns the position of the first byte of a partial response (`Content-Range: bytes 100-199/200`).
fn first_byte(response: &Response<Body>) -> Option<u64> {
    let range = response.headers().get(header::CONTENT_RANGE)?.to_str().ok()?;
    range.trim().strip_prefix("bytes ")?.split('-').next()?.trim().parse().ok()
}

/// Writes the content of a response to the part, which has `offset` bytes.
fn receive(
    response: Response<Body>,
    part: &mut Part,
    offset: u64,
    name: &str,
    quiet: bool,
) -> Result<(), DownloadError> {
    let length = response.headers().get(header::CONTENT_LENGTH);
    let length: Option<u64> = length.and_then(|length| length.to_str().ok()?.trim().parse().ok());
    let expected = length.map(|length| offset.saturating_add(length));
    let template = match expected {
        Some(_) => "{msg} {wide_bar} {binary_bytes}/{binary_total_bytes} {left}",
        None => "{spinner} {msg} {binary_bytes} {left}",
    };
    let (bar, _ticker) = bar(quiet, expected, template);
    bar.set_message(name.to_string());
    bar.set_position(offset);
    let mut body = response.into_body().into_reader();
    let (mut received, mut buffer) = (offset, vec![0; BUFFER]);
    let outcome = loop {
        let count = match body.read(&mut buffer) {
            Ok(0) => break Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => break Err(error),
        };
        let written = part.file().write_all(&buffer[..count]);
        written.map_err(|error| PartError::Io { path: part.path().to_path_buf(), error })?;
        received += count as u64;
        bar.set_position(received);
    };
    bar.finish_and_clear();
    match (outcome, expected) {
        (_, Some(expected)) if received == expected => Ok(()),
        (Ok(()), None) => Ok(()),
        (Err(error), _) if error.kind() != io::ErrorKind::UnexpectedEof => {
            let problem = explained(&ureq::Error::from(error));
            Err(DownloadError::Interrupted { received, problem })
        }
        (_, Some(expected)) => Err(DownloadError::Short { received, expected }),
        (Err(error), None) => {
            Err(DownloadError::Interrupted { received, problem: error.to_string() })
        }
    }
}
