#include "calibration/weight_codes.h"

#include <algorithm>
#include <cmath>

namespace fusescope {

namespace {

/// The layout of elements around one axis: [outer, extent, inner].
struct AxisLayout {
  std::int64_t outer = 1, extent = 1, inner = 1;
  AxisLayout(const Dims& dims, std::int64_t axis) {
    for (std::int64_t i = 0; i < std::ssize(dims); ++i)
      (i < axis ? outer : i == axis ? extent : inner) *= dims[static_cast<std::size_t>(i)];
  }
  std::size_t channelOf(std::size_t element) const {
    return element / static_cast<std::size_t>(inner) % static_cast<std::size_t>(extent);
  }
};

float largestOf(std::span<const float> numbers, const RangeChoice& choice) {
  Histogram histogram;
  histogram.add(numbers);
  RangeChoice symmetric = choice;
  symmetric.symmetric = true;
  return static_cast<float>(rangeOf(histogram, symmetric).largest());
}

float leastScale(float largest, int mostCode) {
  return largest > 0 ? std::max(largest / static_cast<float>(mostCode), 1e-30F) : 1.0F;
}

float codeOf(float number, float scale, float most) {
  return std::clamp(std::nearbyint(number / scale), -most, most);
}

/// Packs two codes into each byte, the first in the low half.
Tensor packedCodes(DataType type, const Dims& dims, std::span<const std::int8_t> codes) {
  if (type == DataType::I8) return Tensor::copyOf<std::int8_t>(type, dims, codes);
  Tensor packed = Tensor::zeros(type, dims);
  for (std::size_t i = 0; i < codes.size(); ++i)
    packed.mutableBytes()[i / 2] |= std::byte(static_cast<std::uint8_t>((codes[i] & 0xF) << (i % 2 * 4)));
  return packed;
}

}  // namespace

WeightRange weightRangeOf(const Tensor& weights, std::int64_t axis, const RangeChoice& choice) {
  const auto numbers = weights.data<float>();
  if (axis < 0) return {-1, {largestOf(numbers, choice)}};
  const AxisLayout layout(weights.dims(), axis);
  WeightRange range{axis, {}};
  std::vector<float> channel(static_cast<std::size_t>(layout.outer * layout.inner));
  for (std::int64_t c = 0; c < layout.extent; ++c) {
    for (std::int64_t o = 0; o < layout.outer; ++o)
      std::copy_n(numbers.begin() + (o * layout.extent + c) * layout.inner, layout.inner,
                  channel.begin() + o * layout.inner);
    range.largest.push_back(largestOf(channel, choice));
  }
  return range;
}

WeightCodes codesOf(const Tensor& weights, const WeightRange& range) {
  constexpr int kMost = 127;
  const AxisLayout layout(weights.dims(), range.axis < 0 ? 0 : range.axis);
  WeightCodes result{.axis = range.axis};
  result.codes = Tensor::zeros(DataType::I8, weights.dims());
  result.scales = Tensor::zeros(DataType::F32, range.axis < 0 ? Dims{} : Dims{std::ssize(range.largest)});
  const auto scales = result.scales.mutableData<float>();
  std::ranges::transform(range.largest, scales.begin(), [](float largest) { return leastScale(largest, kMost); });
  const auto numbers = weights.data<float>();
  const auto codes = result.codes.mutableData<std::int8_t>();
  for (std::size_t i = 0; i < numbers.size(); ++i)
    codes[i] = static_cast<std::int8_t>(codeOf(numbers[i], scales[range.axis < 0 ? 0 : layout.channelOf(i)], kMost));
  return result;
}

WeightCodes blockCodesOf(const Tensor& weights, DataType type, std::int64_t axis, std::int64_t block,
                         const RangeChoice& choice) {
  const int most = type == DataType::I4 ? 7 : 127;
  const std::int64_t rows = weights.dims()[0], columns = weights.dims()[1];
  const std::int64_t along = axis == 0 ? rows : columns, others = axis == 0 ? columns : rows;
  const std::int64_t length = block == 0 ? along : block, blocks = (along + length - 1) / length;
  const std::int64_t step = axis == 0 ? columns : 1, stride = axis == 0 ? 1 : columns;
  const auto numbers = weights.data<float>();
  std::vector<std::int8_t> codes(numbers.size());
  Dims scaleDims = axis == 0 ? Dims{blocks, others} : Dims{others, blocks};
  if (block == 0) scaleDims = {others};
  WeightCodes result{.axis = block == 0 ? 1 - axis : axis, .block = block};
  result.scales = Tensor::zeros(DataType::F32, scaleDims);
  std::vector<float> held;
  for (std::int64_t other = 0; other < others; ++other) {
    for (std::int64_t b = 0; b < blocks; ++b) {
      const std::int64_t begin = b * length, end = std::min(begin + length, along);
      held.clear();
      for (std::int64_t i = begin; i < end; ++i)
        held.push_back(numbers[static_cast<std::size_t>(i * step + other * stride)]);
      const float scale = leastScale(largestOf(held, choice), most);
      result.scales
          .mutableData<float>()[static_cast<std::size_t>(axis == 0 ? b * others + other : other * blocks + b)] = scale;
      for (std::int64_t i = begin; i < end; ++i)
        codes[static_cast<std::size_t>(i * step + other * stride)] = static_cast<std::int8_t>(
            codeOf(held[static_cast<std::size_t>(i - begin)], scale, static_cast<float>(most)));
    }
  }
  result.codes = packedCodes(type, weights.dims(), codes);
  return result;
}

Tensor numbersOf(const WeightCodes& codes) {
  Tensor numbers = Tensor::zeros(DataType::F32, codes.codes.dims());
  const auto scales = codes.scales.data<float>();
  const AxisLayout layout(numbers.dims(), codes.axis < 0 ? 0 : codes.axis);
  const std::int64_t blocks = codes.block == 0 ? 0 : (layout.extent + codes.block - 1) / codes.block;
  const auto target = numbers.mutableData<float>();
  for (std::size_t i = 0; i < target.size(); ++i) {
    std::size_t scale = codes.axis < 0 ? 0 : layout.channelOf(i);
    if (codes.block > 0) {
      const auto inner = static_cast<std::size_t>(layout.inner), extent = static_cast<std::size_t>(layout.extent);
      scale =
          (i / (inner * extent) * static_cast<std::size_t>(blocks) + scale / static_cast<std::size_t>(codes.block)) *
              inner +
          i % inner;
    }
    target[i] = static_cast<float>(codes.codes.asDouble(static_cast<std::int64_t>(i))) * scales[scale];
  }
  return numbers;
}

}  // namespace fusescope
