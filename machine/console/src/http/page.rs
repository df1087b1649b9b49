//! The inspector: files in the program, without a build step.

use std::{collections::BTreeMap, sync::LazyLock};

use axum::{
    extract::OriginalUri,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
};

use super::{extract::Named, problem::Problem};

/// Nothing but the page's own files, no inline code, no text that becomes code.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

const HTML: &str = include_str!("../inspector/index.html");

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../inspector/", $name)))),*]
    };
}

const FILES: &[(&str, &str)] = files![
    "api.js",
    "commands.js",
    "diagram.js",
    "dialog.js",
    "dom.js",
    "forms.js",
    "history.js",
    "hold.js",
    "icon.svg",
    "inbox.js",
    "inspector.css",
    "inspector.js",
    "keys.js",
    "lanes.js",
    "live.js",
    "machine.js",
    "overview.js",
    "parts.js",
    "payload.js",
    "picture.js",
    "records.js",
    "session.js",
    "steps.js",
    "text.js",
    "token.js",
    "turns.js",
];

struct File {
    kind: &'static str,
    text: &'static str,
    tag: HeaderValue,
}

static BY_NAME: LazyLock<BTreeMap<&'static str, File>> = LazyLock::new(|| {
    let files = FILES.iter().copied().chain([("", HTML)]);
    files.map(|(name, text)| (name, File::new(name, text))).collect()
});

/// To the page, wherever the routes are nested.
pub(super) async fn redirect(OriginalUri(uri): OriginalUri) -> Redirect {
    // A path with two slashes first would be another host.
    let path = uri.path().trim_matches('/');
    let before = if path.is_empty() { "" } else { "/" };
    Redirect::temporary(&format!("{before}{path}/inspector/"))
}

/// To the page, from its name without the slash.
pub(super) async fn with_slash(OriginalUri(uri): OriginalUri) -> Redirect {
    Redirect::temporary(&format!("/{}/", uri.path().trim_matches('/')))
}

pub(super) async fn html(headers: HeaderMap) -> Result<Response, Problem> {
    answer("", &headers)
}

pub(super) async fn file(Named(name): Named, headers: HeaderMap) -> Result<Response, Problem> {
    answer(&name, &headers)
}

fn answer(name: &str, headers: &HeaderMap) -> Result<Response, Problem> {
    let file = BY_NAME.get(name).ok_or_else(|| Problem::not_found("the page has no such file"))?;
    let always = [
        (header::ETAG, file.tag.clone()),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
    ];
    let mut known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|it| it.to_str().ok());
    let is_known = known.any(|known| {
        known
            .split(',')
            .any(|known| known.trim().trim_start_matches("W/").as_bytes() == file.tag.as_bytes())
    });
    if is_known {
        return Ok((StatusCode::NOT_MODIFIED, always).into_response());
    }
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static(file.kind))];
    Ok((always, kind, file.text).into_response())
}

impl File {
    fn new(name: &str, text: &'static str) -> Self {
        let kind = match name.rsplit('.').next() {
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            _ => "text/html; charset=utf-8",
        };
        let digest = blake3::hash(text.as_bytes()).to_hex();
        // Hexadecimal digits in quotation marks are a valid header.
        let tag = HeaderValue::from_str(&format!("\"{}\"", &digest[..16]));
        Self { kind, text, tag: tag.unwrap_or(HeaderValue::from_static("\"\"")) }
    }
}
