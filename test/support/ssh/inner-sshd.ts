import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import { run, runOrThrow } from '../../../src/adapters/docker/host/host-commands.ts';
import { aFolder } from '../folder.ts';
import { waitFor } from '../patience.ts';
import { finish } from './ssh-programs.ts';
import type { SshScene } from './ssh-scene.ts';

/** What a container of the base image lacks for it. */
const PACKAGES = ['openssh-server', 'libwrap0', 'libnsl2', 'libtirpc3'];
const PORT = 2022;

/**
 * Runs Debian's own sshd inside the scene's container, on this port of its loopback. Only this key signs in, as
 * `git`, who has an empty repository `first.git`. Containers cannot run sshd as root.
 */
export async function anInnerSshd(t: Test, { home }: SshScene, publicKey: string): Promise<number> {
  const folder = aFolder(t);
  const download = () => run('apt-get', ['download', ...PACKAGES], { cwd: folder, timeoutSeconds: 120 });
  if ((await download()).code !== 0) {
    await runOrThrow('apt-get', ['update'], { timeoutSeconds: 180 });
    await download();
  }
  const files = readdirSync(folder).map((name) => path.join(folder, name));
  await finish(t, home, 'scp', ['-q', ...files, 'dev@berth:/tmp']);
  const started = await finish(t, home, 'ssh', ['dev@berth', 'sh -s'], START(publicKey));
  if (started.code !== 0) throw new Error(`sshd did not start: ${started.stderr}`);
  const isUp = async () => {
    const { stdout } = await finish(t, home, 'ssh', ['-W', `localhost:${PORT}`, 'dev@berth']);
    return stdout.startsWith('SSH-2.0-OpenSSH');
  };
  await waitFor(isUp, { everyMs: 200 });
  return PORT;
}

const START = (publicKey: string): string => `set -e
mkdir /opt/inner
for deb in /tmp/*.deb; do dpkg -x "$deb" /opt/inner; done
rm /tmp/*.deb
LD_LIBRARY_PATH=$(find /opt/inner -name 'lib*.so*' -printf '%h:')
export LD_LIBRARY_PATH
echo 'git:x:1234:1234::/tmp/git:/bin/sh' >> /etc/passwd
mkdir /tmp/git
ssh-keygen -q -t ed25519 -N '' -f /tmp/git/host
echo '${publicKey}' > /tmp/git/keys
cat > /tmp/git/config <<END
Port ${PORT}
ListenAddress 127.0.0.1
HostKey /tmp/git/host
AuthorizedKeysFile /tmp/git/keys
PasswordAuthentication no
StrictModes no
UsePAM no
PidFile none
END
git init -q --bare /tmp/git/first.git
chown -R 1234:1234 /tmp/git
setpriv --reuid 1234 --regid 1234 --clear-groups /opt/inner/usr/sbin/sshd -f /tmp/git/config
`;
