/** Order of code units: the same in every process, whatever the locale of the server or the machine. */
export function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
