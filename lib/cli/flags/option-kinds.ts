/** Flags of one kind: a duration, a choice, each with its default as it would be typed. */
import { Option } from 'commander';
import { formatDuration } from '../../durations.ts';
import { durationMs, positiveMs } from './flag-values.ts';

/** A duration flag whose default is shown as it would be typed. */
export const duration = (
  flags: string,
  about: string,
  defaultMs: number,
  parse: (text: string) => number = durationMs,
): Option =>
  new Option(flags, about).argParser(parse).default(defaultMs, formatDuration(defaultMs));

/** The same where 0 would be none. */
export const positive = (flags: string, about: string, defaultMs: number): Option =>
  duration(flags, about, defaultMs, positiveMs);

export const showMoment = (at: string | number): string =>
  typeof at === 'number' ? formatDuration(at) : at;

export const choice = (
  flags: string,
  about: string,
  choices: readonly string[],
  value: string,
): Option => new Option(flags, about).choices(choices).default(value);
