import type { Kind } from "../../src/kernel/kind.ts";
import type { Loop } from "../../src/kernel/loop.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** The kind, with virtual time standing still while one of its calls is out. */
export function trackedKind(kind: Kind, time: VirtualTime): Kind {
  const { loop } = kind;
  if (loop === undefined) return kind;
  const tracked: Loop<unknown, object> = {
    ...loop,
    desired: (ctx, subject) => time.flight(Promise.resolve(loop.desired(ctx, subject))),
    observe: (ctx, subject) => time.flight(loop.observe(ctx, subject)),
    read: (ctx, subject, item) => time.flight(loop.read(ctx, subject, item)),
    create: (ctx, subject, wanted) => time.flight(loop.create(ctx, subject, wanted)),
    update: (ctx, subject, wanted, seen) => time.flight(loop.update(ctx, subject, wanted, seen)),
    remove: (ctx, subject, seen) => time.flight(loop.remove(ctx, subject, seen)),
  };
  const apply = loop.apply?.bind(loop);
  const measure = loop.measure?.bind(loop);
  const more: Partial<Loop<unknown, object>> = {
    ...(apply === undefined ? {} : { apply: (ctx, subject, changes) => time.flight(apply(ctx, subject, changes)) }),
    ...(measure === undefined ? {} : { measure: (ctx, subject) => time.flight(measure(ctx, subject)) }),
  };
  return { ...kind, loop: { ...tracked, ...more } };
}
