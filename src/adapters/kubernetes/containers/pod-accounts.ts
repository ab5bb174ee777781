import type { PodPart } from './pod-part.ts';

const VOLUME = 'accounts';
const FOLDER = '/accounts';
const FILES = ['passwd', 'group'] as const;
const MAX_MB = 1;

/**
 * `FROM UID`: copies the image's names of users and groups into this folder, with one for the user of its programs,
 * whose home is the volume. Programs such as `ssh` and `git` refuse to run for a user without a name.
 */
export const FILL_ACCOUNTS = `
for f in ${FILES.join(' ')}; do cat "$1/$f" > $f 2>/dev/null || : > $f; done
shell=/bin/sh; [ ! -x /bin/bash ] || shell=/bin/bash
while IFS=: read -r name password uid gid title home rest; do
  [ "$uid" = "$2" ] && home=/workspace
  echo "$name:$password:$uid:$gid:$title:$home:$rest"
done < passwd > passwd.new
cat passwd.new > passwd
has() { while IFS=: read -r a b id rest; do [ "$id" = "$2" ] && return 0; done < "$1"; return 1; }
has passwd "$2" || echo "berth:x:$2:$2::/workspace:$shell" >> passwd
has group "$2" || echo "berth:x:$2:" >> group
`;

/** Names for the user of a Pod's programs. `given`: what each container of the Pod has, with its image. */
export const podAccounts = (uid: number, given: object): PodPart => ({
  initContainers: [
    {
      ...given,
      name: VOLUME,
      command: ['sh', '-c', FILL_ACCOUNTS, 'berth', '/etc', String(uid)],
      workingDir: FOLDER,
      volumeMounts: [{ name: VOLUME, mountPath: FOLDER }],
    },
  ],
  volumes: [{ name: VOLUME, emptyDir: { sizeLimit: `${MAX_MB}Mi` } }],
  mounts: FILES.map((file) => ({
    name: VOLUME,
    mountPath: `/etc/${file}`,
    subPath: file,
    readOnly: true,
  })),
});
