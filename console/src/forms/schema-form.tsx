import { Field, inputClass } from "../components/field.tsx";
import { type JsonSchema, resolved } from "../api/kind-schema.ts";

type Schemas = Readonly<Record<string, JsonSchema>>;
type Values = Readonly<Record<string, unknown>>;

/** A form of a spec, made from the schema that the API validates it with. */
export function SchemaForm({
  schemas,
  schema,
  value,
  change,
}: {
  schemas: Schemas;
  schema: JsonSchema;
  value: Values;
  change: (value: Values) => void;
}) {
  const required = new Set(schema.required ?? []);
  return (
    <div className="grid gap-x-4 sm:grid-cols-2">
      {Object.entries(schema.properties ?? {}).map(([name, property]) => (
        <FieldOf
          key={name}
          schemas={schemas}
          name={name}
          schema={resolved(schemas, property)}
          isRequired={required.has(name)}
          value={value[name]}
          change={(next) => {
            const rest = Object.entries(value).filter(([key]) => key !== name);
            change(Object.fromEntries(next === undefined ? rest : [...rest, [name, next]]));
          }}
        />
      ))}
    </div>
  );
}

interface FieldProps {
  readonly schemas: Schemas;
  readonly name: string;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  readonly value: unknown;
  readonly change: (value: unknown) => void;
}

function FieldOf(props: FieldProps) {
  const { schema } = props;
  const type = typeof schema.type === "string" ? schema.type : schema.type?.[0];
  if (schema.enum !== undefined) return <Choice {...props} options={schema.enum.map(String)} />;
  if (type === "boolean") return <YesNo {...props} />;
  if (type === "integer" || type === "number") return <Scalar {...props} numeric />;
  if (type === "string") return <Scalar {...props} />;
  if (type === "array" && isText(schema.items)) return <Lines {...props} />;
  if (type === "object" && typeof schema.additionalProperties === "object" && isText(schema.additionalProperties))
    return <Pairs {...props} />;
  if (type === "object" && schema.properties !== undefined) return <Nested {...props} />;
  return <AsJson {...props} />;
}

function isText(schema: JsonSchema | undefined): boolean {
  return schema?.type === "string" && schema.enum === undefined;
}

/** A value in a field of text. */
function textOf(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function labelOf({ name, isRequired }: FieldProps): string {
  const words = name.replace(/([A-Z])/g, " $1").toLowerCase();
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}${isRequired ? "" : " (optional)"}`;
}

function Scalar({ numeric = false, ...props }: FieldProps & { numeric?: boolean }) {
  const { schema, value, change, isRequired } = props;
  return (
    <Field label={labelOf(props)} hint={schema.description}>
      {(id, described) => (
        <input
          id={id}
          aria-describedby={described}
          className={inputClass}
          type={numeric ? "number" : "text"}
          required={isRequired}
          min={schema.minimum}
          max={schema.maximum}
          maxLength={schema.maxLength}
          placeholder={textOf(schema.default)}
          value={textOf(value)}
          onChange={({ target }) =>
            change(target.value === "" ? undefined : numeric ? Number(target.value) : target.value)
          }
        />
      )}
    </Field>
  );
}

function Choice({ options, ...props }: FieldProps & { options: readonly string[] }) {
  const { schema, value, change } = props;
  return (
    <Field label={labelOf(props)} hint={schema.description}>
      {(id, described) => (
        <select
          id={id}
          aria-describedby={described}
          className={inputClass}
          value={textOf(value)}
          onChange={({ target }) => change(target.value === "" ? undefined : target.value)}
        >
          <option value="">{schema.default === undefined ? "choose" : `default: ${textOf(schema.default)}`}</option>
          {options.map((option) => (
            <option key={option} value={option}>
              {option}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function YesNo(props: FieldProps) {
  const { value, change, schema } = props;
  return (
    <Field label={labelOf(props)} hint={schema.description}>
      {(id, described) => (
        <select
          id={id}
          aria-describedby={described}
          className={inputClass}
          value={textOf(value)}
          onChange={({ target }) => change(target.value === "" ? undefined : target.value === "true")}
        >
          <option value="">
            {schema.default === undefined ? "not said" : `default: ${schema.default === true ? "yes" : "no"}`}
          </option>
          <option value="true">yes</option>
          <option value="false">no</option>
        </select>
      )}
    </Field>
  );
}

/** Texts, one per line. */
function Lines(props: FieldProps) {
  const { value, change, schema } = props;
  const lines = Array.isArray(value) ? value.map(String) : [];
  return (
    <Field label={labelOf(props)} hint={schema.description ?? "One per line."}>
      {(id, described) => (
        <textarea
          id={id}
          aria-describedby={described}
          rows={Math.max(2, lines.length + 1)}
          className={`${inputClass} h-auto py-1.5 font-mono text-xs`}
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
function Pairs(props: FieldProps) {
  const { value, change, schema } = props;
  const entries = Object.entries((value ?? {}) as Record<string, string>);
  return (
    <Field label={labelOf(props)} hint={schema.description ?? "One per line, as key: value."}>
      {(id, described) => (
        <textarea
          id={id}
          aria-describedby={described}
          rows={Math.max(3, entries.length + 1)}
          className={`${inputClass} h-auto py-1.5 font-mono text-xs`}
          defaultValue={entries.map(([key, text]) => `${key}: ${text}`).join("\n")}
          onChange={({ target }) => {
            const pairs = target.value.split("\n").flatMap((line) => {
              const at = line.indexOf(":");
              return at < 1 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()] as const];
            });
            change(Object.fromEntries(pairs));
          }}
        />
      )}
    </Field>
  );
}

function Nested(props: FieldProps) {
  const { schemas, schema, value, change } = props;
  return (
    <fieldset className="mb-3 rounded-md border border-line p-3 sm:col-span-2">
      <legend className="px-1 text-sm font-medium">{labelOf(props)}</legend>
      <SchemaForm schemas={schemas} schema={schema} value={(value ?? {}) as Values} change={change} />
    </fieldset>
  );
}

/** What has no simpler form; it is judged when it can be read. */
function AsJson(props: FieldProps) {
  const { value, change, schema } = props;
  return (
    <Field label={labelOf(props)} hint={schema.description ?? "As JSON."}>
      {(id, described) => (
        <textarea
          id={id}
          aria-describedby={described}
          rows={4}
          className={`${inputClass} h-auto py-1.5 font-mono text-xs`}
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
