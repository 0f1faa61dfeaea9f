#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "ops/support/kernel_support.h"
#include "ops/support/multiply.h"
#include "ops/support/recurrent_activation.h"

/// The part that the recurrent operators share: a layer that runs over sequences. Gates and weights have the names of
/// the ONNX operators' pages.
namespace fusescope::ops {

// One direction.

template <class T>
using Numbers = std::vector<T>;

/// The inputs of a recurrent node, named as in LSTM; null where one is absent. Inputs of numbers have the type in which
/// the node calculates.
struct RecurrentOperands {
  const Tensor* x = nullptr;
  const Tensor *w = nullptr, *r = nullptr, *b = nullptr;
  const Tensor* lengths = nullptr;
  const Tensor *state = nullptr, *cell = nullptr, *peepholes = nullptr;
};

/// The extents of a node, and the offsets of steps and states in its tensors.
struct Layout {
  std::int64_t time = 0, batch = 0, features = 0, hidden = 0, directions = 1, gates = 1;
  bool batchFirst = false;
  std::vector<std::int64_t> lengths;  ///< the number of steps of each sequence in the batch

  std::int64_t row(std::int64_t t, std::int64_t b) const { return batchFirst ? b * time + t : t * batch + b; }
  std::int64_t step(std::int64_t t, std::int64_t d, std::int64_t b) const {
    return (batchFirst ? (b * time + t) * directions + d : (t * directions + d) * batch + b) * hidden;
  }
  std::int64_t state(std::int64_t d, std::int64_t b) const {
    return (batchFirst ? b * directions + d : d * batch + b) * hidden;
  }
};

inline std::int64_t gatesOf(const Node& node) {
  return isLstm(node) ? 4 : node.is("GRU") ? 3 : 1;
}

inline Result<Layout> readLayout(const Node& node, const RecurrentOperands& operands) {
  Layout layout;
  const Dims &x = operands.x->dims(), &r = operands.r->dims();
  layout.batchFirst = node.intAttribute("layout", 0) != 0;
  layout.time = x[layout.batchFirst ? 1 : 0];
  layout.batch = x[layout.batchFirst ? 0 : 1];
  layout.features = x[2];
  layout.hidden = r[2];
  layout.directions = r[0];
  layout.gates = gatesOf(node);
  layout.lengths.assign(static_cast<std::size_t>(layout.batch), layout.time);
  if (operands.lengths == nullptr) return layout;
  layout.lengths = int64Values(*operands.lengths);
  for (const std::int64_t length : layout.lengths)
    if (length < 0 || length > layout.time)
      return problem(fmt::format("sequence_lens contains {}, but the sequences have {} steps", length, layout.time));
  return layout;
}

/// The weights of one direction in the layout that a step reads, and the states of the whole batch.
template <class T>
struct Direction {
  std::int64_t batch = 0, hidden = 0;
  Numbers<T> projected;  ///< [row, gate, hidden]: X·Wᵀ + Wb, plus Rb if it can be added here
  Numbers<T> recurrent;  ///< [gate, hidden, hidden]: Rᵀ of each gate
  Numbers<T> lateBias;   ///< for GRU with linear_before_reset: Rbh
  Numbers<T> peepholes;  ///< [i o f, hidden]; zeros if there are none
  std::vector<RecurrentActivation> functions;
  T clip = std::numeric_limits<T>::infinity();
  Numbers<T> h, c;  ///< [batch, hidden]
  /// Converts a state to what the products read; if it is empty, they read the state itself.
  std::function<Numbers<T>(const Numbers<T>&)> seen;

  /// Applies an activation to `values`, which are first clamped to the clip threshold.
  void apply(std::size_t function, T* values) const {
    const std::span<T> all(values, static_cast<std::size_t>(hidden));
    if (clip < std::numeric_limits<T>::infinity())
      for (T& value : all) value = std::clamp(value, -clip, clip);
    activate(functions[function], all);
  }
  /// Computes state·Rᵀ of one gate.
  Numbers<T> throughRecurrent(const Numbers<T>& state, std::int64_t gate) const {
    Numbers<T> product(static_cast<std::size_t>(batch * hidden));
    const Numbers<T> read = seen ? seen(state) : state;
    multiply(read.data(), recurrent.data() + gate * hidden * hidden, product.data(), batch, hidden, hidden);
    return product;
  }
  /// Adds state·Rᵀ of one gate to that gate of `z`, which has `gates` gates.
  void addRecurrent(Numbers<T>& z, const Numbers<T>& state, std::int64_t gate, std::int64_t gates) const {
    const Numbers<T> product = throughRecurrent(state, gate);
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t k = 0; k < hidden; ++k)
        z[static_cast<std::size_t>((b * gates + gate) * hidden + k)] +=
            product[static_cast<std::size_t>(b * hidden + k)];
  }
};

/// Calculates one step of an LSTM with gates i, o, f, c: Ct = ft ⊙ Ct-1 + it ⊙ ct, Ht = ot ⊙ h(Ct).
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

// The whole node.

/// Transposes a matrix: to[columns, rows] = from[rows, columns].
template <class T>
void transpose(const T* from, std::int64_t rows, std::int64_t columns, T* to) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) to[c * rows + r] = from[r * columns + c];
}

/// Computes X·Wᵀ + Wb (+ Rb) of direction `d` for every step of every sequence.
template <class T>
void project(const Node& node, const RecurrentOperands& operands, const Layout& layout, std::int64_t d,
             Direction<T>& direction) {
  const std::int64_t width = layout.gates * layout.hidden, rows = layout.time * layout.batch;
  Numbers<T> weights(static_cast<std::size_t>(layout.features * width));
  transpose(operands.w->data<T>().data() + d * width * layout.features, width, layout.features, weights.data());
  direction.projected.resize(static_cast<std::size_t>(rows * width));
  multiply(operands.x->data<T>().data(), weights.data(), direction.projected.data(), rows, layout.features, width);
  direction.lateBias.assign(static_cast<std::size_t>(layout.hidden), T(0));
  if (operands.b == nullptr) return;
  const T *wb = operands.b->data<T>().data() + d * 2 * width, *rb = wb + width;
  const bool late = node.is("GRU") && node.intAttribute("linear_before_reset", 0) != 0;
  const std::int64_t early = late ? 2 * layout.hidden : width;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t k = 0; k < width; ++k)
      direction.projected[static_cast<std::size_t>(r * width + k)] += wb[k] + (k < early ? rb[k] : T(0));
  if (late) std::copy(rb + early, rb + width, direction.lateBias.begin());
}

template <class T>
Result<Direction<T>> prepare(const Node& node, const RecurrentOperands& operands, const Layout& layout,
                             std::int64_t d) {
  const std::int64_t hidden = layout.hidden, matrix = hidden * hidden;
  Direction<T> direction{.batch = layout.batch, .hidden = hidden};
  const std::vector<std::string> defaults = defaultActivations(node);
  const auto functions = TRY(readActivations(node, defaults, static_cast<std::size_t>(layout.directions)));
  const auto first = functions.begin() + d * std::ssize(defaults);
  direction.functions.assign(first, first + std::ssize(defaults));
  if (node.hasAttribute("clip")) direction.clip = static_cast<T>(node.floatAttribute("clip", 0));
  project(node, operands, layout, d, direction);
  direction.recurrent.resize(static_cast<std::size_t>(layout.gates * matrix));
  for (std::int64_t gate = 0; gate < layout.gates; ++gate)
    transpose(operands.r->data<T>().data() + (d * layout.gates + gate) * matrix, hidden, hidden,
              direction.recurrent.data() + gate * matrix);
  direction.peepholes.assign(static_cast<std::size_t>(3 * hidden), T(0));
  if (operands.peepholes != nullptr)
    std::copy_n(operands.peepholes->data<T>().data() + d * 3 * hidden, 3 * hidden, direction.peepholes.begin());
  for (Numbers<T>* state : {&direction.h, &direction.c}) {
    state->assign(static_cast<std::size_t>(layout.batch * hidden), T(0));
    const Tensor* given = state == &direction.h ? operands.state : operands.cell;
    for (std::int64_t b = 0; b < layout.batch && given != nullptr; ++b)
      std::copy_n(given->data<T>().data() + layout.state(d, b), hidden, state->begin() + b * hidden);
  }
  return direction;
}

/// Runs the steps of all sequences of the batch together. A sequence that has ended keeps its state.
template <class T, class Step>
void walk(const Node& node, const Layout& layout, std::int64_t d, bool reverse, Direction<T>& direction, Step step,
          T* y) {
  const std::int64_t hidden = layout.hidden, width = layout.gates * hidden;
  Numbers<T> z(static_cast<std::size_t>(layout.batch * width), T(0));
  for (std::int64_t s = 0; s < layout.time; ++s) {
    const auto length = [&](std::int64_t b) { return layout.lengths[static_cast<std::size_t>(b)]; };
    const auto place = [&](std::int64_t b) { return reverse ? length(b) - 1 - s : s; };
    for (std::int64_t b = 0; b < layout.batch; ++b)
      if (s < length(b))
        std::copy_n(direction.projected.begin() + layout.row(place(b), b) * width, width, z.begin() + b * width);
    const Numbers<T> h = direction.h, c = direction.c;
    step(node, direction, z);
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

/// Runs all directions of a node. `step` computes one step of the batch: step(node, direction, z), where `z` contains
/// the projected inputs of the batch, [batch, gate, hidden], and the states in `direction` are updated. `seen` is the
/// field of Direction. `results` are the node's outputs, initialised with zeros.
template <class T, class Step>
Status runRecurrence(const Node& node, const RecurrentOperands& operands, Step step, Tensors& results,
                     const std::function<Numbers<T>(const Numbers<T>&)>& seen = {}) {
  const Layout layout = TRY(readLayout(node, operands));
  for (std::int64_t d = 0; d < layout.directions; ++d) {
    Direction<T> direction = TRY(prepare<T>(node, operands, layout, d));
    direction.seen = seen;
    const bool reverse = d == 1 || node.textAttribute("direction", "forward") == "reverse";
    walk(node, layout, d, reverse, direction, step, results[0].template mutableData<T>().data());
    for (std::size_t i = 1; i < results.size(); ++i)
      for (std::int64_t b = 0; b < layout.batch; ++b)
        std::copy_n((i == 1 ? direction.h : direction.c).begin() + b * layout.hidden, layout.hidden,
                    results[i].template mutableData<T>().begin() + layout.state(d, b));
  }
  return Done{};
}

}  // namespace fusescope::ops
