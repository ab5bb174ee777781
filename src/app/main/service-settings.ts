import path from 'node:path';
import { openFilesLimit } from '../../adapters/system/open-files.ts';
import type { ComposeOptions, ContainerOptions } from './compose-options.ts';
import type { Config } from './config.ts';

const CREATE_WAIT_MS = 20_000;
const VERIFY_MS = 1_000;

type Installation = Pick<ContainerOptions, 'checkpoint'> & {
  /** The installation's folder, with the built browser app. */
  readonly root: string;
  readonly allowedOrigins: ReadonlySet<string>;
};

/** What the environment decides of the service. */
export const settingsOf = (
  config: Config,
  { root, allowedOrigins, checkpoint }: Installation,
): Pick<ComposeOptions, 'web' | 'containers' | 'connections'> => ({
  web: {
    allowedOrigins,
    trustProxy: config.trustProxy,
    openFiles: openFilesLimit(),
    localMetrics: config.localMetrics,
    secureCookie: config.publicUrl?.startsWith('https://') ?? false,
    publicUrl: config.publicUrl,
    webRoot: path.join(root, 'web/dist'),
  },
  containers: {
    createWaitMs: CREATE_WAIT_MS,
    diskFloorMb: config.diskFloorMb,
    warmPoolSize: config.warmPool,
    verifyMs: VERIFY_MS,
    ...(checkpoint === undefined ? {} : { checkpoint }),
  },
  connections: { sshChannels: config.sshChannels },
});
