-- Some keys are operators': they look at the service and steer its workers, and submit nothing.

alter table runledger.api_key
  add column role text not null default 'submit' constraint api_key_role check (role in ('submit', 'operator')),
  add column read_only boolean not null default false
    constraint api_key_read_only check (role = 'operator' or not read_only);
comment on column runledger.api_key.role is 'submit: it submits, and reads what its account has; operator: it looks at the service and steers it, and submits nothing.';
comment on column runledger.api_key.read_only is 'An operator''s that looks alone.';
