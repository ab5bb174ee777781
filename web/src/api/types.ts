/** Wire shapes, from the schemas that the service validates with. */
import type { SignedInBody, SignInOptionsBody, UserBody } from '../../../src/adapters/http/schema/auth.ts';
import type {
  ContainerBody,
  CreateContainerRequest,
  ImageList,
  RoleList,
  StartedBody,
  TierList,
} from '../../../src/adapters/http/schema/containers.ts';

export type User = UserBody;
export type SignedIn = SignedInBody;
export type AuthOptions = SignInOptionsBody;
export type Container = ContainerBody;
export type Resources = ContainerBody['resources'];
export type NewContainer = CreateContainerRequest;
export type Started = StartedBody;
export type Image = ImageList['images'][number];
export type Role = RoleList['roles'][number];
export type Tier = TierList['tiers'][number];
