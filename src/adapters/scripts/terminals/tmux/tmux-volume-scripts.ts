/** Where containers mount the tmux volume, read-only. */
export const TOOLS_FOLDER = '/opt/berth';
/** A file that marks a complete volume. */
export const TOOLS_COMPLETE = 'complete';

/**
 * Fills the folder from the image that it runs in: tmux, sftp-server and perl-base with their loader and libraries,
 * independent of the other image's C library, tmux's locale, and the terminal types. Safe to run concurrently.
 */
export const FILL_TOOLS = `
set -e
cd ${TOOLS_FOLDER}
exec 9> .lock
flock 9
[ -e ${TOOLS_COMPLETE} ] && exit 0
rm -rf -- *
mkdir lib locale terminfo
cp -L "$(command -v tmux)" tmux
ldd tmux > needed
# An older base image has none.
sftp=/usr/lib/openssh/sftp-server
if [ -x $sftp ]; then cp -L $sftp sftp-server; ldd sftp-server >> needed; fi
perl=$(perl -e 'print grep m{/perl-base$}, @INC') || perl=
if [ -n "$perl" ]; then
  cp -L "$(command -v perl)" perl
  ldd perl >> needed
  cp -rL "$perl" perl5
  rm -rf perl5/unicore
fi
while read -r name to path rest; do
  case "$name $path" in
    /*) cp -L "$name" ld.so;;
    *" /"*) cp -L "$path" "lib/$name";;
  esac
done < needed
cp -rL /usr/lib/locale/C.utf8 locale/
for t in tmux-256color screen-256color screen xterm-256color; do
  for d in /etc/terminfo /lib/terminfo /usr/share/terminfo; do
    f=$(ls "$d"/?/"$t" 2>/dev/null) || continue
    s=\${t%"\${t#?}"}
    mkdir -p "terminfo/$s"
    cp -L "$f" "terminfo/$s/"
  done
done
chmod -R a+rX -- *
LOCPATH=$PWD/locale ./ld.so --library-path lib ./tmux -V
: > ${TOOLS_COMPLETE}
`;

const INJECTED = `${TOOLS_FOLDER}/ld.so --library-path ${TOOLS_FOLDER}/lib ${TOOLS_FOLDER}/tmux`;

/**
 * Finds the tmux to run with `berth_tmux`: the image's own from 3.2 on, or the installation's. Fails when there is neither.
 * The installation's needs its own locale, which programs inside must not see, and its terminal types, which they need.
 * With `run=exec` it takes the place of the shell. A container made with `BERTH_TMUX=off` has none.
 *
 * The first choice is remembered, with the terminal type inside and the version of the settings: a session's server and
 * clients must be of one version, even if another is installed later, and each program started for a choice costs milliseconds.
 */
export const CHOOSE_TMUX = `
run= injected= term= version= chosen=/run/berth-tmux.chosen
berth_tmux() {
  if [ -n "$injected" ]; then $run ${INJECTED} "$@"; else $run tmux "$@"; fi
}
use_injected() {
  injected=yes
  export LOCPATH=${TOOLS_FOLDER}/locale TERMINFO_DIRS=${TOOLS_FOLDER}/terminfo:\${TERMINFO_DIRS-/usr/share/terminfo}
}
choose_again() {
  { read -r term version injected < $chosen; } 2>/dev/null || return 1
  case "$injected" in
    yes) [ -e ${TOOLS_FOLDER}/${TOOLS_COMPLETE} ] && use_injected;;
    *) command -v tmux >/dev/null;;
  esac
}
choose_tmux() {
  [ "$BERTH_TMUX" != off ] || return 1
  choose_again && return 0
  injected= version=
  case "$(tmux -V 2>/dev/null)" in
    'tmux '[0-2].*|'tmux 3.'[01]|'tmux 3.'[01][a-z]*) ;;
    *) command -v tmux >/dev/null && return 0;;
  esac
  [ -e ${TOOLS_FOLDER}/${TOOLS_COMPLETE} ] || return 1
  use_injected
  berth_tmux -V >/dev/null 2>&1
}
`;
