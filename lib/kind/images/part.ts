/** A part of the image set: one image, made by shell commands, cached under a key of its inputs. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';

export interface ImageStep {
  readonly name: string;
  readonly ref: string;
  /** Bash lines that make `ref`, in order: run in the project's root, with `WORK` a scratch folder. */
  readonly commands: readonly string[];
}

/** A step of our own making: `ref` is `forcedetach/<name>:<key>`. */
export interface ImagePart extends ImageStep {
  /** 12 hex digits of a hash over all that decides the image's content. */
  readonly key: string;
}

/** Code of ours that goes into an image, as it is. */
export interface StagedCode {
  /** All files of our own that decide the image, absolute. */
  readonly files: readonly string[];
  /** The packages it takes, `path@version`. */
  readonly settings: readonly string[];
  /** Bash lines that lay everything out under `$WORK/app`. */
  readonly commands: readonly string[];
}

export interface PartInputs {
  /** Files and folders whose content decides the image; folders are taken whole. */
  readonly files: readonly string[];
  /** Versions, package lists and other settings that decide it. */
  readonly settings: readonly string[];
  /** Default: none. */
  readonly needs?: readonly ImagePart[];
}

/** Label of an image that was built here: the name of its part. */
export const partLabel = 'forcedetach.part';

/** Labels of an image, as arguments of an import or a commit. */
export const labelChanges = (name: string, key: string): string =>
  `--change 'LABEL ${partLabel}=${name}' --change 'LABEL forcedetach.key=${key}'`;

export function definePart(
  name: string,
  inputs: PartInputs,
  commands: (key: string, ref: string) => readonly string[],
): ImagePart {
  const needs = inputs.needs ?? [];
  // The commands are an input too, so they name no place on this machine (that is `$WORK`).
  const settings = [...inputs.settings, ...needs.map((part) => part.key), ...commands('', '')];
  const key = contentKey(inputs.files, settings);
  const ref = `forcedetach/${name}:${key}`;
  return { name, key, ref, commands: commands(key, ref) };
}

/** Hash of files (by name within their root and content) and settings: 12 hex digits. */
export function contentKey(files: readonly string[], settings: readonly string[]): string {
  const hash = createHash('sha256');
  for (const root of files) {
    for (const path of filesUnder(root)) {
      const content = readFileSync(path);
      const name = relative(root, path) || basename(path);
      hash.update(`file ${name} ${statSync(path).mode & 0o111} ${content.length}\n`);
      hash.update(content);
    }
  }
  hash.update(JSON.stringify(settings));
  return hash.digest('hex').slice(0, 12);
}

/** The file itself, or all files in a folder, sorted by path. */
export function filesUnder(root: string): string[] {
  if (!statSync(root).isDirectory()) return [root];
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((name) => join(root, name))
    .filter((path) => statSync(path).isFile())
    .toSorted();
}
