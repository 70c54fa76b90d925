#!/usr/bin/env bash
# Installs the programs of others that the tests start, in the versions pinned beside this file, into FOLDER.
#
#   ./install.sh FOLDER       FOLDER/venv (Python) and FOLDER/node_modules (Node)
set -euo pipefail
[ $# = 1 ] || { echo "usage: ./install.sh FOLDER" >&2; exit 2; }
mkdir -p "$1"
to=$(cd "$1" && pwd)
cd "$(dirname "$0")"

# Nothing to do if it was installed from the same files, by the same Python and Node.
stamp=$({ cat requirements.txt package-lock.json; python3 --version; node --version; } | sha256sum)
[ "$(cat "$to/stamp" 2>/dev/null)" != "$stamp" ] || exit 0

rm -rf "$to/stamp" "$to/venv"
python3 -m venv "$to/venv"
"$to/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps -r requirements.txt
"$to/venv/bin/pip" check

cp package.json package-lock.json .npmrc "$to"
(cd "$to" && npm ci --silent)
echo "$stamp" > "$to/stamp"
