/** Attacks that nobody notices: whom this harness trusts, and why (docs/reference/witnesses.md). */

import type { PairName } from './pairs.ts';

const ran =
  'the API’s observer, that a successor’s pod runs: its server served nobody for half a minute, and no verdict rests on it';

const which =
  'the API’s observer, which of two pods is there: one replaced the other in the last half minute';

const answered = 'the audit, what the server answered: nobody else asked it';

/** By the beginning of their names, each with whose lie it is. */
export const trusted: Readonly<Record<string, string>> = {
  'pod-running ': ran,
  'pod-scheduled+pod-running+pod-ready+pod-gone gone in part': ran,
  'pod-created+pod-gone contradicted on untouched': which,
  'pod-created+pod-terminating+pod-gone contradicted on untouched': which,
  'certificate evidence altered':
    'the fault’s certificates, in which words a probe was answered: no verdict rests on them',
  'phase swapped on group':
    'the runner, when each phase of a group began: no copy is made whose moment contradicts it',
  'member-view gone in part on group':
    'the members’ observer, that a view changed: it records changes only, so one less looks like none',
  'run database.trxCommit contradicted':
    'the scenario, how MySQL flushes its log: no record keeps the variables of the server',
  'image evidence.filesystemUuid gone':
    'the audit, which file system it opened: the record of copies names it as well',
  'image evidence.serverUuid gone':
    'the audit, which server wrote the copy: its binary log names the server as well',
  'image evidence.balances.1 altered': answered,
  'image evidence.binlog.executed altered': answered,
  'image evidence.binlog.purged altered': answered,
  'image evidence.indexCounts.0.valuesAgree altered': answered,
  'image evidence.tables.0.checksum altered': answered,
  'image evidence.tables.0.checksumAfterRestart altered': answered,
};

export const isTrusted = (attack: string): boolean =>
  Object.keys(trusted).some((name) => attack.startsWith(name));

/** By two witnesses of a fact: the lies of both together that nobody notices. */
export const trustedPairs: Readonly<Partial<Record<PairName, readonly string[]>>> = {
  'written/log+devices': ['counted twice'],
  'setting/scenario+setup': ['kubernetes.version', 'timers.grace', 'timers.toleration'].map(
    (name) => `state another ${name}`,
  ),
  'setting/scenario+driver': ['volume.filesystem', 'disk.mode', 'disk.flushes'].map(
    (name) => `state another ${name}`,
  ),
};
