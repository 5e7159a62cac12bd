import { createContext, useContext } from "react";
import { ApiProblem } from "../api/client.ts";
import type { JsonSchema } from "../api/json-schema.ts";
import type { FieldErrors } from "./field-errors.ts";

/** What every field of a form may need. */
export interface FormContext {
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  readonly errors: FieldErrors;
  /** Names that fit a field, by the name of the field. */
  readonly suggestions: Readonly<Record<string, readonly string[]>>;
}

export const formContext = createContext<FormContext>({ schemas: {}, errors: new Map(), suggestions: {} });

export function useForm(): FormContext {
  return useContext(formContext);
}

/** What a refusal says about single fields. */
export function fieldErrors(error: unknown): FieldErrors {
  const errors = error instanceof ApiProblem ? (error.problem.errors ?? []) : [];
  return new Map(errors.map(({ pointer, message }) => [pointer, message]));
}
