/**
 * Scripts for volume images on this machine, in plain sh. Each runs to its end under the volume's lock, even if its
 * parent is killed, and is repeatable after any interruption: an image appears only when complete, and unfinished parts
 * end in `.new`.
 */

import { BOUND_DIRTY, LOOP_DEVICE } from './loop-device-script.ts';

export const IMAGE_EXITS = { missing: 3, doesNotFit: 4 } as const;

/** The folder inside the image that containers see: without the mount it is missing, and nothing can start on it. */
export const DATA_FOLDER = 'data';

/** Twice the usual inodes: programs' dependencies are many small files. */
const MKFS = 'mkfs.ext4 -q -F -m 0 -i 8192 -J size=32 -E nodiscard';
const OPTIONS = 'nodev,nosuid,discard';

/** `IMAGE BYTES UID GID`: makes the image when absent, owned by the containers' root. */
export const MAKE_IMAGE = `
set -e
[ -e "$1" ] && exit 0
rm -rf "$1.new" "$1.root"
mkdir -p "$1.root/${DATA_FOLDER}"
chmod 755 "$1.root" "$1.root/${DATA_FOLDER}"
chown "$3:$4" "$1.root/${DATA_FOLDER}"
(umask 077; truncate -s "$2" "$1.new")
${MKFS} -d "$1.root" "$1.new"
rm -rf "$1.root"
sync "$1.new"
mv "$1.new" "$1"
`;

/**
 * `move_over` copies the files into a new file system of the wanted size, which replaces the image when complete. Only
 * for an unused image, whose device is gone after our own unmount.
 */
const MOVE_OVER = `
move_over() {
  while mountpoint -q "$at"; do umount "$at" || break; done
  released || return 1
  clear_copy
  mkdir -p "$at.old" "$at.new"
  (umask 077; truncate -s "$want" "$image.new")
  ${MKFS} "$image.new" && mount -o loop,nodev,nosuid "$image.new" "$at.new" &&
    mount -o loop,nodev,nosuid "$image" "$at.old" && cp -a "$at.old/${DATA_FOLDER}" "$at.new/" &&
    umount "$at.old" && umount "$at.new" && sync "$image.new" && mv "$image.new" "$image" && moved=0 || moved=1
  clear_copy
  return $moved
}
clear_copy() {
  umount "$at.old" 2>/dev/null; umount "$at.new" 2>/dev/null
  rmdir "$at.old" "$at.new" 2>/dev/null; rm -f "$image.new"
}
`;

/**
 * `IMAGE AT BYTES strict|lenient`: mounts the image at AT and resizes it. It grows in place, or by copying where the
 * kernel refuses; it shrinks by copying. If it cannot shrink, strict fails and lenient keeps the size. BYTES 0 keeps
 * the size. IMAGE.grow marks a growth in progress.
 */
export const MOUNT_IMAGE = `
image=$1 at=$2 want=$3 mode=$4
${LOOP_DEVICE}${BOUND_DIRTY}${MOVE_OVER}
mount_image() {
  mount_attached ${OPTIONS}
  mounted=$?
  [ $mounted = 1 ] || return $mounted
  e2fsck -p "$image" >/dev/null
  [ $? -le 1 ] && mount -o loop,${OPTIONS} "$image" "$at"
}
make_ready() {
  mountpoint -q "$at" && return 0
  mkdir -p "$at" && mount_image && bound_dirty "$(device)"
}
grow() {
  touch "$image.grow" && truncate -s "$want" "$image" && make_ready || return 1
  device=$(device)
  losetup -c "$device" && resize2fs "$device" >/dev/null 2>&1 || move_over || return 1
  rm -f "$image.grow"
}
[ -f "$image" ] || exit ${IMAGE_EXITS.missing}
have=$(stat -c %s "$image")
if [ "$want" -gt 0 ]; then
  if [ "$have" -gt "$want" ]; then
    rm -f "$image.grow"
    move_over || [ "$mode" = lenient ] || exit ${IMAGE_EXITS.doesNotFit}
  elif [ "$have" -lt "$want" ] || [ -e "$image.grow" ]; then
    grow || exit 1
  fi
fi
make_ready
`;

/** `AT`: unmounts; programs that use the file system keep it. */
export const UNMOUNT_IMAGE = `
while mountpoint -q "$1"; do umount "$1" || umount --lazy "$1" || exit; done
rmdir "$1" 2>/dev/null || true
`;

/** `IMAGE AT`: mounts the image until the script ends, and ends a freeze of it. One that was mounted stays so. */
const MOUNT_MEANWHILE = `
mountpoint -q "$2" && was_mounted=1 || was_mounted=0
set -- "$1" "$2" 0 lenient
finish() {
  fsfreeze -u "$at" 2>/dev/null
  [ $was_mounted = 1 ] || unmount_image "$at"
}
unmount_image() (
${UNMOUNT_IMAGE}
)
at=$2
trap finish EXIT
trap 'exit 1' HUP INT TERM
${MOUNT_IMAGE}
[ $? = 0 ] || exit 1
`;

/**
 * `IMAGE AT TARGET`: copies the image to TARGET when that is absent. Its file system is frozen meanwhile, so the copy
 * needs no repair; if another process ends the freeze, the copy fails. A later copy, or `fsfreeze -u`, ends a freeze
 * that a killed one left.
 */
export const COPY_IMAGE = `
target=$3
[ -e "$target" ] && exit 0
${MOUNT_MEANWHILE}
fsfreeze -u "$at" 2>/dev/null
fsfreeze -f "$at" || exit 1
(umask 077; cp --reflink=auto "$image" "$target.new") && copied=0 || copied=1
fsfreeze -u "$at" || copied=1
[ $copied = 0 ] && sync "$target.new" && mv "$target.new" "$target" && exit 0
rm -f "$target.new"
exit 1
`;

/** `IMAGE AT`: writes the file system's blocks, its free blocks, and the bytes of a block. */
export const MEASURE_IMAGE = `
${MOUNT_MEANWHILE}
stat -f -c '%b %f %S' "$at"
`;

/** `IMAGE AT`: removes the image for good. A container still running on it keeps its open files. */
export const REMOVE_IMAGE = `
set -- "$2" "$1"
${UNMOUNT_IMAGE}
rm -rf "$2" "$2.new" "$2.root" "$2.grow"
`;
