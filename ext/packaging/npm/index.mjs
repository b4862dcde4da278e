// SPDX-License-Identifier: MIT
import highwater from './index.cjs';

export const { getLoadablePath, load } = highwater;
