// Functions compiled for several instruction sets at once, of which the program picks one when it
// starts. No multiply-add is fused in any copy (-ffp-contract=off), so the copies agree to the bit.
#pragma once

/// Before a function definition that isn't a template. What it calls is compiled along if inlined.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define ARENAGRAD_PER_MACHINE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ARENAGRAD_PER_MACHINE
#endif
#define ARENAGRAD_INLINE __attribute__((always_inline)) inline
