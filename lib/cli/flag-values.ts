/** From the text behind a flag to its value, or a sentence that says what would do. */
import { InvalidArgumentError } from 'commander';
import { clusterNameRule, isClusterName } from '../cluster/kind/labels.ts';
import { parseDurationMs } from '../durations.ts';
import type { Moment, Scenario } from '../experiment/scenario.ts';
import { isKubernetes, kubernetesWords, type FeatureGates } from '../kubernetes-versions.ts';
import { remedyEvents } from '../remedy-kinds.ts';

export function durationMs(text: string): number {
  const ms = parseDurationMs(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError('Give a duration such as 30s, 6m or 500ms.');
}

export function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a whole number.');
}

export function numberFromOne(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a whole number from 1.');
}

export function workerCount(text: string): number {
  if (/^\d+$/.test(text) && Number(text) >= 2) return Number(text);
  throw new InvalidArgumentError('At least 2: a victim and a successor.');
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

export function nonEmpty(text: string): string {
  if (text.trim() !== '') return text;
  throw new InvalidArgumentError('It is empty.');
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

/** Whole seconds, as the field of the pod has them. */
export function seconds(text: string): number {
  return Math.round(durationMs(text) / 1000);
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

export function trxCommit(text: string): 0 | 1 | 2 {
  if (text === '0' || text === '1' || text === '2') return Number(text) as 0 | 1 | 2;
  throw new InvalidArgumentError('Allowed choices are 0, 1, 2.');
}
