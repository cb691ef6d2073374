-- job.measure_slot says it.

drop function if exists runledger.ended_while_queued(uuid, text);
