import { CONFINED, CONFINED_POD, pullPolicyOf } from '../containers/confinement.ts';
import { CANARY_LABEL } from '../containers/names.ts';
import { MAIN } from '../containers/pod-states.ts';

/** After this time a cluster ends a leftover Pod, and a check removes it. */
export const LIFE_SECONDS = 180;
const LIMITS = { memory: '64Mi', cpu: '500m' };
const REQUESTS = { memory: '32Mi', cpu: '50m' };

export type CanarySettings = {
  readonly instanceId: string;
  /** Has perl. */
  readonly image: string;
};

/** A Pod without a volume, confined like those of containers, and selected by a network policy of the same rules. */
export const canaryPod = (
  { instanceId, image }: CanarySettings,
  name: string,
  command: readonly string[],
) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    labels: {
      'app.kubernetes.io/managed-by': 'berth',
      [CANARY_LABEL]: instanceId,
    },
  },
  spec: {
    ...CONFINED_POD,
    restartPolicy: 'Never',
    activeDeadlineSeconds: LIFE_SECONDS,
    containers: [
      {
        name: MAIN,
        image,
        imagePullPolicy: pullPolicyOf(image),
        command,
        resources: { limits: LIMITS, requests: REQUESTS },
        securityContext: CONFINED,
      },
    ],
  },
});
