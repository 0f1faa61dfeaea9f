#include "session/inputs/cut_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace fusescope {
namespace {

constexpr const char* kOption = "--batch-axis";

/// Returns the number of entries along `axis` that the plan reads for an input; nullopt if the input has no such axis.
std::optional<std::int64_t> entriesTaken(const Plan& plan, const std::string& input, std::size_t axis) {
  const auto spec = std::ranges::find(plan.inputSpecs, input, &InputSpec::name);
  if (spec == plan.inputSpecs.end() || axis >= spec->opt.size()) return std::nullopt;
  return std::max<std::int64_t>(spec->opt[axis], 1);
}

Diagnostic cannotCut(const std::string& input, std::string message) {
  return {.message = std::move(message), .where = {.value = input, .attribute = kOption}};
}

/// Returns the number of samples that `tensor` contains along `axis`.
Result<std::int64_t> samplesIn(const Plan& plan, const std::string& input, const Tensor& tensor, std::size_t axis) {
  const auto taken = entriesTaken(plan, input, axis);
  if (!taken || tensor.container() != Container::None || axis >= tensor.dims().size()) return std::int64_t{1};
  const std::int64_t held = tensor.dims()[axis];
  if (held == 0 || held % *taken != 0)
    return cannotCut(
        input, fmt::format("has {} entries along axis {}, which is not a multiple of the {} that the network reads",
                           held, axis, *taken));
  return held / *taken;
}

/// Returns part `i` of `count` equal parts along `axis`.
Result<Tensor> partOf(const std::string& input, const Tensor& tensor, std::size_t axis, std::int64_t i,
                      std::int64_t count) {
  const bool wholeBytes = tensor.type() != DataType::String && byteSize(tensor.type(), 2) > byteSize(tensor.type(), 1);
  if (!wholeBytes) return cannotCut(input, "its elements cannot be cut into samples");
  Dims dims = tensor.dims();
  dims[axis] /= count;
  const auto split = dims.begin() + static_cast<std::ptrdiff_t>(axis);
  const auto outer = static_cast<std::size_t>(elementCount(Dims(dims.begin(), split)).value_or(0));
  const std::size_t bytes = byteSize(tensor.type(), elementCount(Dims(split, dims.end())).value_or(0));
  Tensor part = Tensor::zeros(tensor.type(), dims);
  for (std::size_t k = 0; k < outer; ++k)
    std::memcpy(part.mutableBytes() + k * bytes,
                tensor.bytes() + (k * static_cast<std::size_t>(count) + static_cast<std::size_t>(i)) * bytes, bytes);
  return part;
}

}  // namespace

Result<std::vector<Sample>> cutSample(const Plan& plan, const Sample& sample, std::int64_t axis) {
  const auto at = static_cast<std::size_t>(axis);
  if (std::ranges::none_of(sample.inputs, [&](const auto& input) { return at < input.second.dims().size(); }))
    return Diagnostic{.message = fmt::format("none of the inputs has an axis {}", axis),
                      .where = {.attribute = kOption},
                      .help = "Axes count from 0; leave the option out where each array is one sample."};
  std::map<std::string, std::int64_t> held;
  std::int64_t count = 1;
  for (const auto& [input, tensor] : sample.inputs) {
    held[input] = TRY(samplesIn(plan, input, tensor, at));
    if (count > 1 && held[input] > 1 && held[input] != count)
      return cannotCut(input, fmt::format("contains {} samples, but other inputs contain {}", held[input], count));
    count = std::max(count, held[input]);
  }
  if (count == 1) return std::vector{sample};
  std::vector<Sample> samples;
  for (std::int64_t i = 0; i < count; ++i) {
    Sample one{.name = fmt::format("{}_{}", sample.name, i), .inputs = {}};
    for (const auto& [input, tensor] : sample.inputs)
      one.inputs.emplace(input, held.at(input) == 1 ? tensor : TRY(partOf(input, tensor, at, i, count)));
    samples.push_back(std::move(one));
  }
  return samples;
}

}  // namespace fusescope
