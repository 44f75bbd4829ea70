/* SPDX-License-Identifier: MIT */
#include "core/arrow/sort.h"

static int pair_less(const ald__pair *x, const ald__pair *y)
{
    return x->a != y->a ? x->a < y->a : x->b < y->b;
}

static void pairs_sift_down(ald__pair *heap, size_t root, size_t count)
{
    ald__pair moving = heap[root];
    for (;;) {
        size_t child = 2 * root + 1;
        if (child >= count)
            break;
        if (child + 1 < count && pair_less(&heap[child], &heap[child + 1]))
            child++;
        if (!pair_less(&moving, &heap[child]))
            break;
        heap[root] = heap[child];
        root = child;
    }
    heap[root] = moving;
}

static int pairs_are_sorted(const ald__pair *pairs, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (pair_less(&pairs[i], &pairs[i - 1]))
            return 0;
    }
    return 1;
}

void ald__pairs_sort(ald__pair *pairs, size_t count)
{
    if (pairs_are_sorted(pairs, count))
        return;
    for (size_t i = count / 2; i-- > 0;)
        pairs_sift_down(pairs, i, count);
    for (size_t end = count - 1; end > 0; end--) {
        ald__pair top = pairs[0];
        pairs[0] = pairs[end];
        pairs[end] = top;
        pairs_sift_down(pairs, 0, end);
    }
}
