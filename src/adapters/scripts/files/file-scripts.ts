/**
 * Programs for `sh` that work on a user's files. Names are arguments and used only behind `./`, so none is an option;
 * the first output line is a word and its figures. They need cat, dd, find, ln, mkdir, mv, rm, stat and tar, as in Debian,
 * Alpine and BusyBox.
 */

/**
 * The start of every program: `make|keep HOME NAME...` enters the folder of the last name, creating folders with
 * `make`. Links inside the home are followed; then the folder is fixed as the working directory, whatever happens to
 * its name.
 */
export const ENTER = `
unset CDPATH TAR_OPTIONS
say() { printf '%s\\n' "$*"; exit 0; }
inside() { case "$(pwd -P)/" in "$home"/*) ;; *) say outside;; esac; }
for tool in cat dd find ln mkdir mv rm stat tar; do command -v "$tool" >/dev/null || say no_tools; done
make=$1; shift
cd -P "$1" || say absent
home=$(pwd -P); shift
while [ $# -gt 1 ]; do
  if [ "$make" = make ] && ! [ -e "./$1" ] && ! [ -L "./$1" ]; then mkdir "./$1" || [ -d "./$1" ] || say failed; fi
  if ! [ -d "./$1" ]; then [ "$make" = make ] && say in_the_way; say absent; fi
  cd -P "./$1" || say not_permitted
  inside; shift
done
name=$1
`;

/** Only regular files may be read or replaced. */
const ONLY_A_FILE = `
[ -L "./$name" ] && say special
[ -d "./$name" ] && say in_the_way
[ -e "./$name" ] && ! [ -f "./$name" ] && say special
`;

/** For an upload that may not replace a file. */
const NOT_THERE = `
[ "$replaces" = new ] && [ -e "./$name" ] && say in_the_way
`;

/**
 * `listing|archive`, then as ENTER: \`file SIZE MTIME\` and the content, or \`folder\` and records of
 * \`mode/size/mtime/./name/\` (no name contains a slash) before \`end/\`, or tar streams. The opened file is checked
 * again, since its name may have become a link meanwhile.
 */
export const OPEN = `
folder_as=$1; shift
${ENTER}
[ -L "./$name" ] && say special
if [ -d "./$name" ]; then
  cd -P "./$name" || say not_permitted
  inside
  [ -r . ] || say not_permitted
  echo folder
  if [ "$folder_as" = listing ]; then
    find . -mindepth 1 -maxdepth 1 -exec stat -c '%f/%s/%Y/%n/' {} +
    say end/
  fi
  case "$(tar --version 2>/dev/null)" in
    *GNU*) exec tar --format=gnu --hard-dereference -cf - . ;;
  esac
  # Without that option, only one of the names of a file has its content: all of them follow, one archive each.
  tar -cf - .
  [ $? -lt 128 ] || exit 1
  exec find . ! -type d -links +1 -exec tar -cf - {} \\;
fi
[ -e "./$name" ] || say absent
[ -f "./$name" ] || say special
[ -r "./$name" ] || say not_permitted
send() {
  case "$(readlink "/proc/$$/fd/0")" in "$home"/*) ;; *) say outside;; esac
  [ -f "/proc/$$/fd/0" ] || say special
  echo "file $(stat -L -c '%s %Y' "/proc/$$/fd/0")"
  exec cat
}
send < "./$name"
say failed
`;

/**
 * `TEMPORARY replace|new`, then as ENTER: prints \`ready\`, writes its input to the temporary file, and prints \`received SIZE\`.
 */
export const RECEIVE = `
temporary=$1; replaces=$2; shift 2
${ENTER}
${ONLY_A_FILE}${NOT_THERE}
find . -maxdepth 1 -name '.berth-upload-*' -type f -mtime +0 -exec rm -f {} +
set -C
put() { echo ready >&3; dd bs=65536 conv=fsync; }
put 3>&1 > "./$temporary" || { rm -f "./$temporary"; say failed; }
say "received $(stat -c %s "./$temporary")"
`;

/**
 * \`TEMPORARY SIZE replace|new\`, then as ENTER: renames the temporary file, with the owner and mode of the file it
 * replaces; with \`new\` it replaces none, since a link never takes a name that is taken.
 * Prints \`new\` or \`replaced\`.
 */
export const COMMIT = `
temporary=$1; size=$2; replaces=$3; shift 3
${ENTER}
[ "$(stat -c %s "./$temporary")" = "$size" ] || say failed
${ONLY_A_FILE}${NOT_THERE}
found=new
if [ -f "./$name" ]; then
  found=replaced
  old=$(stat -c '%a %u:%g' "./$name")
  rights=\${old% *}
  chown "\${old#* }" "./$temporary"
  while [ \${#rights} -gt 3 ]; do rights=\${rights#?}; done
  chmod "$rights" "./$temporary"
fi
if [ "$replaces" = new ]; then
  ln -T "./$temporary" "./$name" || { [ -e "./$name" ] && say in_the_way; say failed; }
  rm -f "./$temporary"
else
  mv -fT "./$temporary" "./$name" 2>/dev/null || { ! [ -d "./$name" ] && mv -f "./$temporary" "./$name"; } || say failed
fi
case "$(sync --version 2>/dev/null)" in *GNU*) sync . ;; esac
say $found
`;

/** As ENTER: removes that name, and prints \`removed\`. */
export const REMOVE = `
${ENTER}
[ -e "./$name" ] || [ -L "./$name" ] || say absent
rm -rf "./$name"
if [ -e "./$name" ] || [ -L "./$name" ]; then say failed; fi
say removed
`;

/** `TEMPORARY`, then as ENTER: removes a temporary file. */
export const DISCARD = `
temporary=$1; shift
${ENTER}
rm -f "./$temporary"
`;
