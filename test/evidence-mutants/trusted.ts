/** Attacks that nobody notices: whom this harness trusts, and why (docs/reference/witnesses.md). */

const ran =
  'the API’s observer, that a successor’s pod runs: its server served nobody for half a minute, and no verdict rests on it';

const which =
  'the API’s observer, which of two pods is there: one replaced the other in the last half minute';

/** By the beginning of their names, each with whose lie it is. */
export const trusted: Readonly<Record<string, string>> = {
  'pod-running ': ran,
  'pod-scheduled+pod-running+pod-ready+pod-gone gone in part': ran,
  'pod-created+pod-gone contradicted on untouched': which,
  'pod-created+pod-terminating+pod-gone contradicted on untouched': which,
};

export const isTrusted = (attack: string): boolean =>
  Object.keys(trusted).some((name) => attack.startsWith(name));
