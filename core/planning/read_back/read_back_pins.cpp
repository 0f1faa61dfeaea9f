#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "ir/graph.h"
#include "planning/read_back/read_back_steps.h"
#include "planning/types/pin_answers.h"

namespace fusescope {
namespace {

/// Keeps the narrower of the type known so far and `type`, if that is a float.
void takeNarrower(std::optional<DataType>& narrowest, DataType type) {
  if (isFloat(type) && (!narrowest || bitWidth(type) < bitWidth(*narrowest))) narrowest = type;
}

/// Returns the type in which the kernels of a node calculate; if there are several, the narrowest.
std::optional<DataType> calculatedIn(const ReadBackPlan& made, NodeId node) {
  std::optional<DataType> narrowest;
  for (const FusedNodeId kernel : made.kernelsOf(node)) {
    const DataType type = made.fusedNodes[kernel.index].compute;
    if (type != DataType::Undefined && (!narrowest || bitWidth(type) < bitWidth(*narrowest))) narrowest = type;
  }
  return narrowest;
}

/// Returns the narrowest float type in which its kernels read operands of `node` or write its results. Weights are
/// ignored, because they may be stored in a narrower type than they are used in.
std::optional<DataType> movedAs(const ReadBackPlan& made, NodeId node) {
  const Node& pinned = made.graph().node(node);
  const std::vector<ValueId> read = operands(pinned);
  std::optional<DataType> narrowest;
  for (const FusedNodeId kernel : made.kernelsOf(node)) {
    for (const KernelValue& input : made.kernels[kernel.index].inputs)
      if (input.value.valid() && !made.graph().isConstant(input.value) && std::ranges::count(read, input.value) > 0)
        takeNarrower(narrowest, input.type);
    for (const KernelValue& output : made.kernels[kernel.index].outputs)
      if (output.value.valid() && std::ranges::count(pinned.outputs, output.value) > 0)
        takeNarrower(narrowest, output.type);
  }
  return narrowest;
}

std::string whyNotDisclosed(Fate fate) {
  switch (fate) {
    case Fate::Kernel:
      return "The compiler does not say in which type its kernel calculates.";
    case Fate::Folded:
      return "It was calculated when the network was compiled.";
    case Fate::Removed:
      return "It was removed when the network was compiled, so that nothing is left to calculate in any type.";
    case Fate::View:
      return "It calculates nothing: its result is its input, seen differently in memory.";
    case Fate::Merged:
      return "An equal node is calculated instead of it.";
    case Fate::Fallback:
      return "Our own engine runs it in the types of the network.";
    case Fate::NotDisclosed:
      break;
  }
  return "The compiler does not say what became of it.";
}

/// Returns the values between `node` and the other nodes of its kernels.
std::vector<ValueId> cutAround(const ReadBackPlan& made, NodeId node) {
  const Graph& graph = made.graph();
  const auto shares = [&](NodeId other) {
    return other.valid() && other != node && std::ranges::any_of(made.kernelsOf(node), [&](FusedNodeId kernel) {
             return std::ranges::binary_search(made.kernelsOf(other), kernel);
           });
  };
  std::vector<ValueId> cut;
  for (const ValueId value : operands(graph.node(node)))
    if (value.valid() && shares(graph.value(value).producer) && std::ranges::count(cut, value) == 0)
      cut.push_back(value);
  for (const ValueId value : graph.node(node).outputs)
    if (value.valid() && std::ranges::any_of(graph.value(value).consumers, shares)) cut.push_back(value);
  return cut;
}

/// Returns the nodes that share a kernel with `node` and for which `type` was asked.
std::vector<std::string> nodesAskedFor(const ReadBackPlan& made, NodeId node, DataType type) {
  std::vector<std::string> names;
  for (const PrecisionGrant& grant : made.requested->precisionMap) {
    if (grant.node == node || grant.granted != type || made.requested->calculates[grant.node.index] != type) continue;
    const bool shares = std::ranges::any_of(made.kernelsOf(node), [&](FusedNodeId kernel) {
      return std::ranges::binary_search(made.kernelsOf(grant.node), kernel);
    });
    if (shares) names.push_back(made.graph().node(grant.node).name);
  }
  return names;
}

std::string regionOf(const ReadBackPlan& made, NodeId node) {
  for (const FusedNodeId kernel : made.kernelsOf(node))
    if (const std::string& region = made.kernels[kernel.index].region; !region.empty()) return region;
  return {};
}

/// Returns the answer of the plan that was asked for that refuses the pin, or null.
const DirectiveAnswer* refusalOf(const ReadBackPlan& made, NodeId node) {
  for (const DirectiveAnswer* answer : pinAnswersAbout(*made.requested, Subject::node(made.graph().node(node).name)))
    if (answer->outcome == DirectiveOutcome::Refused || answer->outcome == DirectiveOutcome::NotHonoured) return answer;
  return nullptr;
}

/// Returns why a pin is not obeyed; causes that are known with more certainty take precedence.
PinHindrance hindranceOf(const ReadBackPlan& made, const ReadBackPin& pin, const ReadBack& readBack) {
  if (const auto known = readBack.hindrances.find(pin.node); known != readBack.hindrances.end()) return known->second;
  const Fate fate = made.fateOf(pin.node);
  if (fate != Fate::Kernel)
    return {fate == Fate::NotDisclosed ? PinCause::NotDisclosed : PinCause::WithoutKernel, whyNotDisclosed(fate)};
  if (const DirectiveAnswer* refusal = refusalOf(made, pin.node))
    return {PinCause::TargetRefuses, fmt::format("The rules of {} refuse it as well: it {}.", made.target.name,
                                                 answerText(*made.requested, refusal->decision))};
  if (const std::string region = regionOf(made, pin.node); !region.empty())
    return {PinCause::InRegion,
            fmt::format("It is in {}, for which {} chooses the types as a whole.", region, made.compiler.name)};
  if (pin.granted)
    if (const std::vector<std::string> others = nodesAskedFor(made, pin.node, *pin.granted); !others.empty())
      return {PinCause::SharesKernel, fmt::format("Its kernel also calculates {}, for which {} was asked.",
                                                  joined(others), toText(*pin.granted))};
  return {PinCause::NotDisclosed, pin.granted ? "Nothing that the compiler reported says why." : whyNotDisclosed(fate)};
}

/// Finds kernels that got the type that was asked for a node beside them.
class MovedPins {
 public:
  explicit MovedPins(const ReadBackPlan& made) : m_made(made), m_graph(made.graph()) {
    for (const PrecisionGrant& grant : made.requested->precisionMap)
      if (grant.asked != DataType::Undefined) m_askedOf.emplace(grant.node, grant.asked);
  }

  /// Returns a kernel that reads a result of `node` or writes one of its operands and has `type`, although nobody asked
  /// for it there; null if there is none. What the kernel would have without the pin is not known. Therefore its nodes
  /// must be planned in another type, and kernels of the same operators that are beside no such pin must exist, and
  /// none of them may have the type.
  const FusedNode* movedTo(NodeId node, DataType type) const {
    for (const NodeId neighbour : neighboursOf(node))
      for (const FusedNodeId id : m_made.kernelsOf(neighbour)) {
        const FusedNode& kernel = m_made.fusedNodes[id.index];
        const bool has = kernel.compute == type && !m_made.kernels[id.index].isOurs;
        if (has && !isAskedOf(kernel, type) && isPlannedOtherwise(kernel, type) && areItsLikesOtherwise(kernel, type))
          return &kernel;
      }
    return nullptr;
  }

 private:
  std::vector<NodeId> neighboursOf(NodeId node) const {
    std::vector<NodeId> neighbours;
    for (const ValueId value : operands(m_graph.node(node)))
      if (value.valid() && m_graph.value(value).producer.valid()) neighbours.push_back(m_graph.value(value).producer);
    for (const ValueId value : m_graph.node(node).outputs)
      if (value.valid()) std::ranges::copy(m_graph.value(value).consumers, std::back_inserter(neighbours));
    return neighbours;
  }
  bool isAsked(NodeId node, DataType type) const {
    const auto asked = m_askedOf.find(node);
    return asked != m_askedOf.end() && asked->second == type;
  }
  bool isAskedOf(const FusedNode& kernel, DataType type) const {
    return std::ranges::any_of(kernel.nodes, [&](NodeId node) { return isAsked(node, type); });
  }
  bool isBesideAsked(const FusedNode& kernel, DataType type) const {
    return std::ranges::any_of(kernel.nodes, [&](NodeId node) {
      return std::ranges::any_of(neighboursOf(node), [&](NodeId other) { return isAsked(other, type); });
    });
  }
  /// Returns whether the plan that was asked for calculates nodes of the kernel, and none of them in `type`.
  bool isPlannedOtherwise(const FusedNode& kernel, DataType type) const {
    const auto planned = [&](NodeId node) { return m_made.requested->calculates[node.index]; };
    return std::ranges::find(kernel.nodes, type, planned) == kernel.nodes.end() &&
           std::ranges::any_of(kernel.nodes, [&](NodeId node) { return isFloat(planned(node)); });
  }
  std::vector<std::string> operatorsOf(const FusedNode& kernel) const {
    std::vector<std::string> operators;
    for (const NodeId node : kernel.nodes) operators.push_back(m_graph.node(node).op);
    std::ranges::sort(operators);
    return operators;
  }
  bool areItsLikesOtherwise(const FusedNode& kernel, DataType type) const {
    const std::vector<std::string> operators = operatorsOf(kernel);
    bool isAny = false;
    for (const FusedNode& other : m_made.fusedNodes) {
      const bool compares = other.id != kernel.id && other.compute != DataType::Undefined &&
                            !m_made.kernels[other.id.index].isOurs && operatorsOf(other) == operators &&
                            !isAskedOf(other, type) && !isBesideAsked(other, type);
      if (compares && other.compute == type) return false;
      isAny |= compares;
    }
    return isAny;
  }

  const ReadBackPlan& m_made;
  const Graph& m_graph;
  std::map<NodeId, DataType> m_askedOf;
};

/// Returns the result of a pin that is not obeyed and that no other kernel took over.
PinResult resultWithout(Fate fate, const ReadBackPin& pin) {
  if (pin.granted) return bitWidth(*pin.granted) > bitWidth(pin.asked) ? PinResult::Widened : PinResult::Ignored;
  return fate == Fate::Kernel || fate == Fate::NotDisclosed ? PinResult::NotDisclosed : PinResult::WithoutKernel;
}

ReadBackPin judgedPin(const ReadBackPlan& made, const PrecisionGrant& planned, const ReadBack& readBack,
                      const MovedPins& moved) {
  ReadBackPin pin{.node = planned.node, .asked = planned.asked};
  const Fate fate = made.fateOf(planned.node);
  if (fate == Fate::Fallback) pin.granted = planned.granted;
  if (!pin.granted) pin.granted = calculatedIn(made, planned.node);
  if (!pin.granted) pin.granted = movedAs(made, planned.node);
  if (pin.granted == pin.asked) {
    pin.result = PinResult::Obeyed;
    return pin;
  }
  const PinHindrance hindrance = hindranceOf(made, pin, readBack);
  pin.cause = hindrance.cause;
  pin.why = hindrance.why;
  pin.cut = cutAround(made, pin.node);
  pin.result = resultWithout(fate, pin);
  if (pin.granted && fate == Fate::Kernel)
    pin.why = fmt::format("Its kernel calculates it in {}. {}", toText(*pin.granted), pin.why);
  const bool mayHaveMoved = fate != Fate::Fallback && (pin.granted || fate != Fate::Kernel);
  if (const FusedNode* kernel = mayHaveMoved ? moved.movedTo(pin.node, pin.asked) : nullptr) {
    pin.result = PinResult::Moved;
    pin.why = fmt::format(
        "The kernel {} beside it calculates in {} instead, for which nobody asked there, and kernels of the same "
        "operators elsewhere do not. {}",
        kernel->name, toText(pin.asked), pin.why);
  }
  return pin;
}

/// Returns "; a kernel of its own would begin and end at relu, conv2d".
std::string cutText(const ReadBackPlan& made, const ReadBackPin& pin) {
  std::vector<std::string> names;
  for (const ValueId value : pin.cut) names.push_back(made.graph().value(value).name);
  return names.empty() ? std::string() : " A kernel of its own would begin and end at " + joined(names) + ".";
}

std::string_view codeOf(const ReadBackPin& pin) {
  if (pin.result == PinResult::Obeyed) return "build.pin_obeyed";
  if (pin.result == PinResult::Moved) return "build.pin_moved";
  switch (pin.cause) {
    case PinCause::NotApplied:
      return "build.pin_not_applied";
    case PinCause::OnlyPreferred:
      return "build.pin_only_preferred";
    case PinCause::TypeNotEnabled:
      return "build.pin_type_not_enabled";
    case PinCause::NoTactic:
      return "build.pin_no_tactic";
    case PinCause::TargetRefuses:
      return "build.pin_refused_by_target";
    case PinCause::WithoutKernel:
      return "build.pin_without_kernel";
    case PinCause::InRegion:
      return "build.pin_in_region";
    case PinCause::SharesKernel:
      return "build.pin_shares_kernel";
    case PinCause::None:
    case PinCause::NotDisclosed:
      break;
  }
  return "build.pin_unexplained";
}

}  // namespace

std::vector<ReadBackPin> pinsOf(const ReadBackPlan& made, const ReadBack& readBack) {
  std::map<NodeId, const ReadBackPin*> reportedOf;
  for (const ReadBackPin& pin : readBack.pins) reportedOf.emplace(pin.node, &pin);
  const MovedPins moved(made);
  std::vector<ReadBackPin> pins;
  for (const PrecisionGrant& planned : made.requested->precisionMap) {
    if (const auto found = reportedOf.find(planned.node); found != reportedOf.end())
      pins.push_back(*found->second);
    else if (planned.asked != DataType::Undefined)
      pins.push_back(judgedPin(made, planned, readBack, moved));
  }
  return pins;
}

std::vector<Decision> pinDecisions(const ReadBackPlan& made, const std::vector<ReadBackPin>& reported) {
  std::vector<Decision> decisions;
  for (const ReadBackPin& pin : made.pins) {
    if (std::ranges::find(reported, pin.node, &ReadBackPin::node) != reported.end()) continue;
    const std::string& node = made.graph().node(pin.node).name;
    std::vector<Subject> subjects{Subject::node(node)};
    for (const FusedNodeId kernel : made.kernelsOf(pin.node))
      subjects.push_back(
          Subject::fusedNode(made.fusedNodes[kernel.index].name, made.fusedNodes[kernel.index].identity.hex()));
    Decision decision = decide(codeOf(pin), std::move(subjects), made.compiler.name,
                               {{"compiler", made.compiler.name},
                                {"asked", toText(pin.asked)},
                                {"granted", pin.granted ? toText(*pin.granted) : "a type that is not reported"},
                                {"region", regionOf(made, pin.node)},
                                {"why", pin.why},
                                {"cut", cutText(made, pin)}});
    for (const DirectiveAnswer* answer : pinAnswersAbout(*made.requested, Subject::node(node)))
      decision.evidence.push_back(answer->decision);
    decisions.push_back(std::move(decision));
  }
  return decisions;
}

}  // namespace fusescope
