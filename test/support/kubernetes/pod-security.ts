import type { Loose } from './store.ts';

/**
 * What a Pod violates of Pod Security `restricted`, in the admission's words. Source: the policies of
 * k8s.io/pod-security-admission 1.36.
 */
export function violations(pod: Loose): readonly string[] {
  const { spec } = pod;
  const all = [...(spec.initContainers ?? []), ...spec.containers];
  const every = (check: (container: Loose) => boolean): boolean => all.every(check);
  const ofPod = spec.securityContext ?? {};
  const of = (container: Loose): Loose => container.securityContext ?? {};
  const rules: readonly (readonly [string, boolean])[] = [
    ['host namespaces', !spec.hostNetwork && !spec.hostPID && !spec.hostIPC],
    ['privileged', every((one) => of(one).privileged !== true)],
    ['allowPrivilegeEscalation != false', every((one) => of(one).allowPrivilegeEscalation === false)],
    ['unrestricted capabilities', every((one) => of(one).capabilities?.drop?.includes('ALL') === true)],
    ['runAsNonRoot != true', every((one) => (of(one).runAsNonRoot ?? ofPod.runAsNonRoot) === true)],
    ['runAsUser=0', every((one) => (of(one).runAsUser ?? ofPod.runAsUser) !== 0)],
    [
      'seccompProfile',
      every((one) => (of(one).seccompProfile ?? ofPod.seccompProfile)?.type === 'RuntimeDefault'),
    ],
    [
      'restricted volume types',
      (spec.volumes ?? []).every((one: Loose) =>
        Object.keys(one).some((kind) =>
          ['configMap', 'emptyDir', 'projected', 'secret', 'persistentVolumeClaim'].includes(kind),
        ),
      ),
    ],
  ];
  return rules.filter(([, holds]) => !holds).map(([rule]) => rule);
}
