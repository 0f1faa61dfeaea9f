#include "compilers/torch/program_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "compilers/torch/node_ties.h"
#include "ir/graph.h"
#include "onnxlib/exported_from.h"
#include "probe/sha256.h"

namespace fusescope::torch_compiler {
namespace {

class Matching {
 public:
  Matching(const CompilerInput& network, const ProgramFacts& program)
      : m_network(network), m_graph(network.plan->graph()), m_program(program) {}

  Result<ProgramNetwork> run() {
    TRY(tieNodes());
    TRY(compareWeights());
    return std::move(m_made);
  }

 private:
  Status tieNodes() {
    std::vector<NodeOrigin> here, there;
    std::vector<std::string> programNodes;  // by our own probe, which exported the network
    for (auto& from : TRY(onnxlib::exportedFrom(m_network.path))) {
      here.push_back({std::move(from.node), std::move(from.target), std::move(from.module), std::move(from.trace)});
      programNodes.push_back(std::move(from.programNode));
    }
    for (const ProgramNode& node : m_program.nodes) there.push_back(node.origin);
    auto ties = tiesOf(here, there);
    for (std::size_t place = 0; place < ties.size(); ++place)
      if (ties[place] && ties[place]->certainty == Certainty::Named) m_isSame.insert(place);
    for (std::size_t place = 0; place < programNodes.size(); ++place) {
      const auto same =
          std::ranges::find(m_program.nodes, programNodes[place], [](const auto& node) { return node.origin.name; });
      if (!programNodes[place].empty() && same != m_program.nodes.end() && same->within.empty())
        ties[place] = Tie{static_cast<std::size_t>(same - m_program.nodes.begin()), Certainty::Named};
    }
    m_made.nodes.resize(there.size());
    std::set<NodeId> tied;
    const auto& nodes = m_network.file.graph.nodes;
    for (std::size_t place = 0; place < std::min(ties.size(), nodes.size()); ++place) {
      const auto held = m_network.nodes.find(nodes[place].name);
      if (!ties[place] || held == m_network.nodes.end()) continue;
      for (const NodeId node : held->second) {
        const auto [known, isNew] = m_made.nodes[ties[place]->node].emplace(node, ties[place]->certainty);
        known->second = std::min(known->second, ties[place]->certainty);
        tied.insert(node);
      }
    }
    for (const NodeId node : m_graph.order()) {
      ++m_made.all;
      if (!tied.contains(node)) m_made.untied.push_back(node);
    }
    m_made.tied = std::ssize(tied);
    return Done{};
  }

  /// Exporters calculate weights in advance under the original names, for example when a convolution is fused with a
  /// following normalisation. Therefore only inputs of nodes that are unchanged from the program are compared by name.
  bool isOfSameNodes(const std::string& value) const {
    const auto [from, to] = m_readers.equal_range(value);
    return from != to && std::all_of(from, to, [&](const auto& reader) { return m_isSame.contains(reader.second); });
  }

  Status compareWeights() {
    const auto& nodes = m_network.file.graph.nodes;
    for (std::size_t place = 0; place < nodes.size(); ++place)
      for (const std::string& input : nodes[place].inputs) m_readers.emplace(input, place);
    std::set<std::string_view> hashes;
    for (const auto& [name, weight] : m_program.weights) {
      hashes.insert(weight.sha256);
      if (!weight.transposed.empty()) hashes.insert(weight.transposed);
    }
    for (const onnxlib::FileTensor& tensor : m_network.file.graph.initializers) {
      const auto count = elementCount(tensor.dims);
      if (!count || *count < 2 || tensor.data == nullptr) continue;
      ++m_made.weights;
      const std::string hex =
          sha256OfText({reinterpret_cast<const char*>(tensor.data), byteSize(tensor.dtype, *count)});
      if (hashes.contains(hex))
        ++m_made.equalWeights;
      else
        TRY(checkNamesake(tensor));
    }
    // A network that torch made of this program always belongs to it, even if its exporter cast every weight.
    const bool isMadeOfIt = !m_network.plan->model->network.empty();
    if (m_made.weights > 0 && m_made.equalWeights == 0 && !isMadeOfIt)
      return otherProgram(
          fmt::format("none of the {} weights of the network is a weight of the exported program", m_made.weights));
    return Done{};
  }

  /// The program contains no such numbers. They come from the exporter unless the program has a weight with this name.
  Status checkNamesake(const onnxlib::FileTensor& tensor) const {
    const auto called = m_network.namesInFile.find(tensor.name);
    if (called == m_network.namesInFile.end()) return Done{};
    const auto known = m_program.weights.find(called->second);
    if (known == m_program.weights.end() || !isOfSameNodes(tensor.name)) return Done{};
    const ProgramWeight& weight = known->second;
    const bool isOfOneForm = weight.type == name(tensor.dtype) && weight.dims == tensor.dims;
    return otherProgram(isOfOneForm ? fmt::format("the weight {} has other numbers in the program", called->second)
                                    : fmt::format("the weight {} is {} [{}] in the network and {} [{}] in the program",
                                                  called->second, name(tensor.dtype), fmt::join(tensor.dims, ", "),
                                                  weight.type, fmt::join(weight.dims, ", ")));
  }

  Diagnostic otherProgram(const std::string& why) const {
    return {.message = "the exported program does not belong to this network: " + why,
            .where = {.file = m_network.plan->model->path, .attribute = "program"},
            .help = "Name the program from which the network was exported: --compiler-option program=PATH."};
  }

  const CompilerInput& m_network;
  const Graph& m_graph;
  const ProgramFacts& m_program;
  ProgramNetwork m_made;
  std::set<std::size_t> m_isSame;  ///< places of nodes that PyTorch's passes did not change
  std::unordered_multimap<std::string_view, std::size_t> m_readers;  ///< places of nodes by what they read
};

}  // namespace

Result<ProgramNetwork> programNetwork(const CompilerInput& network, const ProgramFacts& program) {
  return Matching(network, program).run();
}

}  // namespace fusescope::torch_compiler
