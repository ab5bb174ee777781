import { type Static, Type } from '@sinclair/typebox';
import { NamedClosed, NamedObject, Nullable, Text, Timestamp } from '../common.ts';

export const EnrolmentBody = NamedObject('AgentEnrolment', {
  code: Type.String({ description: 'For one machine, once. Not shown again.' }),
  expires_at: Timestamp,
});

export const EnrolRequest = NamedClosed('AgentEnrolRequest', {
  code: Text({ minLength: 1, maxLength: 128 }),
  agent: Type.String({ description: 'The UUID that the machine made for itself.', maxLength: 64 }),
  name: Text({ maxLength: 255 }),
  hostname: Type.Optional(Text({ maxLength: 255 })),
});

export const EnrolledBody = NamedObject('AgentEnrolled', {
  token: Type.String({ description: 'Opens this machine’s connection and nothing else. Not shown again.' }),
  token_prefix: Type.String(),
  id: Type.String(),
  expires_at: Nullable(Timestamp),
});

export type EnrolmentBody = Static<typeof EnrolmentBody>;
