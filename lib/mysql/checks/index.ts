/** MySQL's own checks of an audit's evidence, and which parts of it must be there. */
import type { OwnPart } from '../../judge/index.ts';
import { workloadTables } from '../../history/index.ts';
import { ownEvidence, type TableCheck } from '../evidence.ts';
import { binlog } from './binlog.ts';
import { innochecksum } from './innochecksum.ts';
import { tableChecks } from './table-checks.ts';

export const ownChecks: OwnPart['checks'] = {
  logs: [binlog],
  structures: [tableChecks, innochecksum],
};

export const ownAnswers: OwnPart['answers'] = (evidence) => {
  const { innochecksum = [], tables = [] } = ownEvidence(evidence);
  return [
    ...innochecksum
      .filter(({ exitCode }) => exitCode !== 0)
      .map(({ command, output }) => ({ what: command, answer: output })),
    ...tables.flatMap(({ table, check }) =>
      check === undefined ? [] : [{ what: `CHECK TABLE of ${table}`, answer: check }],
    ),
  ];
};

/** The workload before it was whole. */
const firstTables = ['ledger', 'account'];

export const ownGaps: OwnPart['gaps'] = (evidence, { wholeWorkload, settings, before }) => {
  const { innochecksum = [], tables = [], binlog } = ownEvidence(evidence);
  const ofTables = (wholeWorkload ? workloadTables : firstTables).flatMap((table) => {
    const found = tables.find((each) => isTable(each, table));
    return [
      ...(found?.checksum === undefined ? [`no CHECKSUM TABLE of ${table}`] : []),
      ...(found?.check === undefined ? [`no CHECK TABLE of ${table}`] : []),
    ];
  });
  const gone = ((before && ownEvidence(before).tables) ?? [])
    .filter(({ check }) => check !== undefined)
    .filter(({ table }) => tables.every((each) => each.table !== table))
    .map(({ table }) => `no ${table}, which the image before has`);
  return {
    pages: innochecksum.length === 0 ? ['no innochecksum'] : [],
    logs: binlog === undefined && settings.binlog === 'on' ? ['no binary log'] : [],
    tables: [...ofTables, ...gone],
  };
};

/** On a real server with the database's name before it. */
const isTable = ({ table }: TableCheck, name: string): boolean =>
  table === name || table.endsWith(`.${name}`);
