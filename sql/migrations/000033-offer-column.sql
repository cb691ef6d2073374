-- Made again from sql/functions/ with a further column.
drop function if exists runledger.list_recent_language(interval);
