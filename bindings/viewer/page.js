// SPDX-License-Identifier: MIT
// Parts of the page. What comes from a file goes in as text.

import { valueText } from './value_text.js';

export const $ = (id) => document.getElementById(id);

export function element(name, attributes = {}, ...children) {
    const out = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        out.setAttribute(key, value);
    }
    out.append(...children);
    return out;
}

export function definitions(list, entries) {
    list.replaceChildren(...entries.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, valueText(value))]));
}

/** Bars as an SVG with a text that says the same. */
export function bars(parent, values, title) {
    const svgNamespace = 'http://www.w3.org/2000/svg';
    const svg = document.createElementNS(svgNamespace, 'svg');
    const high = Math.max(...values, Number.MIN_VALUE);
    svg.setAttribute('viewBox', `0 0 ${values.length * 10} 100`);
    svg.setAttribute('preserveAspectRatio', 'none');
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', title);
    values.forEach((value, i) => {
        const bar = document.createElementNS(svgNamespace, 'rect');
        const height = (100 * value) / high;
        const place = { x: i * 10 + 1, y: 100 - height, width: 8, height };
        Object.entries(place).forEach(([key, number]) => bar.setAttribute(key, number));
        svg.append(bar);
    });
    parent.replaceChildren(svg);
}

const ROW_PIXELS = 28, AROUND = 20, SCROLL_PIXELS_MAX = 8e6;

/** A table of which only the rows in sight are there. `read(start, count)` gives their cells: text, or null. */
export class RowTable {
    #parent;
    #names;
    #count;
    #read;
    #body;
    #drawn = 0;

    /** @param onError is told what scrolling ran into */
    constructor(parent, names, count, read, onError) {
        this.#parent = parent;
        this.#names = names;
        this.#count = count;
        this.#read = read;
        this.#body = element('tbody');
        const head = element('tr', {}, element('th', { scope: 'col' }, '#'),
            ...names.map((name) => element('th', { scope: 'col' }, name)));
        const table = element('table', { 'aria-rowcount': count + 1 }, element('thead', {}, head), this.#body);
        parent.replaceChildren(table);
        parent.onscroll = () => this.draw().catch(onError);
        parent.scrollTop = 0;
    }

    /** Browsers make no element of any height: rows of very long tables share pixels. */
    get #scale() {
        return Math.max(1, (this.#count * ROW_PIXELS) / SCROLL_PIXELS_MAX);
    }

    go(row) {
        this.#parent.scrollTop = (row * ROW_PIXELS) / this.#scale;
        return this.draw();
    }

    async draw() {
        const turn = ++this.#drawn;
        const first = Math.floor((this.#parent.scrollTop * this.#scale) / ROW_PIXELS);
        const inSight = Math.ceil(this.#parent.clientHeight / ROW_PIXELS);
        const begin = Math.max(0, Math.min(first, this.#count - inSight) - AROUND);
        const count = Math.min(this.#count - begin, inSight + 2 * AROUND);
        const rows = await this.#read(begin, count);
        if (turn !== this.#drawn) {
            return;
        }
        const top = Math.max(0, this.#parent.scrollTop - (first - begin) * ROW_PIXELS);
        const whole = (this.#count * ROW_PIXELS) / this.#scale;
        const space = (height) => {
            const cell = element('td', { colspan: this.#names.length + 1 });
            cell.style.height = `${Math.max(0, height)}px`;
            return element('tr', { class: 'space', 'aria-hidden': 'true' }, cell);
        };
        this.#body.replaceChildren(space(top), ...rows.map((row, i) => this.#row(row, begin + i)),
            space(whole - top - rows.length * ROW_PIXELS));
    }

    #row(cells, index) {
        const all = cells.map((text) => (text === null ? element('td', { class: 'null' }, 'null')
            : element('td', { title: text }, text.slice(0, 300))));
        return element('tr', { 'aria-rowindex': index + 2 }, element('th', { scope: 'row' }, String(index)), ...all);
    }
}
