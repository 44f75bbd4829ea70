// SPDX-License-Identifier: MIT
import { init } from 'alimentar';
import wasm from 'alimentar/ald.wasm?url';
import { roundTrip } from './round_trip.js';

init(wasm).then(roundTrip).then(postMessage, (error) => postMessage(`failed: ${error.stack}`));
