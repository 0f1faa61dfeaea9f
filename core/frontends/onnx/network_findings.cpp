#include "frontends/onnx/network_findings.h"

#include <string>
#include <unordered_map>
#include <vector>

#include "base/on_two_threads.h"
#include "ir/graph.h"
#include "ir/odd_elements.h"

namespace fusescope {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // checking all of a file of many GiB would read it completely

using OddConstants = std::unordered_map<const Tensor*, OddElements>;  ///< of the constants that were checked

/// Adds the constants of the graph and its bodies whose elements are checked; `bytes` is their size.
void collectConstants(const Graph& graph, std::vector<const Tensor*>& constants, std::size_t& bytes) {
  for (const ValueId id : graph.allValues()) {
    const Tensor* tensor = graph.constantData(id);
    if (tensor == nullptr || !isFloat(tensor->type()) || tensor->container() != Container::None) continue;
    if (bytes >= kMostBytes) return;
    bytes += tensor->byteSize();
    constants.push_back(tensor);
  }
  for (const NodeId id : graph.order())
    for (const auto& [key, attribute] : graph.node(id).attributes)
      if (const auto* body = std::get_if<Subgraph>(&attribute)) collectConstants(*body->graph, constants, bytes);
}

OddConstants oddConstants(const Graph& graph) {
  std::vector<const Tensor*> constants;
  std::size_t bytes = 0;
  collectConstants(graph, constants, bytes);
  std::vector<OddElements> found(constants.size());
  onTwoThreads(found.size(), [&](std::size_t i) { found[i] = oddElements(*constants[i]); });
  OddConstants odd;
  for (std::size_t i = 0; i < found.size(); ++i) odd.emplace(constants[i], found[i]);
  return odd;
}

class NetworkFindings {
 public:
  NetworkFindings(const Graph& graph, std::vector<Decision>& decisions)
      : m_decisions(decisions), m_odd(oddConstants(graph)) {}

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
    const auto found = m_odd.find(&tensor);
    if (found == m_odd.end()) return;
    const OddElements& odd = found->second;
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
  const OddConstants m_odd;
};

}  // namespace

void recordNetworkFindings(const Graph& graph, std::vector<Decision>& decisions) {
  NetworkFindings(graph, decisions).record(graph, {});
}

}  // namespace fusescope
