-- What a pause covers as whoever placed it called it: nobody knows ids.
alter table setpoint.pause add column called text;
