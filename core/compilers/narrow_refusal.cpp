#include "compilers/narrow_refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "base/text.h"
#include "engine/kernels/input_check.h"
#include "engine/kernels/kernel_requests.h"
#include "planning/structure.h"
#include "verify/part_model.h"

namespace fusescope {
namespace {

/// The most parts of a network that a compiler is asked about.
constexpr int kMostQuestions = 64;

/// Searches the nodes because of which a compiler refuses a network.
class RefusalSearch {
 public:
  RefusalSearch(const Compiler& compiler, std::shared_ptr<const Plan> plan, const BuildOptions& asking,
                const std::map<std::string, Dims>& extents)
      : m_compiler(compiler),
        m_plan(std::move(plan)),
        m_asking(asking),
        m_extents(extents),
        m_refused(m_plan->graph().nodeIdLimit()) {}

  Result<CompilerSupport> run(const CompilerSupport& support) {
    addNamed(support);
    const std::string whole = refusalOfNoNode(support)->message;
    const bool isWhole = rest().size() == m_plan->graph().order().size();
    Answer left = TRY(ask(rest()));
    // Cut out, its nodes are accepted: the compiler refuses something else of the network, such as an input that no
    // node reads.
    if (left.says == Says::Accepted && isWhole) blame({rest()}, whole);
    // Parts of what cannot be cut out as a whole may be.
    if (left.says == Says::Unknown) left = {.says = Says::Refused, .why = whole};
    while (left.says == Says::Refused) {
      if (!TRY(findIn(rest(), left.why))) {
        blame({rest()}, left.why);
        break;
      }
      left = TRY(ask(rest()));
    }
    if (left.says == Says::Accepted) TRY(giveBack());
    return result();
  }

 private:
  enum class Says { Accepted, Refused, Unknown };
  struct Answer {
    Says says = Says::Unknown;  ///< Refused: without naming a node, whatever else it names
    std::string why;
    bool namesSome = false;
  };
  using Group = std::vector<NodeId>;  ///< nodes of one form
  struct Suspects {
    std::vector<Group> groups;
    std::string why;  ///< empty if it is not known to be refused
  };

  /// Returns the nodes that the compiler is to get and has not refused yet.
  std::vector<NodeId> rest() const {
    std::vector<NodeId> nodes;
    for (const NodeId node : m_plan->graph().order())
      if (m_plan->structure->accelerated[node.index] != 0 && m_refused[node.index].node.empty()) nodes.push_back(node);
    return nodes;
  }

  /// Records the nodes that an answer refuses by name. Returns whether there are any.
  bool addNamed(const CompilerSupport& support) {
    bool isAny = false;
    for (const NodeSupport& said : support.nodes) {
      const auto node = m_plan->graph().findNode(said.node);
      if (!node || said.isAccepted != false) continue;
      m_refused[node->index] = said;
      isAny = true;
    }
    return isAny;
  }

  /// Asks about nodes that are cut out. Nothing is known if they cannot be cut out, or if too many parts were asked
  /// about.
  Result<Answer> ask(const std::vector<NodeId>& nodes) {
    if (nodes.empty() || m_questions == kMostQuestions) return Answer{};
    const auto part = cutOut(nodes);
    if (!part.ok()) {
      if (part.error().cancelled) return part.error();
      return Answer{};
    }
    ++m_questions;
    if (m_asking.progress) m_asking.progress("search", counted(static_cast<std::int64_t>(nodes.size()), "node"));
    const CompilerSupport support = TRY(m_compiler.support(*part.value().plan, m_asking));
    Answer answer{.says = Says::Accepted, .why = {}, .namesSome = addNamed(support)};
    if (const NodeSupport* refusal = refusalOfNoNode(support))
      answer = {Says::Refused, refusal->message, answer.namesSome};
    return answer;
  }

  Result<Part> cutOut(const std::vector<NodeId>& nodes) const {
    const KernelRequests requests = TRY(KernelRequests::create(*m_plan, m_extents, 1));
    return partFor(*m_plan, requests, nodes, m_plan->options.compiler, m_plan->options.target, m_asking.stop);
  }

  std::vector<Group> byForm(const std::vector<NodeId>& nodes) const {
    std::map<std::string, std::size_t> indexOf;
    std::vector<Group> groups;
    for (const NodeId node : nodes) {
      const auto [known, isNew] = indexOf.emplace(formOf(*m_plan, node), groups.size());
      if (isNew) groups.emplace_back();
      groups[known->second].push_back(node);
    }
    return groups;
  }

  /// The nodes of groups that were not refused meanwhile.
  std::vector<NodeId> nodesOf(const std::vector<Group>& groups) const {
    std::vector<NodeId> nodes;
    for (const Group& group : groups)
      std::ranges::copy_if(group, std::back_inserter(nodes),
                           [&](NodeId node) { return m_refused[node.index].node.empty(); });
    return nodes;
  }

  void blame(const std::vector<Group>& groups, const std::string& why) {
    m_blamed.push_back(nodesOf(groups));  // an answer may have named some of them meanwhile
    for (const NodeId node : m_blamed.back())
      m_refused[node.index] = {.node = m_plan->graph().node(node).name,
                               .isAccepted = false,
                               .code = "validate.compiler_refused",
                               .message = why};
  }

  /// Divides nodes that are refused together until their groups stand alone. Returns whether any of them was refused.
  Result<bool> findIn(const std::vector<NodeId>& nodes, const std::string& why) {
    std::deque<Suspects> open{{byForm(nodes), why}};
    while (!open.empty()) {
      const Suspects suspects = std::move(open.front());
      open.pop_front();
      if (suspects.groups.size() > 1 && m_questions < kMostQuestions)
        TRY(divide(suspects, open));
      else if (!suspects.why.empty())
        blame(suspects.groups, suspects.why);
    }
    return rest().size() < nodes.size();
  }

  /// Asks about the halves, and adds to `open` those that are not accepted. If both are accepted, they are refused only
  /// together.
  Status divide(const Suspects& suspects, std::deque<Suspects>& open) {
    const auto middle = suspects.groups.begin() + static_cast<std::ptrdiff_t>(suspects.groups.size() / 2);
    bool isAccepted = true;
    for (auto& half : {std::vector(suspects.groups.begin(), middle), std::vector(middle, suspects.groups.end())}) {
      const Answer answer = TRY(ask(nodesOf(half)));
      isAccepted = isAccepted && answer.says == Says::Accepted && !answer.namesSome;
      if (answer.says != Says::Accepted) open.push_back({half, answer.why});
    }
    if (isAccepted && !suspects.why.empty()) blame(suspects.groups, suspects.why);
    return Done{};
  }

  /// A part that was cut out has inputs and outputs that the network does not have, and may be refused because of them.
  /// Gives back to the compiler what it accepts beside the rest.
  Status giveBack() {
    if (m_blamed.size() < 2) return Done{};
    for (const std::vector<NodeId>& blamed : m_blamed) {
      std::vector<NodeId> nodes = rest();
      if (nodes.empty()) return Done{};
      nodes.insert(nodes.end(), blamed.begin(), blamed.end());
      const Answer answer = TRY(ask(nodes));
      if (answer.says != Says::Accepted || answer.namesSome) continue;
      for (const NodeId node : blamed) m_refused[node.index] = {};
    }
    return Done{};
  }

  CompilerSupport result() const {
    CompilerSupport support;
    for (const NodeId node : m_plan->graph().order())
      if (!m_refused[node.index].node.empty()) support.nodes.push_back(m_refused[node.index]);
    return support;
  }

  const Compiler& m_compiler;
  const std::shared_ptr<const Plan> m_plan;
  const BuildOptions& m_asking;
  const std::map<std::string, Dims>& m_extents;
  std::vector<NodeSupport> m_refused;         ///< by NodeId; without a name: not refused
  std::vector<std::vector<NodeId>> m_blamed;  ///< nodes that were refused without being named, as they were found
  int m_questions = 0;
};

}  // namespace

std::string formOf(const Plan& plan, NodeId id) {
  const Graph& graph = plan.graph();
  const Node& node = graph.node(id);
  std::string form = fmt::format("{} {} {}", node.domain, node.op, name(plan.calculates[id.index]));
  for (const auto* values : {&node.inputs, &node.outputs})
    for (const ValueId value : *values) {
      if (!value.valid()) {
        form += " -";
        continue;
      }
      const Value& given = graph.value(value);
      form += fmt::format(" {}{}", name(given.type.dtype), given.constant != nullptr ? " constant" : "");
    }
  return form;
}

const NodeSupport* refusalOfNoNode(const CompilerSupport& support) {
  return support.find("");
}

Result<CompilerSupport> narrowedDown(const Compiler& compiler, const std::shared_ptr<const Plan>& plan,
                                     CompilerSupport support, const BuildOptions& asking) {
  if (refusalOfNoNode(support) == nullptr) return support;
  const std::map<std::string, Dims> extents = TRY(buildExtents(*plan, {}));
  return RefusalSearch(compiler, plan, asking, extents).run(support);
}

}  // namespace fusescope
