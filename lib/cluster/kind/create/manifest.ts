/** Manifests under manifests/, read with their `${NAMES}` filled in. */
import { readFile } from 'node:fs/promises';
import type { KubernetesObject } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { InfrastructureError } from '../../../errors.ts';

const manifests = new URL('../../../../manifests/', import.meta.url);

/** `path` is relative to manifests/. */
export const readManifest = async (
  path: string,
  values: Readonly<Record<string, string | number>>,
): Promise<KubernetesObject[]> =>
  fillManifest(await readFile(new URL(path, manifests), 'utf8'), values);

/** Throws InfrastructureError `MANIFEST_INVALID` for a name without a value, or bad YAML. */
export function fillManifest(
  text: string,
  values: Readonly<Record<string, string | number>>,
): KubernetesObject[] {
  const filled = text.replaceAll(/^[^#\n]*\$\{.*$/gm, (line) =>
    line.replaceAll(/\$\{([A-Z_]+)\}/g, (_, name: string) => {
      const value = values[name];
      if (value === undefined) throw invalid(`\${${name}} has no value`);
      return String(value);
    }),
  );
  return parseAllDocuments(filled).map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw invalid(error.message);
    return document.toJS() as KubernetesObject;
  });
}

const invalid = (why: string): InfrastructureError =>
  new InfrastructureError('MANIFEST_INVALID', `a manifest cannot be used: ${why}`);
