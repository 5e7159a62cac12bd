import type { OperationScenario } from "../operations.ts";

/** A kind of the tests that has everything in it that a pipeline can do. */
export const boxScenarios: readonly OperationScenario[] = [
  {
    name: "box.create",
    prepare: (lab) => lab.declare("web", { a: "1", b: "2" }),
    start: async (lab) => (await lab.start("box.create", "web")).id,
  },
  {
    name: "box.create, cancelled",
    prepare: async (lab) => {
      lab.outside.ready = false;
      await lab.declare("web", { a: "1" });
    },
    start: async (lab) => (await lab.start("box.create", "web")).id,
    meanwhile: async (lab, id) => void (await lab.steer(id, { verb: "cancel" })),
  },
  {
    name: "box.create, deleted meanwhile",
    prepare: async (lab) => {
      lab.outside.ready = false;
      await lab.declare("web", { a: "1" });
    },
    start: async (lab) => (await lab.start("box.create", "web")).id,
    meanwhile: (lab) => lab.remove("web"),
  },
  {
    name: "box.delete",
    prepare: async (lab) => {
      await lab.declare("web", { a: "1", b: "2" });
      await lab.finish((await lab.start("box.create", "web")).id);
      await lab.remove("web");
    },
    start: async (lab) => (await lab.start("box.delete", "web")).id,
  },
  {
    name: "box.count",
    prepare: (lab) => lab.declare("web", {}),
    start: async (lab) => (await lab.start("box.count", "web")).id,
  },
];
