/**
 * Refusals as an API server words them. Not recorded: written from what kube-apiserver 1.36.2, with Pod Security
 * `restricted` and a ResourceQuota, was seen to answer.
 */
export type Refusal = { readonly status: number; readonly reason: string; readonly message: string };

export const notFound = (resource: string, name: string): Refusal => ({
  status: 404,
  reason: 'NotFound',
  message: `${resource} "${name}" not found`,
});

/** A path that the server does not have, such as a subresource of a newer version; the words of 1.20.2. */
export const noSuchPath: Refusal = {
  status: 404,
  reason: 'NotFound',
  message: 'the server could not find the requested resource',
};

export const exists = (resource: string, name: string): Refusal => ({
  status: 409,
  reason: 'AlreadyExists',
  message: `${resource} "${name}" already exists`,
});

export const changed = (resource: string, name: string): Refusal => ({
  status: 409,
  reason: 'Conflict',
  message: `Operation cannot be fulfilled on ${resource} "${name}": the object has been modified; please apply your changes to the latest version and try again`,
});

export const otherUid = (resource: string, name: string, wanted: string, uid: string): Refusal => ({
  status: 409,
  reason: 'Conflict',
  message: `Operation cannot be fulfilled on ${resource} "${name}": Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${uid}`,
});

export const insecure = (name: string, faults: readonly string[]): Refusal => ({
  status: 403,
  reason: 'Forbidden',
  message: `pods "${name}" is forbidden: violates PodSecurity "restricted:latest": ${faults.join(', ')}`,
});

export const overQuota = (name: string): Refusal => ({
  status: 403,
  reason: 'Forbidden',
  message: `pods "${name}" is forbidden: exceeded quota: berth, requested: limits.memory=512Mi, used: limits.memory=4Gi, limited: limits.memory=4Gi`,
});

export const tooLarge = (name: string): Refusal => ({
  status: 403,
  reason: 'Forbidden',
  message: `pods "${name}" is forbidden: node didn't have enough allocatable resources: memory, requested:68719476736, allocatable:8359190528`,
});

/** Of a missing right; the words of 1.20.2. */
export const notAllowed = (verb: string, resource: string, name = 'one'): string =>
  `${resource.split('/', 1)[0]} "${name}" is forbidden: User "system:serviceaccount:berth:berth" cannot ${verb} resource "${resource}" in API group "" in the namespace "berth-containers"`;

/** Of a server that has not read its roles yet; the words of 1.20.2. */
export const rolesNotRead = (name: string): Refusal => ({
  status: 403,
  reason: 'Forbidden',
  message: `${notAllowed('get', 'secrets', name)}: RBAC: role.rbac.authorization.k8s.io "berth" not found`,
});

/** The words of 1.20.2. */
export const fixedClass = (name: string): Refusal => ({
  status: 403,
  reason: 'Forbidden',
  message: `persistentvolumeclaims "${name}" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize`,
});

/**
 * Of less memory for a Pod that runs. Only 1.33 refuses it (https://github.com/kubernetes/kubernetes/pull/130183), later
 * versions leave it to the node (https://github.com/kubernetes/kubernetes/pull/133012).
 */
export const lessMemory = (name: string): Refusal => ({
  status: 422,
  reason: 'Invalid',
  message: `Pod "${name}" is invalid: spec.containers[0].resources.limits[memory]: Forbidden: memory limits cannot be decreased unless resizePolicy is RestartContainer`,
});

export const otherClass = (name: string): Refusal => ({
  status: 422,
  reason: 'Invalid',
  message: `Pod "${name}" is invalid: spec: Invalid value: "Guaranteed": Pod QOS Class may not change as a result of resizing`,
});

/** Of a watch from a position that the server has forgotten: the line's object, or the answer itself. */
export const expired = (position: number, oldest: number): Refusal => ({
  status: 410,
  reason: 'Expired',
  message: `too old resource version: ${position} (${oldest})`,
});

export const statusOf = ({ status, reason, message }: Refusal) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message,
  reason,
  code: status,
});
