#!/usr/bin/env bash
# Build the wheel and run the smoke test of it on every supported Python of this machine at once, each in a new environment.
set -euo pipefail
cd "$(dirname "$0")/.."
smoke=$PWD/scripts/smoke.py
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${PYTHON:-python3} -m venv "$work/build"
"$work/build/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$work" .

tried() { # PYTHON FOLDER: whether the wheel works on this Python; what it printed is in FOLDER.log
    "$1" -m venv "$2" &&
        "$2/bin/python" -m pip install --quiet --disable-pip-version-check "$work"/dalenius-*.whl &&
        (mkdir "$2.try" && cd "$2.try" && "$2/bin/python" "$smoke" "$2/bin/dalenius")
}

declare -A started
for version in 3.11 3.12 3.13 3.14; do
    # A name on the path can be a shim that refuses to start; it must answer with its own version.
    found=$("python$version" -c 'import sys; print(sys.executable)' 2>/dev/null ||
        ls "$HOME/.pyenv/versions/$version".*/bin/python 2>/dev/null | tail -n 1 || true)
    [ -n "$found" ] || continue
    tried "$found" "$work/$version" >"$work/$version.log" 2>&1 &
    started[$version]=$!
done
[ "${#started[@]}" -gt 0 ] || { echo "no supported Python was found"; exit 1; }
failed=0
for version in "${!started[@]}"; do
    wait "${started[$version]}" || failed=1
    cat "$work/$version.log"
done
exit "$failed"
