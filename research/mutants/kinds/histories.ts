/** Damage of the history: what the clients were told, or what the audit brought home. */
import { mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JournaledOp } from '../../../lib/judge/index.ts';
import { openHistory, historyDirectory, Segment, suffixes } from '../../../lib/history/index.ts';
import type { Base } from '../bases.ts';
import type { Mutant, Planted } from '../mutant.ts';
import { lastOf, middleAppend } from '../pick.ts';

const proof = { by: 'history' } as const;

/** The journal says another outcome of one operation. */
function edited({ ops }: Base, harmed: JournaledOp, outcome: JournaledOp['outcome']): Planted {
  const told = ops.map((op) => (op === harmed ? { ...op, outcome } : op));
  return { ops: told, proof, images: [] };
}

/** The base's journal written as a run's writer does it, cut within a line, and read again. */
function cutShort({ records }: Base): Planted {
  const folder = mkdtempSync(join(tmpdir(), 'fd-journal-'));
  try {
    const directory = historyDirectory(folder);
    const segment = new Segment({ directory, name: 'outside', client: 'outside' });
    for (const record of records) segment.append(record);
    segment.flush();
    const tail = join(directory, `outside${suffixes.tail}`);
    truncateSync(tail, Math.floor(readFileSync(tail).length * 0.6));
    const left = [...openHistory(folder).ops()];
    return { ops: left, proof, images: [] };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The audit's copies come back with less than it read. */
const brought = (alter: NonNullable<Planted['alter']>): Promise<Planted> =>
  Promise.resolve({ proof, images: [], alter });

export const historyKinds: readonly Mutant[] = [
  {
    name: 'journal-refused',
    shows: 'the journal says of a commit that the server refused it',
    base: 'written',
    damageClass: { name: 'refused and present', all: ['LEDGER_FAILED_PRESENT'] },
    plant: ({ base }) => Promise.resolve(edited(base, middleAppend(base, 0), 'fail')),
  },
  {
    name: 'journal-invented',
    shows: 'the journal tells of one acknowledged commit more than there were',
    base: 'written',
    damageClass: { name: 'lost commits', all: ['LEDGER_LOST'] },
    plant({ base }) {
      const last = lastOf(base, 0);
      const ops = [...base.ops, { ...last, seq: last.seq + 50 }];
      return Promise.resolve({ ops, proof, images: [] });
    },
  },
  {
    name: 'journal-cut',
    shows: "the writer's file ends in the middle: rows are there that it does not tell of",
    base: 'written',
    damageClass: { name: 'evidence missing', all: ['LEDGER_UNJOURNALED'] },
    plant: ({ base }) => Promise.resolve(cutShort(base)),
  },
  {
    name: 'rows-cut',
    shows: 'the audit read all rows, and the history has only the first half of them',
    base: 'written',
    damageClass: { name: 'evidence missing', all: ['AUDIT_INCOMPLETE'] },
    plant: () =>
      brought((copies) =>
        copies.map((copy) => ({ ...copy, rows: copy.rows.slice(0, copy.rows.length / 2) })),
      ),
  },
  {
    name: 'evidence-cut',
    shows: 'the record of the audit has lost what fsck said',
    base: 'written',
    damageClass: { name: 'evidence missing', all: ['AUDIT_INCOMPLETE'] },
    plant: () =>
      brought((copies) =>
        copies.map((copy) => {
          const { fsck: _gone, ...evidence } = copy.evidence;
          return { ...copy, evidence };
        }),
      ),
  },
];
