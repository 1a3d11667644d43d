/** When a writer is fit to be watched, and when it is silent. */

/** It has written so often, and not longer ago than this. */
export const steadyWrites = 20;
export const steadyMs = 3000;
/** No answer for so long at the end: it hangs, or is gone. Errors come each 200 ms. */
export const silentMs = 5000;
