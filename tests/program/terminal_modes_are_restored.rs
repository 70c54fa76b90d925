use crate::pty::Pty;

fn modes(pty: &mut Pty) -> String {
    pty.type_in("echo mo''des=$(stty -g)=en''d\n");
    pty.until("modes=");
    pty.until("=end")
}

#[test]
fn after_a_child_that_was_killed_with_echo_off() {
    let mut pty = Pty::shell(|_| {});
    let before = modes(&mut pty);
    pty.type_in("$P run -- sh -c 'stty raw -echo; kill -KILL $$'; echo co''de=$?\n");
    pty.until("code=137");
    pty.until("$> ");
    assert_eq!(modes(&mut pty), before);
}

#[test]
fn while_the_child_is_stopped_and_its_own_again_after_fg() {
    let mut pty = Pty::shell(|_| {});
    let before = modes(&mut pty);
    pty.type_in("$P run -- sh -c 'stty -echo; kill -STOP $$; stty -a; stty echo'\n");
    pty.until("Stopped");
    pty.until("$> ");
    assert_eq!(modes(&mut pty), before);
    pty.type_in("fg\n");
    pty.until(" -echo ");
    pty.until("$> ");
}

/// `stty` itself must work.
#[test]
fn but_what_a_child_has_set_and_left_stays() {
    let mut pty = Pty::shell(|_| {});
    pty.type_in("$P run -- stty -echoctl; echo co''de=$?\n");
    pty.until("code=0");
    pty.type_in("stty -a\n");
    pty.until("-echoctl");
}
