#!/usr/bin/env bash
# Run a command with a PostgreSQL server of its own: on loopback, in a temporary folder, stopped at the end.
#   scripts/with_postgresql.sh python -m pytest -m engines
# Debian's package is installed where the server is missing and we may do so. DALENIUS_POSTGRESQL names the server.
set -euo pipefail
find_server() { ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1 || true; }
bin=$(find_server)
if [ -z "$bin" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql >/dev/null
    bin=$(find_server)
fi
[ -n "$bin" ] || { echo "PostgreSQL is not installed; install your system's package postgresql"; exit 1; }
folder=$(mktemp -d)
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
as_server() { "$@"; }
if [ "$(id -u)" = 0 ]; then  # the server refuses to run as root
    chown postgres "$folder"
    as_server() { su postgres -s /bin/sh -c "$(printf '%q ' "$@")"; }
fi
stop() {
    as_server "$bin/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1 || true
    rm -rf "$folder"
}
trap stop EXIT
cd_back=$PWD
cd "$folder"
as_server "$bin/initdb" -D "$folder/data" -A trust -U tester -E UTF8 >/dev/null
as_server "$bin/pg_ctl" -D "$folder/data" -l "$folder/log" -w \
    -o "-c listen_addresses=127.0.0.1 -p $port -k $folder -c fsync=off" start >/dev/null
cd "$cd_back"
DALENIUS_POSTGRESQL="postgresql://tester@127.0.0.1:$port/postgres" "$@"
