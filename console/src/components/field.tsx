import type { ComponentProps, ReactNode } from "react";
import { useId } from "react";

export const inputClass =
  "h-8 w-full min-w-0 rounded-md border border-strong-line bg-panel px-2.5 text-sm text-ink placeholder:text-soft disabled:opacity-60";

export function Field({
  label,
  hint,
  error,
  children,
}: {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  children: (id: string, described: string | undefined) => ReactNode;
}) {
  const id = useId();
  const words = error ?? hint;
  return (
    <div className="mb-3">
      <label htmlFor={id} className="mb-1 block text-sm font-medium">
        {label}
      </label>
      {children(id, words === undefined ? undefined : `${id}-hint`)}
      {words === undefined ? undefined : (
        <p id={`${id}-hint`} className={`mt-1 text-xs ${error === undefined ? "text-soft" : "text-bad"}`}>
          {words}
        </p>
      )}
    </div>
  );
}

export function TextField({
  label,
  hint,
  error,
  ...rest
}: { label: string; hint?: ReactNode; error?: string | undefined } & ComponentProps<"input">) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(id, described) => (
        <input
          {...rest}
          id={id}
          aria-describedby={described}
          aria-invalid={error !== undefined}
          className={inputClass}
        />
      )}
    </Field>
  );
}

export function SelectField({
  label,
  hint,
  children,
  ...rest
}: { label: string; hint?: ReactNode } & ComponentProps<"select">) {
  return (
    <Field label={label} hint={hint}>
      {(id, described) => (
        <select {...rest} id={id} aria-describedby={described} className={inputClass}>
          {children}
        </select>
      )}
    </Field>
  );
}
