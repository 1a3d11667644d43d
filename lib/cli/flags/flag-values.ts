/** From the text behind a flag to its value, or a sentence that says what would do. */
import { InvalidArgumentError } from 'commander';
import {
  clusterNameRule,
  isClusterName,
  kindWorkers,
} from '../../cluster/kind/ownership/labels.ts';
import { longestMs, parseDurationMs } from '../../durations.ts';
import type { Moment, Scenario } from '../../experiment/scenario.ts';
import { isKubernetes, kubernetesWords, type FeatureGates } from '../../kubernetes-versions.ts';
import { remedyEvents } from '../../remedy-kinds.ts';

export function durationMs(text: string): number {
  const ms = parseDurationMs(text);
  if (ms === undefined) {
    throw new InvalidArgumentError(
      'Give a duration of whole milliseconds, such as 30s, 6m or 500ms.',
    );
  }
  if (ms <= longestMs) return ms;
  throw new InvalidArgumentError('At most 24h.');
}

/** Of a wait that is none where it is 0. */
export function positiveMs(text: string): number {
  const ms = durationMs(text);
  if (ms > 0) return ms;
  throw new InvalidArgumentError('More than 0.');
}

export function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a whole number.');
}

/** Whole numbers from `least` to `most`. */
export const numberWithin =
  (least: number, most: number) =>
  (text: string): number => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`);
  };

export const workersWords = `worker nodes (default: ${kindWorkers} on kind, 3 on the model)`;
const mostWorkers = 300;

export function workerCount(text: string): number {
  const count = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (count >= 2 && count <= mostWorkers) return count;
  throw new InvalidArgumentError(
    `At least 2, a victim and a successor, and at most ${mostWorkers}.`,
  );
}

export function clusterName(text: string): string {
  if (isClusterName(text)) return text;
  throw new InvalidArgumentError(`Give ${clusterNameRule}.`);
}

/** Without the leading `v`. */
export function kubernetes(text: string): string {
  const word = text.replace(/^v/, '');
  if (isKubernetes(word)) return word;
  throw new InvalidArgumentError(`Give ${kubernetesWords}.`);
}

/** Each time the flag is given; the last word on a gate holds. */
export function featureGate(text: string, before: FeatureGates): FeatureGates {
  const [, name, state] = /^([A-Z][A-Za-z0-9]+)=(true|false)$/.exec(text) ?? [];
  if (name !== undefined) return { ...before, [name]: state === 'true' };
  throw new InvalidArgumentError('Give a gate such as NodeControllerLeaseCircuitBreaker=false.');
}

/** It becomes a part of commands: nothing in it may mean anything to a shell. */
export function registry(text: string): string {
  if (/^[a-z0-9][a-z0-9.-]*(:\d{1,5})?(\/[a-z0-9][a-z0-9._-]*)*$/.test(text)) return text;
  throw new InvalidArgumentError('Give a host, a port and a path as in 127.0.0.1:5000/mirror.');
}

export function nonEmpty(text: string): string {
  if (text.trim() !== '' && !text.includes('\0')) return text;
  throw new InvalidArgumentError('It is empty.');
}

const seedLength = 200;

export function seedText(text: string): string {
  if (nonEmpty(text).length <= seedLength) return text;
  throw new InvalidArgumentError(`At most ${seedLength} characters.`);
}

export function rate(text: string): number | 'max' {
  if (text === 'max') return text;
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give operations per second and client, or max.');
}

export function remedyAt(text: string): Scenario['remedyAt'] {
  return remedyEvents.find((each) => each === text) ?? durationMs(text);
}

export function untaintAt(text: string): Scenario['untaintAt'] {
  const event = (['end', 'heal', 'kept'] as const).find((each) => each === text);
  return event ?? durationMs(text);
}

/** As the fields of a pod have them: whole ones, or 499ms would become 0. */
export function seconds(text: string): number {
  const ms = durationMs(text);
  if (ms % 1000 === 0) return ms / 1000;
  throw new InvalidArgumentError('Give whole seconds.');
}

export function share(text: string): number {
  if (/^(0?\.\d+|1)$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a share of one CPU, such as 0.05.');
}

export function moment(text: string): Moment {
  const event = (['terminating', 'pod-gone', 'half-wait', 'force-detach'] as const).find(
    (each) => each === text,
  );
  return event ?? durationMs(text);
}

export function rebootAt(text: string): number | 'force-detach' {
  return text === 'force-detach' ? text : durationMs(text);
}
