#!/bin/sh
# The service, or with words a command on its data: migrate, audit verify, uninstall, use-swarm.
set -e
cd /opt/berth
node=$(ls node_modules/node-linux-*/bin/node 2>/dev/null || command -v node)
[ $# -gt 0 ] && exec "$node" dist/app/main/bin/berth.js "$@"
exec "$node" dist/app/main/bin/server.js
