#!/usr/bin/env bash
# Installs the programs of others into FOLDER and runs the tests with them, and the type checkers over both packages.
#
#   ./run.sh FOLDER       target/third-party, for one; the library is found as the packages find it
set -euo pipefail
[ $# = 1 ] || { echo "usage: ./run.sh FOLDER" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
"$here/install.sh" "$1"
HERMES_THIRD_PARTY=$(cd "$1" && pwd)
export HERMES_THIRD_PARTY
python="$HERMES_THIRD_PARTY/venv/bin/python"
export PYTHONPATH="$here/../python:$here" PYTHONDONTWRITEBYTECODE=1

(cd "$here/../python" && "$python" -m mypy --cache-dir "$HERMES_THIRD_PARTY/mypy")
# Beside an installed package, so that it is found as in a plugin.
ln -sfn "$here/../node" "$HERMES_THIRD_PARTY/node_modules/hermes-spawn"
cp -r "$here/types" "$HERMES_THIRD_PARTY"
"$HERMES_THIRD_PARTY/node_modules/.bin/tsc" -p "$HERMES_THIRD_PARTY/types"
(cd "$here" && "$python" -m unittest -v test_mcp)
(cd "$here" && node --test servers.test.js)
