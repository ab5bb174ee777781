-- Tiers are shown by their size, which administrators may change.
alter table tiers drop column position;

-- Tools by package manager, and what `sh` runs after them.
alter table roles
  add column packages jsonb not null default '{}',
  add column script text;

insert into roles (key, label, packages) values
  ('node', 'Node.js', '{
    "apt": ["nodejs", "npm"],
    "apk": ["nodejs", "npm"],
    "dnf": ["nodejs", "npm"]
  }'),
  ('python', 'Python', '{
    "apt": ["python3", "python3-pip", "python3-venv"],
    "apk": ["python3", "py3-pip"],
    "dnf": ["python3", "python3-pip"]
  }'),
  ('go', 'Go', '{
    "apt": ["golang-go", "gcc", "libc6-dev"],
    "apk": ["go", "gcc", "musl-dev"],
    "dnf": ["golang", "gcc", "glibc-devel"]
  }'),
  ('rust', 'Rust', '{
    "apt": ["rustc", "cargo", "gcc", "libc6-dev"],
    "apk": ["rust", "cargo", "gcc", "musl-dev"],
    "dnf": ["rust", "cargo", "gcc", "glibc-devel"]
  }'),
  ('devops', 'DevOps', '{
    "apt": ["ansible-core", "bind9-dnsutils", "jq", "kubernetes-client", "make", "rsync", "unzip", "zip"],
    "apk": ["ansible-core", "bind-tools", "jq", "kubectl", "make", "rsync", "unzip", "zip"],
    "dnf": ["ansible-core", "bind-utils", "jq", "make", "rsync", "unzip", "zip"]
  }');

create index containers_image on containers (image_key) where state <> 'deleted';
create index containers_role on containers (role) where state <> 'deleted';
create index users_tier on users (tier);

-- The tools of a container's role on their way into it. The id names the try that is due or under way.
alter table containers
  add column role_setup_status text not null default 'none'
    check (role_setup_status in ('none', 'installing', 'ready', 'failed')),
  add column role_setup_detail text,
  add column role_setup_id uuid unique,
  add column role_setup_owner uuid,
  add column role_setup_until timestamptz;

create index containers_role_setup on containers (role_setup_until) where role_setup_id is not null;
