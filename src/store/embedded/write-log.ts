/** Where the embedded server reports what happens to it: an event name and its fields. */
export type WriteLog = (event: string, fields?: Record<string, unknown>) => void;
