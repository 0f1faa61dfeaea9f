// LSTM, GRU and RNN: a layer that runs over sequences. The formulas, and the names of gates and weights, are those of
// the ONNX operators' pages.
#include <fmt/format.h>

#include <algorithm>

#include "ops/families.h"
#include "ops/support/recurrent_types.h"
#include "ops/support/recurrent_walk.h"
#include "ops/support/require_extents.h"
#include "ops/support/work.h"

namespace fusescope::ops {
namespace {

// Beyond this the arithmetic on extents could overflow.
constexpr std::int64_t kMostHidden = std::int64_t{1} << 30;

Result<std::int64_t> directionsOf(const Node& node) {
  const std::string direction =
      TRY(choiceAttribute(node, "direction", "forward", {"forward", "reverse", "bidirectional"}));
  return direction == "bidirectional" ? 2 : 1;
}

// --- types

Result<Dim> hiddenExtent(const InferContext& context, WeightOrder order) {
  Dim given;
  if (context.node().hasAttribute("hidden_size")) {
    given = Dim(context.node().intAttribute("hidden_size", 0));
    if (given.size < 1 || given.size > kMostHidden)
      return attributeProblem("hidden_size", fmt::format("is {}, expected 1 to {}", given.size, kMostHidden));
  }
  TRY(requireRank(context, 2, 3));
  const bool first = order == WeightOrder::GatesFirst;
  const std::string which = first ? "the last extent of R" : "the second extent of R";
  const Dim hidden = TRY(unified(context, given, extentOf(context, 2, first ? 2 : 1), "hidden_size and " + which));
  if (hidden.known() && hidden.size > kMostHidden) return problem("the hidden state is too large");
  return hidden;
}

Status checkOptions(const Node& node, std::size_t directions) {
  TRY(readActivations(node, defaultActivations(node), directions));
  const std::int64_t layout = node.intAttribute("layout", 0);
  if (layout != 0 && layout != 1) return attributeProblem("layout", fmt::format("is {}, expected 0 or 1", layout));
  if (node.hasAttribute("clip") && !(node.floatAttribute("clip", 1) >= 0))
    return attributeProblem("clip", "must not be negative");
  return Done{};
}

}  // namespace

Result<Types> recurrentTypes(const InferContext& context, WeightOrder order) {
  const Node& node = context.node();
  const Dim directions(TRY(directionsOf(node)));
  TRY(checkOptions(node, static_cast<std::size_t>(directions.size)));
  TRY(requireRank(context, 0, 3));
  const bool batchFirst = node.intAttribute("layout", 0) != 0;
  const Dim time = extentOf(context, 0, batchFirst ? 1 : 0), batch = extentOf(context, 0, batchFirst ? 0 : 1);
  const Dim hidden = TRY(hiddenExtent(context, order));
  const auto times = [&](std::int64_t factor) { return hidden.known() ? Dim(factor * hidden.size) : Dim(); };
  const std::int64_t gates = gatesOf(node);
  const std::vector<Dim> state =
      batchFirst ? std::vector<Dim>{batch, directions, hidden} : std::vector<Dim>{directions, batch, hidden};
  const auto matrix = [&](const Dim& inputs) {
    return order == WeightOrder::GatesFirst ? std::vector<Dim>{directions, times(gates), inputs}
                                            : std::vector<Dim>{directions, inputs, times(gates)};
  };
  TRY(requireExtents(context, 1, "W", matrix(extentOf(context, 0, 2))));
  TRY(requireExtents(context, 2, "R", matrix(hidden)));
  TRY(requireExtents(context, 3, "B", {directions, times(2 * gates)}));
  TRY(requireExtents(context, 4, "sequence_lens", {batch}));
  TRY(requireExtents(context, 5, "initial_h", state));
  TRY(requireExtents(context, 6, "initial_c", state));
  TRY(requireExtents(context, 7, "P", {directions, times(3)}));
  const DataType type = context.input(0).dtype;
  const TensorType all{type, Shape::of(batchFirst ? std::vector<Dim>{batch, time, directions, hidden}
                                                  : std::vector<Dim>{time, directions, batch, hidden})};
  const TensorType last{type, Shape::of(state)};
  return Types{all, last, last};
}

std::int64_t recurrentFlops(const Node&, std::span<const Dims> inputs, std::span<const Dims>) {
  if (inputs.size() < 3 || inputs[0].size() != 3) return 0;
  return workOf({2, inputs[0][0], inputs[0][1], addedWork(workOf(inputs[1]), workOf(inputs[2]))});
}

namespace {

// --- kernels

// One step of each operator: `z` contains the projected inputs of the batch, [batch, gate, hidden]; h and c are
// updated.

/// Ht = f(Xt·Wiᵀ + Ht-1·Riᵀ + Wbi + Rbi)
template <class T>
void stepRnn(const Node&, Direction<T>& d, Numbers<T>& z) {
  d.addRecurrent(z, d.h, 0, 1);
  for (std::int64_t b = 0; b < d.batch; ++b) d.apply(0, z.data() + b * d.hidden);
  d.h = z;
}

/// Gates z, r, h: Ht = (1 - zt) ⊙ ht + zt ⊙ Ht-1
template <class T>
void stepGru(const Node& node, Direction<T>& d, Numbers<T>& z) {
  const bool linearFirst = node.intAttribute("linear_before_reset", 0) != 0;
  const std::int64_t hidden = d.hidden;
  d.addRecurrent(z, d.h, 0, 3);
  d.addRecurrent(z, d.h, 1, 3);
  const Numbers<T> linear = linearFirst ? d.throughRecurrent(d.h, 2) : Numbers<T>();
  Numbers<T> reset(d.h.size());
  for (std::int64_t b = 0; b < d.batch; ++b) {
    T* gates = z.data() + b * 3 * hidden;
    d.apply(0, gates);
    d.apply(0, gates + hidden);
    for (std::int64_t k = 0; k < hidden; ++k) {
      const auto at = static_cast<std::size_t>(b * hidden + k);
      if (linearFirst)
        gates[2 * hidden + k] += gates[hidden + k] * (linear[at] + d.lateBias[static_cast<std::size_t>(k)]);
      else
        reset[at] = gates[hidden + k] * d.h[at];
    }
  }
  if (!linearFirst) d.addRecurrent(z, reset, 2, 3);
  for (std::int64_t b = 0; b < d.batch; ++b) {
    T* gates = z.data() + b * 3 * hidden;
    d.apply(1, gates + 2 * hidden);
    T* h = d.h.data() + b * hidden;
    for (std::int64_t k = 0; k < hidden; ++k) h[k] = (T(1) - gates[k]) * gates[2 * hidden + k] + gates[k] * h[k];
  }
}

template <class T, class Step>
Result<Tensors> recurrenceAs(const KernelContext& context, Step step) {
  const auto input = [&](std::size_t i) { return context.hasInput(i) ? &context.input(i) : nullptr; };
  const RecurrentOperands operands{input(0), input(1), input(2), input(3), input(4), input(5), input(6), input(7)};
  Tensors results;
  for (std::size_t i = 0; i < std::max<std::size_t>(context.outputCount(), 1); ++i)
    results.push_back(TRY(allocateOutput(context, i)));
  TRY(runRecurrence<T>(context.node(), operands, step, results));
  return results;
}

template <class Step>
KernelFunction recurrence(Step step) {
  return widened([step](const KernelContext& context) {
    return dispatchFloat(context.input(0).type(),
                         [&]<class T>(std::type_identity<T>) { return recurrenceAs<T>(context, step); });
  });
}

OpSchema recurrent(std::string op, int maxInputs, int maxOutputs, KernelFunction kernel) {
  return {.op = std::move(op),
          .kind = OpKind::Recurrence,
          .minInputs = 3,
          .maxInputs = maxInputs,
          .infer = [](const InferContext& context) { return recurrentTypes(context, WeightOrder::GatesFirst); },
          .kernel = std::move(kernel),
          .flops = recurrentFlops,
          .maxOutputs = maxOutputs,
          .signature = {"TTTTLTTT", {{'T', kWideFloatTypes}, {'L', {DataType::I32}}}}};
}

}  // namespace

void registerRecurrence(OpRegistry& registry) {
  registry.add(recurrent("GRU", 6, 2, recurrence([](const Node& node, auto& d, auto& z) { stepGru(node, d, z); })));
  registry.add(recurrent("LSTM", 8, 3, recurrence([](const Node& node, auto& d, auto& z) { stepLstm(node, d, z); })));
  registry.add(recurrent("RNN", 6, 2, recurrence([](const Node& node, auto& d, auto& z) { stepRnn(node, d, z); })));
}

}  // namespace fusescope::ops
