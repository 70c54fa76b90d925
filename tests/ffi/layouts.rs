//! Sizes and offsets of all structures, as Rust has them and as the C compiler has them.

use std::fmt::Write;
use std::mem::offset_of;

use hermes_spawn::ffi::{hermes_config, hermes_error, hermes_exit_status, hermes_guarantee};
use hermes_spawn::ffi::{hermes_spawn_options, hermes_status_info};

use crate::workshop::{SHARED, STRICT, Workshop};
use crate::{header, needs};

/// Of each structure: lines `structure field offset`, and the C that prints the same. Names all fields, or does not
/// compile.
macro_rules! layouts {
    ($($structure:ident { $($field:ident),+ $(,)? })+) => {{
        let (mut rust, mut c) = (String::new(), String::new());
        $(
            let _names_all = |$structure { $($field: _),+ }: $structure| ();
            let name = stringify!($structure);
            writeln!(rust, "{name} size {}", size_of::<$structure>()).unwrap();
            writeln!(c, "    printf(\"{name} size %zu\\n\", sizeof({name}));").unwrap();
            $(
                let field = stringify!($field);
                writeln!(rust, "{name} {field} {}", offset_of!($structure, $field)).unwrap();
                writeln!(c, "    printf(\"{name} {field} %zu\\n\", offsetof({name}, {field}));").unwrap();
            )+
        )+
        (rust, c)
    }};
}

#[test]
fn both_sides_have_the_same_layouts() {
    needs!("cc", "pkg-config");
    let (rust, c) = layouts! {
        hermes_error { size, code, os_errno, step, message }
        hermes_exit_status { size, kind, code, core_dumped }
        hermes_config { size, grace_ms, idle_ms, role, threads, reserved, home }
        hermes_guarantee { name, value, why }
        hermes_status_info {
            size, supervisor_pid, supervisor_generation, slots_in_use, weak_groups, grace_ms, idle_ms, reserved,
            guarantees, last_supervisor_error,
        }
        hermes_spawn_options {
            size, flags, program, argv, envp, cwd, stdin_fd, stdout_fd, stderr_fd, pass_fd_count, pass_fds, family,
            wait_limit_ms, reserved,
        }
    };
    for name in header::structures() {
        assert!(rust.contains(&format!("{name} size ")), "{name} is not compared");
    }
    let workshop = Workshop::new();
    let program = format!("#include <stdio.h>\n#include <hermes_spawn.h>\nint main(void) {{\n{c}    return 0;\n}}\n");
    std::fs::write(workshop.path().join("layouts.c"), program).expect("write the program");
    workshop.shell(&format!("cc {STRICT} layouts.c -o layouts {SHARED}"));
    assert_eq!(workshop.run("./layouts"), rust);
}
