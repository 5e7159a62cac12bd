import { useId } from "react";
import type { JsonSchema } from "../api/json-schema.ts";
import { Field, inputClass } from "../components/field.tsx";
import { errorAt, type FieldErrors } from "./field-errors.ts";
import { useForm } from "./form-context.ts";
import { defaultWords, labelOf, textOf } from "./words.ts";

export interface FieldProps {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  readonly value: unknown;
  readonly change: (value: unknown) => void;
  /** Where it is in the manifest. */
  readonly pointer: string;
}

const areaClass = `${inputClass} h-auto py-1.5 font-mono text-xs`;
/** Texts that may be longer than this are written in more than one line. */
const lineMost = 1_000;

function about({ name, schema, isRequired, pointer }: FieldProps, errors: FieldErrors, hint?: string) {
  return {
    label: `${labelOf(name, schema)}${isRequired ? "" : " (optional)"}`,
    hint: schema.description ?? hint,
    error: errorAt(errors, pointer),
  };
}

/** A text or a number. */
export function Scalar({ numeric = false, ...props }: FieldProps & { numeric?: boolean }) {
  const { schema, value, change, isRequired, name } = props;
  const { errors, suggestions } = useForm();
  const list = useId();
  const names = suggestions[name] ?? [];
  const said = about(props, errors);
  const usual = defaultWords(schema);
  if (!numeric && (schema.maxLength ?? 0) > lineMost) return <Text {...props} />;
  return (
    <Field {...said}>
      {(id, described) => (
        <>
          <input
            id={id}
            aria-describedby={described}
            aria-invalid={said.error !== undefined}
            className={inputClass}
            type={numeric ? "number" : "text"}
            required={isRequired}
            min={schema.minimum}
            max={schema.maximum}
            maxLength={schema.maxLength}
            placeholder={usual === undefined ? undefined : `${usual} unless you say otherwise`}
            autoComplete="off"
            value={textOf(value)}
            {...(names.length === 0 ? {} : { list })}
            onChange={({ target }) =>
              change(target.value === "" ? undefined : numeric ? Number(target.value) : target.value)
            }
          />
          {names.length === 0 ? undefined : (
            <datalist id={list}>
              {names.map((one) => (
                <option key={one} value={one} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
}

function Text(props: FieldProps) {
  const { value, change, isRequired } = props;
  const said = about(props, useForm().errors);
  return (
    <Field {...said}>
      {(id, described) => (
        <textarea
          id={id}
          aria-describedby={described}
          aria-invalid={said.error !== undefined}
          required={isRequired}
          rows={4}
          className={areaClass}
          value={textOf(value)}
          onChange={({ target }) => change(target.value === "" ? undefined : target.value)}
        />
      )}
    </Field>
  );
}

/** One of a few words. */
export function Choice({ options, ...props }: FieldProps & { options: readonly string[] }) {
  const { schema, value, change, isRequired } = props;
  const said = about(props, useForm().errors);
  const usual = defaultWords(schema);
  return (
    <Field {...said}>
      {(id, described) => (
        <select
          id={id}
          aria-describedby={described}
          aria-invalid={said.error !== undefined}
          required={isRequired}
          className={inputClass}
          value={textOf(value)}
          onChange={({ target }) => change(target.value === "" ? undefined : target.value)}
        >
          <option value="">
            {usual === undefined ? (isRequired ? "choose" : "not said") : `${usual} (the default)`}
          </option>
          {options
            .filter((option) => option !== usual || option === value)
            .map((option) => (
              <option key={option} value={option}>
                {option}
              </option>
            ))}
        </select>
      )}
    </Field>
  );
}

export function YesNo(props: FieldProps) {
  const { change, value, ...rest } = props;
  const words = value === undefined ? undefined : value === true ? "yes" : "no";
  return (
    <Choice
      {...rest}
      value={words}
      change={(next) => change(next === undefined ? undefined : next === "yes")}
      options={["yes", "no"]}
    />
  );
}

/** Texts, one per line. */
export function Lines(props: FieldProps) {
  const { value, change, isRequired } = props;
  const said = about(props, useForm().errors);
  const lines = Array.isArray(value) ? value.map(String) : [];
  return (
    <Field {...said} hint={`${said.hint === undefined ? "" : `${said.hint} `}One per line.`}>
      {(id, described) => (
        <textarea
          id={id}
          aria-describedby={described}
          aria-invalid={said.error !== undefined}
          required={isRequired}
          rows={Math.max(2, lines.length + 1)}
          className={areaClass}
          defaultValue={lines.join("\n")}
          onChange={({ target }) => {
            const next = target.value
              .split("\n")
              .map((line) => line.trim())
              .filter((line) => line !== "");
            change(next.length === 0 ? undefined : next);
          }}
        />
      )}
    </Field>
  );
}

/** Keys with their texts, one per line. */
export function Pairs(props: FieldProps) {
  const { value, change } = props;
  const said = about(props, useForm().errors);
  const entries = Object.entries((value ?? {}) as Record<string, string>);
  return (
    <Field {...said} hint={`${said.hint === undefined ? "" : `${said.hint} `}One per line, as key: value.`}>
      {(id, described) => (
        <textarea
          id={id}
          aria-describedby={described}
          aria-invalid={said.error !== undefined}
          rows={Math.max(2, entries.length + 1)}
          className={areaClass}
          defaultValue={entries.map(([key, text]) => `${key}: ${text}`).join("\n")}
          onChange={({ target }) => {
            const pairs = target.value.split("\n").flatMap((line) => {
              const at = line.indexOf(":");
              return at < 1 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()] as const];
            });
            change(pairs.length === 0 ? undefined : Object.fromEntries(pairs));
          }}
        />
      )}
    </Field>
  );
}

/** Some of a few words. */
export function Several({ options, ...props }: FieldProps & { options: readonly string[] }) {
  const { value, change, pointer, name, schema } = props;
  const error = errorAt(useForm().errors, pointer);
  const chosen = new Set(Array.isArray(value) ? value.map(String) : []);
  return (
    <fieldset className="mb-3 sm:col-span-2">
      <legend className="mb-1 text-sm font-medium">{labelOf(name, schema)}</legend>
      <div className="flex flex-wrap gap-x-4 gap-y-1 text-sm">
        {options.map((option) => (
          <label key={option} className="flex items-center gap-1.5">
            <input
              type="checkbox"
              aria-invalid={error !== undefined}
              checked={chosen.has(option)}
              onChange={({ target }) => {
                const next = options.filter((one) => (one === option ? target.checked : chosen.has(one)));
                change(next.length === 0 ? undefined : next);
              }}
            />
            {option}
          </label>
        ))}
      </div>
      {error === undefined ? undefined : <p className="mt-1 text-xs text-bad">{error}</p>}
    </fieldset>
  );
}

/** What has no simpler form; it is judged when it can be read. */
export function AsJson(props: FieldProps) {
  const { value, change } = props;
  const said = about(props, useForm().errors, "As JSON.");
  return (
    <Field {...said}>
      {(id, described) => (
        <textarea
          id={id}
          aria-describedby={described}
          aria-invalid={said.error !== undefined}
          rows={4}
          className={areaClass}
          defaultValue={value === undefined ? "" : JSON.stringify(value, undefined, 2)}
          onChange={({ target }) => {
            try {
              change(target.value.trim() === "" ? undefined : (JSON.parse(target.value) as unknown));
              target.setCustomValidity("");
            } catch {
              target.setCustomValidity("This is not JSON yet.");
            }
          }}
        />
      )}
    </Field>
  );
}
