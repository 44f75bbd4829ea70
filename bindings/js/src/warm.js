// SPDX-License-Identifier: MIT
// The first large file. Engines run a function as quickly compiled code first, and compile it well, in another thread, once it was
// busy; a large file is in the middle of being inflated then. A few loads of a small one beforehand, and the good code is there
// in time: a third off the first load of 90 MB in Node.js.

const LARGE_BYTES = 8 << 20, TIMES = 6;
// 80 rows of words that come again and again, as save() writes them.
const SMALL_FILE = [
    'QUxERgECAQABAAAAaAUAAIAQAAABAJAAUAAAAAAAAACA/////4AAAAAUAAAADAATABAAEgAMAAQAAAAAABAAAAAAAAAAAAAAABAAAAAEAAEACAAKAAgA',
    'BAAIAAAACAAAAAAAAAABAAAAFAAAABAAEgAEABAAEQAIAAAADAAQAAAAEAAAABgAAAAYAAAAAQUAAAEAAAB2AAAABAAEAAQAAAAAAAAAAAAAAP////8A',
    'AAAAKLUv/WSAD9UqAHawkDwgU6o1AAoAICbhLYhhgugC8qq2hqDXkASV24i0ImSrLKGUW7LsaOG2j0B5JmHgADX2+PVbYs0Sa5aYJSl1AHUAjACPjn9a',
    '/OPhnwz/MHhJ+RIbL0HxkvElFl5i4CM9PkLjIyY+An5kwkcMvOPjHRnvkHinewfCOwD+Hb+LH8S/4W8AEpHwR5AoeAx/9EzgyxICADCMKMuyHJw4BaIA',
    'h/w4D/0MfRna+Tnk52gBhzzg6CfwdyjLsgyfqfCZBB/x+CjGRyI+uj568BHIY3A8ZsVjODzmwmMO/IXHX2D8JcRfpr84+AvIW3K8hcVbPrxFw1sWPFQ+',
    'VOMhFQ91eKjCQwi+8uMrMr5y4iubr1D4yoGn/HjKjKeUeIp9CoWnKPhJj5+8+EmIn2h+8uAnIB9YpS5pG7VJ86QpUhOITZU0aVhpLqxa172k5uMuCQs9',
    '8nITDDdrk11Wq5M3WcvaG07SjphYZVZHVbHSei0Nw8bJdmHtKhpqoKSxViZOc6QWyWWzqkBw6j56w2tdXnXnhppXltW5bZ1kvZCzYVUr+WFaKGZYtqET',
    'JmreOM5qOcthILZt0/ts5sZnUnwmDP+kdzVrs7KRJMUO3DRK3pGbRM10yW8bNRtFMevZS1HZFS0NpfOaKmsDWo6rtJJUu6JFWSI32ppdqn4kSCklXQqb',
    'audN1KWpxG9yH93ol01YOO92VWlzkd5lkXRekLOklk1MuherV/s+6XYeNb9PIkdNs1PatEtSVJWo2H3excRKNXrp7CiRs0YagaOoAYuIiEiKkpJkmQMh',
    'BAhEYdZb6gERMBxG89pIkiSFZQ7zr6PpxUSGuOroI3XQZ4uQKVGwPHgWLKgJZhJl2+c2FtqXAH5KCz/UXHMJReSTYfmRoypV7Qv9zo96YALqq9u5gxpD',
    'jJ4CaRRBezNQ89YF0UeF/Eh7+R7n/8HUm1uMISwFVomm4jYEhuiEJ4iWDaBchCibhhqdQntko0wi6eEUUyGkHDXUHTpBqzmdbRfPkcwCCywGUNqqhtpx',
    'N0VomRIJbfyIOZq9RYvPijWKRsLUKkUZeqAiP2neC8AvIOrDgkoteTUf9i6XRyMkNyRtIeGE1MPJzIs8sSlV1sh+kaazRGCyPUEJoitTanXCUiC3gX5Q',
    '4raw7strvpKiOQXVqxVJcB3Ztk2Z9hxD5uSXTDqZ+SI11+EGxZEMD3IW6o/m5fnRqwXhIHsObwFxLBUEViJuQBtagvHVB4KIc0MTcKxPkAmP4uBNYAwY',
    'Mrb1LXnoLBKgYTyqWZDQCsGJ5Atej1qSWYoXLMovo8F5/evqgHDWtJFGsMiKdQB62GhvGWqto1bjOPamboHdGCKZXoQj44lMk/JwPQwHWZwQYmHsbw9k',
    'TAk+UPOXugTajNSbhJBPsm5vosUpUpOJe0ZK8OP3C4KSBEb3BRWcFmLN8hNL9TFbbNAeACNY4i14mn4Z9Q/wA4b84nNs4b3jC+TZZItPBURSs1+A4Sjg',
    'KT4ib7Z9S/wdErSb3YWC3dp4pGUB8eb/7xd2Xe5XYlxAIMbKBQS4HAMMw46k4gFAlFB7l1NceDjvgQ1UHvx3J0Vk0GwWSynIlADgmw4MK4N6bax3gwA8',
    '17E/KM25pG7NKEvzFmY5vUiRN9UBryaRA10c3/RI3scJC3FHkrJxBCMthMHjwG/9NRVZJjgSquxGzYEr/GbCF9RtCdUW0atVbvl75x16e1Gulv6iMerc',
    'qGx47syLlctOQuq6VZ2lkrOuDEBzmyQQCGmwxW9dQG3TeaR1QopOQyfQJQS0UIqAvO3waMo3BL3x5g7XUzbaP+7Q6awYXtYDYAERAgD+QfXEHCb+TIM=',
].join('');

const warm = new WeakSet(); // modules

/** To be called when so many bytes are about to be loaded. */
export function warmUp(m, size) {
    if (size < LARGE_BYTES || warm.has(m.module)) {
        return;
    }
    warm.add(m.module);
    const source = m.pointer('ald_wasm_source_memory', ...placed(m, Uint8Array.from(atob(SMALL_FILE), (c) => c.charCodeAt(0))));
    const request = m.pointer('ald_wasm_request_new');
    const options = m.call('ald_wasm_request_load', request);
    for (let i = 0; i < TIMES; i++) {
        m.call('ald_dataset_free', m.open('ald_load', source, options, m.host));
    }
    m.call('ald_wasm_request_free', request);
    m.call('ald_wasm_source_free', source);
}

const placed = (m, bytes) => [m.put(bytes), bytes.length];
