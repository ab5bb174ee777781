/** Wire shapes, from the schemas that the service validates with. */
import type {
  LoginBody,
  MeBody,
  MeChange,
  MfaRequiredBody,
  SignedInBody,
  SignInOptionsBody,
  UserBody,
} from '../../../src/adapters/http/schema/auth.ts';
import type {
  ContainerBody,
  CreateContainerRequest,
  ImageList,
  RoleList,
  StartedBody,
  TierList,
  UpdateContainerRequest,
} from '../../../src/adapters/http/schema/containers.ts';

import type { PasskeyBody } from '../../../src/adapters/http/schema/factors.ts';
import type { SessionBody } from '../../../src/adapters/http/schema/sessions.ts';
import type { SshKeyBody } from '../../../src/adapters/http/schema/ssh-keys.ts';
import type { SettingsBody, SettingsChange } from '../../../src/adapters/http/schema/system.ts';
import type { CreatedTokenBody, TokenBody } from '../../../src/adapters/http/schema/tokens.ts';

export type User = UserBody;
export type Me = MeBody;
export type ProfileChange = MeChange;
export type Login = LoginBody;
export type MfaRequired = MfaRequiredBody;
export type Passkey = PasskeyBody;
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
export type Started = StartedBody;
export type Image = ImageList['images'][number];
export type Role = RoleList['roles'][number];
export type Tier = TierList['tiers'][number];
