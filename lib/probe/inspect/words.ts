/** An inspection in words: for the terminal, and as parts of the page. */
import { plural, toldInSeconds } from '../../core/index.ts';
import { proveItIsOff } from '../../report/index.ts';
import { placeInWords } from './files.ts';
import type { Sighting } from './incident.ts';
import type { Inspection, PassageTold, VolumeTold } from './inspect.ts';

export const timeText = (ms: number): string =>
  Number.isFinite(ms) ? `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC` : '?';

export const volumeText = ({ volume: { name, claim } }: VolumeTold): string =>
  claim === undefined ? name : `${name} (claim ${claim})`;

const seenText = (seen: Sighting | undefined): string =>
  seen === undefined ? 'not on record' : `${timeText(seen.atMs)}, ${placeInWords(seen.place)}`;

/** One part of an inspection, for the terminal and for the page. */
export interface Section {
  readonly title: string;
  readonly lines?: readonly string[];
  readonly heads?: readonly string[];
  readonly rows?: readonly (readonly string[])[];
}

const whoHadIt = ({ stints }: VolumeTold): Section => ({
  title: 'Who had it',
  heads: [
    ...[
      'Node',
      'Attachment created',
      'Mounted',
      'Unmounted',
      'Detach requested',
      'Detach answered',
    ],
    'Otherwise named',
  ],
  rows: stints.map(({ node, attached, mounts, unmounted, deleting, answered, named }) => [
    node,
    ...[attached, mounts[0], unmounted, deleting, answered, named].map(seenText),
  ]),
});

function ofPassage(passage: PassageTold): Section[] {
  const { from, to, answer, two, chain } = passage;
  const span =
    two === undefined
      ? ''
      : `: from ${timeText(two.leastMs)} at the latest to ${timeText(two.mostMs)} at the earliest, ${toldInSeconds(two.mostMs - two.leastMs)}`;
  return [
    {
      title: `${from.node} → ${to.node}: ${answer}${span}`,
      heads: ['When', 'What', 'By', 'Record'],
      rows: chain.steps.map(({ atMs, step, by = '–', place }) => [
        ...[timeText(atMs), step, by, place === undefined ? '–' : placeInWords(place)],
      ]),
    },
    { title: 'Not on record', lines: chain.gaps },
  ];
}

export const sectionsOf = (volume: VolumeTold): Section[] => [
  { title: `${volumeText(volume)}: ${volume.answer}`, lines: volume.because },
  ...volume.passages.flatMap(ofPassage),
  whoHadIt(volume),
  { title: 'What its storage does at a detach', lines: [volume.storage.words] },
];

/** What follows for all volumes. */
export const closingSections = (inspection: Inspection): Section[] => [
  { title: 'Next', lines: nextSteps(inspection) },
  { title: 'What would have prevented it', lines: preventionOf(inspection.volumes) },
  {
    title: 'Not read',
    lines: [
      ...inspection.trouble.map(({ what, ...place }) => `${placeInWords(place)}: ${what}`),
      ...inspection.homeless.map(
        (file) => `${file}: no node is known for it; put it into a folder with the node’s name`,
      ),
    ],
  },
];

const twoWriters = [
  'Stop both servers, the old one without a clean shutdown, and copy the volume before anything mounts it: docs/how-to/two-writers.md.',
  'A clean e2fsck or server start proves nothing: compare with what clients recorded as committed.',
];

function nextSteps({ volumes, answer }: Inspection): readonly string[] {
  if (answer === 'two could write') return twoWriters;
  if (answer === 'only one could')
    return ['Nothing of the storage’s exclusivity is left to check.'];
  const missing =
    volumes.length === 0
      ? [`no record says which volume it is about: no dump`]
      : volumes.filter((each) => each.answer === answer).flatMap(({ because }) => because);
  const of = (pattern: RegExp, words: string): string[] =>
    missing.some((each) => pattern.test(each)) ? [words] : [];
  return [
    ...of(/audit log/, 'Add the API server’s audit log, with its rotated files.'),
    ...of(
      /no log of a server|no line of the server/,
      'Add the database’s log of the old node, to its end: /var/log/pods there, in a folder with the node’s name.',
    ),
    ...of(/unmount/, 'Add kubelet’s log and dmesg -T of the old node, in the same folder.'),
    ...of(
      /dump/,
      'Add dumps: kubectl get nodes,pods,pv,pvc,volumeattachments,storageclasses,csidrivers,events -A -o json.',
    ),
    ...of(
      /fence of the storage/,
      'Measure what your storage does (docs/how-to/probe.md), and inspect again with --disk MODE.',
    ),
    'Until then assume that two could write: docs/how-to/two-writers.md.',
  ];
}

/** What stood behind each way in. */
const preventions: readonly (readonly [RegExp, string])[] = [
  [/out-of-service/, 'Set the out-of-service taint only on a node that is proven off.'],
  [/Node object was deleted/, 'Delete a Node only once its machine is proven off.'],
  [
    /pod object was gone/,
    'Do not force-delete a pod of a lost node before its node is proven off.',
  ],
  [
    /gave up waiting for the unmount/,
    '--disable-force-detach-on-timeout=true of the controller manager: Kubernetes then waits for the unmount.',
  ],
];

function preventionOf(volumes: readonly VolumeTold[]): readonly string[] {
  const passages = volumes
    .flatMap((each) => each.passages)
    .filter(({ answer }) => answer !== 'only one could');
  const steps = passages.flatMap(({ chain }) => chain.steps.map(({ step }) => step));
  if (passages.length === 0) return [];
  return [
    ...preventions
      .filter(([pattern]) => steps.some((step) => pattern.test(step)))
      .map(([, words]) => words),
    'Storage that cuts the old node off before it answers a detach.',
    proveItIsOff,
  ];
}

const volumesShown = 5;

export function inspectionText(inspection: Inspection): string {
  const { answer, volumes, files } = inspection;
  const rest = volumes.slice(volumesShown);
  const sections = [
    ...volumes.slice(0, volumesShown).flatMap(sectionsOf),
    ...(rest.length === 0
      ? []
      : [
          { title: plural(rest.length, 'more volume'), lines: ['--volume shows one, --json all.'] },
        ]),
    ...closingSections(inspection),
  ];
  return [
    answer,
    ...sections.flatMap(sectionText),
    '',
    `${plural(files.length, 'file')} read, ${files.reduce((sum, { records }) => sum + records, 0)} records that count.`,
  ].join('\n');
}

function sectionText({ title, lines = [], heads = [], rows = [] }: Section): string[] {
  const told = rows.map((cells) =>
    cells.map((cell, at) => (at === 0 ? cell : `${heads[at]}: ${cell}`)).join('; '),
  );
  const all = [...lines, ...told];
  return all.length === 0 && heads.length === 0
    ? []
    : ['', `${title}:`, ...all.map((line) => `  ${line}`)];
}
