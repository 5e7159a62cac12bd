/**
 * While the simulation steps, real time and real randomness are out of reach: code that asks for them would run
 * differently on replay, so it fails at once instead. Each global is wrapped once per thread; a flag arms them all.
 */
let armed = false;
let installed = false;

export function armTraps(): void {
  install();
  armed = true;
}

export function disarmTraps(): void {
  armed = false;
}

function install(): void {
  if (installed) return;
  installed = true;
  for (const name of ["setTimeout", "setInterval", "setImmediate", "fetch"] as const) trap(globalThis, name);
  trap(Math, "random");
  trap(performance, "now");
  trap(crypto, "randomUUID");
  trap(crypto, "getRandomValues");
  trap(process, "hrtime");
  trap(AbortSignal, "timeout");
  trapDate();
}

function trap<Name extends string>(holder: object, name: Name): void {
  const original: unknown = Reflect.get(holder, name);
  if (typeof original !== "function") return;
  const wrapped = function (this: unknown, ...args: readonly unknown[]): unknown {
    refuse(name);
    return Reflect.apply(original, this, args);
  };
  Object.defineProperty(holder, name, { value: Object.assign(wrapped, original), configurable: true, writable: true });
}

function trapDate(): void {
  const Original = Date;
  class TrappedDate extends Original {
    constructor(...args: readonly unknown[]) {
      if (args.length === 0) refuse("new Date()");
      super(...(args as [number]));
    }

    static override now(): number {
      refuse("Date.now");
      return Original.now();
    }
  }
  globalThis.Date = TrappedDate as DateConstructor;
}

function refuse(name: string): void {
  if (!armed) return;
  throw new Error(`${name} was used inside the simulation: only the injected clock, random and ids replay`);
}
