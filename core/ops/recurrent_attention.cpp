// Operators that replace attention, in which the past is a state of fixed size.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/families.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"
#include "ops/support/work.h"

namespace fusescope::ops {
namespace attention_with_state {
namespace {

constexpr TypeSet kActivations{DataType::F32, DataType::F16, DataType::BF16};

// --- LinearAttention

constexpr std::size_t kQuery = 0, kKey = 1, kValue = 2, kPastState = 3, kDecay = 4, kBeta = 5;

struct UpdateRule {
  bool decays = false, corrects = false;
};

Result<UpdateRule> updateRule(const Node& node) {
  const std::string rule =
      TRY(choiceAttribute(node, "update_rule", "gated_delta", {"linear", "gated", "delta", "gated_delta"}));
  return UpdateRule{rule == "gated" || rule == "gated_delta", rule == "delta" || rule == "gated_delta"};
}

Status requireExactly(const InferContext& context, std::size_t input, bool wanted, const char* what) {
  if (context.hasInput(input) == wanted) return Done{};
  return attributeProblem("update_rule", fmt::format("{} the input {}", wanted ? "requires" : "does not use", what));
}

/// Returns the extent of one head, where `heads` of them are packed into the last axis of input `input`.
Result<Dim> headSize(const InferContext& context, std::size_t input, std::int64_t heads) {
  TRY(requireRank(context, input, 3));
  const Shape& shape = context.input(input).shape;
  if (!shape.ranked || !shape.dims[2].known()) return Dim();
  if (shape.dims[2].size % heads != 0)
    return problem(
        fmt::format("the {} elements of input {} cannot be divided among {} heads", shape.dims[2].size, input, heads));
  return Dim(shape.dims[2].size / heads);
}

Dim timesHeads(const Dim& size, std::int64_t heads) {
  const auto count = size.known() ? elementCount({size.size, heads}) : std::nullopt;
  return count ? Dim(*count) : Dim();
}

/// Checks that the last axis of a gate has one of two extents, and the others those of the query.
Status checkGate(const InferContext& context, std::size_t input, const Dim& one, const Dim& other) {
  if (!context.hasInput(input)) return Done{};
  TRY(requireRank(context, input, 3));
  const Shape &gate = context.input(input).shape, &query = context.input(kQuery).shape;
  if (!gate.ranked || !query.ranked) return Done{};
  for (std::size_t i = 0; i < 2; ++i)
    TRY(unified(context, gate.dims[i], query.dims[i],
                fmt::format("the first extents of the query and input {}", input)));
  const Dim& last = gate.dims[2];
  if (last.known() && one.known() && other.known() && last.size != one.size && last.size != other.size)
    return problem(
        fmt::format("the last extent of input {} is {}, expected {} or {}", input, last.size, one.size, other.size));
  return Done{};
}

Result<Types> inferLinearAttention(const InferContext& context) {
  const Node& node = context.node();
  const UpdateRule rule = TRY(updateRule(node));
  const std::int64_t heads = node.intAttribute("q_num_heads", 0), keyHeads = node.intAttribute("kv_num_heads", 0);
  if (heads < 1) return attributeProblem("q_num_heads", "must be given and positive");
  if (keyHeads < 1 || heads % keyHeads != 0)
    return attributeProblem("kv_num_heads", fmt::format("{} does not divide q_num_heads {}", keyHeads, heads));
  TRY(requireExactly(context, kDecay, rule.decays, "decay"));
  TRY(requireExactly(context, kBeta, rule.corrects, "beta"));
  const Dim depth = TRY(unified(context, TRY(headSize(context, kQuery, heads)), TRY(headSize(context, kKey, keyHeads)),
                                "the head sizes of query and key"));
  const Dim width = TRY(headSize(context, kValue, keyHeads));
  const Shape query = context.input(kQuery).shape.ranked ? context.input(kQuery).shape : unknownOfRank(3);
  for (const std::size_t i : {kKey, kValue}) {
    const Shape& shape = context.input(i).shape;
    for (std::size_t d = 0; shape.ranked && d < 2; ++d)
      TRY(unified(context, shape.dims[d], query.dims[d], "the batches and lengths of query, key and value"));
  }
  TRY(checkGate(context, kDecay, Dim(keyHeads), timesHeads(depth, keyHeads)));
  TRY(checkGate(context, kBeta, Dim(keyHeads), Dim(1)));
  const Shape state = Shape::of({query.dims[0], Dim(keyHeads), depth, width});
  DataType stateType = context.input(kQuery).dtype;
  if (context.hasInput(kPastState)) {
    stateType = context.input(kPastState).dtype;
    TRY(requireRank(context, kPastState, 4));
    const Shape& past = context.input(kPastState).shape;
    for (std::size_t i = 0; past.ranked && i < 4; ++i)
      TRY(unified(context, past.dims[i], state.dims[i], "the extents of past_state and those of the new state"));
  }
  return Types{{context.input(kQuery).dtype, Shape::of({query.dims[0], query.dims[1], timesHeads(width, heads)})},
               {stateType, state}};
}

/// The gate of one step and head: one number for each of `depth` rows of the state, or one for all.
struct Gate {
  std::span<const float> values;
  std::int64_t perStep = 0, heads = 1;
  float at(std::int64_t step, std::int64_t head, std::int64_t d) const {
    const std::int64_t each = perStep / heads;
    return values[static_cast<std::size_t>(step * perStep + (heads == 1 ? 0 : head) * each + (each == 1 ? 0 : d))];
  }
};

/// The state of one head, [depth, width].
struct HeadState {
  float* cells;
  std::int64_t depth, width;

  void scaleRow(std::int64_t d, float factor) {
    for (std::int64_t m = 0; m < width; ++m) cells[d * width + m] *= factor;
  }
  /// Returns element `m` of Sᵀx.
  float read(const float* x, std::int64_t m) const {
    float sum = 0;
    for (std::int64_t d = 0; d < depth; ++d) sum += cells[d * width + m] * x[d];
    return sum;
  }
  void addOuter(const float* rows, const float* columns) {
    for (std::int64_t d = 0; d < depth; ++d)
      for (std::int64_t m = 0; m < width; ++m) cells[d * width + m] += rows[d] * columns[m];
  }
};

/// The operands in float32, and the recurrence over them.
class LinearRecurrence {
 public:
  LinearRecurrence(const KernelContext& context, UpdateRule rule)
      : m_rule(rule),
        m_query(wide(context, kQuery)),
        m_key(wide(context, kKey)),
        m_value(wide(context, kValue)),
        m_decay(wide(context, kDecay)),
        m_beta(wide(context, kBeta)),
        m_heads(context.node().intAttribute("q_num_heads", 1)),
        m_keyHeads(context.node().intAttribute("kv_num_heads", 1)),
        m_steps(m_query.dims()[1]),
        m_depth(m_query.dims()[2] / m_heads),
        m_width(m_value.dims()[2] / m_keyHeads),
        m_scale(context.node().floatAttribute("scale", 0)),
        m_gates{m_decay.data<float>(), rule.decays ? m_decay.dims()[2] : 0, m_keyHeads},
        m_rates{m_beta.data<float>(), rule.corrects ? m_beta.dims()[2] : 0,
                rule.corrects && m_beta.dims()[2] == 1 ? 1 : m_keyHeads},
        m_change(static_cast<std::size_t>(m_width)) {
    if (m_scale == 0) m_scale = 1.0F / std::sqrt(static_cast<float>(std::max<std::int64_t>(m_depth, 1)));
  }

  /// Computes, step by step: S = exp(g) * S; v = beta * (v - Sᵀk) if the rule corrects; S = S + k ⊗ v; o = scale * Sᵀq.
  void run(Tensor& state, Tensor& result) {
    const std::int64_t items = state.count() == 0 ? 0 : m_query.dims()[0] * m_keyHeads;
    for (std::int64_t item = 0; item < items; ++item) {
      HeadState head{state.mutableData<float>().data() + item * m_depth * m_width, m_depth, m_width};
      const std::int64_t first = item / m_keyHeads * m_steps;
      for (std::int64_t t = 0; t < m_steps; ++t) {
        update(head, first + t, item % m_keyHeads);
        readOut(head, first + t, item % m_keyHeads, result);
      }
    }
  }

 private:
  static Tensor wide(const KernelContext& context, std::size_t i) {
    return context.hasInput(i) ? context.input(i).converted(DataType::F32) : Tensor();
  }

  void update(HeadState& state, std::int64_t step, std::int64_t head) {
    const float* const key = m_key.data<float>().data() + (step * m_keyHeads + head) * m_depth;
    const float* const value = m_value.data<float>().data() + (step * m_keyHeads + head) * m_width;
    for (std::int64_t d = 0; m_rule.decays && d < m_depth; ++d) state.scaleRow(d, std::exp(m_gates.at(step, head, d)));
    for (std::int64_t m = 0; m < m_width; ++m)
      m_change[static_cast<std::size_t>(m)] =
          m_rule.corrects ? m_rates.at(step, head, 0) * (value[m] - state.read(key, m)) : value[m];
    state.addOuter(key, m_change.data());
  }

  /// Heads of the query that share a head of the key read the same state.
  void readOut(const HeadState& state, std::int64_t step, std::int64_t head, Tensor& result) const {
    const std::int64_t group = m_heads / m_keyHeads;
    for (std::int64_t h = head * group; h < (head + 1) * group; ++h) {
      const float* const query = m_query.data<float>().data() + (step * m_heads + h) * m_depth;
      float* const to = result.mutableData<float>().data() + (step * m_heads + h) * m_width;
      for (std::int64_t m = 0; m < m_width; ++m) to[m] = m_scale * state.read(query, m);
    }
  }

  UpdateRule m_rule;
  Tensor m_query, m_key, m_value, m_decay, m_beta;
  std::int64_t m_heads, m_keyHeads, m_steps, m_depth, m_width;
  float m_scale;
  Gate m_gates, m_rates;
  std::vector<float> m_change;
};

Result<Tensors> linearAttention(const KernelContext& context) {
  const Dims &q = context.input(kQuery).dims(), &v = context.input(kValue).dims();
  const std::int64_t heads = context.node().intAttribute("q_num_heads", 1);
  const std::int64_t keyHeads = context.node().intAttribute("kv_num_heads", 1);
  Tensor result = TRY(allocate(DataType::F32, context.outputDims(0)));
  Tensor state = TRY(allocate(DataType::F32, {q[0], keyHeads, q[2] / heads, v[2] / keyHeads}));
  if (context.hasInput(kPastState)) {
    const Tensor past = context.input(kPastState).converted(DataType::F32);
    std::ranges::copy(past.data<float>(), state.mutableData<float>().begin());
  }
  LinearRecurrence(context, TRY(updateRule(context.node()))).run(state, result);
  Tensors results{result.converted(context.outputType(0))};
  if (context.outputCount() > 1) results.push_back(state.converted(context.outputType(1)));
  return results;
}

// --- CausalConvWithState

Result<Types> inferCausalConv(const InferContext& context) {
  TRY(choiceAttribute(context.node(), "activation", "none", {"none", "silu", "swish"}));
  TRY(requireRank(context, 0, 3));
  TRY(requireRank(context, 1, 3));
  const TensorType& x = context.input(0);
  const Shape input = x.shape.ranked ? x.shape : unknownOfRank(3);
  const Shape weight = context.input(1).shape.ranked ? context.input(1).shape : unknownOfRank(3);
  TRY(unified(context, input.dims[1], weight.dims[0], "the channels of input and weight"));
  TRY(unified(context, weight.dims[1], Dim(1), "the middle extent of the weight and 1"));
  if (weight.dims[2].known() && weight.dims[2].size < 1) return problem("the weight has an empty kernel");
  if (context.hasInput(2)) {
    TRY(requireRank(context, 2, 1));
    if (context.input(2).shape.ranked)
      TRY(unified(context, context.input(2).shape.dims[0], input.dims[1], "the extent of the bias and the channels"));
  }
  const Dim kept = weight.dims[2].known() ? Dim(weight.dims[2].size - 1) : Dim();
  const Shape state = Shape::of({input.dims[0], input.dims[1], kept});
  if (context.hasInput(3)) {
    TRY(requireRank(context, 3, 3));
    const Shape& past = context.input(3).shape;
    for (std::size_t i = 0; past.ranked && i < 3; ++i)
      TRY(unified(context, past.dims[i], state.dims[i], "the extents of past_state and those of the new state"));
  }
  return Types{{x.dtype, input}, {x.dtype, state}};
}

/// Convolves each channel with its own kernel over the past and the present: past_state (or zeros), then the input.
Result<Tensors> causalConv(const KernelContext& context) {
  const Tensor &x = context.input(0), &weight = context.input(1);
  const std::int64_t channels = x.dims()[1], length = x.dims()[2], kernel = weight.dims()[2], kept = kernel - 1;
  const bool activates = context.node().textAttribute("activation", "none") != "none";
  Tensor result = TRY(allocateOutput(context));
  Tensor state = TRY(allocate(DataType::F32, {x.dims()[0], channels, kept}));
  std::vector<float> line(static_cast<std::size_t>(kept + length));
  const std::int64_t lines = result.count() == 0 && state.count() == 0 ? 0 : x.dims()[0] * channels;
  for (std::int64_t i = 0; i < lines; ++i) {
    const std::int64_t channel = i % channels;
    std::fill(line.begin(), line.begin() + kept, 0.0F);
    if (context.hasInput(3)) std::copy_n(context.input(3).data<float>().data() + i * kept, kept, line.begin());
    std::copy_n(x.data<float>().data() + i * length, length, line.begin() + kept);
    const float* const taps = weight.data<float>().data() + channel * kernel;
    float* const to = result.mutableData<float>().data() + i * length;
    for (std::int64_t t = 0; t < length; ++t) {
      float sum = 0;
      for (std::int64_t p = 0; p < kernel; ++p) sum += taps[p] * line[static_cast<std::size_t>(t + p)];
      if (context.hasInput(2)) sum += context.input(2).data<float>()[static_cast<std::size_t>(channel)];
      to[t] = activates ? sum / (1.0F + std::exp(-sum)) : sum;
    }
    std::copy(line.end() - kept, line.end(), state.mutableData<float>().begin() + i * kept);
  }
  return Tensors{std::move(result), std::move(state)};
}

}  // namespace
}  // namespace attention_with_state

void registerRecurrentAttention(OpRegistry& registry) {
  registry.add({.op = "CausalConvWithState",
                .kind = OpKind::Convolution,
                .minInputs = 2,
                .maxInputs = 4,
                .infer = attention_with_state::inferCausalConv,
                .kernel = widened(attention_with_state::causalConv),
                .flops = [](const Node&, std::span<const Dims> inputs, std::span<const Dims>) -> std::int64_t {
                  if (inputs.size() < 2 || inputs[1].size() != 3) return 0;
                  return workOf({2, workOf(inputs[0]), inputs[1][2]});
                },
                .maxOutputs = 2,
                .signature = {"T", {{'T', attention_with_state::kActivations}}}});
  registry.add({.op = "LinearAttention",
                .kind = OpKind::MatMul,
                .minInputs = 3,
                .maxInputs = 6,
                .infer = attention_with_state::inferLinearAttention,
                .kernel = attention_with_state::linearAttention,
                .maxOutputs = 2,
                .signature = {"TTTSTT",
                              {{'T', attention_with_state::kActivations}, {'S', attention_with_state::kActivations}}}});
}

}  // namespace fusescope::ops
