/** What a run is about to do: seed first, then every parameter, the backend, the images. */
import { shortenedTimers, type Scenario } from '../experiment/scenario.ts';
import type { BackendChoice } from './backend.ts';
import { formatDuration } from '../durations.ts';
import { gatesText } from '../kubernetes-versions.ts';
import type { RunRequest } from './request.ts';

export function describeRequest(request: RunRequest, choice: BackendChoice): string {
  const { scenario, seed, folder } = request;
  const parameters = Object.entries(scenario)
    .filter(([field]) => field !== 'question')
    .map(([field, value]) => `  ${field.replace(/Ms$/, '').padEnd(18)} ${showValue(field, value)}`);
  return [
    `seed ${seed}`,
    scenario.question,
    ...parameters,
    `backend: ${choice.backend}, ${choice.why}; ${basisOf(scenario, choice)}`,
    ...(choice.backend === 'kind' ? [choice.images.reason] : []),
    `folder: ${folder}`,
    `replay: ${request.replay(choice.backend)}`,
  ].join('\n');
}

function showValue(field: string, value: unknown): string {
  if (typeof value === 'number' && /Ms$|^(remedy|untaint|reboot|also)At$/.test(field))
    return formatDuration(value);
  if (Array.isArray(value)) return value.join(' or ');
  return field === 'featureGates' ? gatesText(value as Scenario['featureGates']) : String(value);
}

function basisOf(scenario: Scenario, { backend }: BackendChoice): string {
  if (backend === 'sim') return 'the verdict is a prediction by the built-in model';
  const shortened = shortenedTimers(scenario);
  if (shortened.length === 0) return 'stock timers';
  return `timers that differ from stock: ${shortened.join(', ')}`;
}

/** The commands that would make the images, as a shell script; nothing on the model. */
export async function describeImages(request: RunRequest, choice: BackendChoice): Promise<string> {
  if (choice.backend === 'sim') return '';
  const { describePlan, planImages } = await import('../images/plan.ts');
  const { source } = choice.images;
  const { kubernetes } = request.scenario;
  const lines = describePlan(planImages({ source, kubernetes }));
  return [
    'commands of the image layer (those whose image is there are left out):',
    ...lines,
    '',
  ].join('\n');
}
