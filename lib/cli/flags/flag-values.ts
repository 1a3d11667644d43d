/** From the text behind a flag to its value, or a sentence that says what would do. */
import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { InvalidArgumentError, Option } from 'commander';
import type { z } from 'zod';
import { kubernetesText, groupSize, durationText, numberText } from '../../scenario/index.ts';
import { kindWorkers } from '../../run/index.ts';
import { clusterNameRule, isClusterName } from '../../core/index.ts';

/** An option that takes one of these words. */
export function oneOf(
  flags: string,
  about: string,
  words: readonly string[],
  stock?: string,
): Option {
  const option = new Option(flags, about).choices(words);
  return stock === undefined ? option : option.default(stock);
}

/** Commander's reader of a word; several words of one flag that names things are one map. */
export const argumentOf =
  <T>(text: z.ZodType<T, string>) =>
  (word: string, before?: unknown): T => {
    const { success, data, error } = text.safeParse(word);
    if (!success) throw new InvalidArgumentError(error.issues[0]?.message ?? 'It is not valid.');
    return typeof data === 'object' && typeof before === 'object' ? { ...before, ...data } : data;
  };

/** Duration of a wait that would be none at 0. */
export const positiveMs = argumentOf(durationText(1));

/** Whole numbers from `least` to `most`. */
export const numberWithin = (least: number, most: number): ((text: string) => number) =>
  argumentOf(numberText(least, most));

export const kubernetes = argumentOf(kubernetesText);

export const workersWords = `worker nodes (default: ${kindWorkers} on kind, ${groupSize} for a group and on the model)`;
const mostWorkers = 300;

export const workerCount = argumentOf(
  numberText(2, mostWorkers, `At least 2, a victim and a successor, and at most ${mostWorkers}.`),
);

export function clusterName(text: string): string {
  if (isClusterName(text)) return text;
  throw new InvalidArgumentError(`Give ${clusterNameRule}.`);
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

/** Refused when the flag is read: what takes minutes must not end with nowhere to write it. */
export function outputFile(text: string): string {
  const path = resolve(nonEmpty(text));
  try {
    accessSync(`${dirname(path)}/`, constants.W_OK | constants.X_OK);
  } catch {
    throw new InvalidArgumentError(`There is no folder ${dirname(path)} that can be written to.`);
  }
  if (!isFolder(path)) return text;
  throw new InvalidArgumentError('It is a folder: give a file.');
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch (error) {
    throw new InvalidArgumentError(`It can't be a file: ${(error as Error).message}.`);
  }
}

const seedLength = 200;

export function seedText(text: string): string {
  if (nonEmpty(text).length <= seedLength) return text;
  throw new InvalidArgumentError(`At most ${seedLength} characters.`);
}
