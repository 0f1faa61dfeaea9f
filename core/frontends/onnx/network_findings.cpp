#include "frontends/onnx/network_findings.h"

#include <cstring>
#include <string>

namespace fusescope {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // looking at all of a file of many GiB would read it all

struct OddElements {
  std::int64_t notNumbers = 0;
  std::int64_t infinite = 0;
  std::int64_t denormal = 0;
};

/// Of elements that are `Bits` wide, with the given masks of exponent and mantissa.
template <class Bits>
OddElements oddElements(const Tensor& tensor, Bits exponent, Bits mantissa) {
  OddElements odd;
  const std::byte* bytes = tensor.bytes();
  const std::int64_t count = tensor.count();
  for (std::int64_t i = 0; i < count; ++i) {
    Bits bits;
    std::memcpy(&bits, bytes + static_cast<std::size_t>(i) * sizeof(Bits), sizeof(Bits));
    const bool fraction = (bits & mantissa) != 0, most = (bits & exponent) == exponent;
    odd.notNumbers += fraction && most ? 1 : 0;
    odd.infinite += !fraction && most ? 1 : 0;
    odd.denormal += fraction && (bits & exponent) == 0 ? 1 : 0;
  }
  return odd;
}

OddElements oddElements(const Tensor& tensor) {
  switch (tensor.type()) {
    case DataType::F32:
      return oddElements<std::uint32_t>(tensor, 0x7f800000, 0x007fffff);
    case DataType::F64:
      return oddElements<std::uint64_t>(tensor, 0x7ff0000000000000, 0x000fffffffffffff);
    case DataType::F16: {
      // Denormal numbers are what f16 weights near 0 are made of, and every kernel widens them exactly.
      OddElements odd = oddElements<std::uint16_t>(tensor, 0x7c00, 0x03ff);
      odd.denormal = 0;
      return odd;
    }
    case DataType::BF16: {
      OddElements odd = oddElements<std::uint16_t>(tensor, 0x7f80, 0x007f);
      odd.denormal = 0;
      return odd;
    }
    default:
      return {};
  }
}

class NetworkFindings {
 public:
  explicit NetworkFindings(std::vector<Decision>& decisions) : m_decisions(decisions) {}

  void record(const Graph& graph, const std::string& prefix) {
    for (const ValueId id : graph.allValues())
      if (const Tensor* tensor = graph.constantData(id)) recordConstant(prefix + graph.value(id).name, *tensor);
    for (const NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      recordTraining(graph, node, prefix);
      for (const auto& [key, attribute] : node.attributes)
        if (const auto* body = std::get_if<Subgraph>(&attribute)) record(*body->graph, prefix + node.name + "/");
    }
  }

 private:
  void recordConstant(const std::string& name, const Tensor& tensor) {
    if (!isFloat(tensor.type()) || tensor.container() != Container::None || m_bytes >= kMostBytes) return;
    m_bytes += tensor.byteSize();
    const OddElements odd = oddElements(tensor);
    const auto say = [&](std::string_view code, std::int64_t count) {
      if (count > 0)
        m_decisions.push_back(decide(code, {Subject::value(name)}, "import",
                                     {{"value", name}, {"count", count}, {"elements", tensor.count()}}));
    };
    say("import.constant_not_a_number", odd.notNumbers);
    if (tensor.count() > 1) say("import.constant_infinite", odd.infinite);  // one alone is a bound or a mask's number
    say("import.constant_denormal", odd.denormal);
  }

  void recordTraining(const Graph& graph, const Node& node, const std::string& prefix) {
    std::string what;
    if (node.is("Dropout") && node.input(2).valid()) {
      const Tensor* training = graph.constantData(node.input(2));
      if (training == nullptr)
        what = "whether it drops elements at random is decided at run time";
      else if (training->count() == 1 && training->asInt64(0) != 0)
        what = "it drops elements at random";
    } else if (node.is("BatchNormalization") && node.intAttribute("training_mode", 0) != 0) {
      what = "it takes mean and variance from each batch";
    }
    if (!what.empty())
      m_decisions.push_back(
          decide("import.trains", {Subject::node(prefix + node.name)}, "import", {{"op", node.op}, {"what", what}}));
  }

  std::vector<Decision>& m_decisions;
  std::size_t m_bytes = 0;  ///< looked at so far
};

}  // namespace

void recordNetworkFindings(const Graph& graph, std::vector<Decision>& decisions) {
  NetworkFindings(decisions).record(graph, {});
}

}  // namespace fusescope
