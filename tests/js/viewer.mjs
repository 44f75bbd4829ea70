// SPDX-License-Identifier: MIT
// The viewer's Markdown with hostile cards, and its numbers: node viewer.mjs VIEWER_FOLDER
import assert from 'node:assert/strict';
import { argv } from 'node:process';
import { pathToFileURL } from 'node:url';
import { finish, test } from './harness.mjs';

// As much of a document as the renderer uses: it remembers what was made.
class Node {
    constructor(name) {
        Object.assign(this, { name, children: [], attributes: {} });
    }

    append(...children) {
        this.children.push(...children);
    }

    setAttribute(key, value) {
        this.attributes[key] = value;
    }

    get textContent() {
        return this.children.map((child) => (typeof child === 'string' ? child : child.textContent)).join('');
    }
}
globalThis.document = { createElement: (name) => new Node(name) };

const { renderMarkdown } = await import(pathToFileURL(`${argv[2]}/markdown.js`));
const { common, histogram, lowBitEntropy } = await import(pathToFileURL(`${argv[2]}/columns.js`));

const ALLOWED = new Set(['p', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'pre', 'code', 'blockquote', 'strong', 'em', 'a', 'span']);

function all(nodes) {
    return nodes.flatMap((node) => (typeof node === 'string' ? [] : [node, ...all(node.children)]));
}

const textOf = (nodes) => nodes.map((node) => node.textContent).join('\n');

await test('Markdown becomes elements', () => {
    const nodes = renderMarkdown('# Title\n\nA *b* **c** `d` [e](https://x.org/a "t")\nnext\n\n- one\n- two\n  more\n\n1. x\n\n> q\n\n```\n<b>\n```\n');
    assert.deepEqual(nodes.map((node) => node.name), ['h3', 'p', 'ul', 'ol', 'blockquote', 'pre']);
    assert.deepEqual(all(nodes).map((node) => node.name).filter((name) => ['em', 'strong', 'a'].includes(name)), ['em', 'strong', 'a']);
    assert.equal(nodes[2].children[1].textContent, 'two more');
    assert.equal(nodes[5].textContent, '<b>');
});

const HOSTILE = [
    '<script>alert(1)</script>', '<img src=x onerror=alert(1)>', '[x](javascript:alert(1))', '[x](JaVaScRiPt:alert(1))',
    '[x](data:text/html,<script>alert(1)</script>)', '[x](vbscript:msgbox)', '[x](//evil.example)', '[x](\u0001javascript:alert(1))',
    '![x](https://evil.example/pixel.png)', '[a](https://x.org/"onmouseover="alert(1))', '<a href="javascript:1">x</a>',
    '[<img src=x onerror=alert(1)>](https://x.org)', '`<svg onload=alert(1)>`', '**<iframe src=x>**', '# <style>*{}</style>',
    '[[x](javascript:1)](https://x.org)', `${'['.repeat(500)}x${'](https://x.org)'.repeat(500)}`, `${'*'.repeat(5000)}`, `${'`'.repeat(9999)}`, '`'.repeat(1e5), '`a'.repeat(5000), '[a]('.repeat(2500), '**a'.repeat(3000), '![a'.repeat(3000),
    `${'> '.repeat(2000)}x`, '&lt;script&gt;', '[x](https://x.org/&quot;onclick=1)',
];

await test('a hostile card is text', () => {
    for (const card of HOSTILE) {
        const started = process.cpuUsage();
        const nodes = renderMarkdown(card);
        assert.ok(process.cpuUsage(started).user < 2e6, `slow: ${card.slice(0, 40)}`);
        for (const node of all(nodes)) {
            assert.ok(ALLOWED.has(node.name), `${node.name} from ${card}`);
            const { href, ...others } = node.attributes;
            assert.deepEqual(Object.keys(others).filter((key) => !['rel', 'target'].includes(key)), []);
            assert.ok(href === undefined || /^(https?:\/\/|mailto:)[^\s<>"]+$/i.test(href), href);
            assert.equal(href !== undefined, node.name === 'a');
        }
    }
    assert.equal(textOf(renderMarkdown(HOSTILE[0])), HOSTILE[0]);
});

await test('histogram, frequent values, entropy of low bits', () => {
    const counts = histogram([0, 1, 2, 3, null, NaN, 31.9, 32n]);
    assert.equal(counts.count, 6);
    assert.equal(counts.counts.length, 32);
    assert.equal(counts.counts[31], 2);
    assert.equal(histogram(['a', null]), null);
    assert.equal(histogram([5, 5]).counts[0], 2);
    assert.deepEqual(common(['a', 'b', 'a', null])[0], ['a', 2]);
    const quarters = lowBitEntropy(Float64Array.from({ length: 100 }, (_, i) => i / 4));
    assert.deepEqual(quarters, new Array(16).fill(0));
    const noise = lowBitEntropy(Float64Array.from({ length: 20000 }, (_, i) => Math.sqrt(i + 2)));
    assert.ok(noise.every((bit) => bit > 0.99), String(noise));
    assert.equal(lowBitEntropy(Float32Array.of(NaN, 0)), null);
    assert.equal(lowBitEntropy(Float32Array.from({ length: 1000 }, (_, i) => Math.fround(Math.sqrt(i + 2)))).length, 16);
});

finish();
