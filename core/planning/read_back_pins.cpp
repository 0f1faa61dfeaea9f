#include <algorithm>
#include <map>

#include "planning/read_back_steps.h"

namespace fusescope {
namespace {

/// The narrower of what is told so far and `type`, if that is a float.
void takeNarrower(std::optional<DataType>& told, DataType type) {
  if (isFloat(type) && (!told || bitWidth(type) < bitWidth(*told))) told = type;
}

/// What the kernels of a node calculate in, the narrowest of several.
std::optional<DataType> calculatedIn(const ReadBackPlan& made, NodeId node) {
  std::optional<DataType> narrowest;
  for (const FusedNodeId kernel : made.kernelsOf(node)) {
    const DataType type = made.fusedNodes[kernel.index].compute;
    if (type != DataType::Undefined && (!narrowest || bitWidth(type) < bitWidth(*narrowest))) narrowest = type;
  }
  return narrowest;
}

/// The narrowest float that its kernels read for `node` or write of what it makes. Weights say nothing: they may be
/// held narrower than they are used.
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
      return "It was removed.";
    case Fate::View:
      return "It calculates nothing: what it makes is seen in the memory of what it reads.";
    case Fate::Merged:
      return "An equal node is calculated in its place.";
    case Fate::Fallback:
      return "Our own engine runs it in the types of the network.";
    case Fate::NotDisclosed:
      break;
  }
  return "The compiler does not say what became of it.";
}

ReadBackPin judgedPin(const ReadBackPlan& made, const PrecisionGrant& planned) {
  ReadBackPin pin{.node = planned.node, .asked = planned.asked};
  const Fate fate = made.fateOf(planned.node);
  if (fate == Fate::Fallback) pin.granted = planned.granted;
  if (!pin.granted) pin.granted = calculatedIn(made, planned.node);
  if (!pin.granted) pin.granted = movedAs(made, planned.node);
  if (!pin.granted) {
    pin.why = whyNotDisclosed(fate);
    return pin;
  }
  if (*pin.granted == pin.asked) {
    pin.result = PinResult::Obeyed;
    return pin;
  }
  pin.result = bitWidth(*pin.granted) > bitWidth(pin.asked) ? PinResult::Widened : PinResult::Ignored;
  pin.why = fate == Fate::Fallback ? whyNotDisclosed(fate) : "Its kernel takes it in " + toText(*pin.granted) + ".";
  return pin;
}

}  // namespace

std::vector<ReadBackPin> pinsOf(const ReadBackPlan& made, const std::vector<ReadBackPin>& told) {
  std::map<NodeId, const ReadBackPin*> toldOf;
  for (const ReadBackPin& pin : told) toldOf.emplace(pin.node, &pin);
  std::vector<ReadBackPin> pins;
  for (const PrecisionGrant& planned : made.asked->precisionMap) {
    if (const auto found = toldOf.find(planned.node); found != toldOf.end())
      pins.push_back(*found->second);
    else if (planned.asked != DataType::Undefined)
      pins.push_back(judgedPin(made, planned));
  }
  return pins;
}

}  // namespace fusescope
