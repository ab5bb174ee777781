import { credentialDetails, shortText } from '../../activity.ts';
import type { Credential } from '../../identity/caller.ts';
import type { ContainerProcess } from './process.ts';

/** The details of an audit record about a process: its program, never its arguments, which may be secret. */
export const processDetails = (
  { id, dbId, name, command }: Pick<ContainerProcess, 'id' | 'dbId' | 'name' | 'command'>,
  credential: Credential,
): string =>
  JSON.stringify({
    container_id: dbId,
    ...credentialDetails(credential),
    process_id: id,
    name,
    command: shortText(command[0] ?? ''),
  });
