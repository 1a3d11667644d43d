/** The engine's words in recipes of images: lines of bash, with `$WORK` a scratch folder. */
import { program } from './commands.ts';

export const hasImage = (ref: string): string => `${program} image inspect ${ref} >/dev/null 2>&1`;

export const pull = (ref: string): string => `${program} pull ${ref}`;

interface Pinned {
  /** Without TLS. */
  readonly insecure: boolean;
  /** What the image must say of itself. */
  readonly label: string;
  readonly value: string;
}

/** Pulls the bytes that the registry has under a tag now, by digest, and checks their label. */
export function pullPinned(ref: string, { insecure, label, value }: Pinned): string[] {
  const how = insecure ? '--insecure --verbose' : '--verbose';
  const format = `'{{index .Config.Labels "${label}"}}'`;
  return [
    // Of what it prints the first digest is the manifest's; its layers' come after.
    `digest=$(${program} manifest inspect ${how} ${ref} | grep -o 'sha256:[0-9a-f]*' | sed -n 1p)`,
    `pinned=${ref.slice(0, ref.lastIndexOf(':'))}@$digest`,
    `${program} pull --quiet "$pinned"`,
    `[ "$(${program} image inspect --format ${format} "$pinned")" = ${value} ]`,
    `${program} tag "$pinned" ${ref}`,
  ];
}

/** `context`: the folder that the file copies from. */
export const build = (flags: string, file: string, ref: string, context: string): string =>
  `${program} build ${flags} --file ${file} --tag ${ref} ${context}`;

/** Changes, the tar file and the reference follow. */
export const importTar = `${program} import`;

interface AddedFolder {
  /** Name of a container that is there meanwhile. */
  readonly container: string;
  readonly from: string;
  /** From where on this machine to where in the image. */
  readonly folder: readonly [from: string, to: string];
  readonly changes: string;
  readonly ref: string;
}

/** An image with one folder more. */
export const addFolder = ({ container, from, folder, changes, ref }: AddedFolder): string[] => [
  `${program} rm --force ${container} >/dev/null 2>&1 || true`,
  `${program} create --name ${container} ${from}`,
  `${program} cp ${folder[0]} ${container}:${folder[1]}`,
  `${program} commit ${changes} ${container} ${ref}`,
  `${program} rm ${container}`,
];
