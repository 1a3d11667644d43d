/**
 * A caller's own parts: a fault, a remedy, a database, checkers. They are values of the same types as ours,
 * and each names which of ours it is judged or played as. The history keeps
 * their names.
 */
import { type Capability, UsageError } from '../core/index.ts';
import { allCheckers, type Checker, stockDatabaseName } from '../judge/index.ts';
import type { Database } from './ports/database.ts';
import {
  faultKinds,
  type FaultKind,
  remedyKinds,
  type RemedyKind,
  type WrittenGroup,
  type WrittenWith,
} from '../scenario/index.ts';
import type { Fault, Remedy } from './faults/fault.ts';
import type { CustomNames } from '../history/index.ts';

/** What it needs of the cluster beyond what every one has: it gets no more. Default: nothing. */
interface Needs<C extends Capability> {
  readonly needs?: readonly C[];
}

export interface CustomFault<C extends Capability = never> extends Fault<C>, Needs<C> {
  /**
   * The kind whose effects on Kubernetes and on clients it has: whether the kubelet falls silent, the
   * node loses power, clients are cut off. Evidence is held against these. `none` claims no effect.
   */
  readonly like: FaultKind;
}

export interface CustomRemedy<C extends Capability = never> extends Remedy<C>, Needs<C> {
  /** The kind whose effects on the pod, its node and its attachment it has. */
  readonly like: RemedyKind;
  /** When it acts, and when it is taken back. Default: as of ours. */
  readonly at?: WrittenWith<'remedy', 'out-of-service'>['at'];
  readonly untaintAt?: WrittenWith<'remedy', 'out-of-service'>['untaintAt'];
}

/** Made by `customDatabase`, or whole. Only the model runs it. */
export interface CustomDatabase extends Database {
  /** How its commits reach the disk: as the built-in database's, set so. Default: stock. */
  readonly like?: WrittenGroup<'database'>;
}

export interface Custom {
  readonly fault?: CustomFault<Capability>;
  readonly remedy?: CustomRemedy<Capability>;
  /** They judge each image after our own. */
  readonly checkers?: readonly Checker[];
}

/** Their names in a history. Undefined where there is nothing of that kind. Throws UsageError `CUSTOM_NAME`. */
export function namesOf({
  database,
  ...custom
}: Custom & { readonly database: Database }): CustomNames | undefined {
  const { fault, remedy, checkers = [] } = custom;
  const isOwn = database.real === undefined;
  if (!isOwn && Object.values(custom).flat().length === 0) return undefined;
  const names = checkers.map(({ name }) => name);
  if (fault !== undefined) mustBeFree('fault', fault.name, faultKinds);
  if (remedy !== undefined) mustBeFree('remedy', remedy.name, remedyKinds);
  if (isOwn) mustBeFree('database', database.name, [stockDatabaseName]);
  const all = [...allCheckers(database), ...checkers].map(({ name }) => name);
  all.forEach((name, index) => mustBeFree('checker', name, all.slice(0, index)));
  return {
    ...(fault === undefined
      ? {}
      : { fault: { name: fault.name, askedAgain: fault.holds !== undefined } }),
    ...(remedy === undefined ? {} : { remedy: { name: remedy.name } }),
    ...(isOwn ? { database: { name: database.name } } : {}),
    ...(names.length === 0 ? {} : { checkers: names }),
  };
}

/** Records are found by name: with one name for two things, the one would prove the other. */
function mustBeFree(what: string, name: string, taken: readonly string[]): void {
  const isName = /^[a-z0-9][a-z0-9-]{0,59}$/.test(name);
  if (isName && !taken.includes(name)) return;
  const why = isName ? 'it is taken' : 'give lower-case letters, digits and dashes, at most 60';
  const refusal = `\`${name}\` is not a valid name for your own ${what}: ${why}`;
  throw new UsageError('CUSTOM_NAME', refusal, {
    hint: 'choose another name: records, findings and pages use it',
  });
}
