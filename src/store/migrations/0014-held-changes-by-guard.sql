-- One current held change per guard, limit and tenant. What a guard holds is answered in that guard's own way: an approval
-- to reclaim an account must not take the deletes with it that wait under the same account's budget.
drop index setpoint.held_change_current;
create unique index held_change_current on setpoint.held_change (scope_key, level, guard, organization_id)
  where state in ('open', 'rejected');
