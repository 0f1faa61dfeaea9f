#include <functional>

#include "backends/native/lowering.h"
#include "backends/native/recurrent_step.h"
#include "ops/support/recurrent_activation.h"

namespace fusescope::native {
namespace {

constexpr std::size_t kX = 0, kW = 1, kR = 2, kB = 3, kLengths = 4, kState = 5, kCell = 6, kPeepholes = 7, kScaleW = 8,
                      kScaleR = 10;

/// Weights, biases and peepholes, all constants; those that may be absent are null then.
struct RecurrentWeights {
  const Tensor *w = nullptr, *r = nullptr, *b = nullptr, *peepholes = nullptr;
  /// DynamicQuantizeLSTM: of W and R.
  const Tensor *scaleW = nullptr, *zeroW = nullptr, *scaleR = nullptr, *zeroR = nullptr;

  bool quantized() const { return scaleW != nullptr; }
  std::int64_t hidden() const { return r->dims()[quantized() ? 1 : 2]; }
  std::int64_t features() const { return w->dims()[quantized() ? 1 : 2]; }
};

/// The extents of a recurrent node, and what GRU does with its third gate.
struct RecurrentForm {
  std::int64_t gates = 4, hidden = 0, features = 0;
  bool resetsFirst = false, resetsProduct = false;
  std::int64_t width() const { return gates * hidden; }
};

const float* floatsAt(const Tensor& tensor, std::int64_t offset) {
  return tensor.data<float>().data() + offset;
}

/// Scales or zero points of direction `d`, of which there are one or one for each gate.
template <class T>
std::vector<T> parametersOf(const Tensor& tensor, std::int64_t d, std::int64_t gates) {
  const std::int64_t each = tensor.dims().size() > 1 ? gates : 1;
  std::vector<T> values;
  for (std::int64_t i = d * each; i < (d + 1) * each; ++i) values.push_back(static_cast<T>(tensor.asDouble(i)));
  return values;
}

std::unique_ptr<GateProduct> quantizedProduct(const Tensor& codes, const Tensor& scale, const Tensor& zero,
                                              std::int64_t d) {
  const std::int64_t inputs = codes.dims()[1], gates = codes.dims()[2];
  const auto scales = parametersOf<float>(scale, d, gates);
  const auto zeros = parametersOf<std::int32_t>(zero, d, gates);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(codes.bytes()) + d * inputs * gates;
  return makeQuantizedGateProduct(ByteMatrix(bytes, codes.type(), inputs, gates, zeros), scales);
}

void packProducts(const RecurrentWeights& weights, const RecurrentForm& form, std::int64_t d,
                  RecurrentDirection& direction) {
  if (weights.quantized()) {
    direction.input = quantizedProduct(*weights.w, *weights.scaleW, *weights.zeroW, d);
    direction.recurrent = quantizedProduct(*weights.r, *weights.scaleR, *weights.zeroR, d);
    return;
  }
  const std::int64_t hidden = form.hidden;
  const float* r = floatsAt(*weights.r, d * form.width() * hidden);
  direction.input =
      makeGateProduct(floatsAt(*weights.w, d * form.width() * form.features), form.features, form.width());
  direction.recurrent = makeGateProduct(r, hidden, form.resetsFirst ? 2 * hidden : form.width());
  if (form.resetsFirst) direction.third = makeGateProduct(r + 2 * hidden * hidden, hidden, hidden);
}

RecurrentDirection directionOf(const RecurrentWeights& weights, const RecurrentForm& form, std::int64_t d,
                               bool fromEnd) {
  RecurrentDirection direction{.fromEnd = fromEnd};
  packProducts(weights, form, d, direction);
  const std::int64_t width = form.width(), hidden = form.hidden;
  if (weights.peepholes != nullptr) {
    const float* from = floatsAt(*weights.peepholes, d * 3 * hidden);
    direction.peepholes.assign(from, from + 3 * hidden);
  }
  if (weights.b == nullptr) return direction;
  const float *wb = floatsAt(*weights.b, d * 2 * width), *rb = wb + width;
  direction.bias.assign(wb, wb + width);
  const std::int64_t early = form.resetsProduct ? 2 * hidden : width;
  for (std::int64_t k = 0; k < early; ++k) direction.bias[static_cast<std::size_t>(k)] += rb[k];
  direction.lateBias.assign(rb + early, rb + width);
  return direction;
}

/// Weights that are constants of the types that there are kernels for; nothing if one is not.
std::optional<RecurrentWeights> weightsOf(const Node& node, const std::function<const Tensor*(ValueId)>& constant) {
  RecurrentWeights weights;
  const bool quantized = !node.domain.empty();
  bool known = true;
  const auto take = [&](std::size_t input, bool floats) -> const Tensor* {
    if (!node.input(input).valid()) return nullptr;
    const Tensor* tensor = constant(node.input(input));
    known = known && tensor != nullptr && (!floats || tensor->type() == DataType::F32);
    return tensor;
  };
  weights.w = take(kW, !quantized);
  weights.r = take(kR, !quantized);
  weights.b = take(kB, true);
  weights.peepholes = take(kPeepholes, true);
  if (quantized) {
    weights.scaleW = take(kScaleW, true);
    weights.zeroW = take(kScaleW + 1, false);
    weights.scaleR = take(kScaleR, true);
    weights.zeroR = take(kScaleR + 1, false);
  }
  return known ? std::optional(weights) : std::nullopt;
}

}  // namespace

// Not with coupled gates or other activations.
Result<bool> Lowering::lowerRecurrence(const Node& node) {
  const bool lstm = ops::isLstm(node);
  if (!lstm && !node.is("GRU")) return false;
  if (node.intAttribute("input_forget", 0) != 0 || !ops::hasStandardActivations(node)) return false;
  if (typeOf(node.input(kX)) != DataType::F32) return false;
  const auto weights = weightsOf(node, [this](ValueId value) { return constant(value); });
  if (!weights) return false;
  const Dims x = dimsOf(node.input(kX));
  const bool batchFirst = node.intAttribute("layout", 0) != 0;
  RecurrentForm form{.gates = lstm ? 4 : 3, .hidden = weights->hidden(), .features = weights->features()};
  form.resetsProduct = !lstm && node.intAttribute("linear_before_reset", 0) != 0;
  form.resetsFirst = !lstm && !form.resetsProduct;
  RecurrentCall call{.isLstm = lstm,
                     .resetsProduct = form.resetsProduct,
                     .batchFirst = batchFirst,
                     .time = x[batchFirst ? 1 : 0],
                     .batch = x[batchFirst ? 0 : 1],
                     .hidden = form.hidden};
  const std::string direction = node.textAttribute("direction", "forward");
  call.directions.push_back(directionOf(*weights, form, 0, direction == "reverse"));
  if (direction == "bidirectional") call.directions.push_back(directionOf(*weights, form, 1, true));
  call.x = TRY(plain(TRY(ref(node.input(kX)))));
  std::vector<BufferIndex> reads{call.x.buffer}, writes;
  for (const auto& [input, into] : {std::pair(kLengths, &call.lengths), std::pair(kState, &call.initialState),
                                    std::pair(kCell, &call.initialCell)}) {
    const ValueId value = node.input(input);
    if (!value.valid()) continue;
    *into = TRY(plain(TRY(ref(value))));
    reads.push_back((*into)->buffer);
  }
  std::optional<Ref>* const results[] = {&call.all, &call.state, &call.cell};
  for (std::size_t i = 0; i < node.outputs.size() && i < 3; ++i) {
    if (!node.outputs[i].valid() || !m_request.values.contains(node.outputs[i])) continue;
    *results[i] = allocate(node.outputs[i]);
    define(node.outputs[i], **results[i]);
    writes.push_back((*results[i])->buffer);
  }
  m_implementations.emplace_back(!node.domain.empty() ? "quantized_lstm" : lstm ? "lstm" : "gru");
  m_program.addStep(makeRecurrentStep(std::move(call), m_threads), reads, writes);
  return true;
}

}  // namespace fusescope::native
