// The built-in product, compiled once per instruction set from gemm_kernels.cc; gemm.cc picks one
// at run time.
#pragma once

#include "kernels/cpu/gemm.h"

namespace arenagrad::cpu {

void gemm_baseline(const Product<float>& product, const Panel<float>& panel);
void gemm_baseline(const Product<double>& product, const Panel<double>& panel);
#ifdef ARENAGRAD_X86
void gemm_avx2(const Product<float>& product, const Panel<float>& panel);
void gemm_avx2(const Product<double>& product, const Panel<double>& panel);
void gemm_avx512(const Product<float>& product, const Panel<float>& panel);
void gemm_avx512(const Product<double>& product, const Panel<double>& panel);
#endif

}  // namespace arenagrad::cpu
