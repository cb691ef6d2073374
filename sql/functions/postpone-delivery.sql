-- The receiver's host has as many attempts under way as it may: this one comes back later, and costs nothing.

create or replace function runledger.postpone_delivery(webhook_id uuid, until timestamptz) returns void
language plpgsql security definer set search_path = ''
as $$
begin
  update runledger.delivery set due_at = postpone_delivery.until
  where delivery.webhook_id = postpone_delivery.webhook_id and delivery.state = 'pending';
  if found then
    perform job.enqueue_deliver(postpone_delivery.webhook_id, postpone_delivery.until);
  end if;
end
$$;
comment on function runledger.postpone_delivery is 'Makes a pending delivery due later, without an attempt.';
