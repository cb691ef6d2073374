-- Made again from sql/functions/ with an account.
drop function if exists runledger.has_room(integer, integer);
