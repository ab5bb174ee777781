import { createHash, randomUUID } from 'node:crypto';
import type Docker from 'dockerode';
import { addressOf, probe } from '../../../../src/adapters/docker/engine/engine-probe.ts';
import { followToEnd } from '../../../../src/adapters/docker/engine/engine-progress.ts';
import { ensureNetwork } from '../../../../src/adapters/docker/network/instance-network.ts';
import { removeNetwork } from '../../engine/instance.ts';
import type { Parts } from '../infra.ts';
import type { Part, Use } from './part.ts';

const log = { info: console.log, warn: console.warn, error: console.error };

/** `/bb` has a link for each tool of BusyBox, `/bare` is the whole bare image. */
const INSTALL = `set -e; export DEBIAN_FRONTEND=noninteractive
get='apt-get -q -o Acquire::Retries=3'
add="$get install -y --no-install-recommends busybox-static"
$add || { $get update && $add; }
mkdir -p /bb /bare/bin
for tool in $(busybox --list); do ln -s /bin/busybox /bb/$tool; ln -s busybox /bare/bin/$tool; done
cp --remove-destination /bin/busybox /bare/bin/busybox`;

const CHANGES = { inPlaceOfTools: 'ENV PATH=/bb', bare: 'ENV PATH=/bin' };

/** Made once from the base image; they stay in the engine like it. */
export async function startBusybox(
  _folder: string,
  progress: (line: string) => void,
  use: Use,
): Promise<Part<'busybox'>> {
  const engine = await use('engine');
  const answer = await probe(addressOf(engine.endpoint, null));
  if (!answer.answers) throw new Error(answer.detail);
  const { docker } = answer;
  const base = await docker.getImage(engine.image).inspect();
  const tag = createHash('sha256')
    .update(`${base.Id} ${INSTALL} ${JSON.stringify(CHANGES)}`)
    .digest('hex')
    .slice(0, 12);
  const value = { inPlaceOfTools: `berth-test/busybox:${tag}`, bare: `berth-test/bare:${tag}` };
  const there = await Promise.all(Object.values(value).map((reference) => isThere(docker, reference)));
  if (there.includes(false)) {
    progress('making images with BusyBox');
    await inNetwork({ ...engine, docker }, (network) => make(docker, engine.image, network, tag));
  }
  return { value, stop: async () => {} };
}

const isThere = (docker: Docker, reference: string): Promise<boolean> =>
  docker
    .getImage(reference)
    .inspect()
    .then(() => true)
    .catch(() => false);

async function inNetwork(
  engine: Parts['engine'] & { readonly docker: Docker },
  work: (network: string) => Promise<void>,
): Promise<void> {
  const instanceId = randomUUID();
  const at = { ...engine, isLocal: engine.endpoint.startsWith('unix:') };
  const { name } = await ensureNetwork(at, { instanceId, log });
  await work(name).finally(() => removeNetwork(at, instanceId));
}

async function make(docker: Docker, image: string, network: string, tag: string): Promise<void> {
  const container = await docker.createContainer({
    Image: image,
    Entrypoint: ['sh', '-c', INSTALL],
    Cmd: [],
    HostConfig: { NetworkMode: network },
  });
  try {
    await container.start();
    const { StatusCode } = await container.wait();
    const said = await container.logs({ stdout: true, stderr: true });
    if (StatusCode !== 0) throw new Error(`no busybox-static: ${said.toString().slice(-500)}`);
    await container.commit({ repo: 'berth-test/busybox', tag, changes: CHANGES.inPlaceOfTools });
    const all = await container.getArchive({ path: '/bare/.' });
    const options = { repo: 'berth-test/bare', tag, changes: [CHANGES.bare] };
    await followToEnd(await docker.importImage(all, options), () => {});
  } finally {
    await container.remove({ force: true }).catch(() => {});
  }
}
