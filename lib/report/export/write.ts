/** `<FOLDER>/export/`: the run's ledger and bank as Jepsen histories, in EDN and in JSON. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '../../run/index.ts';
import { EvidenceError, OutputFile, writeOutput } from '../../core/index.ts';
import { journalGaps, tellStory } from '../../judge/index.ts';
import type { History } from '../../history/index.ts';
import { bank, listAppend, type JepsenOp, type MicroOp, type OpValue } from './jepsen.ts';

const workloads = { ledger: listAppend, bank } as const;

/** Beside the histories where they are not whole: why. */
const markFile = 'PARTIAL.txt';

export interface ExportOptions {
  /** The run's. */
  readonly database: Database;
  /** Writes a history that is not whole all the same, and marks it. Default false. */
  readonly partial?: boolean;
}

/**
 * The files' paths. The same history gives the same bytes. Throws EvidenceError `HISTORY_CUT` where
 * it is not whole, unless `partial`: a checker would take what is missing for what never was.
 */
export function exportHistory(
  folder: string,
  history: History,
  { database, partial = false }: ExportOptions,
): string[] {
  const gaps = gapsOf(history, database);
  if (gaps.length > 0 && !partial) {
    throw new EvidenceError('HISTORY_CUT', `the history in ${folder} is incomplete: ${gaps[0]}`, {
      hint: '--partial exports what is there, marked as partial',
      again: ['--partial'],
    });
  }
  const into = join(folder, 'export');
  mkdirSync(into, { recursive: true });
  const mark = join(into, markFile);
  if (gaps.length === 0) rmSync(mark, { force: true });
  else writeOutput(mark, `${gaps.join('\n')}\n`);
  const written = Object.entries(workloads).flatMap(([name, ops]) => {
    using edn = new OutputFile(join(into, `${name}.edn`));
    using json = new OutputFile(join(into, `${name}.json`));
    json.add('[');
    for (const op of ops(history)) {
      edn.add(`${ednOf(op)}\n`);
      json.add(lineOf(op));
    }
    json.add('\n]\n');
    edn.commit();
    json.commit();
    return [edn.path, json.path];
  });
  return gaps.length === 0 ? written : [...written, mark];
}

/** Where it was cut short, or where a journal has not all that its writer wrote. */
function gapsOf(history: History, database: Database): string[] {
  const cuts = history.cuts.map(({ segment, within }) => `segment ${segment} is cut: ${within}`);
  const story = tellStory([...history.smallRecords()], database);
  return [...cuts, ...journalGaps(story, history).map(({ reason }) => reason)];
}

const lineOf = (op: JepsenOp): string => `${op.index === 0 ? '' : ','}\n${jsonOf(op)}`;

/** Jepsen's operations as text: EDN, a map a line, as Jepsen itself writes; or a JSON array. */
export const ednOf = ({ index, time, type, process, f, value }: JepsenOp): string =>
  `{:index ${index}, :time ${time}, :type :${type}, :process ${process}, ` +
  `:f :${f}, :value ${ednValue(value)}}`;

function ednValue(value: OpValue): string {
  if (value === null) return 'nil';
  if (isMap(value)) return `{${[...value].map(([id, balance]) => `${id} ${balance}`).join(', ')}}`;
  if ('from' in value) return `{:from ${value.from}, :to ${value.to}, :amount ${value.amount}}`;
  return `[${value.map(ednMicroOp).join(' ')}]`;
}

/** A session's key has no character that EDN and JSON quote differently. */
function ednMicroOp([f, key, value]: MicroOp): string {
  const list = typeof value === 'number' || value === null ? value : `[${value.join(' ')}]`;
  return `[:${f} ${JSON.stringify(key)} ${list ?? 'nil'}]`;
}

export const jsonOf = ({ value, ...op }: JepsenOp): string =>
  JSON.stringify({ ...op, value: isMap(value) ? Object.fromEntries(value) : value });

const isMap = (value: OpValue): value is ReadonlyMap<number, number> => value instanceof Map;
