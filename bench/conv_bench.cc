// Speed of every convolution shape of a network: conv_bench [resnet18|resnet50|alexnet] [batch]
// [threads] [seconds per measurement]. One line per shape: how often it occurs, then milliseconds
// and GFLOP/s of each pass, and GFLOP/s of one thread's plain matrix product of one image's size,
// nothing to unroll.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/cpu/convolution.h"
#include "kernels/cpu/gemm.h"

namespace {

using namespace arenagrad;

struct Line {
  std::int64_t times, in, out, size, kernel, stride, pad;
};

std::vector<Line> lines_of(const std::string& model) {
  if (model == "alexnet")
    return {{1, 3, 64, 224, 11, 4, 2},
            {1, 64, 192, 27, 5, 1, 2},
            {1, 192, 384, 13, 3, 1, 1},
            {1, 384, 256, 13, 3, 1, 1},
            {1, 256, 256, 13, 3, 1, 1}};
  std::vector<Line> lines = {{1, 3, 64, 224, 7, 2, 3}};
  if (model == "resnet50") {
    const std::int64_t blocks[] = {3, 4, 6, 3};
    std::int64_t in = 64, size = 56;
    for (std::int64_t stage = 0, width = 64; stage < 4; ++stage, width *= 2) {
      const std::int64_t stride = stage == 0 ? 1 : 2, half = size / stride;
      lines.push_back({1, in, width, size, 1, 1, 0});
      lines.push_back({1, width, width, size, 3, stride, 1});
      lines.push_back({1, in, 4 * width, size, 1, stride, 0});
      lines.push_back({blocks[stage], width, 4 * width, half, 1, 1, 0});
      lines.push_back({blocks[stage] - 1, 4 * width, width, half, 1, 1, 0});
      lines.push_back({blocks[stage] - 1, width, width, half, 3, 1, 1});
      in = 4 * width, size = half;
    }
    return lines;
  }
  lines.push_back({4, 64, 64, 56, 3, 1, 1});
  for (std::int64_t in = 64, size = 56; in < 512; in *= 2, size /= 2) {
    lines.push_back({1, in, 2 * in, size, 3, 2, 1});
    lines.push_back({1, in, 2 * in, size, 1, 2, 0});
    lines.push_back({3, 2 * in, 2 * in, size / 2, 3, 1, 1});
  }
  return lines;
}

double now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Best of the rounds that fit into `seconds`, at least three. One thread is timed by its own
/// clock, which other programs hardly disturb; several by the wall's.
template <class Fn>
double best_seconds(double seconds, int threads, const Fn& fn) {
  const clockid_t clock = threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  double best = 1e30, total = 0;
  for (int round = 0; round < 3 || total < seconds; ++round) {
    const double begin = now(clock);
    fn();
    const double taken = now(clock) - begin;
    if (round > 0) best = std::min(best, taken);
    total += taken;
  }
  return best;
}

struct Buffer {
  explicit Buffer(std::int64_t elements) : memory(elements) {
    for (std::size_t i = 0; i < memory.size(); ++i)
      memory[i] = static_cast<float>(i % 251) / 251 - 0.5f;
  }
  std::vector<float> memory;
  Tensor view(std::initializer_list<std::int64_t> dims) {
    return {memory.data(), Shape(dims), DType::f32};
  }
};

/// GFLOP/s of a plain product of a pass's size on one thread, nothing to unroll or pack.
double plain_product(const ConvProblem& p, ConvPass pass, double seconds) {
  const std::int64_t filter = p.in_channels * p.kernel_h * p.kernel_w;
  const std::int64_t pixels = p.out_h * p.out_w;
  const std::int64_t m = pass == ConvPass::forward ? p.out_channels : filter;
  const std::int64_t n = pass == ConvPass::backward_filter ? p.out_channels : pixels;
  const std::int64_t k = pass == ConvPass::forward         ? filter
                         : pass == ConvPass::backward_data ? p.out_channels
                                                           : pixels;
  Buffer a(m * k), b(cpu::panel_elements<float>(k, n)), c(m * n);
  const cpu::Panel<float> panel(k, n, b.memory.data());
  const double taken = best_seconds(seconds, 1, [&] {
    cpu::gemm({m, a.memory.data(), k, 1, c.memory.data(), n, false}, panel);
  });
  return 2e-9 * static_cast<double>(m * n) * static_cast<double>(k) / taken;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string model = argc > 1 ? argv[1] : "resnet18";
  const std::int64_t batch = argc > 2 ? std::atoll(argv[2]) : 8;
  const int threads = argc > 3 ? std::atoi(argv[3]) : 2;
  const double seconds = argc > 4 ? std::atof(argv[4]) : 0.2;
  const bool with_plain = argc <= 5;

  cpu::prepare_gemm();
  std::printf("%s, batch %lld, %d threads, f32, %s\n", model.c_str(), static_cast<long long>(batch),
              threads, cpu::gemm_kernel_description().c_str());
  std::printf("%-28s %5s  %-17s  %-17s  %-17s %s\n", "shape", "times", "forward", "to data",
              "to filter", "| plain, 1 thread");
  double total_seconds[3] = {}, total_flops[3] = {};
  bool first = true;
  for (const Line& line : lines_of(model)) {
    const std::int64_t size = (line.size + 2 * line.pad - line.kernel) / line.stride + 1;
    const ConvProblem p{batch,       line.in,     line.size,   line.size, line.out,  line.kernel,
                        line.kernel, line.stride, line.stride, line.pad,  line.pad,  1,
                        1,           1,           size,        size,      DType::f32};
    Buffer x(batch * line.in * line.size * line.size), y(batch * line.out * size * size);
    Buffer w(line.out * line.in * line.kernel * line.kernel);
    const Tensor xv = x.view({batch, line.in, line.size, line.size});
    const Tensor yv = y.view({batch, line.out, size, size});
    const Tensor wv = w.view({line.out, line.in, line.kernel, line.kernel});
    const double flops = 2.0 * static_cast<double>(batch * line.out * size * size) *
                         static_cast<double>(line.in * line.kernel * line.kernel);
    std::printf("%4lld>%-4lld %3lldx%-3lld k%-2lld s%lld      %5lld",
                static_cast<long long>(line.in), static_cast<long long>(line.out),
                static_cast<long long>(line.size), static_cast<long long>(line.size),
                static_cast<long long>(line.kernel), static_cast<long long>(line.stride),
                static_cast<long long>(line.times));
    for (ConvPass pass : {ConvPass::forward, ConvPass::backward_data, ConvPass::backward_filter}) {
      if (first && pass == ConvPass::backward_data) {  // nobody asks for the images' gradient
        std::printf("  %-17s", "-");
        continue;
      }
      Buffer scratch(static_cast<std::int64_t>(cpu::conv_workspace(p, pass) / 4 + 16));
      const std::size_t skip =
          (64 - reinterpret_cast<std::uintptr_t>(scratch.memory.data()) % 64) % 64;
      const Workspace workspace{scratch.memory.data() + skip / 4, cpu::conv_workspace(p, pass)};
      const double taken = best_seconds(seconds, threads, [&] {
        if (pass == ConvPass::forward)
          cpu::conv_forward(p, 0, xv, wv, {}, yv, workspace, threads);
        else if (pass == ConvPass::backward_data)
          cpu::conv_backward_data(p, 0, yv, wv, xv, Write::overwrite, workspace, threads);
        else
          cpu::conv_backward_filter(p, 0, xv, yv, wv, Write::overwrite, workspace, threads);
      });
      total_seconds[static_cast<int>(pass)] += taken * static_cast<double>(line.times);
      total_flops[static_cast<int>(pass)] += flops * static_cast<double>(line.times);
      std::printf("  %8.2f ms %5.0f", taken * 1e3, flops / taken * 1e-9);
    }
    if (with_plain) {
      std::printf(" |");
      for (ConvPass pass : {ConvPass::forward, ConvPass::backward_data, ConvPass::backward_filter})
        std::printf(" %5.0f", plain_product(p, pass, seconds));
    }
    std::printf("\n");
    std::fflush(stdout);
    first = false;
  }
  double seconds_sum = 0, flops_sum = 0;
  std::printf("%-34s", "all, as often as they occur");
  for (int pass = 0; pass < 3; ++pass) {
    std::printf("  %8.1f ms %5.0f", total_seconds[pass] * 1e3,
                total_flops[pass] / total_seconds[pass] * 1e-9);
    seconds_sum += total_seconds[pass], flops_sum += total_flops[pass];
  }
  std::printf("\nthe three passes: %.1f ms for %.1f GFLOP, %.0f GFLOP/s\n", seconds_sum * 1e3,
              flops_sum * 1e-9, flops_sum / seconds_sum * 1e-9);
}
