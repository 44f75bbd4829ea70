// SPDX-License-Identifier: MIT
// A page as a bundler's user writes it: the package by its name, the module as a URL, the same in a worker.
import { init } from 'alimentar';
import wasm from 'alimentar/ald.wasm?url';
import { roundTrip } from './round_trip.js';

const show = (id) => (text) => {
    document.getElementById(id).textContent = text;
};
const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
worker.onmessage = ({ data }) => show('worker')(data);
worker.onerror = ({ message }) => show('worker')(`failed: ${message}`);
const ready = location.search === '?auto' ? Promise.resolve() : init(wasm); // the package finds its module, too
ready.then(roundTrip).then(show('page'), (error) => show('page')(`failed: ${error.stack}`));
