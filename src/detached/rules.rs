//! What is looked for, why it matters and what to write instead: the one table behind every output.

/// One kind of finding. Its name is in the output of every format and never changes its meaning.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    pub id: &'static str,
    /// Where it is looked for.
    pub shapes: &'static str,
    pub why: &'static str,
    pub instead: &'static str,
}

macro_rules! rules {
    ($($name:ident $id:literal $shapes:literal $why:literal $instead:expr;)+) => {
        $(pub static $name: Rule = Rule { id: $id, shapes: $shapes, why: $why, instead: $instead };)+
        /// Every rule, in the order of `--list-rules`.
        pub static ALL: &[&Rule] = &[$(&$name),+];
    };
}

const OWNED: &str =
    "start it with hermes-spawn's spawn_owned, or with its outliving start if it has to outlive its owner";
const OWNED_SHELL: &str = "start it with `hermes-spawn run -- CMD`, or wait for it";

rules! {
    NEW_SESSION "new-session"
        "Python start_new_session=, os.setsid, os.posix_spawn(setsid=); Rust, C, C++ setsid(), syscall(SYS_setsid); Go SysProcAttr.Setsid, Setsid()"
        "a session of its own is not reached by the terminal's hang-up or by a signal to the parent's group, so the child stays when its parent dies" OWNED;
    PROCESS_GROUP "process-group"
        "Python process_group=, os.setpgid, os.setpgrp, os.posix_spawn(setpgroup=); Rust process_group(), setpgid(), group_spawn(); C, C++ setpgid(), setpgrp(); Go SysProcAttr.Setpgid, Setpgid()"
        "a process group of its own is not reached by ^C or by a signal to the parent's group, so the child stays when its parent dies" OWNED;
    BEFORE_EXEC "before-exec"
        "Python preexec_fn=, Rust pre_exec(): a function that calls setsid, setpgid or setpgrp"
        "what runs between fork and exec takes the child out of its parent's session or group, so it stays when its parent dies" OWNED;
    SPAWN_ATTRIBUTES "spawn-attributes"
        "C, C++, Rust posix_spawnattr_setflags with POSIX_SPAWN_SETSID or POSIX_SPAWN_SETPGROUP"
        "the child begins in a session or group of its own, so it stays when its parent dies" OWNED;
    FORK_EXEC "fork-exec"
        "Python os.fork in a file that calls os.exec*"
        "a program started by hand has nobody who stops it when its parent dies" OWNED;
    TERMINAL_FORK "terminal-fork"
        "Python pty.fork, os.forkpty; C, C++ forkpty"
        "the child leads a session of its own, so it stays when its parent dies" OWNED;
    CREATION_FLAGS "creation-flags"
        "Python creationflags=, Rust creation_flags(), C and C++ CreateProcess, Go CreationFlags: DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP, CREATE_BREAKAWAY_FROM_JOB"
        "the child leaves its parent's console, group or job, so it stays when its parent dies" OWNED;
    DAEMON "daemon"
        "Python daemon, daemonize, daemonocle, daemoniker, pep3143daemon; Rust daemon(), the daemonize and fork crates; C, C++ daemon(), QProcess::startDetached"
        "a daemon has cut itself loose from whoever started it: nobody stops it" OWNED;
    DETACHED_OPTION "detached-option"
        "JavaScript, TypeScript: detached: true in the options of a start (child_process, execa, cross-spawn, Bun, Deno)"
        "the child leads a session of its own, so it stays when its parent dies" OWNED;
    UNREF "unref"
        "JavaScript, TypeScript: unref() on a spawned child"
        "the parent no longer waits for the child, so the child goes on after its parent has left" OWNED;
    CLONE_FLAGS "clone-flags"
        "C, C++ clone(), clone3's struct and syscall(SYS_clone): CLONE_PARENT, CLONE_NEWPID, CLONE_UNTRACED, CLONE_DETACHED without CLONE_THREAD"
        "the child is nobody's or somebody else's, so it stays when its parent dies" OWNED;
    FOREGROUND "foreground-group"
        "Go SysProcAttr.Foreground"
        "the child gets a process group of its own and takes the terminal with it" OWNED;
    COMMAND "detaching-command"
        "setsid, nohup, disown, systemd-run, start-stop-daemon --background, daemonize: in scripts, in argument lists and in strings for a shell, in every language"
        "the command takes what it starts out of its parent's life" OWNED_SHELL;
    BACKGROUND "background-job"
        "a trailing & in scripts and in strings for a shell, in every language"
        "a background job goes on when the shell that started it has ended" OWNED_SHELL;
    UNKNOWN_OPTIONS "unknown-options"
        "a start whose options come from elsewhere: Popen(**kwargs), spawn(cmd, args, options)"
        "they may hold an option that takes the child out of its parent's life"
        "write the options out, or name in a marker who decides them";
    UNKNOWN_COMMAND "unknown-command"
        "a shell that is given a string of which nothing is known: subprocess.run(cmd, shell=True), system(cmd), sh -c \"$cmd\""
        "it may hold `&`, setsid or nohup"
        "pass a list of arguments without a shell, or name in a marker who writes the string";
    IN_BROKEN_TEXT "in-broken-text"
        "C, C++: a call that is looked for, in a part that cannot be parsed before the preprocessor has run"
        "it may take a child out of its parent's life"
        "write it outside of the macro, or mark it";
    MARKER_UNUSED "marker-unused"
        "`detached-spawn: ok - why` on a line, or above a line, that has no finding"
        "the next detached start that is written there would go unseen" "remove the marker";
    MARKER_NO_REASON "marker-without-reason"
        "`detached-spawn: ok` without a reason"
        "nobody can tell later whether it still holds" "write `detached-spawn: ok - ` and why it must outlive its parent";
    MARKER_MISSPELT "marker-misspelt"
        "a comment that is nearly `detached-spawn: ok - why`"
        "it marks nothing" "write `detached-spawn: ok - ` and why";
}

/// What is not found, said in `--list-rules`.
pub const MISSES: &[&str] = &[
    "Values from other files: imported constants, options that a function of another module fills in. Where they decide, and the call is known as a start, they are reported as `cannot tell`.",
    "The program of an argument list that is not known: only a shell's string that is not known is reported.",
    "A start behind a wrapper of another module with names of its own, such as `launch(background=True)`.",
    "Reflection and generated code: getattr with a computed name, eval, exec of strings, dlsym, ctypes and other foreign calls.",
    "Command lines put together step by step: snprintf in C, a list that grows in a loop.",
    "Code that is not compiled: `#if 0` in C and C++, and what `#[cfg(test)]` covers in Rust unless tests are included.",
    "Macros of C, C++ and Rust are not expanded. The arguments of a macro are looked at, the macro's own definition is for `#define`d constants only.",
    "screen, tmux, at, batch, cron, ssh: programs whose own service starts the child. Here-documents that are fed to a shell.",
    "Other languages, notebooks, and scripts in other files: Makefiles, Dockerfiles, YAML, package.json.",
];
