import { isMadeHere } from '../../../domain/containers/catalogue.ts';

/** Root inside would need a kernel feature that few clusters have. */
export const USER = 1000;

/** Of each container of a Pod: Pod Security `restricted`. */
export const CONFINED = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } as const;

/** Of a Pod: Pod Security `restricted`, no credentials of the cluster. */
export const CONFINED_POD = {
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  securityContext: {
    runAsNonRoot: true,
    runAsUser: USER,
    runAsGroup: USER,
    fsGroup: USER,
    fsGroupChangePolicy: 'OnRootMismatch',
    seccompProfile: { type: 'RuntimeDefault' },
  },
} as const;

/** No registry has images that Berth makes itself: the nodes must have them. */
export const pullPolicyOf = (image: string): string => (isMadeHere(image) ? 'Never' : 'IfNotPresent');
