#include "frontends/onnx/network_findings.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "ir/graph.h"

namespace fusescope {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // checking all of a file of many GiB would read it completely

struct OddElements {
  std::int64_t notNumbers = 0;
  std::int64_t infinite = 0;
  std::int64_t denormal = 0;
};

/// The layout of elements stored as `Bits`.
template <class Bits>
struct FloatForm {
  Bits exponent, mantissa;  ///< masks
  /// Narrow weights near 0 often are denormal numbers, which every kernel widens exactly.
  bool countsDenormal;
};

template <class Bits>
Bits bitsAt(const std::byte* bytes, std::int64_t i) {
  Bits bits;
  std::memcpy(&bits, bytes + static_cast<std::size_t>(i) * sizeof(Bits), sizeof(Bits));
  return bits;
}

constexpr std::int64_t kBlock = 1024;

/// Whether a block has an element that is not finite or is denormal. The sign bit of `odd` is set if the magnitude of
/// an element overflows into it, which happens for elements that are not finite, or if a denormal element that is not 0
/// wraps around after the subtraction. Compilers vectorise this code.
template <class Bits>
bool hasOdd(const std::byte* bytes, const FloatForm<Bits>& form) {
  const Bits size = form.exponent | form.mantissa, one = 1;
  const Bits counted = form.countsDenormal ? static_cast<Bits>(~Bits{0}) : Bits{0};
  Bits odd = 0;
  for (std::int64_t i = 0; i < kBlock; ++i) {
    const Bits element = bitsAt<Bits>(bytes, i) & size;
    const Bits before = static_cast<Bits>(element - one);
    odd |= static_cast<Bits>(element + form.mantissa + one);
    odd |= static_cast<Bits>(before - form.mantissa) & static_cast<Bits>(~before) & counted;
  }
  return (odd & static_cast<Bits>(~size)) != 0;
}

template <class Bits>
OddElements oddElements(const Tensor& tensor, const FloatForm<Bits>& form) {
  OddElements odd;
  const std::int64_t count = tensor.count();
  for (std::int64_t from = 0; from < count; from += kBlock) {
    const std::byte* bytes = tensor.bytes() + static_cast<std::size_t>(from) * sizeof(Bits);
    const std::int64_t here = std::min(kBlock, count - from);
    if (here == kBlock && !hasOdd(bytes, form)) continue;
    for (std::int64_t i = 0; i < here; ++i) {
      const Bits bits = bitsAt<Bits>(bytes, i);
      const bool fraction = (bits & form.mantissa) != 0, most = (bits & form.exponent) == form.exponent;
      odd.notNumbers += fraction && most ? 1 : 0;
      odd.infinite += !fraction && most ? 1 : 0;
      odd.denormal += form.countsDenormal && fraction && (bits & form.exponent) == 0 ? 1 : 0;
    }
  }
  return odd;
}

OddElements oddElements(const Tensor& tensor) {
  switch (tensor.type()) {
    case DataType::F32:
      return oddElements<std::uint32_t>(tensor, {0x7f800000, 0x007fffff, true});
    case DataType::F64:
      return oddElements<std::uint64_t>(tensor, {0x7ff0000000000000, 0x000fffffffffffff, true});
    case DataType::F16:
      return oddElements<std::uint16_t>(tensor, {0x7c00, 0x03ff, false});
    case DataType::BF16:
      return oddElements<std::uint16_t>(tensor, {0x7f80, 0x007f, false});
    default:
      return {};
  }
}

class NetworkFindings {
 public:
  explicit NetworkFindings(std::vector<Decision>& decisions) : m_decisions(decisions) {}

  void record(const Graph& graph, const BodyPath& path) {
    for (const ValueId id : graph.allValues())
      if (const Tensor* tensor = graph.constantData(id)) recordConstant({path, graph.value(id).name}, *tensor);
    for (const NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      recordTraining(graph, node, path);
      for (const auto& [key, attribute] : node.attributes)
        if (const auto* body = std::get_if<Subgraph>(&attribute)) record(*body->graph, path.into(node, key));
    }
  }

 private:
  void recordConstant(const NetworkPlace& place, const Tensor& tensor) {
    if (!isFloat(tensor.type()) || tensor.container() != Container::None || m_bytes >= kMostBytes) return;
    m_bytes += tensor.byteSize();
    const OddElements odd = oddElements(tensor);
    const auto say = [&](std::string_view code, std::int64_t count) {
      if (count > 0)
        m_decisions.push_back(decide(code, {Subject::value(place)}, "import",
                                     {{"value", place.text()}, {"count", count}, {"elements", tensor.count()}}));
    };
    say("import.constant_not_a_number", odd.notNumbers);
    // A single one is a bound or the number of a mask.
    if (tensor.count() > 1) say("import.constant_infinite", odd.infinite);
    say("import.constant_denormal", odd.denormal);
  }

  void recordTraining(const Graph& graph, const Node& node, const BodyPath& path) {
    std::string what;
    if (node.is("Dropout") && node.input(2).valid()) {
      const Tensor* training = graph.constantData(node.input(2));
      if (training == nullptr)
        what = "it is decided at run time whether it drops elements at random";
      else if (training->count() == 1 && training->asInt64(0) != 0)
        what = "it drops elements at random";
    } else if (node.is("BatchNormalization") && node.intAttribute("training_mode", 0) != 0) {
      what = "it calculates mean and variance from each batch";
    }
    if (!what.empty())
      m_decisions.push_back(decide("import.trains", {Subject::node(NetworkPlace{path, node.name})}, "import",
                                   {{"op", node.op}, {"what", what}}));
  }

  std::vector<Decision>& m_decisions;
  std::size_t m_bytes = 0;  ///< looked at so far
};

}  // namespace

void recordNetworkFindings(const Graph& graph, std::vector<Decision>& decisions) {
  NetworkFindings(decisions).record(graph, {});
}

}  // namespace fusescope
