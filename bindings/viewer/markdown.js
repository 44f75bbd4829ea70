// SPDX-License-Identifier: MIT
// Markdown of a file's card as elements. The text comes from strangers: it becomes text nodes and a few kinds of elements, never
// HTML. Links are http, https or mailto; images are their description, for fetching one tells its server who reads.

const LINK = /^(https?:\/\/|mailto:)[^\s<>"]+$/i;
const DEPTH_MAX = 8; // of marks in marks
const TEXT_MAX = 200000;
const INLINE_MAX = 10000; // a longer paragraph stays as it is: looking for marks takes its length squared at worst

// Code first: what is in it is text. Then images, links, strong, emphasis, bare links.
const INLINE = new RegExp([
    '(?<ticks>`+)(?<code>[^`](?:.*?[^`])?)\\k<ticks>(?!`)',
    '!\\[(?<alt>[^\\]]*)\\]\\([^)]*\\)',
    '\\[(?<label>[^\\]]+)\\]\\((?<target>[^\\s)]+)(?:\\s+"[^"]*")?\\)',
    '\\*\\*(?<strong>[^*]+)\\*\\*',
    '\\*(?<em>[^*\\s][^*]*)\\*',
    '(?<bare>https?://[^\\s<>"\')\\]]+)',
].join('|'), 'i');

function element(name, ...children) {
    const out = document.createElement(name);
    out.append(...children);
    return out;
}

function link(target, children) {
    if (!LINK.test(target)) {
        return element('span', ...children);
    }
    const out = element('a', ...children);
    out.setAttribute('href', target);
    out.setAttribute('rel', 'noopener noreferrer nofollow');
    out.setAttribute('target', '_blank');
    return out;
}

function inlineMatch({ code, alt, label, target, strong, em, bare }, depth) {
    if (code !== undefined) {
        return element('code', code);
    }
    if (alt !== undefined) {
        return element('em', `[image: ${alt}]`);
    }
    if (label !== undefined) {
        return link(target, inline(label, depth + 1));
    }
    if (strong !== undefined) {
        return element('strong', ...inline(strong, depth + 1));
    }
    return em !== undefined ? element('em', ...inline(em, depth + 1)) : link(bare, [bare]);
}

function inline(text, depth = 0) {
    const out = [];
    for (let rest = text; rest !== '';) {
        const match = depth < DEPTH_MAX && text.length < INLINE_MAX ? INLINE.exec(rest) : null;
        if (match === null) {
            out.push(rest);
            break;
        }
        if (match.index > 0) {
            out.push(rest.slice(0, match.index));
        }
        out.push(inlineMatch(match.groups, depth));
        rest = rest.slice(match.index + match[0].length);
    }
    return out;
}

const HEADING = /^(#{1,6})\s+(.*?)\s*#*$/, ITEM = /^\s*(?:[-*+]|(\d+)[.)])\s+(.*)$/, FENCE = /^\s*(```|~~~)/, QUOTE = /^\s*>\s?(.*)$/;

function takeFence(lines, mark) {
    const body = [];
    while (lines.length > 0) {
        const line = lines.shift();
        if (line.trim().startsWith(mark)) {
            break;
        }
        body.push(line);
    }
    return element('pre', element('code', body.join('\n')));
}

function takeList(lines) {
    const list = element(ITEM.exec(lines[0])[1] === undefined ? 'ul' : 'ol');
    while (lines.length > 0 && ITEM.test(lines[0])) {
        const text = [ITEM.exec(lines.shift())[2]];
        while (lines.length > 0 && /^\s+\S/.test(lines[0]) && !ITEM.test(lines[0])) {
            text.push(lines.shift().trim());
        }
        list.append(element('li', ...inline(text.join(' '))));
    }
    return list;
}

function takeQuote(lines) {
    const text = [];
    while (lines.length > 0 && QUOTE.test(lines[0])) {
        text.push(QUOTE.exec(lines.shift())[1]);
    }
    return element('blockquote', ...inline(text.join(' ')));
}

function takeParagraph(lines) {
    const text = [lines.shift().trim()];
    while (lines.length > 0 && lines[0].trim() !== '' && ![HEADING, ITEM, FENCE, QUOTE].some((mark) => mark.test(lines[0]))) {
        text.push(lines.shift().trim());
    }
    return element('p', ...inline(text.join(' ')));
}

/** Elements for a text; headings begin at h3, below those of the page. */
export function renderMarkdown(text) {
    const lines = text.slice(0, TEXT_MAX).replaceAll('\r\n', '\n').split('\n');
    const out = [];
    while (lines.length > 0) {
        const [line] = lines;
        const heading = HEADING.exec(line), fence = FENCE.exec(line);
        if (line.trim() === '') {
            lines.shift();
        } else if (fence !== null) {
            lines.shift();
            out.push(takeFence(lines, fence[1]));
        } else if (heading !== null) {
            lines.shift();
            out.push(element(`h${Math.min(6, heading[1].length + 2)}`, ...inline(heading[2])));
        } else if (ITEM.test(line)) {
            out.push(takeList(lines));
        } else {
            out.push(QUOTE.test(line) ? takeQuote(lines) : takeParagraph(lines));
        }
    }
    return out;
}
