'use strict';

// Where libhermes_spawn may be. Nothing here needs koffi, which does not load everywhere.

const fs = require('node:fs');
const path = require('node:path');

const VARIABLE = 'HERMES_SPAWN_LIBRARY';
const FILE = 'libhermes_spawn.so';
const PACKAGE = path.dirname(__dirname);
const IN_PACKAGE = path.join(PACKAGE, 'native', FILE);

/** Elsewhere the library does not compile, so there is no use in looking for it. */
function checkSystem(platform = process.platform, arch = process.arch) {
  if (platform !== 'linux' || (arch !== 'x64' && arch !== 'arm64')) {
    throw new Error(`hermes-spawn works on Linux on x86_64 and aarch64 only; this is ${platform} on ${arch}`);
  }
}

/** koffi, which is installed together with this package; but not by a link to its folder. */
function hasKoffi() {
  try {
    require.resolve('koffi');
    return true;
  } catch {
    return false;
  }
}

function checkKoffi() {
  if (hasKoffi()) return;
  throw new Error(
    `hermes-spawn needs koffi, which is not installed beside ${PACKAGE}. If that is a link to a checkout, or scripts ` +
      `were not run: (cd ${PACKAGE} && npm ci --omit=dev); else \`npm install koffi\`.`,
  );
}

/**
 * The builds of the checkout that this file is part of, the newest first; none if it is installed elsewhere. Among them
 * the copy inside this package, which would grow old if it came before a newer build.
 */
function checkoutBuilds() {
  const crate = path.resolve(PACKAGE, '..', '..');
  if (!fs.existsSync(path.join(crate, 'supervisor', 'layout.ld'))) return [];
  const target = path.resolve(crate, process.env.CARGO_TARGET_DIR ?? 'target');
  const builds = [...['release', 'debug'].map((profile) => path.join(target, profile, FILE)), IN_PACKAGE];
  const built = (file) => fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return builds.sort((a, b) => built(b) - built(a));
}

module.exports = { FILE, IN_PACKAGE, PACKAGE, VARIABLE, checkKoffi, checkSystem, checkoutBuilds, hasKoffi };
