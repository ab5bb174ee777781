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
umask 022
shell=/bin/sh; [ ! -x /bin/bash ] || shell=/bin/bash
for f in ${FILES.join(' ')}; do
  named=
  while IFS= read -r line || [ -n "$line" ]; do
    id=\${line#*:}; id=\${id#*:}
    if [ "\${id%%:*}" = "$2" ]; then
      named=yes
      [ $f = group ] || line=\${line%:*:*}:/workspace:\${line##*:}
    fi
    printf '%s\\n' "$line" || exit 1
  done 2>/dev/null > $f < "$1/$f"
  case $f$named in
    passwd) echo "berth:x:$2:$2::/workspace:$shell" >> passwd;;
    group) echo "berth:x:$2:" >> group;;
  esac
done
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
