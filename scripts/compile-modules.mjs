// Loads what every role loads and ends: Node then keeps it compiled, and the roles of a first start need not each do it themselves.
for (const role of ["supervisor", "api-role", "scheduler-role", "worker-role", "demo-role"])
  await import(new URL(`../src/compose/${role}.ts`, import.meta.url).href);
