// LSTM, GRU and RNN: one layer that walks along sequences. The formulas are those of the ONNX operators' pages, whose
// names for the gates and weights are kept.
#include <fmt/format.h>

#include <algorithm>

#include "ops/families.h"
#include "ops/support/kernel_support.h"
#include "ops/support/multiply.h"
#include "ops/support/recurrent_activation.h"
#include "ops/support/require_extents.h"

namespace fusescope::ops {
namespace {

// Beyond this the arithmetic on extents could overflow.
constexpr std::int64_t kMostHidden = std::int64_t{1} << 30;

std::int64_t gatesOf(const Node& node) {
  return node.is("LSTM") ? 4 : node.is("GRU") ? 3 : 1;
}

Result<std::int64_t> directionsOf(const Node& node) {
  const std::string direction =
      TRY(choiceAttribute(node, "direction", "forward", {"forward", "reverse", "bidirectional"}));
  return direction == "bidirectional" ? 2 : 1;
}

// --- types
// ------------------------------------------------------------------------------------------------------------

Result<Dim> hiddenExtent(const InferContext& context) {
  Dim given;
  if (context.node().hasAttribute("hidden_size")) {
    given = Dim(context.node().intAttribute("hidden_size", 0));
    if (given.size < 1 || given.size > kMostHidden)
      return attributeProblem("hidden_size", fmt::format("{} is outside 1 to {}", given.size, kMostHidden));
  }
  TRY(requireRank(context, 2, 3));
  const Dim hidden = TRY(unified(context, given, extentOf(context, 2, 2), "hidden_size and the last extent of R"));
  if (hidden.known() && hidden.size > kMostHidden) return problem("the hidden state is absurdly large");
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

/// Y [time, directions, batch, hidden], Y_h and Y_c without the time; with layout 1 the batch comes first.
Result<Types> inferRecurrence(const InferContext& context) {
  const Node& node = context.node();
  const Dim directions(TRY(directionsOf(node)));
  TRY(checkOptions(node, static_cast<std::size_t>(directions.size)));
  TRY(requireRank(context, 0, 3));
  const bool batchFirst = node.intAttribute("layout", 0) != 0;
  const Dim time = extentOf(context, 0, batchFirst ? 1 : 0), batch = extentOf(context, 0, batchFirst ? 0 : 1);
  const Dim hidden = TRY(hiddenExtent(context));
  const auto times = [&](std::int64_t factor) { return hidden.known() ? Dim(factor * hidden.size) : Dim(); };
  const std::int64_t gates = gatesOf(node);
  const std::vector<Dim> state =
      batchFirst ? std::vector<Dim>{batch, directions, hidden} : std::vector<Dim>{directions, batch, hidden};
  TRY(requireExtents(context, 1, "W", {directions, times(gates), extentOf(context, 0, 2)}));
  TRY(requireExtents(context, 2, "R", {directions, times(gates), hidden}));
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

// --- one direction
// ----------------------------------------------------------------------------------------------------

template <class T>
using Numbers = std::vector<T>;

/// The extents of a node, and where a step of a sequence and a state lie in its tensors.
struct Layout {
  std::int64_t time = 0, batch = 0, features = 0, hidden = 0, directions = 1, gates = 1;
  bool batchFirst = false;
  std::vector<std::int64_t> lengths;  ///< steps of each sequence of the batch

  std::int64_t row(std::int64_t t, std::int64_t b) const { return batchFirst ? b * time + t : t * batch + b; }
  std::int64_t step(std::int64_t t, std::int64_t d, std::int64_t b) const {
    return (batchFirst ? (b * time + t) * directions + d : (t * directions + d) * batch + b) * hidden;
  }
  std::int64_t state(std::int64_t d, std::int64_t b) const {
    return (batchFirst ? b * directions + d : d * batch + b) * hidden;
  }
};

Result<Layout> readLayout(const KernelContext& context) {
  Layout layout;
  const Dims &x = context.input(0).dims(), &r = context.input(2).dims();
  layout.batchFirst = context.node().intAttribute("layout", 0) != 0;
  layout.time = x[layout.batchFirst ? 1 : 0];
  layout.batch = x[layout.batchFirst ? 0 : 1];
  layout.features = x[2];
  layout.hidden = r[2];
  layout.directions = r[0];
  layout.gates = gatesOf(context.node());
  layout.lengths.assign(static_cast<std::size_t>(layout.batch), layout.time);
  if (!context.hasInput(4)) return layout;
  layout.lengths = int64Values(context.input(4));
  for (const std::int64_t length : layout.lengths)
    if (length < 0 || length > layout.time)
      return problem(fmt::format("sequence_lens holds {}, but the sequences have {} steps", length, layout.time));
  return layout;
}

/// The weights of one direction as the steps need them, and the states of the whole batch.
template <class T>
struct Direction {
  std::int64_t batch = 0, hidden = 0;
  Numbers<T> projected;  ///< [row, gate, hidden]: X·Wᵀ + Wb, and + Rb where it may be added at once
  Numbers<T> recurrent;  ///< [gate, hidden, hidden]: each gate's Rᵀ
  Numbers<T> lateBias;   ///< GRU with linear_before_reset: Rbh
  Numbers<T> peepholes;  ///< [i o f, hidden], zeros if there are none
  std::vector<RecurrentActivation> functions;
  T clip = std::numeric_limits<T>::infinity();
  Numbers<T> h, c;  ///< [batch, hidden]

  /// f(x) with x first held within the clip threshold.
  void apply(std::size_t function, T* values) const {
    const std::span<T> all(values, static_cast<std::size_t>(hidden));
    if (clip < std::numeric_limits<T>::infinity())
      for (T& value : all) value = std::clamp(value, -clip, clip);
    activate(functions[function], all);
  }
  /// state·Rᵀ of one gate.
  Numbers<T> throughRecurrent(const Numbers<T>& state, std::int64_t gate) const {
    Numbers<T> product(static_cast<std::size_t>(batch * hidden));
    multiply(state.data(), recurrent.data() + gate * hidden * hidden, product.data(), batch, hidden, hidden);
    return product;
  }
  /// Adds state·Rᵀ of one gate to that gate of `z`, which has `gates`.
  void addRecurrent(Numbers<T>& z, const Numbers<T>& state, std::int64_t gate, std::int64_t gates) const {
    const Numbers<T> product = throughRecurrent(state, gate);
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t k = 0; k < hidden; ++k)
        z[static_cast<std::size_t>((b * gates + gate) * hidden + k)] +=
            product[static_cast<std::size_t>(b * hidden + k)];
  }
};

// One step of each operator: `z` holds the projected inputs of the batch, [batch, gate, hidden]; h and c advance.

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

/// Gates i, o, f, c: Ct = ft ⊙ Ct-1 + it ⊙ ct, Ht = ot ⊙ h(Ct)
template <class T>
void stepLstm(const Node& node, Direction<T>& d, Numbers<T>& z) {
  const bool coupled = node.intAttribute("input_forget", 0) != 0;
  const std::int64_t hidden = d.hidden;
  for (std::int64_t gate = 0; gate < 4; ++gate) d.addRecurrent(z, d.h, gate, 4);
  Numbers<T> squashed(static_cast<std::size_t>(hidden));
  for (std::int64_t b = 0; b < d.batch; ++b) {
    T *i = z.data() + b * 4 * hidden, *o = i + hidden, *f = o + hidden, *g = f + hidden;
    T *c = d.c.data() + b * hidden, *h = d.h.data() + b * hidden;
    const T *pi = d.peepholes.data(), *po = pi + hidden, *pf = po + hidden;
    for (std::int64_t k = 0; k < hidden; ++k) {
      i[k] += pi[k] * c[k];
      f[k] += pf[k] * c[k];
    }
    d.apply(0, i);
    d.apply(0, f);
    d.apply(1, g);
    for (std::int64_t k = 0; k < hidden; ++k) {
      c[k] = (coupled ? T(1) - i[k] : f[k]) * c[k] + i[k] * g[k];
      o[k] += po[k] * c[k];
      squashed[static_cast<std::size_t>(k)] = c[k];
    }
    d.apply(0, o);
    d.apply(2, squashed.data());
    for (std::int64_t k = 0; k < hidden; ++k) h[k] = o[k] * squashed[static_cast<std::size_t>(k)];
  }
}

// --- the whole node
// ---------------------------------------------------------------------------------------------------

/// to[columns, rows] = from[rows, columns] transposed.
template <class T>
void transpose(const T* from, std::int64_t rows, std::int64_t columns, T* to) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) to[c * rows + r] = from[r * columns + c];
}

/// X·Wᵀ + Wb (+ Rb) of direction `d`, for every step of every sequence.
template <class T>
void project(const KernelContext& context, const Layout& layout, std::int64_t d, Direction<T>& direction) {
  const std::int64_t width = layout.gates * layout.hidden, rows = layout.time * layout.batch;
  Numbers<T> weights(static_cast<std::size_t>(layout.features * width));
  transpose(context.input(1).data<T>().data() + d * width * layout.features, width, layout.features, weights.data());
  direction.projected.resize(static_cast<std::size_t>(rows * width));
  multiply(context.input(0).data<T>().data(), weights.data(), direction.projected.data(), rows, layout.features, width);
  direction.lateBias.assign(static_cast<std::size_t>(layout.hidden), T(0));
  if (!context.hasInput(3)) return;
  const T *wb = context.input(3).data<T>().data() + d * 2 * width, *rb = wb + width;
  const bool late = context.node().is("GRU") && context.node().intAttribute("linear_before_reset", 0) != 0;
  const std::int64_t early = late ? 2 * layout.hidden : width;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t k = 0; k < width; ++k)
      direction.projected[static_cast<std::size_t>(r * width + k)] += wb[k] + (k < early ? rb[k] : T(0));
  if (late) std::copy(rb + early, rb + width, direction.lateBias.begin());
}

template <class T>
Result<Direction<T>> prepare(const KernelContext& context, const Layout& layout, std::int64_t d) {
  const Node& node = context.node();
  const std::int64_t hidden = layout.hidden, matrix = hidden * hidden;
  Direction<T> direction{.batch = layout.batch, .hidden = hidden};
  const std::vector<std::string> defaults = defaultActivations(node);
  const auto functions = TRY(readActivations(node, defaults, static_cast<std::size_t>(layout.directions)));
  const auto first = functions.begin() + d * std::ssize(defaults);
  direction.functions.assign(first, first + std::ssize(defaults));
  if (node.hasAttribute("clip")) direction.clip = static_cast<T>(node.floatAttribute("clip", 0));
  project(context, layout, d, direction);
  direction.recurrent.resize(static_cast<std::size_t>(layout.gates * matrix));
  for (std::int64_t gate = 0; gate < layout.gates; ++gate)
    transpose(context.input(2).data<T>().data() + (d * layout.gates + gate) * matrix, hidden, hidden,
              direction.recurrent.data() + gate * matrix);
  direction.peepholes.assign(static_cast<std::size_t>(3 * hidden), T(0));
  if (context.hasInput(7))
    std::copy_n(context.input(7).data<T>().data() + d * 3 * hidden, 3 * hidden, direction.peepholes.begin());
  for (Numbers<T>* state : {&direction.h, &direction.c}) {
    state->assign(static_cast<std::size_t>(layout.batch * hidden), T(0));
    const std::size_t input = state == &direction.h ? 5 : 6;
    for (std::int64_t b = 0; b < layout.batch && context.hasInput(input); ++b)
      std::copy_n(context.input(input).data<T>().data() + layout.state(d, b), hidden, state->begin() + b * hidden);
  }
  return direction;
}

/// All sequences of the batch take their steps together; one that has ended keeps its state.
template <class T, class Step>
void walk(const KernelContext& context, const Layout& layout, std::int64_t d, bool reverse, Direction<T>& direction,
          Step step, T* y) {
  const std::int64_t hidden = layout.hidden, width = layout.gates * hidden;
  Numbers<T> z(static_cast<std::size_t>(layout.batch * width), T(0));
  for (std::int64_t s = 0; s < layout.time; ++s) {
    const auto length = [&](std::int64_t b) { return layout.lengths[static_cast<std::size_t>(b)]; };
    const auto place = [&](std::int64_t b) { return reverse ? length(b) - 1 - s : s; };
    for (std::int64_t b = 0; b < layout.batch; ++b)
      if (s < length(b))
        std::copy_n(direction.projected.begin() + layout.row(place(b), b) * width, width, z.begin() + b * width);
    const Numbers<T> h = direction.h, c = direction.c;
    step(context.node(), direction, z);
    for (std::int64_t b = 0; b < layout.batch; ++b) {
      if (s < length(b)) {
        std::copy_n(direction.h.begin() + b * hidden, hidden, y + layout.step(place(b), d, b));
      } else {
        std::copy_n(h.begin() + b * hidden, hidden, direction.h.begin() + b * hidden);
        std::copy_n(c.begin() + b * hidden, hidden, direction.c.begin() + b * hidden);
      }
    }
  }
}

template <class T, class Step>
Result<Tensors> recurrenceAs(const KernelContext& context, Step step) {
  const Layout layout = TRY(readLayout(context));
  Tensors results;
  for (std::size_t i = 0; i < std::max<std::size_t>(context.outputCount(), 1); ++i)
    results.push_back(TRY(allocateOutput(context, i)));
  for (std::int64_t d = 0; d < layout.directions; ++d) {
    Direction<T> direction = TRY(prepare<T>(context, layout, d));
    const bool reverse = d == 1 || context.node().textAttribute("direction", "forward") == "reverse";
    walk(context, layout, d, reverse, direction, step, results[0].mutableData<T>().data());
    for (std::size_t i = 1; i < results.size(); ++i)
      for (std::int64_t b = 0; b < layout.batch; ++b)
        std::copy_n((i == 1 ? direction.h : direction.c).begin() + b * layout.hidden, layout.hidden,
                    results[i].mutableData<T>().begin() + layout.state(d, b));
  }
  return results;
}

template <class Step>
KernelFunction recurrence(Step step) {
  return widened([step](const KernelContext& context) {
    return dispatchFloat(context.input(0).type(),
                         [&]<class T>(std::type_identity<T>) { return recurrenceAs<T>(context, step); });
  });
}

std::int64_t recurrenceFlops(const Node&, std::span<const Dims> inputs, std::span<const Dims>) {
  if (inputs.size() < 3 || inputs[0].size() != 3) return 0;
  const std::int64_t weights = elementCount(inputs[1]).value_or(0) + elementCount(inputs[2]).value_or(0);
  return elementCount({2, inputs[0][0], inputs[0][1], weights}).value_or(0);
}

OpSchema recurrent(std::string op, int maxInputs, int maxOutputs, KernelFunction kernel) {
  return {.op = std::move(op),
          .kind = OpKind::Recurrence,
          .minInputs = 3,
          .maxInputs = maxInputs,
          .infer = inferRecurrence,
          .kernel = std::move(kernel),
          .flops = recurrenceFlops,
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
