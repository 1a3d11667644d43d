/** An inspection in words: for the terminal, and as parts of the page. */
import { plural, toldInSeconds } from '../../core/index.ts';
import { proveItIsOff } from '../../report/index.ts';
import { observed } from '../../history/index.ts';
import { placeInWords } from './files.ts';
import type { Sighting } from './incident.ts';
import type { Inspection, PassageTold, VolumeTold } from './inspect.ts';
import { yearless } from './read.ts';

export function timeText(ms: number): string {
  if (!Number.isFinite(ms)) return '?';
  const text = `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  return ms < yearless ? `${text.slice('1970-'.length)} (no record has the year)` : text;
}

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

/** What names a node without a record of its attachment. */
const namings: Partial<Readonly<Record<Sighting['name'], string>>> = {
  [observed.attachmentAttached]: 'attached, ',
  [observed.attachmentGone]: 'detached, ',
  [observed.forceDetachLog]: 'detached by force, ',
};

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
    ...[attached, mounts[0], unmounted, deleting, answered].map(seenText),
    `${(named && namings[named.name]) ?? ''}${seenText(named)}`,
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
  { title: 'No volume is on record', lines: inspection.missing },
  { title: 'Next', lines: nextSteps(inspection) },
  { title: 'What would have prevented it', lines: preventionOf(inspection.volumes) },
  { title: 'Of no known volume', lines: unplacedIn(inspection).slice(0, unplacedShown) },
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

const unplacedShown = 5;
const unplacedIn = ({ unplaced }: Inspection): string[] =>
  unplaced.map(
    ({ attachment, place }) =>
      `${attachment} (${placeInWords(place)}): no record has the volume and the node of this attachment`,
  );

/** `$1` of the words: what the pattern has in brackets. */
type Hints = readonly (readonly [RegExp, string])[];
const hintsFor = (hints: Hints, texts: readonly string[]): string[] => {
  const found = hints.flatMap(([pattern, words]) =>
    texts.flatMap((text) => {
      const [whole, part = ''] = pattern.exec(text) ?? [];
      return whole === undefined ? [] : words.replaceAll('$1', part);
    }),
  );
  return [...new Set(found)];
};

/** What to add, by what is missing. */
const additions: Hints = [
  [
    /who had the volume/,
    'Add the logs of kube-controller-manager and of the kubelets: they name volumes and nodes.',
  ],
  [/audit log/, 'Add the API server’s audit log, with its rotated files.'],
  [
    /which node had it next/,
    'Add kube-controller-manager’s log of all its instances: “AttachVolume.Attach succeeded” names the next node.',
  ],
  [
    /(?:log of a|line of the) server on (\S+) /,
    'Add the database’s log of $1, from /var/log/pods, to its end.',
  ],
  [
    /that (\S+) had lost the volume/,
    'Add kubelet’s log and dmesg -T of $1, in a folder with that name.',
  ],
  [
    /that (\S+) mounted it/,
    'Add kubelet’s log of $1, in a folder with that name, or the events of its pods.',
  ],
  [
    /bounds the clock of (\S+):/,
    'Add the events about pods on $1, which expire after an hour: kubectl get events -A -o json.',
  ],
  [
    /dump of the (?:VolumeAttachments|Nodes) (?:does|has)|is younger/,
    'Look at the nodes of the dumps that differ first, and dump all of it again at one moment.',
  ],
  [
    /volume and the node of this attachment|whose volume no record has/,
    'Add what names the attachment: a dump if it still exists, else the audit log’s line that created it.',
  ],
  [/answer to the detach/, 'Add the log of the CSI attacher.'],
  [/fence of the storage/, 'Probe the storage (docs/how-to/probe.md), and give --disk MODE.'],
];

/** The kinds of objects that are missing, in one command. */
function dumpOf(missing: readonly string[]): string[] {
  const kinds = missing.flatMap((text) => /no dump of the (\w+)/.exec(text)?.[1] ?? []);
  const named = [...new Set(kinds)].join().toLowerCase();
  return named === '' ? [] : [`Add a dump: kubectl get ${named} -A -o json > objects.json`];
}

/** What to add or to look at where something is missing. */
export const stepsFor = (missing: readonly string[]): string[] => [
  ...hintsFor(additions, missing),
  ...dumpOf(missing),
];

function nextSteps(inspection: Inspection): readonly string[] {
  const { volumes, answer, missing } = inspection;
  if (answer === 'two could write') return twoWriters;
  if (answer === 'only one could')
    return ['Nothing of the storage’s exclusivity is left to check.'];
  const open = volumes.filter((each) => each.answer === answer);
  const lacking = open.flatMap(({ because, storage }) => [...because, storage.words]);
  return [
    ...stepsFor([...missing, ...lacking, ...unplacedIn(inspection)]),
    'Until then assume that two could write: docs/how-to/two-writers.md.',
  ];
}

/** By the way in. */
const preventions: Hints = [
  [/out-of-service/, 'Set the out-of-service taint only on a node that is proven off.'],
  [/Node object was deleted/, 'Delete a Node only once its machine is proven off.'],
  [/pod object was gone/, 'Force-delete no pod of a lost node before the node is proven off.'],
  [/gave up waiting/, 'Start the controller manager with --disable-force-detach-on-timeout=true.'],
];

function preventionOf(volumes: readonly VolumeTold[]): readonly string[] {
  const passages = volumes
    .flatMap((each) => each.passages)
    .filter(({ answer }) => answer !== 'only one could');
  const steps = passages.flatMap(({ chain }) => chain.steps.map(({ step }) => step));
  const always = ['Storage that cuts the old node off before it answers a detach.', proveItIsOff];
  return passages.length === 0 ? [] : [...hintsFor(preventions, steps), ...always];
}

const volumesShown = 5;

export function inspectionText(inspection: Inspection): string {
  const { answer, volumes, files } = inspection;
  const rest = volumes.length - volumesShown;
  const more = rest <= 0 ? [] : [`${plural(rest, 'more volume')}: --volume shows one, --json all.`];
  const shown = volumes.slice(0, volumesShown).flatMap(sectionsOf);
  return [
    answer,
    ...[...shown, { title: 'And', lines: more }, ...closingSections(inspection)].flatMap(
      sectionText,
    ),
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
