import { BOUND_DIRTY, LOOP_DEVICE } from '../volumes/loop-device-script.ts';

/**
 * `IMAGE AT BYTES JOURNAL_MIB`: mounts the engine's file system at AT. A missing image is made first and appears only
 * when complete. A larger size grows it, mounted if possible. Otherwise it is unmounted, and grows once no mount
 * namespace has it, with an undo file for an interrupted growth. An image that cannot grow keeps its size. Run it under
 * the image's lock; it is repeatable after any interruption.
 *
 * Layers contain setuid programs, so the mount options keep them.
 */
export const MOUNT_POOL = `
${LOOP_DEVICE}${BOUND_DIRTY}
image=$1 at=$2 want=$3 journal=$4 options=nodev,discard,noinit_itable
attach() {
  mount_attached "$options"
  mounted=$?
  [ $mounted = 1 ] || return $mounted
  repair && mount -o "loop,$options" "$image" "$at"
}
make() {
  rm -f "$image.new"
  (umask 077; truncate -s "$want" "$image.new") &&
    mkfs.ext4 -q -F -m 0 -i 8192 -J "size=$journal" -E nodiscard,lazy_journal_init=1 "$image.new" &&
    sync "$image.new" && mv "$image.new" "$image" && sync "$(dirname "$image")"
}
repair() {
  if [ -e "$image.undo" ]; then e2undo -f "$image.undo" "$image" >/dev/null && rm -f "$image.undo" || return 1; fi
  e2fsck -p "$image" >&2
  [ $? -le 1 ]
}
grow() {
  touch "$image.grow"
  truncate -s "$want" "$image" && losetup -c "$(device)" && resize2fs "$(device)" >/dev/null 2>&1 && return 0
  umount "$at" || return 1
  released || { attach || exit 1; return 1; }
  e2fsck -fp "$image" >/dev/null
  [ $? -le 1 ] && resize2fs -z "$image.undo" "$image" >/dev/null && sync "$image"
  grown=$?
  [ $grown = 0 ] && rm -f "$image.undo" || repair || exit 1
  attach || exit 1
  return $grown
}
mountpoint -q "$at" && exit 0
mkdir -p "$at"
[ -e "$image" ] || make || exit 1
attach || exit 1
if [ "$(stat -c %s "$image")" -lt "$want" ] || [ -e "$image.grow" ]; then
  grow && rm -f "$image.grow" || echo 'it could not grow' >&2
fi
chmod 711 "$at"
bound_dirty "$(device)"
`;
