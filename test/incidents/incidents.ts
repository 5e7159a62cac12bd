import { adapterIsUninstalled } from "./adapter-is-uninstalled.ts";
import {
  autoscalerInputHasAHole,
  autoscalerInputIsMissing,
  autoscalerInputIsZero,
} from "./autoscaler-input-is-missing.ts";
import type { Incident } from "./bench.ts";
import { credentialBelongsToAnotherAccount } from "./credential-belongs-to-another-account.ts";
import { desiredSetArrivesEmpty } from "./desired-set-arrives-empty.ts";
import { desiredSetLoses99Percent } from "./desired-set-loses-99-percent.ts";
import { filterEvaluatesToEmpty } from "./filter-evaluates-to-empty.ts";
import { listEndsAfterHalfAPage } from "./list-ends-after-half-a-page.ts";
import { oldPlanWakesUp } from "./old-plan-wakes-up.ts";
import { pageTokenRepeats } from "./page-token-repeats.ts";
import { providerAnswers404, providerShowsNothing } from "./provider-answers-404-for-everything.ts";
import { providerHidesEverythingForAnHour } from "./provider-hides-everything-for-an-hour.ts";
import { providerSwallowsWhatItIsGiven } from "./provider-swallows-what-it-is-given.ts";
import { setOfNineLosesEight } from "./set-of-nine-loses-eight.ts";
import { yesterdaysBackupIsRestored } from "./yesterdays-backup-is-restored.ts";

/** Every script. A kind runs those that can happen to it. */
export const incidents: readonly Incident[] = [
  desiredSetArrivesEmpty,
  desiredSetLoses99Percent,
  setOfNineLosesEight,
  listEndsAfterHalfAPage,
  pageTokenRepeats,
  filterEvaluatesToEmpty,
  oldPlanWakesUp,
  providerAnswers404,
  providerShowsNothing,
  providerHidesEverythingForAnHour,
  providerSwallowsWhatItIsGiven,
  credentialBelongsToAnotherAccount,
  autoscalerInputIsMissing,
  autoscalerInputIsZero,
  autoscalerInputHasAHole,
  adapterIsUninstalled,
  yesterdaysBackupIsRestored,
];
