/** Refusals that several routes may answer, for the API document. */

/** Of whatever runs or reads inside a container. */
export const INSIDE = [
  'container_not_found',
  'not_authorized',
  'container_not_running',
  'container_paused',
  'engine_busy',
  'container_unresponsive',
  'engine_right_missing',
  'agent_elsewhere',
  'agent_unresponsive',
  'not_for_agents',
  'not_offered_by_engine',
  'too_many_processes',
] as const;

/** Of one process in a container. */
export const PROCESS = [...INSIDE, 'process_not_found'] as const;

/** Of a path in a container. */
export const FILE = [
  'file_not_found',
  'file_outside',
  'file_special',
  'file_in_the_way',
  'file_not_permitted',
  'file_tools_missing',
] as const;

/** Of every change of a container. */
export const CHANGE = ['container_not_found', 'not_authorized', 'container_busy', 'not_for_agents'] as const;

/** Of what the engine does to a container. */
export const ENGINE = ['engine_busy', 'container_unresponsive', 'engine_right_missing'] as const;

/** Why an engine may be unable to start a container. */
export const CANNOT_START = ['image_unavailable', 'engine_full', 'node_in_maintenance'] as const;

/** Of changes that need a recent sign-in, the password or a code. */
export const CONFIRMATION = [
  'account_required',
  'confirmation_required',
  'wrong_password',
  'wrong_code',
] as const;
