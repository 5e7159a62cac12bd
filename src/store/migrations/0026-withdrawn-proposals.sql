-- Whoever proposed something can take it back before it is applied.
alter table setpoint.proposal drop constraint proposal_state_check;
alter table setpoint.proposal add constraint proposal_state_check
  check (state in ('open', 'approved', 'rejected', 'applied', 'withdrawn'));
