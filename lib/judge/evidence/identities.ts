/** Is what was audited this run's: its volume, and the copy that was made at that moment? Who set the volume up, who copied it, who watched it and who opened the copy tell of it each by himself. Where they disagree it is another volume or another copy, which proves nothing of this one, damage neither. */
import { toldInSeconds } from '../../core/index.ts';
import type {
  CopyIdentity,
  CopyRecord,
  ImageLabel,
  ImageRecord,
  VolumeIdentity,
} from '../../history/index.ts';
import type { Story } from '../timeline/story.ts';
import type { Scenario } from '../../scenario/index.ts';

export interface Identities {
  /** A sentence each, which says whose records disagree. */
  readonly reasons: readonly string[];
  /** Images that are not proven to be of this volume and moment: nobody may judge by them. */
  readonly foreign: ReadonlySet<ImageLabel>;
}

const labels: readonly ImageLabel[] = ['steady', 'first', 'second'];

/** What is needed of a run's plot. */
type IdentityEvidence = Pick<Story, 'records' | 'observations' | 'setup' | 'tells'> & {
  readonly scenario: { readonly volume: Pick<Scenario['volume'], 'provision'> };
};

export function identitiesOf(story: IdentityEvidence): Identities {
  if (!story.tells.identities) return { reasons: [], foreign: new Set() };
  const volume = story.setup?.volume;
  const shared = [
    ...(volume === undefined ? ['the history does not say which volume the run was about'] : []),
    ...provisioningGaps(story, volume),
    ...sequenceGaps(story),
  ];
  const foreign = new Map(labels.map((label) => [label, foreignBecause(story, label, volume)]));
  return {
    reasons: [...shared, ...[...foreign.values()].flat()],
    foreign: new Set(labels.filter((label) => (foreign.get(label) ?? []).length > 0)),
  };
}

const ofVolume: ReadonlySet<string> = new Set(['csi', 'mounts', 'devices']);

/** Kubernetes, the driver and the backend name the volume that was made for the claim, each by itself. */
function provisioningGaps(
  { scenario }: IdentityEvidence,
  volume: VolumeIdentity | undefined,
): string[] {
  if (scenario.volume.provision !== 'dynamic' || volume === undefined) return [];
  const { provisioning } = volume;
  if (provisioning === undefined) return ['the history does not say what provisioned the volume'];
  const { volumeName, handle, calls } = provisioning;
  const isMade = calls.some(({ call, error }) => call === 'CreateVolume' && error === undefined);
  return [
    ...(handle === volume.volume
      ? []
      : [`the PersistentVolume ${volumeName} is of ${handle}, and the run’s is ${volume.volume}`]),
    ...(isMade ? [] : [`the driver does not tell that it made ${handle}`]),
  ];
}

/** Copies of one run are several, and a later one is of no earlier attachment. */
function sequenceGaps(story: IdentityEvidence): string[] {
  const copies = labels.flatMap((label) => copiesOf(story, label).slice(0, 1));
  return copies.slice(1).flatMap((copy, index) => {
    const before = copies[index];
    if (before === undefined) return [];
    const [one, other] = [before.image, copy.image];
    const isOne = before.made.copy === copy.made.copy || before.made.stamp === copy.made.stamp;
    return [
      ...(isOne ? [`the ${one} and the ${other} copy are one: ${copy.made.copy}`] : []),
      ...(copy.made.generation < before.made.generation
        ? [
            `the ${other} copy is of attachment ${copy.made.generation}, and the ${one} copy, ` +
              `before it, of ${before.made.generation}`,
          ]
        : []),
    ];
  });
}

const copiesOf = ({ records }: IdentityEvidence, label: ImageLabel): CopyRecord[] =>
  records.filter((record) => record.type === 'copy').filter(({ image }) => image === label);

const imagesOf = ({ records }: IdentityEvidence, label: ImageLabel): ImageRecord[] =>
  records.filter((record) => record.type === 'image').filter(({ image }) => image === label);

/** Why that image does not count. An image that nobody audited is missed elsewhere. */
function foreignBecause(
  story: IdentityEvidence,
  label: ImageLabel,
  volume: VolumeIdentity | undefined,
): string[] {
  const images = imagesOf(story, label);
  const [image] = images;
  if (image === undefined) return [];
  if (images.length > 1) return [`the ${label} image was audited ${images.length} times`];
  const [copy, ...more] = copiesOf(story, label);
  if (copy === undefined) return [`the record of copies lacks the ${label} copy`];
  if (more.length > 0) return [`the ${label} copy was made ${more.length + 1} times`];
  const { evidence } = image;
  const { opened } = evidence;
  if (opened === undefined) return [`the audit does not say what it opened as the ${label} copy`];
  const differs = fieldsThatDiffer(copy.made, opened);
  return [
    ...(differs.length === 0
      ? []
      : [
          `the audit of the ${label} image opened another copy than was made at that time: ` +
            differs.join(', '),
        ]),
    ...(differs.length > 0 || readsAs(evidence.filesystemUuid, opened)
      ? []
      : [
          `the audit of the ${label} image opened file system ${opened.filesystemUuid ?? 'none'}, ` +
            `and read ${evidence.filesystemUuid ?? 'none'}`,
        ]),
    ...notOfVolume(copy, image, volume),
    ...notOfMoment(story, copy, image),
  ];
}

/** A damaged one may have none to be read any more. */
const readsAs = (uuid: string | undefined, { filesystemUuid }: CopyIdentity): boolean =>
  uuid === undefined || uuid === filesystemUuid;

const fields: readonly (keyof CopyIdentity)[] = [
  ...(['copy', 'volume', 'generation', 'bytes', 'stamp', 'digest', 'filesystemUuid'] as const),
];

const fieldsThatDiffer = (made: CopyIdentity, opened: CopyIdentity): string[] =>
  fields
    .filter((field) => made[field] !== opened[field])
    .map((field) => `${field} ${made[field] ?? 'none'} became ${opened[field] ?? 'none'}`);

/**
 * Before the fault file system and database are those that the run began with. Later a new one may be
 * the fault's work, which is a finding of its own: then copy and audit agree on it.
 */
function notOfVolume(
  { image: label, made }: CopyRecord,
  { evidence }: ImageRecord,
  volume: VolumeIdentity | undefined,
): string[] {
  if (volume === undefined) return [];
  const reasons: string[] = [];
  const differs = (what: string, was: string | undefined, is: string | undefined): void => {
    if (was !== is) {
      reasons.push(
        `the ${label} copy has ${what} ${is ?? 'none'}, and the run’s volume ${was ?? 'none'}`,
      );
    }
  };
  differs('handle', volume.volume, made.volume);
  if (label !== 'steady') return reasons;
  differs('file system', volume.filesystemUuid, made.filesystemUuid);
  if (evidence.serverUuid !== undefined) {
    differs('server', volume.serverUuid, evidence.serverUuid);
  }
  return reasons;
}

/** What a server has not synced yet need not be in a copy: run.ts dates it back by so much. */
const heldBackMs = 2000;
/** From the one to the other the runner waits for nothing. */
const recordedWithinMs = 2000;

/** It was made while the runner had it made, and not of an attachment that was over by then. */
function notOfMoment(
  { records, observations }: IdentityEvidence,
  { image, made, t }: CopyRecord,
  { takenAtMs }: ImageRecord,
): string[] {
  const steps = records
    .filter((record) => record.type === 'action')
    .filter(({ name }) => name === `copy ${image} image`);
  const begun = steps.find(({ step }) => step === 'begin')?.t ?? Number.POSITIVE_INFINITY;
  const done = steps.find(({ step }) => step === 'done')?.t ?? Number.NEGATIVE_INFINITY;
  const seen = observations
    .filter((each) => each.t <= begun && ofVolume.has(each.source))
    .map(({ data }) => data.generation ?? 0);
  const newest = seen.reduce((most, each) => Math.max(most, each), 0);
  return [
    ...(t < begun || t > done ? [`the ${image} copy was not made while the run copied`] : []),
    ...(takenAtMs > begun || takenAtMs < begun - heldBackMs - recordedWithinMs
      ? [
          `the ${image} image is recorded as of ${toldInSeconds(takenAtMs)}, and the run began to copy ` +
            `at ${toldInSeconds(begun)}`,
        ]
      : []),
    ...(made.generation < newest && made.generation > 0
      ? [
          `the ${image} copy is of attachment ${made.generation}, and observers had seen ${newest} by then`,
        ]
      : []),
  ];
}
