//! The actor: one small program that plays every part in the integration tests.
//!
//! - `actor owner MAIL [--via SOCKET]`: an owner, told one command a line, answering one JSON line to each (`owner.rs`).
//! - `actor child MAIL TAG SHAPE...`: a child that behaves in one particular way (`shapes.rs`), and says so.
//! - `actor drama NAME FOLDER PGID`: an owner's whole life, to be killed in (`dramas.rs`).
//!
//! Whoever is in position says it with a datagram to MAIL, so that no test ever sleeps to be sure.

#![allow(unsafe_code, reason = "fork, raise and other things that no library offers, in a program made to misbehave")]

mod announce;
mod deeds;
mod dramas;
mod family;
mod foreign;
mod host;
mod owner;
#[allow(dead_code, reason = "the tests use the rest of it")]
#[path = "../support/progress.rs"]
mod progress;
mod raw;
#[allow(dead_code, reason = "the tests use the rest of it")]
#[path = "../support/seccomp.rs"]
mod seccomp;
mod shapes;
mod spawning;
mod storms;
mod tasks;
mod unreadable;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
    match words.as_slice() {
        ["owner", mail] => owner::serve(mail, None),
        ["owner", mail, "--via", socket] => owner::serve(mail, Some(socket)),
        ["child", mail, tag, shape @ ..] => {
            announce::set_mail(mail, tag);
            shapes::play(shape)
        }
        ["drama", name, folder, foreign] => dramas::play(name, folder, foreign),
        _ => {
            eprintln!("usage: actor owner MAIL [--via SOCKET] | child MAIL TAG SHAPE... | drama NAME FOLDER PGID");
            std::process::exit(2);
        }
    }
}
