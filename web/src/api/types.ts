import type { CollaborationBody } from '../../../src/adapters/http/schema/collaborations.ts';
import type { ContainerBody, CreateContainerRequest } from '../../../src/adapters/http/schema/containers.ts';
import type { TokenBody } from '../../../src/adapters/http/schema/tokens.ts';

/** Wire shapes, from the schemas that the service validates with. */
export type {
  CapacityBody as Capacity,
  NodeBody as NodeCapacity,
  UsageBody as PersonUsage,
} from '../../../src/adapters/http/schema/admin/capacity.ts';
export type { EnrolmentBody as Enrolment } from '../../../src/adapters/http/schema/agents.ts';
export type { AuditRecordBody as AuditRecord } from '../../../src/adapters/http/schema/audit.ts';
export type {
  ImageBody as Image,
  RoleBody as WholeRole,
  RoleSummary as Role,
  TierBody as Tier,
} from '../../../src/adapters/http/schema/catalogue.ts';
export type {
  CollaborationBody as Collaboration,
  JoinedBody as Joined,
  SharedBody as SharedTerminal,
} from '../../../src/adapters/http/schema/collaborations.ts';
export type {
  ContainerBody as Container,
  ContainerListBody as ContainerPage,
  KeptSumBody as KeptSum,
  StartedBody as Started,
  UpdateContainerRequest as ContainerChange,
} from '../../../src/adapters/http/schema/containers.ts';
export type {
  ChangesBody as Changes,
  FiguresList as FiguresAnswer,
} from '../../../src/adapters/http/schema/insight.ts';
export type {
  IdentityBody as Identity,
  IdentityFinishedBody as IdentityFinished,
} from '../../../src/adapters/http/schema/openid/openid.ts';
export type {
  InvitationBody as Invitation,
  InvitationOfferBody as InvitationOffer,
  ResetLinkBody as ResetLink,
  ResetOfferBody as ResetOffer,
} from '../../../src/adapters/http/schema/people/account-links.ts';
export type { ManagedUserBody as ManagedUser } from '../../../src/adapters/http/schema/people/users.ts';
export type { RecordingBody as Recording } from '../../../src/adapters/http/schema/recordings.ts';
export type { PasskeyBody as Passkey } from '../../../src/adapters/http/schema/second-factor.ts';
export type {
  SettingsBody as Settings,
  SettingsChange as SettingsPart,
} from '../../../src/adapters/http/schema/service.ts';
export type { SessionBody as Session } from '../../../src/adapters/http/schema/sessions.ts';
export type {
  DeviceBody as Device,
  LoginBody as Login,
  MeBody as Me,
  MeChange as ProfileChange,
  MfaRequiredBody as MfaRequired,
  SignedInBody as SignedIn,
  SignInOptionsBody as AuthOptions,
  UserBody as User,
} from '../../../src/adapters/http/schema/sign-in.ts';
export type { SnapshotBody as Snapshot } from '../../../src/adapters/http/schema/snapshots/snapshots.ts';
export type {
  SshHostKeysBody as SshHostKeys,
  SshKeyBody as SshKey,
} from '../../../src/adapters/http/schema/ssh-keys.ts';
export type { TerminalBody as OpenTerminal } from '../../../src/adapters/http/schema/terminals.ts';
export type {
  CreatedTokenBody as CreatedToken,
  TokenBody as ApiToken,
} from '../../../src/adapters/http/schema/tokens.ts';

/** The page names every container. */
export type NewContainer = CreateContainerRequest & { readonly name: string };
export type Scope = TokenBody['scopes'][number];
export type Resources = ContainerBody['resources'];
export type CollaborationMode = CollaborationBody['mode'];
