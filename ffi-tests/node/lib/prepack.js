'use strict';

// Before `npm pack`: the checkout's newest build goes into the package, which is then complete in itself.

const fs = require('node:fs');
const path = require('node:path');
const { IN_PACKAGE, checkoutBuilds } = require('./places');

const built = checkoutBuilds().find((file) => fs.existsSync(file));
if (!built) throw new Error('there is no build in the checkout: cargo build --release --no-default-features');
fs.mkdirSync(path.dirname(IN_PACKAGE), { recursive: true });
fs.copyFileSync(built, IN_PACKAGE);
