-- A declaration that loosens its resource's own mode or protection waits in the same inbox where policy asks for four eyes.
alter table setpoint.governance_change drop constraint governance_change_type_check;
alter table setpoint.governance_change add constraint governance_change_type_check
  check (type in ('policy', 'pause-end', 'declaration'));
