// What replaces attention where the past is a state of fixed size, and the updates of caches.
#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "ops/families.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"

namespace fusescope::ops {
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
  return attributeProblem("update_rule", fmt::format("{} the input {}", wanted ? "needs" : "has no use for", what));
}

/// The extent of one head where `heads` of them are packed into the last axis of input `input`.
Result<Dim> headSize(const InferContext& context, std::size_t input, std::int64_t heads) {
  TRY(requireRank(context, input, 3));
  const Shape& shape = context.input(input).shape;
  if (!shape.ranked || !shape.dims[2].known()) return Dim();
  if (shape.dims[2].size % heads != 0)
    return problem(
        fmt::format("the {} elements of input {} cannot be shared out to {} heads", shape.dims[2].size, input, heads));
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
    TRY(unified(gate.dims[i], query.dims[i], fmt::format("the first extents of the query and input {}", input)));
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
  const Dim depth = TRY(unified(TRY(headSize(context, kQuery, heads)), TRY(headSize(context, kKey, keyHeads)),
                                "the head sizes of query and key"));
  const Dim width = TRY(headSize(context, kValue, keyHeads));
  const Shape query = context.input(kQuery).shape.ranked ? context.input(kQuery).shape : unknownOfRank(3);
  for (const std::size_t i : {kKey, kValue}) {
    const Shape& shape = context.input(i).shape;
    for (std::size_t d = 0; shape.ranked && d < 2; ++d)
      TRY(unified(shape.dims[d], query.dims[d], "the batches and lengths of query, key and value"));
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
      TRY(unified(past.dims[i], state.dims[i], "the extents of past_state and those of the new state"));
  }
  return Types{{context.input(kQuery).dtype, Shape::of({query.dims[0], query.dims[1], timesHeads(width, heads)})},
               {stateType, state}};
}

/// The gate of one step and head: a number for each of `depth` rows of the state, or one for all.
struct Gate {
  std::span<const float> values;
  std::int64_t perStep = 0, heads = 1;
  float at(std::int64_t step, std::int64_t head, std::int64_t d) const {
    const std::int64_t each = perStep / heads;
    return values[static_cast<std::size_t>(step * perStep + (heads == 1 ? 0 : head) * each + (each == 1 ? 0 : d))];
  }
};

/// S = exp(g) * S; v = beta * (v - Sᵀk) where the rule corrects; S = S + k ⊗ v; o = scale * qᵀS, step by step.
Result<Tensors> linearAttention(const KernelContext& context) {
  const Node& node = context.node();
  const UpdateRule rule = TRY(updateRule(node));
  const auto wide = [&](std::size_t i) {
    return context.hasInput(i) ? context.input(i).converted(DataType::F32) : Tensor();
  };
  const Tensor q = wide(kQuery), k = wide(kKey), v = wide(kValue), decay = wide(kDecay), beta = wide(kBeta);
  const Dims stateDims = context.output(1).shape.fixed().value_or(Dims());
  const std::int64_t heads = node.intAttribute("q_num_heads", 1), keyHeads = node.intAttribute("kv_num_heads", 1);
  const std::int64_t batch = q.dims()[0], steps = q.dims()[1];
  const std::int64_t depth = q.dims()[2] / heads, width = v.dims()[2] / keyHeads, group = heads / keyHeads;
  float scale = node.floatAttribute("scale", 0);
  if (scale == 0) scale = 1.0F / std::sqrt(static_cast<float>(std::max<std::int64_t>(depth, 1)));

  Tensor result = TRY(allocate(DataType::F32, context.outputDims(0)));
  Tensor state = TRY(allocate(DataType::F32, stateDims));
  if (context.hasInput(kPastState)) {
    const Tensor past = context.input(kPastState).converted(DataType::F32);
    std::ranges::copy(past.data<float>(), state.mutableData<float>().begin());
  }
  const Gate gates{decay.data<float>(), rule.decays ? decay.dims()[2] : 0, keyHeads};
  const Gate rates{beta.data<float>(), rule.corrects ? beta.dims()[2] : 0,
                   rule.corrects && beta.dims()[2] == 1 ? 1 : keyHeads};
  std::vector<float> change(static_cast<std::size_t>(width));
  const std::int64_t items = state.count() == 0 ? 0 : batch * keyHeads;
  for (std::int64_t item = 0; item < items; ++item) {
    const std::int64_t b = item / keyHeads, head = item % keyHeads;
    float* const s = state.mutableData<float>().data() + item * depth * width;
    for (std::int64_t t = 0; t < steps; ++t) {
      const std::int64_t step = b * steps + t;
      const float* const key = k.data<float>().data() + (step * keyHeads + head) * depth;
      const float* const value = v.data<float>().data() + (step * keyHeads + head) * width;
      for (std::int64_t d = 0; rule.decays && d < depth; ++d)
        for (std::int64_t m = 0; m < width; ++m) s[d * width + m] *= std::exp(gates.at(step, head, d));
      for (std::int64_t m = 0; m < width; ++m) {
        float held = 0;
        for (std::int64_t d = 0; d < depth; ++d) held += s[d * width + m] * key[d];
        change[static_cast<std::size_t>(m)] = rule.corrects ? rates.at(step, head, 0) * (value[m] - held) : value[m];
      }
      for (std::int64_t d = 0; d < depth; ++d)
        for (std::int64_t m = 0; m < width; ++m) s[d * width + m] += key[d] * change[static_cast<std::size_t>(m)];
      for (std::int64_t g = 0; g < group; ++g) {
        const std::int64_t queryHead = head * group + g;
        const float* const query = q.data<float>().data() + (step * heads + queryHead) * depth;
        float* const to = result.mutableData<float>().data() + (step * heads + queryHead) * width;
        for (std::int64_t m = 0; m < width; ++m) {
          float sum = 0;
          for (std::int64_t d = 0; d < depth; ++d) sum += query[d] * s[d * width + m];
          to[m] = scale * sum;
        }
      }
    }
  }
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
  TRY(unified(input.dims[1], weight.dims[0], "the channels of input and weight"));
  TRY(unified(weight.dims[1], Dim(1), "the middle extent of the weight and 1"));
  if (weight.dims[2].known() && weight.dims[2].size < 1) return problem("the weight has an empty kernel");
  if (context.hasInput(2)) {
    TRY(requireRank(context, 2, 1));
    if (context.input(2).shape.ranked)
      TRY(unified(context.input(2).shape.dims[0], input.dims[1], "the extent of the bias and the channels"));
  }
  const Dim kept = weight.dims[2].known() ? Dim(weight.dims[2].size - 1) : Dim();
  const Shape state = Shape::of({input.dims[0], input.dims[1], kept});
  if (context.hasInput(3)) {
    TRY(requireRank(context, 3, 3));
    const Shape& past = context.input(3).shape;
    for (std::size_t i = 0; past.ranked && i < 3; ++i)
      TRY(unified(past.dims[i], state.dims[i], "the extents of past_state and those of the new state"));
  }
  return Types{{x.dtype, input}, {x.dtype, state}};
}

/// Each channel with its own kernel over what came before and the present: past_state (or zeros), then the input.
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

// --- TensorScatter

Result<std::size_t> scatterAxis(const Node& node, std::size_t rank) {
  const std::size_t axis = TRY(normalizedAxis(node.intAttribute("axis", -2), rank));
  if (axis == 0) return attributeProblem("axis", "is that of the batch, which cannot be written along");
  return axis;
}

Result<Types> inferTensorScatter(const InferContext& context) {
  TRY(choiceAttribute(context.node(), "mode", "linear", {"linear", "circular"}));
  const Shape &cache = context.input(0).shape, &update = context.input(1).shape;
  if (!cache.ranked) return inferLikeFirst(context);
  const std::size_t axis = TRY(scatterAxis(context.node(), cache.rank()));
  TRY(requireRank(context, 1, cache.rank()));
  for (std::size_t i = 0; update.ranked && i < cache.rank(); ++i) {
    if (i != axis) {
      TRY(unified(cache.dims[i], update.dims[i], "the extents of the cache and the update beside the axis"));
    } else if (cache.dims[i].known() && update.dims[i].known() && update.dims[i].size > cache.dims[i].size) {
      return problem(fmt::format("the update has {} entries along the axis, but the cache has room for {}",
                                 update.dims[i].size, cache.dims[i].size));
    }
  }
  if (context.hasInput(2)) {
    TRY(requireRank(context, 2, 1));
    if (context.input(2).shape.ranked)
      TRY(unified(context.input(2).shape.dims[0], cache.dims[0], "the number of write indices and the batch"));
  }
  return inferLikeFirst(context);
}

template <class T>
Result<Tensors> scatterAs(const KernelContext& context) {
  const Tensor &cache = context.input(0), &update = context.input(1);
  const std::size_t axis = TRY(scatterAxis(context.node(), cache.dims().size()));
  const bool circular = context.node().textAttribute("mode", "linear") == "circular";
  const AxisSplit to = splitAt(cache.dims(), axis), from = splitAt(update.dims(), axis);
  auto builder = TRY(Builder<T>::create(cache.type(), cache.dims()));
  std::ranges::copy(elementsOf<T>(cache), builder.elements().begin());
  const std::int64_t perBatch = cache.dims()[0] == 0 ? 1 : to.outer / cache.dims()[0];
  for (std::int64_t o = 0; update.count() > 0 && o < to.outer; ++o) {
    const std::int64_t first = context.hasInput(2) ? context.input(2).asInt64(o / perBatch) : 0;
    if (first < 0 || (!circular && first > to.extent - from.extent))
      return problem(
          fmt::format("{} entries cannot be written at index {} of a cache of {}", from.extent, first, to.extent));
    for (std::int64_t i = 0; i < from.extent; ++i) {
      const std::int64_t at = (first % to.extent + i) % to.extent;
      std::copy_n(elementsOf<T>(update).begin() + (o * from.extent + i) * from.inner, from.inner,
                  builder.elements().begin() + (o * to.extent + at) * to.inner);
    }
  }
  return Tensors{std::move(builder).finish()};
}

Result<Tensors> tensorScatter(const KernelContext& context) {
  return dispatchStorage(context.input(0).type(),
                         [&]<class T>(std::type_identity<T>) { return scatterAs<T>(context); });
}

}  // namespace

void registerRecurrentAttention(OpRegistry& registry) {
  registry.add({.op = "CausalConvWithState",
                .kind = OpKind::Convolution,
                .minInputs = 2,
                .maxInputs = 4,
                .infer = inferCausalConv,
                .kernel = widened(causalConv),
                .flops = [](const Node&, std::span<const Dims> inputs, std::span<const Dims>) -> std::int64_t {
                  if (inputs.size() < 2 || inputs[1].size() != 3) return 0;
                  return 2 * elementCount(inputs[0]).value_or(0) * inputs[1][2];
                },
                .maxOutputs = 2,
                .signature = {"T", {{'T', kActivations}}}});
  registry.add({.op = "LinearAttention",
                .kind = OpKind::MatMul,
                .minInputs = 3,
                .maxInputs = 6,
                .infer = inferLinearAttention,
                .kernel = linearAttention,
                .maxOutputs = 2,
                .signature = {"TTTSTT", {{'T', kActivations}, {'S', kActivations}}}});
  registry.add({.op = "TensorScatter",
                .kind = OpKind::Movement,
                .minInputs = 2,
                .maxInputs = 3,
                .infer = inferTensorScatter,
                .kernel = unpacked(tensorScatter),
                .signature = {"TTI", {{'T', kAnyType}, {'I', kInt64Type}}}});
}

}  // namespace fusescope::ops
