/** One server on one volume, which moves with it. */
import type { DatabaseDeclaration } from './kind.ts';

export const singleServer = {
  name: 'single-server',
  is: 'one server on one volume, which moves with it',
} as const satisfies DatabaseDeclaration;
