-- People, how they prove who they are, and their sessions. They belong to no organization: only administration reads and
-- writes these tables. Nothing in them lets anybody in: passwords, tokens, links and codes are hashes.

create table setpoint.person (
  id text collate "C" primary key,
  -- In the one form that equal addresses have.
  email text collate "C" not null unique,
  name text not null,
  -- With its parameters. Null: a password was never set.
  password_hash text,
  state text not null default 'active' check (state in ('active', 'disabled')),
  platform_role text not null default 'none' check (platform_role in ('none', 'operator', 'administrator')),
  -- Since when the address is known to be theirs. Null: it was not asked for, or they did not answer.
  verified_at_ms bigint,
  created_at_ms bigint not null
);

create table setpoint.session (
  id text collate "C" primary key,
  token_hash text collate "C" not null unique,
  person_id text collate "C" not null references setpoint.person on delete cascade,
  created_at_ms bigint not null,
  -- When the person last proved who they are.
  proven_at_ms bigint not null,
  last_seen_at_ms bigint not null,
  ends_at_ms bigint not null,
  address text not null,
  user_agent text not null
) with (fillfactor = 70);
create index session_person on setpoint.session (person_id);
create index session_end on setpoint.session (ends_at_ms);

create table setpoint.totp (
  person_id text collate "C" primary key references setpoint.person on delete cascade,
  sealed_secret text not null,
  -- Asked for only once it was shown to work.
  confirmed boolean not null default false,
  -- The latest step whose code was used; no code of it or of an earlier one is taken again.
  last_step bigint not null default 0
);

create table setpoint.recovery_code (
  person_id text collate "C" not null references setpoint.person on delete cascade,
  code_hash text collate "C" not null,
  used_at_ms bigint,
  primary key (person_id, code_hash)
);

create table setpoint.passkey (
  -- The credential's own id, base64url.
  id text collate "C" primary key,
  person_id text collate "C" not null references setpoint.person on delete cascade,
  public_key text not null,
  counter bigint not null,
  -- The host it was made for; it works nowhere else.
  relying_party text collate "C" not null,
  transports text[] not null,
  label text not null,
  created_at_ms bigint not null,
  last_used_at_ms bigint
);
create index passkey_person on setpoint.passkey (person_id);

-- What an authenticator was asked to sign, usable once.
create table setpoint.passkey_challenge (
  challenge text collate "C" primary key,
  purpose text not null check (purpose in ('register', 'sign-in', 'prove')),
  person_id text collate "C" references setpoint.person on delete cascade,
  expires_at_ms bigint not null
);
create index passkey_challenge_end on setpoint.passkey_challenge (expires_at_ms);

create table setpoint.one_time_link (
  token_hash text collate "C" primary key,
  purpose text not null check (purpose in ('first-person', 'sign-in', 'verify-email', 'password-reset')),
  person_id text collate "C" references setpoint.person on delete cascade,
  expires_at_ms bigint not null,
  used_at_ms bigint,
  check ((person_id is null) = (purpose = 'first-person'))
);
create index one_time_link_person on setpoint.one_time_link (person_id);
create index one_time_link_end on setpoint.one_time_link (expires_at_ms);

-- How often somebody tried. A bucket is a hash of what is counted, so that a password typed into the wrong field is not
-- kept either.
create table setpoint.attempt (
  bucket text collate "C" primary key,
  -- When the bucket is full again.
  full_at_ms bigint not null
) with (fillfactor = 70);
create index attempt_end on setpoint.attempt (full_at_ms);

-- One attempt out of a bucket that holds `burst` and gets one back every `every_ms`. Answers with the wait: 0 lets it pass.
create function setpoint.take_attempt(for_bucket text, every_ms bigint, burst integer) returns bigint
language plpgsql as $$
declare
  at_ms bigint := setpoint.now_ms();
  next_ms bigint;
begin
  insert into setpoint.attempt as a (bucket, full_at_ms) values (for_bucket, at_ms)
  on conflict (bucket) do update set full_at_ms = greatest(a.full_at_ms, at_ms)
  returning a.full_at_ms + every_ms into next_ms;
  if next_ms - at_ms > burst * every_ms then
    return next_ms - at_ms - burst * every_ms;
  end if;
  update setpoint.attempt set full_at_ms = next_ms where bucket = for_bucket;
  return 0;
end
$$;

-- A text sealed with the root key, by which a start with another key is noticed before anything else is sealed with it.
create table setpoint.root_key (
  only_row boolean primary key default true check (only_row),
  sealed text not null
);

do $$
declare
  table_of_people text;
begin
  foreach table_of_people in array array[
    'person', 'session', 'totp', 'recovery_code', 'passkey', 'passkey_challenge', 'one_time_link', 'attempt', 'root_key'
  ] loop
    execute format('alter table setpoint.%I enable row level security, force row level security', table_of_people);
    execute format('create policy administration on setpoint.%I to setpoint_admin using (true)', table_of_people);
  end loop;
end
$$;

-- Entries of the log without an organization are the platform's. Those about people and what they prove themselves with
-- are for whoever runs it, not for every tenant.
create function setpoint.told_to_tenants(entry_type text) returns boolean
language sql immutable parallel safe
return split_part(entry_type, '.', 1) <> all (array['person', 'session', 'link', 'credential']);
grant execute on function setpoint.told_to_tenants to setpoint_api, setpoint_engine;
alter policy platform on setpoint.log_entry
  using ((select setpoint.tenants()) is not null and organization_id is null and setpoint.told_to_tenants(type));
alter policy platform on setpoint.sealed_entry
  using ((select setpoint.tenants()) is not null and organization_id is null and setpoint.told_to_tenants(type));
