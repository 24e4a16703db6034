#!/usr/bin/env bash
# Build the wheel and run the smoke test of it on every supported Python of this machine, each in a new environment.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${PYTHON:-python3} -m venv "$work/build"
"$work/build/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$work" .
tested=0
for version in 3.11 3.12 3.13 3.14; do
    # A name on the path can be a shim that refuses to start; it must answer with its own version.
    found=$("python$version" -c 'import sys; print(sys.executable)' 2>/dev/null ||
        ls "$HOME/.pyenv/versions/$version".*/bin/python 2>/dev/null | tail -n 1 || true)
    [ -n "$found" ] || continue
    "$found" -m venv "$work/$version"
    "$work/$version/bin/python" -m pip install --quiet --disable-pip-version-check "$work"/dalenius-*.whl
    (cd "$work" && "$work/$version/bin/python" "$OLDPWD/scripts/smoke.py" "$work/$version/bin/dalenius")
    tested=$((tested + 1))
done
[ "$tested" -gt 0 ] || { echo "no supported Python was found"; exit 1; }
