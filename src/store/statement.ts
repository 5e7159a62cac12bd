/**
 * One statement of the store, prepared under its name on each connection that uses it.
 * `touches` says whether it reads or writes rows of tenants: if so it fails unless its transaction named them, and a
 * test runs it without to prove that.
 */
export interface Statement<Row> {
  readonly name: string;
  readonly text: string;
  readonly touches: "tenants" | "platform";
  /** Never set; carries the type of the rows. */
  readonly row?: Row;
}

export function statement<Row>(name: string, touches: Statement<Row>["touches"], text: string): Statement<Row> {
  return Object.freeze({ name: `setpoint ${name}`, touches, text });
}

/** A statement with its values, ready to be sent. */
export interface Call<Row> {
  readonly statement: Statement<Row>;
  readonly values: readonly SqlValue[];
}

export type SqlValue = string | number | boolean | null | readonly (string | number | null)[];

export function call<Row>(statement: Statement<Row>, ...values: readonly SqlValue[]): Call<Row> {
  return { statement, values };
}
