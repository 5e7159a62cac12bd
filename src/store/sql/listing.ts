import { type Statement, statement } from "../statement.ts";
import { listedResource, type ResourceViewRow } from "./reads.ts";

/** What a page of a list is read along: an index that has it in order already. */
export type ListDrive =
  | "name"
  | "term"
  | "terms"
  | "deleting"
  | "unready"
  | "drifted"
  | "held"
  | "declared"
  | "updated";
export type ListDirection = "asc" | "desc";

export interface ListedRow extends ResourceViewRow {
  readonly key_name: string;
  readonly key_ms: number;
  readonly key_id: string;
}

/**
 * Values: $1 organization, $2 scope, $3 kind, $4 to $6 the key to go on behind (name, time, id), $7 how many candidates are
 * looked at, $8 rows of a page, $9 first name of a prefix, $10 the first name behind it, $11 mode, $12 deleting, $13 label
 * requirements, $14 ready, $15 drifted, $16 held, $17 label terms.
 *
 * The bounds $4 to $10 are never null and are compared as they are. Behind row-level security an index is entered where the page
 * begins only by what cannot leak a row, and to the planner neither "or" nor "coalesce" is such.
 */
const behind = { asc: ">", desc: "<" } as const;

function byName(from: string, condition: string, direction: ListDirection): string {
  return `select c.name as key_name, 0::bigint as key_ms, '' as key_id${whole(from)} from setpoint.${from} as c
    where c.scope = $2 and c.kind = $3 and c.organization_id is not distinct from $1 and ${condition}
      and c.name ${behind[direction]} $4::text and c.name >= $9::text and c.name < $10::text
    order by c.name ${direction} limit $7`;
}

/** Along an index of the resources themselves, they need not be looked up a second time. */
function whole(from: string): string {
  return from === "resource" ? ", c.*" : "";
}

/** A resource with several subjects is there several times, side by side. */
function bySummary(condition: string, direction: ListDirection): string {
  return `select distinct on (found.key_name) found.* from (${byName("subject_summary", condition, direction)}) as found
    order by found.key_name ${direction}`;
}

function candidates(drive: ListDrive, direction: ListDirection): string {
  const after = behind[direction];
  switch (drive) {
    case "name":
      return byName("resource", "true", direction);
    case "deleting":
      return byName("resource", "c.deletion is not null", direction);
    case "term":
      return byName("resource_label", "c.term = ($17::text[])[1]", direction);
    case "terms":
      return `select found.* from unnest($17::text[]) as wanted (term)
        cross join lateral (${byName("resource_label", "c.term = wanted.term", direction)}) as found
        order by found.key_name ${direction} limit $7`;
    case "unready":
      return bySummary("c.ready = $14::text and c.ready <> 'True'", direction);
    case "drifted":
      return bySummary("c.drifted", direction);
    case "held":
      return bySummary("c.held", direction);
    case "declared":
      return `select c.name as key_name, c.declared_at_ms as key_ms, c.uid as key_id, c.* from setpoint.resource as c
        where c.scope = $2 and c.kind = $3 and c.organization_id is not distinct from $1
          and (c.declared_at_ms, c.uid) ${after} ($5::bigint, $6::text)
        order by c.declared_at_ms ${direction}, c.uid ${direction} limit $7`;
    case "updated":
      // Of several subjects the one that changed last stands for the resource.
      return `select c.name as key_name, c.changed_at_ms as key_ms, c.subject_id::text as key_id
        from setpoint.subject_summary as c
        where c.scope = $2 and c.kind = $3 and c.organization_id is not distinct from $1
          and (c.changed_at_ms, c.subject_id) ${after} ($5::bigint, $6::text::bigint)
          and not exists (
            select from setpoint.subject_summary as other
            where other.resource_uid = c.resource_uid and other.organization_id = c.organization_id
              and (other.changed_at_ms, other.subject_id) > (c.changed_at_ms, c.subject_id))
        order by c.changed_at_ms ${direction}, c.subject_id ${direction} limit $7`;
  }
}

const summed = (condition: string) => `exists (
  select from setpoint.subject_summary as m
  where m.resource_uid = r.uid and m.organization_id = r.organization_id and ${condition})`;

/** The worst of its subjects speaks for a resource. */
const readyOf = `case when ${summed("m.ready = 'False'")} then 'False'
  when ${summed("m.ready = 'Unknown'")} then 'Unknown' else 'True' end`;

const filters = `r.name >= $9::text and r.name < $10::text
  and ($11::text is null or r.mode = $11::text)
  and ($12::boolean is null or (r.deletion is not null) = $12::boolean)
  and ($13::jsonb is null or not exists (
    select from jsonb_to_recordset($13::jsonb) as q (key text, op text, "values" jsonb)
    where not case q.op
      when 'in' then coalesce(q."values" ? (r.labels ->> q.key), false)
      when 'not-in' then not coalesce(q."values" ? (r.labels ->> q.key), false)
      when 'exists' then r.labels ? q.key
      else not r.labels ? q.key end))
  and ($14::text is null or ${readyOf} = $14::text)
  and ($15::boolean is null or ${summed("m.drifted")} = $15::boolean)
  and ($16::boolean is null or ${summed("m.held")} = $16::boolean)`;

/** Asked of the labels' own index before a candidate is looked up: most of those that lack the label go no further. */
const labelled = `($17::text[] is null or exists (
  select from setpoint.resource_label as l
  where l.scope = $2 and l.kind = $3 and l.term = any ($17::text[]) and l.name = c.key_name
    and l.organization_id is not distinct from $1))`;

/** As the candidates come already: sorting them would mean to look at all of them. */
function driveOrder(drive: ListDrive, direction: ListDirection): string {
  if (drive === "declared") return `c.key_ms ${direction}, c.key_id ${direction}`;
  return drive === "updated" ? `c.key_ms ${direction}` : `c.key_name ${direction}`;
}

/** The parameters of a page, in one place, so that the two statements of a drive take the same values. */
const parameters = `(select $4::text, $5::bigint, $6::text, $7::bigint, $8::bigint, $9::text, $10::text, $11::text,
  $12::boolean, $13::jsonb, $14::text, $15::boolean, $16::boolean, $17::text[])`;

const ofResources: ReadonlySet<ListDrive> = new Set(["name", "deleting", "declared"]);
const bySubjects: ReadonlySet<ListDrive> = new Set(["unready", "drifted", "held", "updated"]);
const lookedUp = `cross join lateral (
  select r.* from setpoint.resource as r
  where r.scope = $2 and r.kind = $3 and r.name = c.key_name and r.organization_id is not distinct from $1 offset 0
) as r`;

function pageStatement(drive: ListDrive, direction: ListDirection): Statement<ListedRow> {
  return statement<ListedRow>(
    `list by ${drive} ${direction}`,
    "tenants",
    `with page as materialized (
       select r.uid, c.key_name, c.key_ms, c.key_id, row_number() over () as place
       from (${candidates(drive, direction)}) as c
       ${ofResources.has(drive) ? "cross join lateral (select c.*) as r" : lookedUp}
       where ${bySubjects.has(drive) ? `${labelled} and ` : ""}${filters}
       order by ${driveOrder(drive, direction)} limit $8
     )
     select page.key_name, page.key_ms, page.key_id, ${listedResource}
     from page
     cross join lateral (
       select r.* from setpoint.resource as r where r.organization_id = $1 and r.uid = page.uid offset 0
     ) as r
     where exists ${parameters}
     order by page.place`,
  );
}

/** The last candidate of a page that was not filled: the next page goes on behind it. */
function lastStatement(drive: ListDrive, direction: ListDirection): Statement<ListKeyRow> {
  return statement<ListKeyRow>(
    `last by ${drive} ${direction}`,
    "tenants",
    `select c.key_name, c.key_ms, c.key_id from (${candidates(drive, direction)}) as c
     where exists ${parameters} offset $7 - 1 limit 1`,
  );
}

export interface ListKeyRow {
  readonly key_name: string;
  readonly key_ms: number;
  readonly key_id: string;
}

const drives: readonly ListDrive[] = [
  "name",
  "term",
  "terms",
  "deleting",
  "unready",
  "drifted",
  "held",
  "declared",
  "updated",
];
const directions: readonly ListDirection[] = ["asc", "desc"];

export const pageStatements: ReadonlyMap<string, Statement<ListedRow>> = new Map(
  drives.flatMap((drive) => directions.map((one) => [`${drive} ${one}`, pageStatement(drive, one)] as const)),
);
export const lastStatements: ReadonlyMap<string, Statement<ListKeyRow>> = new Map(
  drives.flatMap((drive) => directions.map((one) => [`${drive} ${one}`, lastStatement(drive, one)] as const)),
);
