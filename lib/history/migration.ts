/**
 * What earlier versions wrote, read as if today's had: the one place that knows of versions. It gives
 * what came later the meaning that its absence had, and tells what a history of its version may be
 * asked for. Evidence is never added: a record stands as it was written.
 */
import { EvidenceError, kubernetesBeforeNamed } from '../core/index.ts';
import {
  parseScenario,
  type Scenario,
  goesWith,
  settableNames,
  combined,
  scenarioToday,
  type ScenarioInput,
  fields,
} from '../scenario/index.ts';
import type { HistoryVersion, RunRecord, TimedRecord } from './records.ts';
import { sealed } from './seals.ts';
import type { ObservationRecord } from './observations.ts';

/** The version from which on a history tells it. Of an earlier one it is not asked. */
const since = {
  /** Journals and observers end with their counts; certificates are asked again until the heal. */
  ends: 2,
  /** Each client says what it is to do, and beats. */
  plans: 3,
  /** Observers of logs beat too, those of a real control plane are there, events have their type. */
  allSources: 3,
  /** The volume and each of its copies say which they are. */
  identities: 3,
  /** Clients write documents and change the schema; audits read these, the binary log and a login. */
  wholeWorkload: 3,
  /** The run lists a hash of each file that is no segment. */
  hashes: 4,
} as const satisfies Readonly<Record<string, HistoryVersion>>;

/** What a history of its version tells; where something of it is missing, evidence is. */
export type Tells = Readonly<Record<keyof typeof since, boolean>>;

/** Throws EvidenceError `HISTORY_TOO_NEW`. */
export function tellsOf({ schemaVersion }: Pick<RunRecord, 'schemaVersion'>): Tells {
  if (!knownVersions.includes(schemaVersion)) throw tooNew(schemaVersion);
  const { ends, plans, allSources, identities, wholeWorkload, hashes } = since;
  return {
    ends: schemaVersion >= ends,
    plans: schemaVersion >= plans,
    allSources: schemaVersion >= allSources,
    identities: schemaVersion >= identities,
    wholeWorkload: schemaVersion >= wholeWorkload,
    hashes: schemaVersion >= hashes,
  };
}

const knownVersions: readonly unknown[] = [1, 2, 3, 4] satisfies readonly HistoryVersion[];

const tooNew = (version: unknown): EvidenceError =>
  new EvidenceError(
    'HISTORY_TOO_NEW',
    `the history has version ${JSON.stringify(version)}; this program reads ${knownVersions.join(', ')}`,
    { hint: 'use the forcedetach that recorded it, or a newer one' },
  );

/**
 * A scenario as it was recorded: fields that came later have the value that was then the only one.
 * Throws as `parseScenario` does.
 */
export const recordedScenario = (recorded: object): Scenario =>
  parseScenario(
    combined(
      { kubernetes: { version: kubernetesBeforeNamed } },
      scenarioToday({ ...recorded }),
    ) as unknown as ScenarioInput,
  );

/**
 * A record in today's form: before version 4 its scenario was flat, and its files had sizes alone. Throws
 * EvidenceError `HISTORY_DAMAGED`.
 */
export const migrateRecord = <Any extends TimedRecord>(record: Any): Any =>
  record.type === 'run' || record.type === 'case'
    ? { ...record, scenario: nestedScenario(record.scenario) }
    : record.type === 'segments'
      ? { ...record, ...sealed(record) }
      : record;

function nestedScenario(recorded: object): object {
  const scenario = scenarioToday({ ...recorded });
  if (isObject(scenario['database'])) return scenario;
  throw new EvidenceError('HISTORY_DAMAGED', 'the scenario in the history has no database');
}

/** A run's command without the flags that did nothing in it: earlier versions took them, today's refuses them. */
export function replayOf(recorded: string, scenario: Scenario): string {
  const useless = settableNames.filter((name) => !goesWith(name, scenario));
  return useless.reduce((command, name) => {
    const [flag = name, value] = fields[name].flags?.split(' ') ?? [];
    return command.replaceAll(
      RegExp(` ${flag}${value ? String.raw`[ =]\S+` : '(?= |$)'}`, 'g'),
      '',
    );
  }, recorded);
}

/** Events once had no type: of these it is known. */
const knownWarnings = new Set([
  'FailedAttachVolume',
  'FailedMount',
  'FailedMapVolume',
  'Unhealthy',
  'BackOff',
]);

export const isWarning = ({ type, reason }: ObservationRecord['data']): boolean =>
  type === undefined ? knownWarnings.has(String(reason)) : type === 'Warning';

type Keys = Readonly<Record<string, unknown>>;

/** Keys that came later, each with what its absence means. */
const verdictKeys: Keys = {
  notices: [],
  refusedMounts: [],
  licenceGaps: [],
  laterLicences: [],
  missing: { unreadableBeforeHeal: null, lost: null, afterHeal: null },
  serving: null,
};
const outcomeKeys: Keys = { missing: null, served: null, pressure: null };
const cellKeys: Keys = { expectedServing: 'open' };
const medianKeys: Keys = { unreadableBeforeHeal: null, gone: null, missingAfterHeal: null };

const isObject = (value: unknown): value is Keys =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const completed = (value: unknown, keys: Keys): unknown =>
  isObject(value) ? { ...keys, ...value } : value;

const within = (value: unknown, key: string, change: (inner: unknown) => unknown): unknown =>
  isObject(value) && key in value ? { ...value, [key]: change(value[key]) } : value;

/** Brings a verdict.json up to date. What is no such thing is left for the schema to refuse. */
export const migrateVerdict = (value: unknown): unknown =>
  within(completed(value, verdictKeys), 'scenario', (scenario) =>
    isObject(scenario) ? scenarioToday(scenario) : scenario,
  );

/** Brings a batch.json up to date. */
export const migrateBatch = (value: unknown): unknown =>
  within(value, 'cells', (cells) => (Array.isArray(cells) ? cells.map(migrateCell) : cells));

const migrateCell = (cell: unknown): unknown =>
  within(completed(cell, cellKeys), 'median', (median) => completed(median, medianKeys));

/** Brings a line of results.jsonl up to date: a first line once told by its name alone that a model played. */
export const migrateResult = (line: unknown): unknown => {
  const told = within(line, 'outcome', (outcome) => completed(outcome, outcomeKeys));
  return isObject(told) && told['type'] === 'batch'
    ? { isModel: told['backend'] === 'sim', ...told }
    : told;
};
