// One thread's matrix products of the sizes that convolutions make: the built-in GEMM on a ready
// panel, the same with the packing of that panel, Eigen's, and OpenBLAS's where it is found. c[m,n]
// = a[m,k] * b[k,n], fp32. items_per_second counts floating-point operations.
#include <benchmark/benchmark.h>

#include <Eigen/Core>
#include <vector>

#include "kernels/cpu/gemm.h"

#ifdef ARENAGRAD_BENCH_OPENBLAS
#include <cblas.h>
#endif

namespace {

using namespace arenagrad;

struct Matrices {
  explicit Matrices(const benchmark::State& state)
      : m(state.range(0)),
        n(state.range(1)),
        k(state.range(2)),
        a(static_cast<std::size_t>(m * k), 0.5f),
        b(static_cast<std::size_t>(cpu::panel_elements<float>(k, n)), 0.25f),
        c(static_cast<std::size_t>(m * n)) {}
  void count(benchmark::State& state) const {
    state.SetItemsProcessed(state.iterations() * 2 * m * n * k);
  }
  std::int64_t m, n, k;
  std::vector<float> a, b, c;
};

void built_in(benchmark::State& state) {
  Matrices x(state);
  std::vector<float> packed(x.b.size() + 16);
  float* aligned =
      packed.data() + (64 - reinterpret_cast<std::uintptr_t>(packed.data()) % 64) % 64 / 4;
  const cpu::Panel<float> panel(x.k, x.n, aligned);
  cpu::pack(panel, x.b.data(), x.n);
  for (auto _ : state) {
    cpu::gemm({x.m, x.a.data(), x.k, 1, x.c.data(), x.n, false}, panel);
    benchmark::ClobberMemory();
  }
  x.count(state);
}

void built_in_with_packing(benchmark::State& state) {
  Matrices x(state);
  std::vector<float> packed(x.b.size() + 16);
  float* aligned =
      packed.data() + (64 - reinterpret_cast<std::uintptr_t>(packed.data()) % 64) % 64 / 4;
  const cpu::Panel<float> panel(x.k, x.n, aligned);
  for (auto _ : state) {
    cpu::pack(panel, x.b.data(), x.n);
    cpu::gemm({x.m, x.a.data(), x.k, 1, x.c.data(), x.n, false}, panel);
    benchmark::ClobberMemory();
  }
  x.count(state);
}

void eigen(benchmark::State& state) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Matrices x(state);
  const Eigen::Map<const Matrix> a(x.a.data(), x.m, x.k), b(x.b.data(), x.k, x.n);
  Eigen::Map<Matrix> c(x.c.data(), x.m, x.n);
  for (auto _ : state) {
    c.noalias() = a * b;
    benchmark::ClobberMemory();
  }
  x.count(state);
}

#ifdef ARENAGRAD_BENCH_OPENBLAS
void openblas(benchmark::State& state) {
  openblas_set_num_threads(1);
  Matrices x(state);
  const auto m = static_cast<blasint>(x.m), n = static_cast<blasint>(x.n),
             k = static_cast<blasint>(x.k);
  for (auto _ : state) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0f, x.a.data(), k, x.b.data(),
                n, 0.0f, x.c.data(), n);
    benchmark::ClobberMemory();
  }
  state.SetLabel(openblas_get_corename());
  x.count(state);
}
#endif

/// m, n, k of ResNet-18's forward by stage, its stem, and a tile of pixels.
void sizes(benchmark::internal::Benchmark* bench) {
  bench->Args({64, 3136, 576})->Args({128, 784, 1152})->Args({256, 196, 2304});
  bench->Args({512, 49, 4608})->Args({64, 12544, 147})->Args({64, 256, 576});
}

BENCHMARK(built_in)->Apply(sizes);
BENCHMARK(built_in_with_packing)->Apply(sizes);
BENCHMARK(eigen)->Apply(sizes);
#ifdef ARENAGRAD_BENCH_OPENBLAS
BENCHMARK(openblas)->Apply(sizes);
#endif

}  // namespace

int main(int argc, char** argv) {
  cpu::prepare_gemm();
  benchmark::AddCustomContext("gemm", cpu::gemm_kernel_description());
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
