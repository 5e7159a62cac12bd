import { inputClass } from "./field.tsx";

/** A filter with a few values, one of which is none. */
export function Chosen({
  label,
  value,
  set,
  any,
  options,
  rare = false,
}: {
  /** Left out where there is little room. */
  rare?: boolean;
  label: string;
  value: string | undefined;
  set: (value: string | undefined) => void;
  any: string;
  options: readonly (readonly [string, string])[];
}) {
  return (
    <select
      aria-label={label}
      value={value ?? ""}
      onChange={(event) => set(event.target.value === "" ? undefined : event.target.value)}
      className={`${inputClass} !w-auto max-w-44 flex-1 basis-32 sm:flex-none ${rare ? "max-sm:hidden" : ""} ${value === undefined ? "" : "!border-accent !text-accent"}`}
    >
      <option value="">{any}</option>
      {options.map(([key, words]) => (
        <option key={key} value={key}>
          {words}
        </option>
      ))}
    </select>
  );
}
