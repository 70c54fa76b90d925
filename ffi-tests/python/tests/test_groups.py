"""Groups that somebody else has started."""

from __future__ import annotations

import os
import subprocess

import hermes_spawn
from hermes_spawn import (
    GroupPermissionError,
    own_process_groups,
    release_process_group_once_empty,
    release_process_groups,
    spawn_owned,
)

from .processes import eventually
from .stage import Stage, hold, say


class Groups(Stage):
    def test_taken_over_let_go_and_let_go_once_empty(self) -> None:
        owner = self.owner(takes_groups_over)
        numbers = owner.hears()
        taken, released, lingering = (owner.meet(numbers[name]) for name in ("taken", "released", "lingering"))
        moment = owner.kill()
        self.assert_gone(taken, moment, "the group taken over")
        self.assert_gone(lingering, moment, "the group that was not empty yet")
        self.assert_lives(released, "the group that was let go")

    def test_refused(self) -> None:
        """All or none: a good group beside a refused one is not stored either."""
        owner = self.owner(owns_what_must_be_refused)
        found = owner.hears()
        self.assertEqual(
            found["refused"],
            {
                "own group": "UnsafeGroupError",
                "0": "UnsafeGroupError",
                "1": "UnsafeGroupError",
                "negative": "UnsafeGroupError",
                "an ancestor's": "UnsafeGroupError",
                "the supervisor's": "UnsafeGroupError",
                "2^31": "UnsafeGroupError",
                "2^32 + a good one": "UnsafeGroupError",
                "leads no group": "NoSuchGroupError",
                "ended": "NoSuchGroupError",
            },
        )
        self.assertEqual(found["slots"], [1, 1])
        good, owned = owner.meet(found["good"]), owner.meet(found["owned"])
        moment = owner.kill()
        self.assert_lives(good, "the good group")
        self.assert_gone(owned, moment)

    def test_another_users_group(self) -> None:
        """Root may signal anybody; the promise is about what is ours."""
        if os.geteuid() != 0:
            self.skip("only root can start a group as another user")
        stranger = subprocess.Popen(["sleep", "600"], start_new_session=True, user=65534)
        self.addCleanup(lambda: (stranger.kill(), stranger.wait()))
        with self.assertRaises(GroupPermissionError):
            own_process_groups([stranger.pid])
        self.assertIsNone(stranger.poll())

    def test_what_is_unknown_may_be_released(self) -> None:
        release_process_groups([0, 1, -1, 2**40, -(2**40), os.getpgrp()])
        release_process_groups([])
        own_process_groups([])
        for pgid in (0, 2**40, os.getpgrp()):
            release_process_group_once_empty(pgid)
        with self.assertRaises(TypeError):
            own_process_groups([1.5])  # type: ignore[list-item]


def foreign() -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "600"], start_new_session=True)


def takes_groups_over() -> None:
    taken, released, lingering, ending = (foreign() for _ in range(4))
    groups = [child.pid for child in (taken, released, lingering, ending)]
    own_process_groups(groups)
    own_process_groups(iter(groups))
    assert hermes_spawn.status()["slots_in_use"] == 4
    release_process_groups([released.pid])
    release_process_group_once_empty(lingering.pid)
    release_process_group_once_empty(ending.pid)
    assert hermes_spawn.status()["slots_in_use"] == 3
    ending.kill()
    ending.wait()
    eventually("the empty group is let go", lambda: hermes_spawn.status()["slots_in_use"] == 2)
    say(taken=taken.pid, released=released.pid, lingering=lingering.pid)
    hold()


def owns_what_must_be_refused() -> None:
    owned, good, gone = spawn_owned(["sleep", "600"]), foreign(), foreign()
    # In this process' own group, so that it leads none.
    member = subprocess.Popen(["sleep", "600"])
    gone.kill()
    gone.wait()
    status = hermes_spawn.status()
    pgids = {
        "own group": os.getpgrp(),
        "0": 0,
        "1": 1,
        "negative": -good.pid,
        "an ancestor's": os.getpgid(os.getppid()),
        "the supervisor's": status["supervisor_pid"],
        "2^31": 2**31,
        "2^32 + a good one": 2**32 + good.pid,
        "leads no group": member.pid,
        "ended": gone.pid,
    }
    refused = {}
    for name, pgid in pgids.items():
        try:
            own_process_groups([good.pid, pgid])
        except hermes_spawn.HermesError as error:
            refused[name] = type(error).__name__
    member.kill()
    slots = [status["slots_in_use"], hermes_spawn.status()["slots_in_use"]]
    say(refused=refused, slots=slots, good=good.pid, owned=owned.pid)
    hold()
