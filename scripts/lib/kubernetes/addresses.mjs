/** Where things are inside the cluster's own network; the machine has none of these addresses. */
export const NODE = 'node-1';
export const NODE_ADDRESS = '10.244.0.1';
export const POD_RANGE = '10.244.0.0/16';
/** Started by an order alone, in a network of its own on the same bridge. */
export const SECOND_NODE = 'node-2';
export const SECOND_ADDRESS = '10.244.255.2';
export const SECOND_POD_RANGE = '10.245.0.0/16';
export const SERVICE_RANGE = '10.96.0.0/16';
/** The first of the services: the API server for programs in Pods. */
export const API_SERVICE = '10.96.0.1';
export const API_PORT = 6443;
export const BRIDGE = 'cni0';

/** Names that Pods and tests give to the API server. */
export const API_NAMES = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'localhost'];
export const API_ADDRESSES = [NODE_ADDRESS, API_SERVICE, '127.0.0.1'];
