/** What a run is about to do: seed first, then the parameters, the backend, the images. */
import {
  isKept,
  fieldNames,
  fieldOf,
  goesWith,
  inFull,
  parseScenario,
  shortenedTimers,
  type Scenario,
  originInWords,
} from '../../scenario/index.ts';
import { isOpen } from '../../judge/index.ts';
import { openWords } from '../../report/index.ts';
import type { BackendChoice } from '../library/backend-choice.ts';
import { formatDuration, minorOf } from '../../core/index.ts';
import type { RunRequest } from '../flags/request.ts';
import { whereOptions } from '../flags/run-options.ts';
import { unusedFlags } from '../flags/unused-flags.ts';

/** `all`: every parameter, one a line; else the main ones and those that differ from the defaults. */
export function describeRequest(
  request: RunRequest,
  choice: BackendChoice,
  { all = false }: { readonly all?: boolean } = {},
): string {
  const { scenario, seed, folder } = request;
  return [
    `seed ${seed}`,
    scenario.question,
    ...(all ? allParameters(scenario) : aboutScenario(scenario)),
    ...certificateOf(scenario),
    `backend: ${choice.backend}, ${choice.why}; ${basisOf(scenario, choice)}`,
    ...(choice.isModel ? playedFor(scenario) : []),
    ...unusedFlags(whereOptions(), request.flags, choice),
    ...(choice.images === undefined ? [] : [choice.images.reason]),
    `folder: ${folder}`,
    `replay: ${request.replay(choice.backend)}`,
  ].join('\n');
}

/** The question has its own line, and earlier counts are shown with the verdict. */
const shownElsewhere: ReadonlySet<string> = new Set(['question', 'counted', 'diskFrom']);

/** All that do something in it. */
function allParameters(scenario: Scenario): string[] {
  const said = inFull(scenario);
  return fieldNames
    .filter(
      (field) => !shownElsewhere.has(field) && goesWith(field, said) && !isKept(scenario, field),
    )
    .flatMap((field) => (said[field] === undefined ? [] : [[field, said[field]] as const]))
    .map(([field, value]) => `  ${placeOf(field).padEnd(26)} ${showValue(field, value)}`);
}

function aboutScenario(scenario: Scenario): string[] {
  const { name, question, fault, remedy, disk, expected, counted } = scenario;
  const held = isOpen(scenario) ? openWords(counted) : `expected: ${expected.join(' or ')}`;
  const stock: Readonly<Record<string, unknown>> = parseScenario({
    ...{ name, question, fault, remedy, disk, expected },
    // Without a fault no event comes that a remedy could wait for.
    ...(fault === 'none' && { remedyAt: 0 }),
  });
  const changed = Object.entries(scenario)
    .filter(([field]) => !shownElsewhere.has(field))
    .filter(([field, value]) => showValue(field, value) !== showValue(field, stock[field]))
    .map(([field, value]) => `${placeOf(field)} ${showValue(field, value)}`);
  return [
    `fault ${fault}, remedy ${remedy}, disk ${disk}; ${held}`,
    changed.length === 0
      ? 'All settings are defaults (see --dry-run)'
      : `Changed from defaults: ${changed.join(', ')}`,
  ];
}

const certificateOf = ({ disk, diskFrom }: Scenario): string[] =>
  diskFrom === undefined ? [] : [`disk from a certificate: ${originInWords(diskFrom, disk)}`];

/** The model plays minors: a patch would be ignored silently. */
const playedFor = ({ kubernetes }: Scenario): string[] => {
  const minor = minorOf(kubernetes);
  return minor === kubernetes ? [] : [`the model plays Kubernetes ${minor} for ${kubernetes}`];
};

const placeOf = (name: string): string => fieldOf(name)?.at ?? name;
const showValue = (name: string, value: unknown): string => fieldOf(name)?.show(value) ?? '';

function basisOf(scenario: Scenario, { isModel }: BackendChoice): string {
  if (isModel) return 'the verdict is a prediction by the built-in model';
  const shortened = shortenedTimers(scenario);
  if (shortened.length === 0)
    return `stock timers; the watch lasts up to ${formatDuration(scenario.horizonMs)}`;
  return `changed timers: ${shortened.join(', ')}; the watch lasts up to ${formatDuration(scenario.horizonMs)}`;
}

/** The commands that would build the images, as a shell script; empty where none are needed. */
export async function describeImages(request: RunRequest, choice: BackendChoice): Promise<string> {
  if (choice.images === undefined) return '';
  const { describePlan, planImages } = await import('../../kind/index.ts');
  const { source, registry } = choice.images;
  const { kubernetes, provision } = request.scenario;
  const provisioner = provision === 'dynamic';
  const lines = describePlan(planImages({ source, registry, kubernetes, provisioner }));
  return ['commands of the image layer (images that exist are skipped):', ...lines, ''].join('\n');
}
