/** Wire shapes of the service, as its interface names them. */

export type User = {
  readonly id: string;
  readonly email: string | null;
  readonly username: string;
  readonly role: 'user' | 'admin';
  readonly tier: string;
};

export type SignedIn = {
  readonly token: string;
  readonly expires_at: string;
  readonly session_id: string;
  readonly user: User;
};

export type AuthOptions = {
  readonly setup_required: boolean;
  readonly open_registration: boolean;
  readonly guests_enabled: boolean;
};

export type ContainerStatus =
  | 'creating'
  | 'starting'
  | 'running'
  | 'stopping'
  | 'stopped'
  | 'updating'
  | 'failed'
  | 'deleted';

export type Resources = {
  readonly memory_mb: number;
  readonly cpu_shares: number;
  readonly disk_mb: number;
};

export type Container = {
  readonly id: string;
  readonly db_id: string;
  readonly name: string;
  readonly image: string;
  readonly status: ContainerStatus;
  readonly role: string;
  readonly resources: Resources;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly started_at: string | null;
};

export type NewContainer = Partial<Resources> & {
  readonly name: string;
  readonly image?: string;
  readonly role?: string;
};

export type Started = {
  readonly name: string;
  readonly recreated?: boolean;
  readonly volume_kept?: boolean;
};

export type CatalogueItem = { readonly key: string; readonly label: string };

type Range = { readonly min: number; readonly max: number };

export type Tier = {
  readonly name: string;
  readonly memory_mb: Range;
  readonly cpu_shares: Range;
  readonly disk_mb: Range;
  readonly containers: number;
};
