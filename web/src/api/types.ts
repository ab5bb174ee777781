import type {
  ContainerBody,
  CreateContainerRequest,
} from '../../../src/adapters/http/schema/containers/containers.ts';
import type { TokenBody } from '../../../src/adapters/http/schema/identity/tokens.ts';
import type { CollaborationBody } from '../../../src/adapters/http/schema/terminals/collaborations.ts';

export type { AuditRecordBody as AuditRecord } from '../../../src/adapters/http/schema/audit.ts';
export type { EnrolmentBody as Enrolment } from '../../../src/adapters/http/schema/containers/agents.ts';
/** Wire shapes, from the schemas that the service validates with. */
export type {
  CapacityBody as Capacity,
  NodeBody as NodeCapacity,
  UsageBody as PersonUsage,
} from '../../../src/adapters/http/schema/containers/capacity.ts';
export type {
  ImageBody as Image,
  RoleBody as WholeRole,
  RoleSummary as Role,
  TierBody as Tier,
} from '../../../src/adapters/http/schema/containers/catalogue.ts';
export type {
  ContainerBody as Container,
  ContainerListBody as ContainerPage,
  KeptSumBody as KeptSum,
  StartedBody as Started,
  UpdateContainerRequest as ContainerChange,
} from '../../../src/adapters/http/schema/containers/containers.ts';
export type { EngineBody as Engine } from '../../../src/adapters/http/schema/containers/engine.ts';
export type {
  ChangesBody as Changes,
  FiguresList as FiguresAnswer,
} from '../../../src/adapters/http/schema/containers/insight.ts';
export type { SnapshotBody as Snapshot } from '../../../src/adapters/http/schema/containers/snapshots.ts';
export type {
  IdentityBody as Identity,
  IdentityFinishedBody as IdentityFinished,
} from '../../../src/adapters/http/schema/identity/openid.ts';
export type {
  InvitationBody as Invitation,
  InvitationOfferBody as InvitationOffer,
  ResetLinkBody as ResetLink,
  ResetOfferBody as ResetOffer,
} from '../../../src/adapters/http/schema/identity/people/account-links.ts';
export type { ManagedUserBody as ManagedUser } from '../../../src/adapters/http/schema/identity/people/users.ts';
export type { PasskeyBody as Passkey } from '../../../src/adapters/http/schema/identity/second-factor.ts';
export type { SessionBody as Session } from '../../../src/adapters/http/schema/identity/sessions.ts';
export type {
  DeviceBody as Device,
  LoginBody as Login,
  MeBody as Me,
  MeChange as ProfileChange,
  MfaRequiredBody as MfaRequired,
  SignedInBody as SignedIn,
  SignInOptionsBody as AuthOptions,
  UserBody as User,
} from '../../../src/adapters/http/schema/identity/sign-in.ts';
export type {
  SshHostKeysBody as SshHostKeys,
  SshKeyBody as SshKey,
} from '../../../src/adapters/http/schema/identity/ssh-keys.ts';
export type {
  CreatedTokenBody as CreatedToken,
  TokenBody as ApiToken,
} from '../../../src/adapters/http/schema/identity/tokens.ts';
export type {
  SettingsBody as Settings,
  SettingsChange as SettingsPart,
} from '../../../src/adapters/http/schema/service/service.ts';
export type {
  CollaborationBody as Collaboration,
  JoinedBody as Joined,
  SharedBody as SharedTerminal,
} from '../../../src/adapters/http/schema/terminals/collaborations.ts';
export type { RecordingBody as Recording } from '../../../src/adapters/http/schema/terminals/recordings.ts';
export type { TerminalBody as OpenTerminal } from '../../../src/adapters/http/schema/terminals/terminals.ts';

/** The page names every container. */
export type NewContainer = CreateContainerRequest & { readonly name: string };
export type Scope = TokenBody['scopes'][number];
export type Resources = ContainerBody['resources'];
export type CollaborationMode = CollaborationBody['mode'];
