//! Who plays in the drill, and what each line of the result is about.

/// What an actor does once it is ready.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Then {
    /// Stays until it is killed.
    Stay,
    /// Waits for the actor it started, then exits.
    WaitAndExit,
    /// Exits at once.
    Exit,
    /// Exits when its stdin is closed.
    ExitWhenTold,
    /// Stops itself.
    Stop,
}

/// One process that the program plays itself.
#[derive(Debug)]
pub struct Actor {
    pub role: &'static str,
    /// TERM and HUP do nothing.
    pub deaf: bool,
    /// Leaves its session and group.
    pub own_session: bool,
    /// Holds a port that the kernel chose.
    pub listens: bool,
    pub starts: Option<&'static str>,
    pub then: Then,
}

const PLAIN: Actor =
    Actor { role: "", deaf: false, own_session: false, listens: false, starts: None, then: Then::Stay };

pub const ACTORS: [Actor; 12] = [
    Actor { role: "wrapper", starts: Some("wrapped-server"), then: Then::WaitAndExit, ..PLAIN },
    Actor { role: "wrapped-server", listens: true, ..PLAIN },
    Actor { role: "deaf-server", deaf: true, listens: true, ..PLAIN },
    Actor { role: "leader-that-leaves", starts: Some("member-left"), then: Then::ExitWhenTold, ..PLAIN },
    Actor { role: "member-left", ..PLAIN },
    Actor { role: "escapee-starter", starts: Some("escapee"), then: Then::WaitAndExit, ..PLAIN },
    Actor { role: "escapee", own_session: true, ..PLAIN },
    Actor { role: "daemon-starter", starts: Some("daemon-middle"), then: Then::WaitAndExit, ..PLAIN },
    Actor { role: "daemon-middle", own_session: true, starts: Some("daemon"), then: Then::Exit, ..PLAIN },
    Actor { role: "daemon", ..PLAIN },
    Actor { role: "stopped", then: Then::Stop, ..PLAIN },
    Actor { role: "control-server", listens: true, ..PLAIN },
];

/// What is expected of the processes of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Gone,
    Lives,
}

/// What must be true of the processes of a line before the kill, or the drill would show nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Before {
    Running,
    Stopped,
    /// The last process of the line leads a session of its own.
    OwnSession,
    /// The processes with these roles have been there and are gone.
    Without(&'static [&'static str]),
}

/// One line of the result.
pub struct Line {
    pub what: &'static str,
    /// Key in the JSON output.
    pub key: &'static str,
    pub roles: &'static [&'static str],
    pub before: Before,
    pub fate: Fate,
}

/// The roles that nobody plays with [`Actor`]: announced by those who start them.
pub const OWNER: &str = "owner";
pub const CONTROL: &str = "control";
pub const SHELL: &str = "shell";
pub const SUPERVISOR: &str = "supervisor";
pub const WORKER: &str = "worker";

pub const LINES: [Line; 9] = [
    Line {
        what: "wrapper chain: sh > wrapper > server",
        key: "wrapper_chain",
        roles: &[SHELL, "wrapper", "wrapped-server"],
        before: Before::Running,
        fate: Fate::Gone,
    },
    Line {
        what: "server deaf to TERM (KILL after 1 s)",
        key: "deaf_server",
        roles: &["deaf-server"],
        before: Before::Running,
        fate: Fate::Gone,
    },
    Line {
        what: "group whose leader has left",
        key: "leaderless_group",
        roles: &["member-left"],
        before: Before::Without(&["leader-that-leaves"]),
        fate: Fate::Gone,
    },
    Line {
        what: "escapee: setsid, a group of its own",
        key: "setsid_escapee",
        roles: &["escapee-starter", "escapee"],
        before: Before::OwnSession,
        fate: Fate::Gone,
    },
    Line {
        what: "daemon: forked twice, parents gone",
        key: "daemon",
        roles: &["daemon"],
        before: Before::Without(&["daemon-starter", "daemon-middle"]),
        fate: Fate::Gone,
    },
    Line {
        what: "stopped process (as after ^Z)",
        key: "stopped",
        roles: &["stopped"],
        before: Before::Stopped,
        fate: Fate::Gone,
    },
    Line {
        what: "the supervisor that does all this",
        key: "supervisor",
        roles: &[SUPERVISOR],
        before: Before::Running,
        fate: Fate::Gone,
    },
    Line {
        what: "forked copy of the owner itself",
        key: "forked_worker",
        roles: &[WORKER],
        before: Before::Running,
        fate: Fate::Lives,
    },
    Line {
        what: "another owner and its children",
        key: "control",
        roles: &[CONTROL, "control-server", "control-supervisor"],
        before: Before::Running,
        fate: Fate::Lives,
    },
];

/// Everybody that has to announce itself before the owner is killed.
pub fn cast() -> impl Iterator<Item = &'static str> {
    let gone_by_then = LINES.iter().flat_map(|line| match line.before {
        Before::Without(roles) => roles,
        _ => &[],
    });
    LINES.iter().flat_map(|line| line.roles).chain(gone_by_then).copied().chain([OWNER])
}
