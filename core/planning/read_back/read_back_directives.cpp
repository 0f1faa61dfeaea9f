// What became of splits, forbidden fusions and output types in what a compiler made: it follows from its kernels alone.
#include <algorithm>
#include <optional>
#include <set>

#include "base/text.h"
#include "ir/graph.h"
#include "planning/directive_effects.h"
#include "planning/directive_map.h"
#include "planning/read_back/pins_made.h"
#include "planning/read_back/read_back_steps.h"
#include "planning/structure.h"

namespace fusescope {
namespace {

class DirectiveChecker {
 public:
  explicit DirectiveChecker(const ReadBackPlan& made)
      : m_made(made), m_asked(*made.requested), m_graph(made.graph()), m_compiler(made.compiler.name) {}

  std::vector<Decision> run() {
    if (m_asked.structure == nullptr) return {};  // such a plan was not made of directives
    for (const Directive& directive : m_asked.options.directives)
      if (directive.kind == DirectiveKind::NoFuse && !optimisersToLeaveOut(m_asked, directive).empty())
        checkForbidden(directive);
    if (const auto directives = resolvedAgain(m_asked)) {
      checkSplits(*directives);
      for (const OutputTypeMade& type : outputTypesMade(m_made, *directives)) checkOutputType(type);
      for (const BodyPinMade& pin : bodyPinsMade(m_made, *directives)) checkBodyPin(pin);
    }
    return std::move(m_decisions);
  }

 private:
  /// Adds a decision for each node after which a split was asked for.
  void checkSplits(const DirectiveMap& directives) {
    for (const NodeId node : m_graph.order()) {
      const int split = directives.split[node.index];
      if (split >= 0) checkSplit(node, m_asked.options.directives[static_cast<std::size_t>(split)]);
    }
  }

  void checkBodyPin(const BodyPinMade& pin) {
    const Directive& directive = m_asked.options.directives[pin.directive];
    m_decisions.push_back(decide("build.body_pin_not_disclosed", {Subject::node(pin.place)}, causeOf(directive),
                                 {{"asked", toText(directive.type)}, {"compiler", m_compiler}}));
  }

  void checkOutputType(const OutputTypeMade& type) {
    const char* code = type.stored == DataType::Undefined ? "build.output_type_not_disclosed"
                       : type.stored == type.asked        ? "build.output_type_obeyed"
                                                          : "build.output_type_ignored";
    m_decisions.push_back(decide(
        code, {Subject::value(m_graph.value(type.value).name)}, causeOf(m_asked.options.directives[type.directive]),
        {{"compiler", m_compiler}, {"asked", toText(type.asked)}, {"stored", toText(type.stored)}}));
  }

  SegmentId segmentOf(NodeId node) const { return m_asked.structure->partition.segmentOf[node.index]; }
  bool isOfCompiler(NodeId node) const { return m_asked.structure->accelerated[node.index] != 0; }

  /// Returns a kernel that contains both nodes; null if none does.
  const FusedNode* kernelOfBoth(NodeId a, NodeId b) const {
    const std::vector<FusedNodeId>& ofB = m_made.kernelsOf(b);
    for (const FusedNodeId kernel : m_made.kernelsOf(a))
      if (std::ranges::binary_search(ofB, kernel)) return &m_made.fusedNodes[kernel.index];
    return nullptr;
  }

  void checkSplit(NodeId node, const Directive& directive) {
    if (!isOfCompiler(node)) return;
    bool isRead = false, isDisclosed = true;
    for (const ValueId output : m_graph.node(node).outputs) {
      if (!output.valid()) continue;
      for (const NodeId reader : m_graph.value(output).consumers) {
        if (!isOfCompiler(reader)) continue;
        isRead = true;
        if (const FusedNode* kernel = kernelOfBoth(node, reader))
          return recordIgnored(node, reader, *kernel, directive);
        const bool hasKernels = !m_made.kernelsOf(node).empty() && !m_made.kernelsOf(reader).empty();
        isDisclosed = isDisclosed && (hasKernels || segmentOf(node) != segmentOf(reader));
      }
    }
    if (!isRead) return;
    m_decisions.push_back(decide(isDisclosed ? "build.split_obeyed" : "build.split_not_disclosed",
                                 {Subject::node(m_graph.node(node).name)}, causeOf(directive),
                                 {{"compiler", m_compiler}}));
  }

  void recordIgnored(NodeId node, NodeId reader, const FusedNode& kernel, const Directive& directive) {
    m_decisions.push_back(
        decide("build.split_ignored",
               {Subject::node(m_graph.node(node).name), Subject::fusedNode(kernel.name, kernel.identity.hex())},
               causeOf(directive),
               {{"compiler", m_compiler}, {"reader", m_graph.node(reader).name}, {"kernel", kernel.name}}));
  }

  /// Adds whether kernels still join what the rule would join. The regions of the structure were found without
  /// directives.
  void checkForbidden(const Directive& directive) {
    std::set<FusedNodeId> joining;
    bool isAny = false;
    for (const Region& region : m_asked.structure->fusion.regions) {
      if (region.rule != directive.rule || !isOfCompiler(region.root)) continue;
      isAny = true;
      addJoining(region, joining);
    }
    if (!isAny) return;
    std::vector<std::string> names;
    std::vector<Subject> subjects;
    for (const FusedNodeId id : joining) {
      const FusedNode& kernel = m_made.fusedNodes[id.index];
      names.push_back(kernel.name);
      subjects.push_back(Subject::fusedNode(kernel.name, kernel.identity.hex()));
    }
    const bool isObeyed = joining.empty();
    m_decisions.push_back(decide(
        isObeyed ? "build.no_fuse_obeyed" : "build.no_fuse_ignored", std::move(subjects), causeOf(directive),
        {{"compiler", m_compiler}, {"rule", directive.rule}, {"count", names.size()}, {"kernels", joined(names)}}));
  }

  /// Adds the kernels that join the region's root with another of its nodes. A rule joins nodes with the root, such as
  /// an epilogue with its product; what other nodes of the region have in common is no work of this rule. If the root
  /// only moves elements, kernels that join any two of the nodes are added.
  void addJoining(const Region& region, std::set<FusedNodeId>& joining) const {
    const std::vector<NodeId> nodes = joinedBy(region);
    const bool isRootAmong = std::ranges::find(nodes, region.root) != nodes.end();
    for (const NodeId first : isRootAmong ? std::vector{region.root} : nodes)
      for (const NodeId second : nodes) {
        if (first == second) continue;
        if (const FusedNode* kernel = kernelOfBoth(first, second)) joining.insert(kernel->id);
      }
  }

  /// Returns the nodes that a rule joins in a region. Those that only move elements do not count beside others, because
  /// kernels of most compilers take them along whatever they fuse.
  std::vector<NodeId> joinedBy(const Region& region) const {
    std::vector<NodeId> calculating;
    std::ranges::copy_if(region.nodes, std::back_inserter(calculating),
                         [&](NodeId node) { return !m_asked.structure->facts[node.index].moves; });
    return calculating.size() > 1 ? calculating : region.nodes;
  }

  const ReadBackPlan& m_made;
  const Plan& m_asked;
  const Graph& m_graph;
  const std::string& m_compiler;
  std::vector<Decision> m_decisions;
};

}  // namespace

std::vector<Decision> directiveDecisions(const ReadBackPlan& made) {
  return DirectiveChecker(made).run();
}

}  // namespace fusescope
