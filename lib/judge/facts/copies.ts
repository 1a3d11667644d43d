/** What is stated of the copies of the volume: that they are this run's, each of its moment. Where that is refuted, nobody may judge by the copy. */
import {
  type CopyIdentity,
  type CopyRecord,
  type ImageLabel,
  type ImageRecord,
  observationsOf,
} from '../../history/index.ts';
import { losesPower } from '../../scenario/index.ts';
import { isGroupRun } from '../group/story.ts';
import type { Story } from '../timeline/story.ts';
import { moment, throughout, wholeRun } from './changes.ts';
import type { Statement } from './engine.ts';
import type { Evidence, Read } from './evidence.ts';
import { stepsOf } from './acts.ts';

export const imageLabels: readonly ImageLabel[] = ['steady', 'first', 'second'];

const copiesOf = ({ records }: Pick<Story, 'records'>): CopyRecord[] =>
  records.filter((record) => record.type === 'copy');
const imagesOf = ({ records }: Pick<Story, 'records'>): ImageRecord[] =>
  records.filter((record) => record.type === 'image');
/** Of a group the ledger is read while it serves. */
const readingsOf = ({ records, observations }: Pick<Story, 'records' | 'observations'>) => [
  ...imagesOf({ records }),
  ...observationsOf(observations, 'ledger-read').flatMap(({ data: { image, takenAtMs, rows } }) =>
    image === undefined || rows === undefined ? [] : [{ image, takenAtMs }],
  ),
];

/** Histories before version 3 have no such records. */
const ofCopies =
  (state: (evidence: Evidence) => readonly Statement[], otherwise?: string): Read =>
  (evidence) =>
    evidence.story.tells.identities
      ? {
          statements: state(evidence),
          sees: wholeRun,
          ...(otherwise !== undefined && { otherwise }),
        }
      : undefined;

const fields: readonly (keyof CopyIdentity)[] = [
  ...(['copy', 'volume', 'generation', 'bytes', 'stamp', 'digest', 'filesystemUuid'] as const),
];

const identity = (
  label: ImageLabel,
  of: Partial<CopyIdentity>,
): [string, string | number | undefined][] =>
  fields.map((field) => [`${label} ${field}`, of[field]]);

const counted = (
  records: readonly { readonly image: ImageLabel }[],
): [item: string, count: number][] =>
  imageLabels.map((label) => [
    `${label} images`,
    records.filter(({ image }) => image === label).length,
  ]);

/** Each copy is one, and no other's. Nobody copies a group. */
export const copiesMade = ofCopies((evidence) => {
  const copies = copiesOf(evidence.story);
  return throughout([
    ...(isGroupRun(evidence.story.records) ? [] : counted(copies)),
    ...copies.flatMap(({ image, made }) => [
      ...identity(image, made),
      [`copy ${made.copy}`, image] as const,
      [`stamp ${made.stamp}`, image] as const,
    ]),
  ]);
});

/** A damaged copy may have no file system or no server to be read any more. */
const identities = ofCopies((evidence) =>
  throughout(
    imagesOf(evidence.story).flatMap(
      ({ image, evidence: { opened, filesystemUuid, serverUuid } }) => [
        ...identity(image, opened ?? {}),
        ...(filesystemUuid === undefined
          ? []
          : [[`${image} filesystemUuid`, filesystemUuid] as const]),
        ...(serverUuid === undefined ? [] : [[`${image} server`, serverUuid] as const]),
      ],
    ),
  ),
);

export const copiesOpened: Read = (evidence) => ({
  statements: [
    ...throughout(counted(readingsOf(evidence.story))),
    ...(identities(evidence)?.statements ?? []),
  ],
});

export const copiesAsked: Read = ({ story: { faultAtMs, records } }) => {
  const labels = isGroupRun(records) ? imageLabels.slice(1) : imageLabels;
  return faultAtMs === undefined
    ? undefined
    : { statements: throughout(labels.map((label) => [`${label} images`, 1] as const)) };
};

/**
 * Before the fault, file system and server are those that the run began with. Later a new one may be
 * the fault's work, which is a finding of its own.
 */
export const volumeSetUp = ofCopies((evidence) => {
  const { volume } = evidence.story.setup ?? {};
  if (volume === undefined) return [];
  return throughout([
    ...imageLabels.map((label) => [`${label} volume`, volume.volume] as const),
    ['steady filesystemUuid', volume.filesystemUuid],
    ['steady server', volume.serverUuid],
  ]);
});

// When they were made. All these times are the runner's or the array's, of one clock.

/** A copy lacks what a server had not synced yet: the runner dates it back by so much. */
const heldBackMs = 2000;
/** From the date to the copy the runner waits for nothing. */
const recordedWithinMs = 2000;

/** While the runner has a copy made, and the moment that its content is of. */
export const copyingSteps = ofCopies(
  ({ story }) =>
    imageLabels.flatMap((label) => {
      const steps = stepsOf(story).filter(({ name }) => name === `copy ${label} image`);
      const beginMs = steps.find(({ step }) => step === 'begin')?.t;
      const doneMs = steps.find(({ step }) => step === 'done')?.t;
      if (beginMs === undefined || doneMs === undefined) return [];
      const value = 'being copied';
      const datedMs = beginMs - heldBackMs - recordedWithinMs;
      return [
        { item: `${label} copy`, value, fromMs: beginMs, toMs: doneMs },
        { item: `${label} image`, value, fromMs: datedMs, toMs: beginMs + 1 },
      ];
    }),
  'not being copied',
);

export const copyTimes = ofCopies(({ story }) =>
  copiesOf(story).map(({ image, t }) => moment(`${image} copy`, 'being copied', t)),
);

export const imageTimes = ofCopies(({ story }) =>
  imagesOf(story).map(({ image, takenAtMs }) =>
    moment(`${image} image`, 'being copied', takenAtMs),
  ),
);

/** The steady image is from before the fault, the first from before the heal, the second from after it. */
export const stagesOfRun = ofCopies(({ story: { faultAtMs, healAtMs } }) => {
  if (faultAtMs === undefined) return [];
  const stage = (value: ImageLabel, fromMs: number, toMs: number): Statement => ({
    ...{ item: 'volume', value, fromMs, toMs },
  });
  return [
    stage('steady', 0, faultAtMs),
    stage('first', faultAtMs, healAtMs),
    stage('second', healAtMs, Infinity),
  ];
});

export const stagesCopied = ofCopies(({ story }) =>
  copiesOf(story).map(({ image, t }) => moment('volume', image, t)),
);

export const stagesAudited = ofCopies(({ story }) =>
  readingsOf(story).map(({ image, takenAtMs }) => moment('volume', image, takenAtMs)),
);

/** Reported a little late, an attachment may be newer or older than the copy. */
const reportedWithinMs = 2000;

/**
 * A copy is of the newest attachment that observers of the disk have reported by then. A shared directory has none.
 * The disk holds a new path for a node that lost its power, which nobody reports before the node boots.
 */
export const newestAttachments = ofCopies((evidence) => {
  const { observations, scenario, faultAtMs = Infinity } = evidence.story;
  const ofDisk = observations.filter(({ source }) => ['csi', 'mounts', 'devices'].includes(source));
  // Ten a second, for hours: too many to be arguments.
  const newestBy = (atMs: number): number =>
    ofDisk.reduce(
      (most, { t, data }) => (t > atMs ? most : Math.max(most, data.generation ?? 0)),
      0,
    );
  return throughout(
    copiesOf(evidence.story).flatMap(({ image, made, t }) => {
      if (made.generation === 0) return [];
      const newest = newestBy(t - reportedWithinMs);
      const isReported =
        t < faultAtMs ||
        (!losesPower(scenario.also.kind) &&
          (!losesPower(scenario.fault.kind) || newest > newestBy(faultAtMs)));
      const isCertain = isReported && newest > 0 && newest === newestBy(t + reportedWithinMs);
      return isCertain ? [[`${image} generation`, newest] as const] : [];
    }),
  );
});
