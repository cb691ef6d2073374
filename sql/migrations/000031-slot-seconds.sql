-- Made again from sql/functions/ with the seconds of a slot.
drop function if exists runledger.finish_submission(uuid);
