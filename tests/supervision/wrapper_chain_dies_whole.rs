//! A shell, a wrapper in it and a server below that, which ignores TERM and the end of its input: all gone, however
//! the owner ends.

use super::deaths::{Death, SOON_GONE, assert_killed_after_grace, for_each};
use super::support::Process;
use super::support::process::address_is_free;

#[test]
fn wrapper_chain_dies_whole() {
    for_each(&Death::ALL, |scene, mut doomed| {
        let chain = doomed.owner.spawn_with("stdin=piped", "chain stubborn server");
        let shell = Process::open(chain.pid).expect("the shell");
        let (wrapper, server) = (scene.seat(&chain, "wrapper"), scene.seat(&chain, "server"));
        assert!(wrapper.pgid == chain.pid && server.pgid == chain.pid, "one group");
        let address = server.address.expect("it listens");
        let supervisor = doomed.owner.supervisor();

        let moment = doomed.die();

        assert_killed_after_grace(&server.process, moment, "the server");
        wrapper.process.assert_gone_by(moment + SOON_GONE, "the wrapper");
        shell.assert_gone_by(moment + SOON_GONE, "the shell");
        assert!(address_is_free(address), "{address}");
        supervisor.assert_gone_by(moment + SOON_GONE, "the supervisor");
    });
}
