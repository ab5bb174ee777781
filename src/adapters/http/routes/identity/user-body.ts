import type { User } from '../../../../domain/identity/user.ts';
import type { UserBody } from '../../schema/identity/sign-in.ts';

export const toUserBody = (user: User): UserBody => ({
  id: user.id,
  email: user.email,
  username: user.username,
  role: user.role,
  tier: user.tier,
  created_at: user.createdAt.toISOString(),
  disabled_at: user.disabledAt?.toISOString() ?? null,
  ends_at: user.endsAt?.toISOString() ?? null,
});
