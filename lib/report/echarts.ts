/** ECharts as one file: a page carries it, and the static pictures are drawn with it. */
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isCheckout } from '../checkout.ts';

/** The npm package has a copy of its own. */
export const echartsFile: string = isCheckout
  ? createRequire(import.meta.url).resolve('echarts/dist/echarts.min.js')
  : fileURLToPath(new URL('echarts.min.cjs', import.meta.url));
