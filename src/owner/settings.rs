//! What a host can set before the first use, and where the home directory is.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::sys::memory::Leaked;

/// What kind of program this is. Of no consequence yet: what will depend on it, background jobs that outlive a gateway
/// and die with anything else, is not in this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Role {
    /// A gateway.
    Gateway,
    /// Anything else.
    #[default]
    Task,
}

/// Settings for [`configure`]. What is not set keeps its default.
#[derive(Clone, Debug)]
pub struct Config {
    grace: Duration,
    idle: Duration,
    home: Option<PathBuf>,
    role: Role,
    threads: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            grace: Duration::from_secs(3),
            idle: Duration::from_secs(30),
            home: None,
            role: Role::Task,
            threads: true,
        }
    }
}

impl Config {
    /// The defaults: 3 s of grace, 30 s of idle time, the home of the environment, threads.
    pub fn new() -> Config {
        Config::default()
    }

    /// How long TERM is given before KILL when the owner has died. At most one hour; default 3 s.
    pub fn grace(mut self, grace: Duration) -> Config {
        self.grace = grace;
        self
    }

    /// How long the supervisor stays after the last child has gone. At most one day; default 30 s.
    pub fn idle(mut self, idle: Duration) -> Config {
        self.idle = idle;
        self
    }

    /// The home directory, in place of `$HERMES_HOME` and `~/.hermes`; an absolute path. What is missing of it is made,
    /// for this user alone (0700), when the first line is written.
    pub fn home(mut self, home: impl Into<PathBuf>) -> Config {
        self.home = Some(home.into());
        self
    }

    /// What kind of program this is: see [`Role`]. Nothing depends on it yet.
    pub fn role(mut self, role: Role) -> Config {
        self.role = role;
        self
    }

    /// `false`: start no threads in this process. Weaker: a supervisor that was killed is replaced at the next call
    /// only, and descriptors are kept in the host's table. For hosts that must stay single-threaded.
    pub fn threads(mut self, threads: bool) -> Config {
        self.threads = threads;
        self
    }
}

/// The settings in force.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub grace: Duration,
    pub idle: Duration,
    /// The root home, where `reaped.jsonl` goes. `None`: there is none to be found, nothing is written.
    pub home: Option<PathBuf>,
    pub threads: bool,
}

/// A pointer and no lock: a lock that another thread holds at a fork would be held for ever in the copy.
static CONFIG: Leaked<Config> = Leaked::new();

/// Sets grace, idle time, home, role and thread mode, before anything else of the library is used in this process.
///
/// A forked copy starts with the settings of its parent and may set its own.
///
/// # Errors
/// `InvalidArgument`: the library is already in use (the settings in force stay), or a value is out of range.
pub fn configure(config: Config) -> Result<()> {
    const STEP: &str = "configure";
    if super::runtime::is_booted() {
        return Err(Error::invalid(STEP, "configure comes too late: the library is already in use in this process"));
    }
    check_range("grace", config.grace, Duration::from_secs(3600))?;
    check_range("idle", config.idle, Duration::from_secs(86_400))?;
    if config.home.as_ref().is_some_and(|home| !home.is_absolute()) {
        return Err(Error::invalid(
            STEP,
            format!("home {:?} is not an absolute path", config.home.unwrap_or_default()),
        ));
    }
    CONFIG.replace(CONFIG.get(), config);
    Ok(())
}

fn check_range(name: &str, value: Duration, most: Duration) -> Result<()> {
    if value <= most {
        return Ok(());
    }
    Err(Error::invalid("configure", format!("{name} {value:?} is more than {most:?}")))
}

pub(super) fn in_force() -> Settings {
    let config = CONFIG.get().cloned().unwrap_or_default();
    let home = config.home.or_else(home_of_environment).map(|home| root_of(&home));
    let Config { grace, idle, threads, .. } = config;
    Settings { grace, idle, home, threads }
}

/// `$HERMES_HOME`, else `~/.hermes`. A relative value means a place under the current directory, as for any program.
fn home_of_environment() -> Option<PathBuf> {
    let set = std::env::var_os("HERMES_HOME").filter(|value| !value.is_empty());
    let home = set.map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".hermes")))?;
    std::path::absolute(home).ok()
}

/// The home of a profile, `<root>/profiles/<name>`, leads to its root.
fn root_of(home: &Path) -> PathBuf {
    let in_profile = home.parent().filter(|parent| parent.file_name().is_some_and(|name| name == "profiles"));
    in_profile.and_then(Path::parent).unwrap_or(home).to_path_buf()
}
