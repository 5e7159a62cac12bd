export { epochMsOf, isoTime } from "../kernel/iso-time.ts";
