#include "engine/measure.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace fusescope {
namespace {

constexpr int kLeastRuns = 3;
constexpr int kMostRuns = 12;         // that agree
constexpr int kMostDisagreeing = 48;  // within the budget
constexpr double kAgreeing = 0.1;     // spread
constexpr double kBudgetMs = 60;      // for one kernel, after the warm-up
constexpr double kClearlySlower = 2;  // than the best so far: no need to know exactly
constexpr std::int64_t kPatternElements = 4096;

double millisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// A short run of values in [-1, 1] that repeats through a tensor.
Tensor floatPattern(DataType type) {
  Tensor pattern = Tensor::zeros(DataType::F32, {kPatternElements});
  std::uint32_t state = 0x9e3779b9U;
  for (float& value : pattern.mutableData<float>()) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(state >> 8) / 8388608.0F - 1.0F;
  }
  return pattern.converted(type);
}

double spreadOf(std::vector<double> samples) {
  if (samples.size() < 2) return 1;
  std::ranges::sort(samples);
  const double quarter = samples[std::max<std::size_t>(1, samples.size() / 4)];
  return samples.front() > 0 ? quarter / samples.front() - 1 : 0;
}

}  // namespace

void fillPlausible(const TensorDesc& desc, std::byte* bytes) {
  const std::size_t size = desc.bytes();
  if (!isFloat(desc.dtype)) {
    std::memset(bytes, 0, size);
    return;
  }
  const Tensor pattern = floatPattern(desc.dtype);
  for (std::size_t at = 0; at < size; at += pattern.byteSize())
    std::memcpy(bytes + at, pattern.bytes(), std::min(pattern.byteSize(), size - at));
}

std::optional<KernelTime> measureKernel(const Kernel& kernel, std::span<const TensorDesc> inputs,
                                        std::span<const TensorDesc> outputs, std::optional<double> bestSoFar) {
  std::vector<AlignedMemory> memory;
  std::vector<const std::byte*> in;
  std::vector<std::byte*> out;
  for (const TensorDesc& desc : inputs) {
    fillPlausible(desc, memory.emplace_back(desc.bytes()).data());
    in.push_back(memory.back().data());
  }
  for (const TensorDesc& desc : outputs) out.push_back(memory.emplace_back(desc.bytes()).data());
  const AlignedMemory scratch(kernel.workspaceBytes());

  const auto timedRun = [&]() -> std::optional<double> {
    const auto start = std::chrono::steady_clock::now();
    if (!kernel.run(in, out, scratch.data()).ok()) return std::nullopt;
    return millisecondsSince(start);
  };
  const std::optional<double> warmUp = timedRun();
  if (!warmUp) return std::nullopt;
  double best = *warmUp, spent = 0;
  std::vector<double> samples;
  for (int run = 0; run < kMostDisagreeing; ++run) {
    const bool clearlySlower = bestSoFar && best > kClearlySlower * *bestSoFar;
    if (run >= kLeastRuns && (spent >= kBudgetMs || clearlySlower)) break;
    if (clearlySlower && spent >= kBudgetMs) break;
    if (run >= kMostRuns && spreadOf(samples) <= kAgreeing) break;
    const std::optional<double> ms = timedRun();
    if (!ms) return std::nullopt;
    best = run == 0 ? *ms : std::min(best, *ms);
    samples.push_back(*ms);
    spent += *ms;
  }
  return KernelTime{.ms = best, .spread = spreadOf(samples)};
}

}  // namespace fusescope
