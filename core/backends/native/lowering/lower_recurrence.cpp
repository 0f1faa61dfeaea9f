#include <functional>

#include "backends/native/kernels/narrow_floats.h"
#include "backends/native/lowering/emitter.h"
#include "backends/native/steps/recurrent_step.h"
#include "base/hash.h"
#include "ops/support/recurrent_activation.h"

namespace fusescope::native {
namespace {

constexpr KernelKind kLstmKernel{.name = "lstm"};
constexpr KernelKind kGruKernel{.name = "gru"};
constexpr KernelKind kQuantizedLstmKernel{.name = "quantized_lstm"};

constexpr std::size_t kX = 0, kW = 1, kR = 2, kB = 3, kLengths = 4, kState = 5, kCell = 6, kPeepholes = 7, kScaleW = 8,
                      kScaleR = 10;

/// Weights, biases and peepholes, which are all constants. Those that are absent are nothing.
struct RecurrentWeights {
  std::optional<Weight> w, r, b, peepholes;
  DataType heldW = DataType::F32, heldR = DataType::F32;  ///< the types in which W and R are held if they are floats
  /// the scales and zero points of W and R in DynamicQuantizeLSTM
  std::optional<Weight> scaleW, zeroW, scaleR, zeroR;

  bool quantized() const { return scaleW.has_value(); }
  std::int64_t hidden() const { return r->dims[quantized() ? 1 : 2]; }
  std::int64_t features() const { return w->dims[quantized() ? 1 : 2]; }
};

/// The extents of a recurrent node, and the way in which a GRU calculates its third gate.
struct RecurrentForm {
  std::int64_t gates = 4, hidden = 0, features = 0;
  bool resetsFirst = false, resetsProduct = false;
  std::int64_t width() const { return gates * hidden; }
};

/// Packs `count` numbers of `weight`, from `offset` on, as f32.
Packing slicePacking(Weight weight, std::int64_t offset, std::int64_t count) {
  KeyBuilder form;
  form.text("slice").number(offset).number(count);
  return packingOf(form.canonical(), {std::move(weight)},
                   [offset, count](std::span<const Tensor> numbers) -> Result<Tensor> {
                     const auto all = numbers[0].data<float>();
                     return Tensor::copyOf(DataType::F32, {count}, all.subspan(offset, count));
                   });
}

/// Packs the scales of the gates of direction `d`. `scale` contains one number for all gates or one for each gate.
Packing gateScalePacking(Weight scale, std::int64_t d, std::int64_t gates) {
  KeyBuilder form;
  form.text("gate scales").number(d).number(gates);
  const std::int64_t each = scale.dims.size() > 1 ? gates : 1;
  return packingOf(form.canonical(), {std::move(scale)},
                   [d, gates, each](std::span<const Tensor> numbers) -> Result<Tensor> {
                     Tensor packed = Tensor::zeros(DataType::F32, {gates});
                     for (std::int64_t gate = 0; gate < gates; ++gate)
                       packed.mutableData<float>()[static_cast<std::size_t>(gate)] =
                           static_cast<float>(numbers[0].asDouble(d * each + (each == 1 ? 0 : gate)));
                     return packed;
                   });
}

/// Packs the biases [Wb, Rb] of direction `d`: first the sums Wb + Rb of the first `early` gates, then Wb alone for the
/// others.
Packing gateBiasPacking(Weight bias, std::int64_t d, std::int64_t width, std::int64_t early) {
  KeyBuilder form;
  form.text("gate biases").number(d).number(width).number(early);
  return packingOf(form.canonical(), {std::move(bias)},
                   [d, width, early](std::span<const Tensor> numbers) -> Result<Tensor> {
                     const auto all = numbers[0].data<float>().subspan(d * 2 * width, 2 * width);
                     Tensor packed = Tensor::copyOf(DataType::F32, {width}, all.first(width));
                     for (std::int64_t k = 0; k < early; ++k)
                       packed.mutableData<float>()[static_cast<std::size_t>(k)] += all[width + k];
                     return packed;
                   });
}

/// Adds the weights of the directions to a program.
class DirectionBuilder {
 public:
  DirectionBuilder(const RecurrentWeights& weights, RecurrentForm form, ProgramBuilder& program)
      : m_weights(weights), m_form(form), m_program(program) {}

  RecurrentDirection direction(std::int64_t d, bool fromEnd) {
    RecurrentDirection direction{.fromEnd = fromEnd};
    packProducts(d, direction);
    const std::int64_t width = m_form.width(), hidden = m_form.hidden;
    if (m_weights.peepholes)
      direction.peepholes = numbers(3 * hidden, slicePacking(*m_weights.peepholes, d * 3 * hidden, 3 * hidden));
    if (!m_weights.b) return direction;
    const std::int64_t early = m_form.resetsProduct ? 2 * hidden : width;
    direction.bias = numbers(width, gateBiasPacking(*m_weights.b, d, width, early));
    if (early < width)
      direction.lateBias =
          numbers(width - early, slicePacking(*m_weights.b, (d * 2 + 1) * width + early, width - early));
    return direction;
  }

 private:
  Ref numbers(std::int64_t count, Packing packing) {
    return {.buffer = m_program.addPacked(std::move(packing)), .dtype = DataType::F32, .dims = {count}, .strides = {1}};
  }

  std::unique_ptr<GateProduct> product(const Weight& weight, DataType held, std::int64_t offset, std::int64_t inputs,
                                       std::int64_t gates) {
    return makeGateProduct(m_program.addPacked(gatePacking(weight, held, offset, inputs, gates)), held, inputs, gates);
  }

  std::unique_ptr<GateProduct> quantizedProduct(const Weight& codes, const Weight& scale, const Weight& zero,
                                                std::int64_t d) {
    const std::int64_t inputs = codes.dims[1], gates = codes.dims[2];
    const BufferIndex packed = m_program.addPacked(ByteMatrix::packing(codes, zero, inputs, gates, d));
    return makeQuantizedGateProduct(ByteMatrix(inputs, gates, packed),
                                    m_program.addPacked(gateScalePacking(scale, d, gates)));
  }

  void packProducts(std::int64_t d, RecurrentDirection& direction) {
    if (m_weights.quantized()) {
      direction.input = quantizedProduct(*m_weights.w, *m_weights.scaleW, *m_weights.zeroW, d);
      direction.recurrent = quantizedProduct(*m_weights.r, *m_weights.scaleR, *m_weights.zeroR, d);
      return;
    }
    const std::int64_t hidden = m_form.hidden, width = m_form.width(), r = d * width * hidden;
    direction.input = product(*m_weights.w, m_weights.heldW, d * width * m_form.features, m_form.features, width);
    direction.recurrent = product(*m_weights.r, m_weights.heldR, r, hidden, m_form.resetsFirst ? 2 * hidden : width);
    if (m_form.resetsFirst)
      direction.third = product(*m_weights.r, m_weights.heldR, r + 2 * hidden * hidden, hidden, hidden);
  }

  const RecurrentWeights& m_weights;
  RecurrentForm m_form;
  ProgramBuilder& m_program;
};

/// Returns the weights if all of them are constants of types for which there are kernels, otherwise nothing.
std::optional<RecurrentWeights> weightsOf(const Node& node,
                                          const std::function<std::optional<Weight>(ValueId)>& weight) {
  RecurrentWeights weights;
  const bool quantized = !node.domain.empty();
  bool known = true;
  const auto take = [&](std::size_t input, bool floats) -> std::optional<Weight> {
    if (!node.input(input).valid()) return std::nullopt;
    auto constant = weight(node.input(input));
    if (floats && constant && isNarrow(constant->type))
      constant = roundedWeight(*constant, constant->type);  // is widened to f32
    known = known && constant && (!floats || constant->type == DataType::F32);
    return constant;
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

// Lowers a recurrent node, unless it has coupled gates or other activations.
Result<bool> emitRecurrence(Context& context, const Node& node) {
  const bool lstm = ops::isLstm(node);
  if (!lstm && !node.is("GRU")) return false;
  if (node.intAttribute("input_forget", 0) != 0 || !ops::hasStandardActivations(node)) return false;
  if (context.typeOf(node.input(kX)) != DataType::F32) return false;
  auto weights = weightsOf(node, [&](ValueId value) {
    return context.isConstant(value) ? std::optional(context.weight(value)) : std::nullopt;
  });
  if (!weights) return false;
  if (isNarrow(context.narrowTypeOf(node.input(kW)))) weights->heldW = context.narrowTypeOf(node.input(kW));
  if (isNarrow(context.narrowTypeOf(node.input(kR)))) weights->heldR = context.narrowTypeOf(node.input(kR));
  const auto read = [&](ValueId value) { return weights->quantized() ? context.ref(value) : context.seen(value); };
  const Dims x = context.dimsOf(node.input(kX));
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
  DirectionBuilder builder(*weights, form, context.program());
  call.directions.push_back(builder.direction(0, direction == "reverse"));
  if (direction == "bidirectional") call.directions.push_back(builder.direction(1, true));
  call.x = TRY(context.plain(TRY(read(node.input(kX)))));
  std::vector<BufferIndex> reads{call.x.buffer}, writes;
  for (const auto& [input, into] : {std::pair(kLengths, &call.lengths), std::pair(kState, &call.initialState),
                                    std::pair(kCell, &call.initialCell)}) {
    const ValueId value = node.input(input);
    if (!value.valid()) continue;
    *into = TRY(context.plain(TRY(read(value))));
    reads.push_back((*into)->buffer);
  }
  std::optional<Ref>* const results[] = {&call.all, &call.state, &call.cell};
  for (std::size_t i = 0; i < node.outputs.size() && i < 3; ++i) {
    if (!node.outputs[i].valid() || !context.request().values.contains(node.outputs[i])) continue;
    *results[i] = context.allocate(node.outputs[i], {}, context.storedType(node.outputs[i]));
    context.define(node.outputs[i], **results[i]);
    writes.push_back((*results[i])->buffer);
  }
  context.chose({.kind = !node.domain.empty() ? kQuantizedLstmKernel : lstm ? kLstmKernel : kGruKernel});
  context.program().addStep(makeRecurrentStep(std::move(call), context.threads()), reads, writes);
  return true;
}

}  // namespace

extern const Emitter kRecurrenceEmitter{.name = "recurrence", .emit = emitRecurrence};

}  // namespace fusescope::native
