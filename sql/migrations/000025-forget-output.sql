-- Made again from sql/functions/ with the attempt as a parameter.
drop function if exists runledger.forget_output(uuid);
