'use strict';

// Before anything that loads koffi.
const places = require('./lib/places');
places.checkSystem();
places.checkKoffi();

const { configure, status, version } = require('./lib/state');
const { ownProcessGroups, releaseProcessGroupOnceEmpty, releaseProcessGroups } = require('./lib/groups');
const { HermesError } = require('./lib/errors');
const { OwnedChild } = require('./lib/child');
const { spawnOwned } = require('./lib/spawn');

module.exports = {
  HermesError,
  OwnedChild,
  configure,
  ownProcessGroups,
  releaseProcessGroupOnceEmpty,
  releaseProcessGroups,
  spawnOwned,
  status,
  version,
};
