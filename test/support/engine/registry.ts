import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Test } from 'tap';
import { portOf } from '../listen.ts';

const MANIFEST = 'application/vnd.docker.distribution.manifest.v2+json';
const CHUNK = Buffer.alloc(1_048_576);

export type Registry = {
  /** `127.0.0.1:port`, which engines on this machine trust without TLS. */
  readonly host: string;
  /** Of the image `small`. */
  readonly digest: string;
};

const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

type Stored = { readonly manifest: Buffer; readonly blobs: ReadonlyMap<string, Buffer> };

/** An image of one layer that unpacks to this many zeros; `announced`: the size claimed by its manifest. */
function anImage(zeros: number, announced?: number): Stored {
  const header = Buffer.alloc(512);
  header.write('zeros');
  header.write('0000644\0', 100);
  header.write(`${zeros.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        0', 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const padded = Math.ceil(zeros / 512) * 512;
  const tar = Buffer.concat([header, Buffer.alloc(padded + 1024)]);
  const layer = gzipSync(tar);
  const rootfs = { type: 'layers', diff_ids: [digestOf(tar)] };
  const config = Buffer.from(JSON.stringify({ architecture: 'amd64', os: 'linux', config: {}, rootfs }));
  const entry = (mediaType: string, bytes: Buffer, size = bytes.length) => ({
    mediaType: `application/vnd.docker.${mediaType}`,
    size,
    digest: digestOf(bytes),
  });
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: entry('container.image.v1+json', config),
      layers: [entry('image.rootfs.diff.tar.gzip', layer, announced)],
    }),
  );
  return {
    manifest,
    blobs: new Map([
      [digestOf(config), config],
      [digestOf(layer), layer],
    ]),
  };
}

/**
 * A registry with `small:1`, `bomb:1`, which unpacks to 4 MiB, `huge:1`, which claims 1 TiB and never ends, and
 * `silent:1`, about which it answers nothing.
 */
export async function aRegistry(t: Test): Promise<Registry> {
  const images: Readonly<Record<string, Stored>> = {
    small: anImage(100),
    bomb: anImage(4 * 1_048_576),
    huge: anImage(200, 1024 ** 4),
  };
  const server = createServer((request, response) => {
    const [, name = '', kind = '', reference = ''] =
      /^\/v2\/(\w+)\/(manifests|blobs)\/(.+)$/.exec(request.url ?? '') ?? [];
    if (request.url === '/v2/') return void response.end();
    if (name === 'silent') return;
    const image = images[name];
    if (image === undefined) return void response.writeHead(404).end('{"errors":[{"code":"NAME_UNKNOWN"}]}');
    if (kind === 'manifests') sendManifest(response, image, reference, request.method === 'HEAD');
    else if (name === 'huge' && image.blobs.get(reference)?.[0] === 0x1f) void trickle(response);
    else response.end(image.blobs.get(reference));
  });
  const port = await portOf(t, server);
  return { host: `127.0.0.1:${port}`, digest: digestOf(images['small']?.manifest ?? Buffer.alloc(0)) };
}

function sendManifest(response: ServerResponse, image: Stored, reference: string, head: boolean): void {
  const digest = digestOf(image.manifest);
  if (reference.startsWith('sha256:') && reference !== digest) {
    return void response.writeHead(404).end('{"errors":[{"code":"MANIFEST_UNKNOWN"}]}');
  }
  response.writeHead(200, {
    'content-type': MANIFEST,
    'content-length': image.manifest.length,
    'docker-content-digest': digest,
  });
  response.end(head ? undefined : image.manifest);
}

async function trickle(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-length': 1024 ** 4 });
  while (!response.destroyed) {
    response.write(CHUNK);
    // The pace of a layer that never ends.
    await sleep(100);
  }
}
