/**
 * Scripts for the resource view on the engine's machine, in plain sh. `AT/shown` has the files that containers mount,
 * `AT/host` the machine's, `AT/fs` those of lxcfs.
 *
 * Containers receive whatever is mounted on a shown file, even after their start: their mounts are slaves of it. So a
 * dead lxcfs is covered by the machine's files, then by those of a new lxcfs. It is never unmounted: a container whose
 * mount began with it would keep it.
 */

/** `AT FILE...`: makes the shown files, with the machine's contents. Repeatable. */
export const PREPARE_VIEW = `
set -e
at=$1
shift
is_mounted() { grep -q " $1 " /proc/self/mountinfo; }
mkdir -p "$at/host/proc" "$at/host/sys" "$at/fs" "$at/shown"
chmod 711 "$at" "$at/shown"
for kind in proc sys; do
  type=$kind
  [ $kind = proc ] || type=sysfs
  is_mounted "$at/host/$kind" || mount -t $type -o ro,nosuid,nodev,noexec $type "$at/host/$kind"
  # What is mounted on a shown file must not appear here.
  mount --make-private "$at/host/$kind"
done
for file; do
  shown=$at/shown/$file
  if ! is_mounted "$shown"; then
    (umask 022; mkdir -p "$(dirname "$shown")")
    : >> "$shown"
    mount --bind "$at/host/$file" "$shown"
  fi
  grep " $shown " /proc/self/mountinfo | grep -q ' shared:' || mount --make-shared "$shown"
done
`;

/**
 * `AT FILE...`: runs lxcfs for ever and shows its files. It outlives Berth, so that it replaces a dead or hung lxcfs
 * even while Berth is down. A second one ends at once.
 */
export const SUPERVISE_LXCFS = `
at=$1
shift
exec 9>"$at/lock"
flock -n 9 || exit 0
echo $$ > "$at/pid"
echo -500 > /proc/self/oom_score_adj 2>/dev/null
first=$1
shows_lxcfs() { grep " $at/shown/$first " /proc/self/mountinfo | tail -n 1 | grep -q ' fuse.lxcfs '; }
show() {
  from=$1
  shift
  for file; do
    [ ! -e "$from/$file" ] || mount --bind "$from/$file" "$at/shown/$file" || return 1
  done
}
end_earlier() {
  pid=$(cat "$at/lxcfs.pid" 2>/dev/null) && tr '\\0' ' ' < "/proc/$pid/cmdline" 2>/dev/null | grep -q "lxcfs.* $at/fs" &&
    kill -KILL "$pid"
}
answers() { timeout -s KILL 20 cat "$at/fs/proc/uptime" > /dev/null 2>&1; }
# Programs make it use memory that counts in none of their groups: each open file has a buffer. So it is limited, and the
# first to end when the machine runs out. Its threads have small stacks and two heaps, to fit.
run_lxcfs() {
  echo 500 > /proc/self/oom_score_adj 2>/dev/null
  ulimit -s 1024
  ulimit -v 524288
  export MALLOC_ARENA_MAX=2
  exec nice -n 10 lxcfs -f --enable-cfs --enable-loadavg -p "$at/lxcfs.pid" "$at/fs"
}
is_ready() {
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ ! -e "$at/fs/$first" ] || return 0
    kill -0 "$lxcfs" 2>/dev/null || return 1
    sleep 0.25
  done
  return 1
}
watch() { while sleep 5 && kill -0 $$; do answers || kill -KILL "$lxcfs" || exit 0; done; }
end_earlier
pause=1
while :; do
  ! shows_lxcfs || show "$at/host" "$@"
  while grep -q " $at/fs " /proc/self/mountinfo; do umount --lazy "$at/fs" || break; done
  began=$(date +%s)
  run_lxcfs > "$at/log" 2>&1 9>&- &
  lxcfs=$!
  if is_ready && mount --make-private "$at/fs" && mount -o remount,bind,ro "$at/fs" && show "$at/fs" "$@"; then
    (exec 9>&-; watch) 2> /dev/null &
    watcher=$!
    wait "$lxcfs"
    kill "$watcher"
  else
    kill -KILL "$lxcfs" 2>/dev/null
    wait "$lxcfs"
  fi
  ! shows_lxcfs || show "$at/host" "$@"
  if [ $(($(date +%s) - began)) -gt 60 ]; then pause=1; fi
  sleep $pause
  pause=$((pause < 60 ? pause * 2 : 60))
done
`;
