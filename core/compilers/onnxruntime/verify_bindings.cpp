#include "compilers/onnxruntime/verify_bindings.h"

#include <algorithm>
#include <cmath>

namespace fusescope::onnxruntime {
namespace {

std::int64_t bytesOf(const KnownType& known) {
  std::int64_t count = 1;
  for (const std::int64_t extent : known.extents.value_or(std::vector<std::int64_t>()))
    count = std::min<std::int64_t>(std::max<std::int64_t>(extent, 1) * count, std::int64_t{1} << 40);
  return count * std::max(bitWidth(known.type), 8) / 8;
}

/// Maps the index of an element of a tensor with these extents to its index in another layout.
class Places {
 public:
  Places(const Dims& dims, Layout layout, std::int64_t blocks) : m_layout(layout), m_blocks(blocks) {
    if (layout == Layout::Plain) return;
    m_channels = dims[1];
    for (std::size_t i = 2; i < dims.size(); ++i) m_inner *= dims[i];
    m_stored = layout == Layout::Blocked ? (m_channels + blocks - 1) / blocks * blocks : m_channels;
  }

  std::int64_t of(std::int64_t i) const {
    if (m_layout == Layout::Plain) return i;
    const std::int64_t place = i % m_inner, channel = i / m_inner % m_channels, image = i / m_inner / m_channels;
    if (m_layout == Layout::ChannelsLast) return (image * m_inner + place) * m_channels + channel;
    const std::int64_t block = channel / m_blocks, lane = channel % m_blocks;
    return ((image * m_stored / m_blocks + block) * m_inner + place) * m_blocks + lane;
  }

  std::int64_t stored(std::int64_t count) const {
    return m_layout == Layout::Plain || m_channels == 0 ? count : count / m_channels * m_stored;
  }

 private:
  Layout m_layout;
  std::int64_t m_blocks, m_channels = 1, m_stored = 1, m_inner = 1;
};

/// The difference between the numbers of two tensors.
struct Distance {
  double worst = 0, mean = 0;
  double largest = 0, meanSize = 0;  ///< of the numbers in the network that was given to ONNX Runtime
  bool isComparable = true;          ///< NaN occurs in both or in neither, and infinities are equal
};

/// Returns the offset of codes: ONNX Runtime converts signed codes to unsigned ones that are larger by 128 and
/// represent the same numbers.
double shiftOf(const Tensor& optimised, const Tensor& handed) {
  return optimised.type() == DataType::U8 && handed.type() == DataType::I8 ? 128 : 0;
}

Distance distanceOf(const Tensor& optimised, const Tensor& handed, const Places& places) {
  Distance distance;
  const double shift = shiftOf(optimised, handed);
  for (std::int64_t i = 0; i < handed.count() && distance.isComparable; ++i) {
    const double a = optimised.asDouble(places.of(i)) - shift, b = handed.asDouble(i);
    if (!std::isfinite(a) || !std::isfinite(b)) {
      distance.isComparable = a == b || (std::isnan(a) && std::isnan(b));
      continue;
    }
    distance.worst = std::max(distance.worst, std::abs(a - b));
    distance.mean += std::abs(a - b);
    distance.largest = std::max(distance.largest, std::abs(b));
    distance.meanSize += std::abs(b);
  }
  distance.mean /= static_cast<double>(std::max<std::int64_t>(handed.count(), 1));
  distance.meanSize /= static_cast<double>(std::max<std::int64_t>(handed.count(), 1));
  return distance;
}

/// Returns the relative error that another order of summation may cause in this type.
double toleranceOf(DataType type) {
  switch (type) {
    case DataType::F64:
      return 1e-9;
    case DataType::F32:
      return 1e-3;
    case DataType::F16:
      return 2e-2;
    default:
      return 1e-1;
  }
}

/// Returns the narrower of two types of one kind: a cast to a narrower float is another form of the same numbers.
DataType narrower(DataType a, DataType b) {
  return toleranceOf(a) > toleranceOf(b) ? a : b;
}

bool isNear(const Tensor& optimised, const Tensor& handed, const Places& places, bool isQuantised) {
  constexpr double stepsInTheMean = 1.5, partInTheMean = 0.05;
  const Distance distance = distanceOf(optimised, handed, places);
  if (!distance.isComparable) return false;
  if (!isFloat(handed.type()))
    return isByteInteger(handed.type()) && isQuantised ? distance.mean <= stepsInTheMean : distance.worst == 0;
  if (isQuantised && distance.mean <= partInTheMean * distance.meanSize) return true;
  return distance.worst <= toleranceOf(narrower(optimised.type(), handed.type())) * distance.largest + 1e-6;
}

}  // namespace

std::vector<std::vector<BoundPair>> pairsToCompare(const Reading& reading, std::int64_t mostBytes) {
  std::vector<std::vector<BoundPair>> parts;
  std::int64_t bytes = 0;
  for (const std::uint32_t kernel : reading.optimised.graph.order())
    for (const std::uint32_t made : reading.optimised.graph.node(kernel).makes) {
      if (made == kNone) continue;
      const std::uint32_t tensor = reading.optimised.bindings[made].tensor;
      if (tensor == kNone || reading.network.graph.tensor(tensor).producer == kNone) continue;
      const std::int64_t added = bytesOf(reading.network.types[tensor]);
      if (parts.empty() || bytes + added > mostBytes) {
        parts.emplace_back();
        bytes = 0;
      }
      bytes += added;
      parts.back().push_back({.optimised = made, .tensor = tensor});
    }
  return parts;
}

bool areEqual(const Tensor& optimised, Layout layout, const Tensor& handed, bool isQuantised) {
  if (optimised.container() != Container::None || handed.container() != Container::None) return false;
  if (handed.type() == DataType::String || optimised.type() == DataType::String) return handed.identical(optimised);
  if (layout != Layout::Plain && handed.dims().size() < 3) return false;
  for (const std::int64_t blocks : {16, 8}) {
    const Places places(handed.dims(), layout, blocks);
    if (places.stored(handed.count()) == optimised.count() && isNear(optimised, handed, places, isQuantised))
      return true;
    if (layout != Layout::Blocked) break;
  }
  return false;
}

void note(Reading& reading, const BoundPair& pair, bool isEqual) {
  TensorBinding& binding = reading.optimised.bindings[pair.optimised];
  binding.proof = isEqual ? Proof::Equal : Proof::Different;
  if (!isEqual && !binding.isNamed) binding.tensor = kNone;
}

void coverAgain(Reading& reading) {
  reading.covers = coverKernels(reading.network, reading.optimised);
}

bool isQuantised(const Network& network) {
  return std::ranges::any_of(network.graph.nodes(), [](const TensorGraph::Node& node) {
    return node.file->op == "QuantizeLinear" || node.file->op == "DynamicQuantizeLinear";
  });
}

}  // namespace fusescope::onnxruntime
