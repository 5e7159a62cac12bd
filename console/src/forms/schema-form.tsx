import { type ReactNode, useEffect, useId, useState } from "react";
import { type JsonSchema, resolved } from "../api/json-schema.ts";
import { Button } from "../components/button.tsx";
import { inputClass } from "../components/field.tsx";
import { fieldKind } from "./field-kind.ts";
import { hasErrorAt } from "./field-errors.ts";
import { type FormContext, formContext, useForm } from "./form-context.ts";
import { AsJson, Choice, type FieldProps, Lines, Pairs, Scalar, Several, YesNo } from "./plain-fields.tsx";
import { labelOf, oneOf } from "./words.ts";

type Values = Readonly<Record<string, unknown>>;

/** A form of a spec, made from the schema that the API validates it with. What the server refuses is said beside its field. */
export function SchemaForm({
  schemas,
  schema,
  value,
  change,
  errors = new Map(),
  suggestions = {},
}: {
  schemas: FormContext["schemas"];
  schema: JsonSchema;
  value: Values;
  change: (value: Values) => void;
  errors?: FormContext["errors"];
  suggestions?: FormContext["suggestions"];
}) {
  return (
    <formContext.Provider value={{ schemas, errors, suggestions }}>
      <ObjectFields schema={schema} value={value} change={change} pointer="/spec" />
    </formContext.Provider>
  );
}

interface ObjectProps {
  readonly schema: JsonSchema;
  readonly value: Values;
  readonly change: (value: Values) => void;
  readonly pointer: string;
}

/** So many optional fields are shown at once; more of them are folded away. */
const shownAtOnce = 3;

/** What must be said and what usually is comes first; everything else has a default, and waits folded. */
function ObjectFields({ schema, value, change, pointer }: ObjectProps) {
  const form = useForm();
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {})
    .map(([name, property]) => ({ name, schema: resolved(form.schemas, property), own: property }))
    // What the server fills in itself is nobody's to write.
    .filter(({ schema: { readOnly } }) => readOnly !== true);
  const isFirst = ({ name, own, schema: of }: (typeof fields)[number]) =>
    required.has(name) || (own["x-usual"] ?? of["x-usual"]) === true || of["x-one-of"] !== undefined;
  const rest = fields.filter((field) => !isFirst(field));
  const first = rest.length > shownAtOnce ? fields.filter(isFirst) : fields;
  const folded = rest.length > shownAtOnce ? rest : [];
  const set = (name: string, next: unknown, without: readonly string[] = []) => {
    const kept = Object.entries(value).filter(([key]) => key !== name && !without.includes(key));
    change(Object.fromEntries(next === undefined ? kept : [...kept, [name, next]]));
  };
  const shown = (field: (typeof fields)[number]) => (
    <FieldOf
      key={field.name}
      name={field.name}
      schema={{ ...field.schema, ...withoutReference(field.own) }}
      isRequired={required.has(field.name)}
      value={value[field.name]}
      change={(next) => set(field.name, next)}
      pointer={`${pointer}/${field.name}`}
    />
  );
  const drawn = new Set<string>();
  return (
    <>
      <div className="grid gap-x-4 sm:grid-cols-2">
        {first.map((field) => {
          const choice = field.schema["x-one-of"];
          if (choice === undefined) return shown(field);
          if (drawn.has(choice)) return undefined;
          drawn.add(choice);
          const members = fields.filter(({ schema: of }) => of["x-one-of"] === choice);
          return (
            <OneOfFields key={choice} title={choice} members={members} value={value} set={set} pointer={pointer} />
          );
        })}
      </div>
      {folded.length === 0 ? undefined : (
        <Folded
          count={folded.length}
          said={folded.some(({ name }) => value[name] !== undefined)}
          refused={folded.some(({ name }) => hasErrorAt(form.errors, `${pointer}/${name}`))}
        >
          {folded.map(shown)}
        </Folded>
      )}
    </>
  );
}

/** Open where something in it is said or refused at first; from then on it is as whoever reads it has left it. */
function Folded({
  count,
  said,
  refused,
  children,
}: {
  count: number;
  said: boolean;
  refused: boolean;
  children: ReactNode;
}) {
  const [open, setOpen] = useState(said);
  useEffect(() => {
    if (refused) setOpen(true);
  }, [refused]);
  return (
    <details className="mb-3" open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="cursor-pointer py-1 text-sm text-accent">{count} more fields, all optional</summary>
      <div className="mt-2 grid gap-x-4 sm:grid-cols-2">{children}</div>
    </details>
  );
}

/** What a place says of a schema that stands elsewhere goes before what is said there. */
function withoutReference({ $ref: _, ...own }: JsonSchema): JsonSchema {
  return own;
}

/** Fields of which exactly one is said: which one is chosen first, and the others are left out. */
function OneOfFields({
  title,
  members,
  value,
  set,
  pointer,
}: {
  title: string;
  members: readonly { readonly name: string; readonly schema: JsonSchema }[];
  value: Values;
  set: (name: string, next: unknown, without: readonly string[]) => void;
  pointer: string;
}) {
  const id = useId();
  const names = members.map(({ name }) => name);
  const [chosen, setChosen] = useState(names.find((name) => value[name] !== undefined) ?? names[0]);
  const member = members.find(({ name }) => name === chosen);
  return (
    <>
      <div className="mb-3">
        <label htmlFor={id} className="mb-1 block text-sm font-medium">
          {title}, by
        </label>
        <select
          id={id}
          className={inputClass}
          value={chosen}
          onChange={({ target }) => {
            setChosen(target.value);
            set(target.value, undefined, names);
          }}
        >
          {members.map(({ name, schema }) => (
            <option key={name} value={name}>
              {labelOf(name, schema)}
            </option>
          ))}
        </select>
      </div>
      {member === undefined ? undefined : (
        <FieldOf
          key={member.name}
          name={member.name}
          schema={member.schema}
          isRequired
          value={value[member.name]}
          change={(next) => set(member.name, next, names)}
          pointer={`${pointer}/${member.name}`}
        />
      )}
    </>
  );
}

function FieldOf(props: FieldProps) {
  const kind = fieldKind(useForm().schemas, props.schema);
  switch (kind.as) {
    case "choice":
      return <Choice {...props} options={kind.options} />;
    case "several":
      return <Several {...props} options={kind.options} />;
    case "yes-no":
      return <YesNo {...props} />;
    case "number":
      return <Scalar {...props} numeric />;
    case "text":
      return <Scalar {...props} />;
    case "lines":
      return <Lines {...props} />;
    case "pairs":
      return <Pairs {...props} />;
    case "object":
      return <Nested {...props} />;
    case "objects":
      return <Objects {...props} shapes={kind.shapes} />;
    default:
      return <AsJson {...props} />;
  }
}

/** An object that may be left out has its fields only when somebody wants it: fields of something unsaid must not be needed. */
function Nested(props: FieldProps) {
  const { name, schema, value, change, isRequired, pointer } = props;
  const error = useForm().errors.get(pointer);
  const label = labelOf(name, schema);
  if (!isRequired && value === undefined)
    return (
      <div className="mb-3">
        <p className="mb-1 text-sm font-medium">{label} (optional)</p>
        <Button icon="plus" onClick={() => change({})}>
          Say more about {label.toLowerCase()}
        </Button>
        <p className={`mt-1 text-xs ${error === undefined ? "text-soft" : "text-bad"}`}>
          {error ?? schema.description}
        </p>
      </div>
    );
  return (
    <fieldset className="mb-3 min-w-0 rounded-md border border-line p-3 sm:col-span-2">
      <legend className="px-1 text-sm font-medium">{label}</legend>
      <p className={`mb-2 text-xs ${error === undefined ? "text-soft" : "text-bad"}`}>{error ?? schema.description}</p>
      <ObjectFields schema={schema} value={(value ?? {}) as Values} change={change} pointer={pointer} />
      {isRequired ? undefined : (
        <Button icon="trash" onClick={() => change(undefined)}>
          Leave out {label.toLowerCase()}
        </Button>
      )}
    </fieldset>
  );
}

/** Objects one below the other, each with fields of its own. */
function Objects({ shapes, ...props }: FieldProps & { shapes: readonly JsonSchema[] }) {
  const { name, schema, value, change, isRequired, pointer } = props;
  const error = useForm().errors.get(pointer);
  const label = labelOf(name, schema);
  const entries = Array.isArray(value) ? (value as readonly Values[]) : [];
  const put = (next: readonly Values[]) => change(next.length === 0 && !isRequired ? undefined : next);
  return (
    <fieldset className="mb-3 min-w-0 sm:col-span-2">
      <legend className="text-sm font-medium">
        {label}
        {isRequired ? "" : " (optional)"}
      </legend>
      <p className={`mb-2 text-xs ${error === undefined ? "text-soft" : "text-bad"}`}>{error ?? schema.description}</p>
      {entries.map((entry, index) => (
        <fieldset key={index} className="mb-2 min-w-0 rounded-md border border-line p-3">
          <legend className="px-1 text-xs text-soft">
            {oneOf(label)} {index + 1}
          </legend>
          <Alternatives
            shapes={shapes}
            value={entry}
            change={(next) => put(entries.map((one, at) => (at === index ? next : one)))}
            pointer={`${pointer}/${index}`}
          />
          <Button icon="trash" onClick={() => put(entries.filter((_, at) => at !== index))}>
            Remove {oneOf(label)} {index + 1}
          </Button>
        </fieldset>
      ))}
      <Button icon="plus" onClick={() => put([...entries, {}])}>
        Add a {oneOf(label)}
      </Button>
    </fieldset>
  );
}

/** An object of one shape, or of one of several, which is chosen first. */
function Alternatives({
  shapes,
  value,
  change,
  pointer,
}: Omit<ObjectProps, "schema"> & { shapes: readonly JsonSchema[] }) {
  const id = useId();
  const [at, setAt] = useState(() =>
    Math.max(
      0,
      shapes.findIndex((shape) => fits(shape, value)),
    ),
  );
  const shape = shapes[at] ?? {};
  if (shapes.length === 1) return <ObjectFields schema={shape} value={value} change={change} pointer={pointer} />;
  return (
    <>
      <div className="mb-3">
        <label htmlFor={id} className="mb-1 block text-sm font-medium">
          Which
        </label>
        <select
          id={id}
          className={inputClass}
          value={at}
          onChange={({ target }) => {
            setAt(Number(target.value));
            change({});
          }}
        >
          {shapes.map((one, index) => (
            <option key={index} value={index}>
              {one.title ?? Object.keys(one.properties ?? {})[0]}
            </option>
          ))}
        </select>
      </div>
      <ObjectFields key={at} schema={shape} value={value} change={change} pointer={pointer} />
    </>
  );
}

/** Whether everything that a value says can be said in this shape. */
function fits({ properties = {} }: JsonSchema, value: Values): boolean {
  return Object.keys(value).length > 0 && Object.keys(value).every((name) => name in properties);
}
