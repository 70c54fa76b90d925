'use strict';

const { GUARANTEES, ROLE, record } = require('./abi');
const { checkOptions, invalid } = require('./errors');
const { call, functions } = require('./library');

const NONE = { name: '', value: '', why: '' };

const SETTINGS = new Set(['graceMs', 'idleMs', 'home', 'role']);

/** Settings, before anything else of the library is used in this process. */
function configure(settings = {}) {
  // Python and C have it, so it is looked for here.
  if (settings?.threads !== undefined) {
    throw invalid('option threads', settings.threads, 'and not offered: a Node process is never single-threaded');
  }
  checkOptions('the settings', settings, SETTINGS);
  const { graceMs = 3000, idleMs = 30000, home = null, role = 'task' } = settings;
  for (const [name, value] of Object.entries({ graceMs, idleMs })) {
    if (!Number.isInteger(value) || value < 0 || value > 0xffffffff) throw invalid(name, value, 'no number of ms');
  }
  const number = typeof role === 'string' ? ROLE[role.toUpperCase()] : undefined;
  if (number === undefined) throw invalid('role', role, "and must be 'task' or 'gateway'");
  if (home !== null && (typeof home !== 'string' || home.includes('\0'))) throw invalid('home', home, 'no path');
  // Without the library's threads there is no exit descriptor; and a Node process is never single-threaded.
  const config = { grace_ms: graceMs, idle_ms: idleMs, role: number, threads: 1, reserved: 0, home };
  call('hermes_configure', record('hermes_config', config));
}

/** What is in force in this process, and why. */
function status() {
  const info = record('hermes_status_info', {
    supervisor_pid: 0,
    supervisor_generation: 0,
    slots_in_use: 0,
    weak_groups: 0,
    grace_ms: 0,
    idle_ms: 0,
    reserved: 0,
    guarantees: Array(GUARANTEES).fill(NONE),
    last_supervisor_error: '',
  });
  call('hermes_status', info);
  const guarantees = info.guarantees.map(({ name, value, why }) => [name, { value, why: why || null }]);
  return {
    supervisorPid: info.supervisor_pid,
    supervisorGeneration: info.supervisor_generation,
    slotsInUse: info.slots_in_use,
    weakGroups: info.weak_groups,
    graceMs: info.grace_ms,
    idleMs: info.idle_ms,
    guarantees: Object.fromEntries(guarantees),
    lastSupervisorError: info.last_supervisor_error || null,
  };
}

/** The version of the library that was loaded. */
const version = functions.hermes_version_string();

module.exports = { configure, status, version };
