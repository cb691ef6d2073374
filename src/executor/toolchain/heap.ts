// The heap of compilers and linkers: they fill it, and end.

/**
 * In the environment of one, it has the kernel give the heap in pages of 2 MiB, where the host has these (glibc 2.35): a page
 * fault in place of hundreds. A lone `gcc` takes ×0.88 of the CPU time, a link of C++ by the default linker ×0.8, by gold ×0.9.
 */
export const hugeHeap = 'GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.top_pad=8388608'
