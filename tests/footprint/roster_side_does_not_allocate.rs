//! Own and release make no heap allocation on the caller's thread, from the second call on (the first one makes the
//! state of this process).

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use hermes_spawn::{own_process_groups, release_process_group_once_empty, release_process_groups};

use crate::counting::calls_of_this_thread;
use crate::stage::Stage;
use crate::{next_order, say};

pub fn claim(stage: &Stage) {
    let mut owner = stage.role(&["roster-side"]);
    let counts = owner.ask("count");
    assert_eq!(counts, "control 2, own 0, own again 0, once empty 0, release 0", "calls of the allocator");
}

pub fn play() {
    next_order();
    let mut groups: Vec<_> = (0..3)
        .map(|_| {
            let mut sleeper = Command::new("sleep");
            sleeper.arg("600").stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
            sleeper.spawn().expect("start a sleeper")
        })
        .collect();
    let [kept, first, second] = [0, 1, 2].map(|i: usize| groups[i].id() as i32);
    own_process_groups(&[kept]).expect("own");
    release_process_groups(&[kept]).expect("release");

    let count = |deed: &dyn Fn() -> hermes_spawn::Result<()>| {
        let (calls, result) = calls_of_this_thread(deed);
        result.expect("accepted");
        calls
    };
    let (control, _) = calls_of_this_thread(|| drop(std::hint::black_box(Box::new(1))));
    let own = count(&|| own_process_groups(&[first, second]));
    let again = count(&|| own_process_groups(&[first]));
    let once_empty = count(&|| release_process_group_once_empty(second));
    let release = count(&|| release_process_groups(&[first, second]));
    say(format_args!("control {control}, own {own}, own again {again}, once empty {once_empty}, release {release}"));
    for group in &mut groups {
        let _ = group.kill();
        let _ = group.wait();
    }
}
