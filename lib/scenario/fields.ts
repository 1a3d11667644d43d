/** Every field of a scenario, from its owners, in the order of a record. */
import { z } from 'zod';
import { forceDetachFields, kubernetesFields, timerFields } from './fields/cluster.ts';
import { databaseFields, databaseKindFields } from './fields/database.ts';
import { faultFields, placedFaultFields } from './fields/fault.ts';
import { field, time, toggle } from './fields/field.ts';
import { secondsWithin } from './fields/swept.ts';
import { actingRemedies } from './remedies/index.ts';
import { remedyFields } from './fields/remedy.ts';
import { diskFields, volumeFields, writeLogFields } from './fields/storage.ts';
import { loadFields, podFields, selfFenceFields, workloadFields } from './fields/workload.ts';

export const safetyLevels = ['safe', 'exposed', 'lost', 'corrupt'] as const;
export const verdictWords = [...safetyLevels, 'inconclusive'] as const;

/** Independent fault events by their verdict; a word that is not there was never seen. */
const countsSchema = z.partialRecord(z.enum(safetyLevels), z.number().int().positive());
export type Counts = Readonly<z.output<typeof countsSchema>>;

/** Whether somebody is expected to serve after the heal; `open` can't fail. */
export const servingWords = ['yes', 'no', 'open'] as const;

/** Names become names of folders and of objects. */
const nameLength = 60;
const questionLength = 2000;

const aboutFields = {
  name: field(
    'name',
    z
      .string()
      .regex(/^[a-z0-9-]+$/)
      .max(nameLength),
    {
      about: 'the experiment’s name, kebab-case',
    },
  ),
  question: field('question', z.string().min(1).max(questionLength), {
    about: 'the question in one sentence, for the report',
  }),
};

const { recreations, link, powerLoss } = placedFaultFields;

/** More than one move of the volume. */
const courseFields = {
  moveBack: toggle('remedy.moveBack', false, {
    about:
      'after the hand-over, drain the successor so that the healed victim gets the volume back',
    of: actingRemedies,
    needs: 'drain',
    swept: { share: 0.15, asksNoRow: true },
  }),
  recreations,
};

const watchFields = {
  warmupMs: time('watch.warmup', 10_000, {
    about: 'how long writers run before the fault',
    swept: { isAsked: true, draw: secondsWithin(0, 30) },
  }),
  overlapMs: time('watch.overlap', 20_000, {
    about: 'how long writers run after the successor’s first commits; not with fault.recreations',
    swept: { isAsked: true, draw: secondsWithin(1, 40) },
  }),
  patienceMs: time('watch.patience', 90_000, {
    about:
      'how much longer to watch a successor that mounted but commits nothing; not with fault.recreations',
  }),
  horizonMs: time('watch.horizon', 900_000, {
    about: 'the watch ends at the latest this long after the fault',
    // Where nobody takes over, the fault lasts so long.
    swept: { share: 0.4, isAsked: true, draw: secondsWithin(20, 900) },
    least: 1,
  }),
  convergeMs: time('watch.converge', 180_000, {
    about: 'after the heal, a server must commit again within this time',
    least: 1,
  }),
};

/** What a run is held against. */
const expectationFields = {
  expected: field('expected', z.array(z.enum(verdictWords)).min(1), {
    about: 'expected verdicts',
    show: (words) => (words as readonly string[]).join(' or '),
  }),
  counted: field('counted', countsSchema.optional(), {
    about:
      'of a race: how many fault events came to each verdict before this run; absent where reasoning decides',
    more: '([verdicts](verdicts.md)); fewer than 8 are no expectation, and the run is *open*',
  }),
  expectedServing: field('expectedServing', z.enum(servingWords).optional(), {
    about:
      'whether a database serves again after the heal, or open where it is a race; by default as the scenario has it; it counts if the verdict is safe',
    more: '([verdicts](verdicts.md))',
  }),
};

export const fields = {
  ...aboutFields,
  ...faultFields,
  ...remedyFields,
  ...podFields,
  ...forceDetachFields,
  ...courseFields,
  ...workloadFields,
  ...diskFields,
  link,
  ...volumeFields,
  powerLoss,
  ...writeLogFields,
  ...loadFields,
  ...databaseFields,
  ...databaseKindFields,
  ...selfFenceFields,
  ...kubernetesFields,
  ...timerFields,
  ...watchFields,
  ...expectationFields,
};
