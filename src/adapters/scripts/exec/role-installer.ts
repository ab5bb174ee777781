import { PACKAGE_MANAGERS } from '../../../domain/containers/catalogue.ts';
import type {
  ContainerCommands,
  RoleInstaller,
} from '../../../ports/containers/inside/container-commands.ts';
import { END_BY_MARK } from './process-scripts.ts';

const INSTALL_SECONDS = 1_800;

/** Runs Berth's script as the container's root, with the catalogue's entry as arguments. */
export const shellRoleInstaller = (commands: ContainerCommands): RoleInstaller => ({
  install(handle, { packages, script }) {
    const lists = PACKAGE_MANAGERS.map((manager) => (packages[manager] ?? []).join(' '));
    const command = ['sh', '-c', INSTALL_ROLE, 'berth', ...lists, script ?? ''];
    return commands.open(handle, { command, workdir: '/', timeoutSeconds: INSTALL_SECONDS });
  },
});

/**
 * `APT APK DNF SCRIPT`: package names per manager, separated by spaces and free of shell syntax, and a script to run
 * afterwards. It first ends an earlier run's programs by the marker that this left unless it finished. It repairs
 * interrupted work and reuses downloads.
 */
const INSTALL_ROLE = `${END_BY_MARK}
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
umask 022
state=/run/berth-role
mkdir -p /run
earlier=$(cat "$state" 2>/dev/null)
[ -z "$earlier" ] || end_marked "BERTH_EXEC=$earlier" 40
echo "$BERTH_EXEC" > "$state"
trap 'rm -f "$state"' EXIT

has() { command -v "$1" >/dev/null 2>&1; }

# The command, again and again while another program has the lock that it needs.
patiently() {
  tries=0
  while :; do
    said=$("$@" 2>&1); code=$?
    [ $code -ne 0 ] && [ $tries -lt 150 ] || break
    case "$said" in *lock*) ;; *) break;; esac
    [ $tries -ne 0 ] || echo 'waiting for another package manager'
    tries=$((tries + 1))
    sleep 2
  done
  [ -z "$said" ] || printf '%s\\n' "$said"
  return $code
}

apt_get() {
  apt-get -q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 \\
    -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold "$@"
}

all_there() {
  for name in $1; do
    case "$(dpkg-query -W -f '\${db:Status-Abbrev}' "$name" 2>/dev/null)" in ii*) ;; *) return 1;; esac
  done
}

with_apt() {
  patiently dpkg --configure -a --force-confdef --force-confold
  all_there "$1" && return 0
  echo 'Reading package lists'
  patiently apt_get update || return
  apt_get --fix-broken install || return
  apt_get --no-install-recommends install $1 || return
  apt_get clean
}
with_apk() { apk add --no-cache --wait 300 $1; }
with_dnf() { dnf -y --setopt=install_weak_deps=False install $1; }

manager= wanted=
if has apt-get; then manager=apt wanted=$1
elif has apk; then manager=apk wanted=$2
elif has dnf; then manager=dnf wanted=$3
fi
if [ -z "$wanted" ] && [ -n "$1$2$3" ]; then
  echo "the role names no packages for this image, which has \${manager:-no package manager}" >&2
  exit 1
fi
if [ -n "$wanted" ]; then with_$manager "$wanted" || exit; fi
[ -z "$4" ] || sh -e -c "$4"
`;
