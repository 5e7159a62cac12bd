/** A number with its noun, as people say it: 1 difference, 2 differences. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
