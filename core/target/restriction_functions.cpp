#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "ops/support/recurrent_activation.h"
#include "target/node_request.h"
#include "target/restriction_list.h"

namespace fusescope {
namespace {

Holds answer(bool holds) {
  return holds ? Holds::Yes : Holds::No;
}

/// Returns the worse of two: No, then Unknown, then Yes.
Holds both(Holds a, Holds b) {
  if (a == Holds::No || b == Holds::No) return Holds::No;
  return a == Holds::Unknown || b == Holds::Unknown ? Holds::Unknown : Holds::Yes;
}

std::vector<const Subgraph*> bodiesOf(const Node& node) {
  std::vector<const Subgraph*> bodies;
  for (const auto& [name, attribute] : node.attributes)
    if (const auto* body = std::get_if<Subgraph>(&attribute)) bodies.push_back(body);
  return bodies;
}

// LSTM, GRU and RNN: the activations of both directions, one after the other.
Holds sameActivations(const NodeRequest& request) {
  const auto found = request.node.attributes.find("activations");
  if (request.node.textAttribute("direction", "forward") != "bidirectional" || found == request.node.attributes.end())
    return Holds::Yes;
  const auto* names = std::get_if<std::vector<std::string>>(&found->second);
  if (names == nullptr || names->size() % 2 != 0) return Holds::Unknown;
  const auto half = names->begin() + static_cast<std::ptrdiff_t>(names->size() / 2);
  return answer(std::equal(names->begin(), half, half));
}

Holds standardActivations(const NodeRequest& request) {
  return answer(ops::hasStandardActivations(request.node));
}

// The terms of Einsum's inputs are the texts before the arrow, separated by commas.
Holds plainEinsum(const NodeRequest& request) {
  std::string equation = request.node.textAttribute("equation", "");
  std::erase(equation, ' ');
  if (equation.find("...") != std::string::npos) return Holds::No;
  Holds holds = Holds::Yes;
  std::map<char, Dim> extents;
  const std::vector<std::string> terms = split(equation.substr(0, equation.find("->")), ',');
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (std::set<char>(terms[i].begin(), terms[i].end()).size() != terms[i].size()) return Holds::No;
    const TensorType* type = request.input(i);
    if (type == nullptr || !type->shape.ranked || type->shape.rank() != terms[i].size()) {
      holds = Holds::Unknown;
      continue;
    }
    for (std::size_t axis = 0; axis < terms[i].size(); ++axis) {
      const Dim& dim = type->shape.dims[axis];
      const auto [known, added] = extents.emplace(terms[i][axis], dim);
      if (added || known->second == dim) continue;
      holds = both(holds, known->second.known() && dim.known() ? Holds::No : Holds::Unknown);
    }
  }
  return holds;
}

/// Compares the results of an If's branches, pair by pair.
template <class Compare>
Holds ofBranches(const NodeRequest& request, const Compare& compare) {
  const std::vector<const Subgraph*> bodies = bodiesOf(request.node);
  if (bodies.size() != 2) return Holds::Yes;
  const Graph& a = *bodies[0]->graph;
  const Graph& b = *bodies[1]->graph;
  Holds holds = Holds::Yes;
  for (std::size_t i = 0; i < std::min(a.outputs().size(), b.outputs().size()); ++i)
    holds = both(holds, compare(a.value(a.outputs()[i]), b.value(b.outputs()[i])));
  return holds;
}

Holds equalBranchRanks(const NodeRequest& request) {
  return ofBranches(request, [](const Value& a, const Value& b) {
    if (!a.type.shape.ranked || !b.type.shape.ranked) return Holds::Unknown;
    return answer(a.type.shape.rank() == b.type.shape.rank());
  });
}

Holds differentBranchNames(const NodeRequest& request) {
  return ofBranches(request, [](const Value& a, const Value& b) { return answer(a.name != b.name); });
}

Holds broadcastableBranches(const NodeRequest& request) {
  return ofBranches(request, [](const Value& a, const Value& b) {
    const Shape &left = a.type.shape, &right = b.type.shape;
    if (!left.ranked || !right.ranked) return Holds::Unknown;
    Holds holds = Holds::Yes;
    for (std::size_t i = 1; i <= std::min(left.rank(), right.rank()); ++i) {
      const Dim &x = left.dims[left.rank() - i], &y = right.dims[right.rank() - i];
      if (x == y || x.size == 1 || y.size == 1) continue;
      holds = both(holds, x.known() && y.known() ? Holds::No : Holds::Unknown);
    }
    return holds;
  });
}

// pads: the beginnings of all axes, then the ends.
Holds symmetricPads(const NodeRequest& request) {
  const std::vector<std::int64_t> pads = request.node.intsAttribute("pads");
  const auto half = pads.begin() + static_cast<std::ptrdiff_t>(pads.size() / 2);
  return answer(pads.size() % 2 == 0 && std::equal(pads.begin(), half, half));
}

// Loop(M, condition, carried…): results after the carried ones are collected, one slice per iteration.
Holds knownScanLength(const NodeRequest& request) {
  const std::size_t carried = request.node.inputs.size() < 2 ? 0 : request.node.inputs.size() - 2;
  Holds holds = Holds::Yes;
  for (std::size_t i = carried; i < request.node.outputs.size(); ++i) {
    const TensorType* type = request.output(i);
    if (type == nullptr) continue;
    const Shape& shape = type->shape;
    if (shape.ranked && shape.rank() > 0 && shape.dims[0].known()) continue;
    holds = both(holds, request.isConstant(0) ? Holds::Unknown : Holds::No);
  }
  return holds;
}

// A Loop's body has the inputs (iteration, condition, carried…) and the results (condition, carried…, collected…).
Holds carriedShapesStay(const NodeRequest& request) {
  const std::vector<const Subgraph*> bodies = bodiesOf(request.node);
  if (bodies.size() != 1) return Holds::Unknown;
  const Graph& body = *bodies[0]->graph;
  const std::size_t carried = request.node.inputs.size() < 2 ? 0 : request.node.inputs.size() - 2;
  Holds holds = Holds::Yes;
  for (std::size_t i = 0; i < carried && i + 2 < body.inputs().size() && i + 1 < body.outputs().size(); ++i) {
    const Shape& before = body.value(body.inputs()[i + 2]).type.shape;
    const Shape& after = body.value(body.outputs()[i + 1]).type.shape;
    if (before == after && before.ranked) continue;
    const bool known = before.fixed().has_value() && after.fixed().has_value();
    holds = both(holds, known ? Holds::No : Holds::Unknown);
  }
  return holds;
}

// Resize(X, roi, scales, sizes).
Holds resizeAxesInOrder(const NodeRequest& request) {
  if (!request.node.input(2).valid() || !request.node.hasAttribute("axes")) return Holds::Yes;
  const TensorType* x = request.input(0);
  if (x == nullptr || !x->shape.ranked) return Holds::Unknown;
  const std::vector<std::int64_t> axes = request.node.intsAttribute("axes");
  if (axes.size() != x->shape.rank()) return Holds::No;
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != static_cast<std::int64_t>(i)) return Holds::No;
  return Holds::Yes;
}

// STFT(signal): the third axis of the signal has one number, or two for a complex signal; without this axis, the signal
// is real.
Holds realSignal(const NodeRequest& request) {
  const TensorType* signal = request.input(0);
  if (signal == nullptr || !signal->shape.ranked) return Holds::Unknown;
  if (signal->shape.rank() < 3) return Holds::Yes;
  const Dim& last = signal->shape.dims.back();
  return last.known() ? answer(last.size == 1) : Holds::Unknown;
}

bool isConstantCode(const NodeRequest& request, std::size_t i) {
  const TensorType* type = request.input(i);
  return type != nullptr && type->dtype == DataType::I8 && request.isConstant(i);
}

Holds movesNoConstantCodes(const NodeRequest& request) {
  for (std::size_t i = 0; i < request.inputs.size(); ++i)
    if (isConstantCode(request, i)) return Holds::No;
  return Holds::Yes;
}

// DequantizeLinear(x).
Holds constantCodesHaveAxes(const NodeRequest& request) {
  if (!isConstantCode(request, 0)) return Holds::Yes;
  const Shape& shape = request.input(0)->shape;
  return shape.ranked ? answer(shape.rank() > 0) : Holds::Unknown;
}

// Mod: with fmod = 0 the remainder has the sign of the divisor.
Holds remainderOfIntegers(const NodeRequest& request) {
  const TensorType* type = request.input(0);
  return answer(request.node.intAttribute("fmod", 0) != 0 || type == nullptr || !isFloat(type->dtype));
}

// Resize(X, roi, scales, sizes), Range(start, limit, delta): floats among these decide extents.
Holds noFloatInputThatShapes(const NodeRequest& request) {
  const std::size_t first = request.node.is("Resize") ? 2 : 0;
  for (std::size_t i = first; i < request.inputs.size(); ++i) {
    const TensorType* type = request.input(i);
    if (type == nullptr || !isFloat(type->dtype) || request.isConstant(i)) continue;
    if (request.scope.isGiven(request.node.input(i))) return Holds::No;
  }
  return Holds::Yes;
}

// MatMul(A, B): for a vector and a stack of matrices, the parser removes the first axis, which is that of the stack.
Holds noVectorTimesStack(const NodeRequest& request) {
  const TensorType *a = request.input(0), *b = request.input(1);
  if (a == nullptr || b == nullptr || !a->shape.ranked || !b->shape.ranked) return Holds::Unknown;
  if (a->shape.rank() != 1 || b->shape.rank() < 3) return Holds::Yes;
  const Dim& stack = b->shape.dims[0];
  return stack.known() ? answer(stack.size == 1) : Holds::Unknown;
}

}  // namespace

extern const NamedRestriction kStandardActivations{
    "standardActivations", "its activations are the defaults of ONNX and nothing is clipped", standardActivations};
extern const NamedRestriction kSameActivations{"sameActivations", "both directions have the same activations",
                                               sameActivations};
extern const NamedRestriction kPlainEinsum{
    "plainEinsum", "no term has an ellipsis or repeats a letter, and no extent is broadcast", plainEinsum};
extern const NamedRestriction kEqualBranchRanks{"equalBranchRanks", "the results of both branches have the same rank",
                                                equalBranchRanks};
extern const NamedRestriction kBroadcastableBranches{
    "broadcastableBranches", "the results of both branches can be broadcast to each other", broadcastableBranches};
extern const NamedRestriction kDifferentBranchNames{
    "differentBranchNames", "the results of its branches have different names", differentBranchNames};
extern const NamedRestriction kSymmetricPads{"symmetricPads", "pads are equal at both ends of each axis",
                                             symmetricPads};
extern const NamedRestriction kKnownScanLength{"knownScanLength", "the number of collected slices is known",
                                               knownScanLength};
extern const NamedRestriction kCarriedShapesStay{
    "carriedShapesStay", "carried values keep their extents in every iteration", carriedShapesStay};
extern const NamedRestriction kResizeAxesInOrder{"resizeAxesInOrder", "scales are given for all axes in order",
                                                 resizeAxesInOrder};
extern const NamedRestriction kRealSignal{"realSignal", "the signal is real", realSignal};
extern const NamedRestriction kMovesNoConstantCodes{
    "movesNoConstantCodes", "it reads no int8 constant, which only a DequantizeLinear may read", movesNoConstantCodes};
extern const NamedRestriction kConstantCodesHaveAxes{
    "constantCodesHaveAxes", "the constant that it dequantises is not a scalar", constantCodesHaveAxes};

extern const NamedRestriction kRemainderOfIntegers{"remainderOfIntegers", "fmod is 1, or its operands are integers",
                                                   remainderOfIntegers};
extern const NamedRestriction kNoFloatInputThatShapes{
    "noFloatInputThatShapes", "no float that decides the extents of its result is an input of the network",
    noFloatInputThatShapes};

extern const NamedRestriction kNoVectorTimesStack{
    "noVectorTimesStack", "it does not multiply a vector by more than one matrix", noVectorTimesStack};

}  // namespace fusescope
