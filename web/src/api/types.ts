import type { AuditRecordBody } from '../../../src/adapters/http/schema/audit.ts';
import type {
  ImageBody,
  RoleBody,
  RoleSummary,
  TierBody,
} from '../../../src/adapters/http/schema/catalogue.ts';
import type {
  CollaborationBody,
  JoinedBody,
  SharedBody,
} from '../../../src/adapters/http/schema/collaborations.ts';
import type {
  ContainerBody,
  CreateContainerRequest,
  StartedBody,
  UpdateContainerRequest,
} from '../../../src/adapters/http/schema/containers.ts';
import type { ChangesBody } from '../../../src/adapters/http/schema/insight.ts';
import type { RecordingBody } from '../../../src/adapters/http/schema/recordings.ts';
import type { PasskeyBody } from '../../../src/adapters/http/schema/second-factor.ts';
import type { SettingsBody, SettingsChange } from '../../../src/adapters/http/schema/service.ts';
import type { SessionBody } from '../../../src/adapters/http/schema/sessions.ts';
/** Wire shapes, from the schemas that the service validates with. */
import type {
  LoginBody,
  MeBody,
  MeChange,
  MfaRequiredBody,
  SignedInBody,
  SignInOptionsBody,
  UserBody,
} from '../../../src/adapters/http/schema/sign-in.ts';
import type { SshKeyBody } from '../../../src/adapters/http/schema/ssh-keys.ts';
import type { CreatedTokenBody, TokenBody } from '../../../src/adapters/http/schema/tokens.ts';

export type AuditRecord = AuditRecordBody;
export type User = UserBody;
export type Me = MeBody;
export type ProfileChange = MeChange;
export type Login = LoginBody;
export type MfaRequired = MfaRequiredBody;
export type Passkey = PasskeyBody;
export type Recording = RecordingBody;
export type Session = SessionBody;
export type SshKey = SshKeyBody;
export type ApiToken = TokenBody;
export type CreatedToken = CreatedTokenBody;
export type Scope = TokenBody['scopes'][number];
export type Settings = SettingsBody;
export type SettingsPart = SettingsChange;
export type ContainerChange = UpdateContainerRequest;
export type SignedIn = SignedInBody;
export type AuthOptions = SignInOptionsBody;
export type Container = ContainerBody;
export type Resources = ContainerBody['resources'];
export type NewContainer = CreateContainerRequest;
export type Collaboration = CollaborationBody;
export type CollaborationMode = CollaborationBody['mode'];
export type SharedTerminal = SharedBody;
export type Joined = JoinedBody;
export type Started = StartedBody;
export type Changes = ChangesBody;
export type Image = ImageBody;
export type Role = RoleSummary;
/** With what only administrators see. */
export type WholeRole = RoleBody;
export type Tier = TierBody;
