#include <cmath>

#include "backends/native/lowering/emitter.h"
#include "backends/native/steps/attention_step.h"

namespace fusescope::native {
namespace {

/// ONNX's Attention is calculated as [batch, key heads, query heads per key head, sequence, depth]: all query heads
/// that share keys and values read the same ones.
constexpr std::size_t kRank = 5;

/// Returns `ref`, which is [batch, heads, sequence, depth] or [batch, sequence, heads * depth], with its heads divided
/// into `groups`.
Ref withHeads(Ref ref, std::int64_t heads, std::int64_t groups) {
  const bool packed = ref.dims.size() == 3;
  const std::int64_t depth = packed ? ref.dims[2] / heads : ref.dims[3];
  const std::int64_t sequenceStride = packed ? ref.strides[1] : ref.strides[2];
  const std::int64_t headStride = packed ? depth * ref.strides[2] : ref.strides[1];
  const std::int64_t depthStride = ref.strides.back();
  const std::int64_t perGroup = heads / groups;
  ref.strides = {ref.strides[0], headStride * perGroup, headStride, sequenceStride, depthStride};
  ref.dims = {ref.dims[0], groups, perGroup, packed ? ref.dims[1] : ref.dims[2], depth};
  return ref;
}

Ref transposed(Ref ref) {
  std::swap(ref.dims[kRank - 2], ref.dims[kRank - 1]);
  std::swap(ref.strides[kRank - 2], ref.strides[kRank - 1]);
  return ref;
}

/// Returns a mask that broadcasts to [batch, heads, rows, keys] as a tensor of rank 5.
Ref maskOf(Ref ref, const Dims& scores) {
  const Dims strides = broadcastStrides(ref, {scores[0], scores[1] * scores[2], scores[3], scores[4]});
  ref.strides = {strides[0], strides[1] * scores[2], strides[1], strides[2], strides[3]};
  ref.dims = scores;
  return ref;
}

/// Returns a mask that is minus infinity where the positions of a query and a key forbid that the query sees the key.
Tensor placeMask(const Node& node, std::int64_t rows, std::int64_t keys, std::int64_t offset) {
  const bool causal = node.intAttribute("is_causal", 0) != 0;
  const std::int64_t left = node.intAttribute("left_window_size", -1);
  const std::int64_t right = node.intAttribute("right_window_size", -1);
  Tensor mask = Tensor::zeros(DataType::F32, {rows, keys});
  float* to = mask.mutableData<float>().data();
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < keys; ++j, ++to) {
      const std::int64_t at = offset + i;
      const bool hidden = (causal && j > at) || (left >= 0 && j < at - left) || (right >= 0 && j > at + right);
      if (hidden) *to = -INFINITY;
    }
  return mask;
}

bool limitsPlaces(const Node& node) {
  return node.intAttribute("is_causal", 0) != 0 || node.intAttribute("left_window_size", -1) >= 0 ||
         node.intAttribute("right_window_size", -1) >= 0;
}

constexpr std::int64_t kMostPlaces = std::int64_t{1} << 26;  // of a mask by position: 256 MiB

bool canRun(const Context& context, const Node& node) {
  const auto has = [&](std::size_t i) { return node.input(i).valid(); };
  const bool wantsScores = node.outputs.size() > 3 && context.request().values.contains(node.outputs[3]);
  if (has(6) || wantsScores || has(4) != has(5)) return false;
  for (const std::size_t i : {0, 1, 2, 4, 5})
    if (has(i) && context.typeOf(node.input(i)) != DataType::F32) return false;
  const Dims query = context.dimsOf(node.input(0)), key = context.dimsOf(node.input(1)),
             result = context.dimsOf(node.outputs[0]);
  if (query.size() != key.size() || (query.size() != 3 && query.size() != 4)) return false;
  const std::int64_t keys = key[key.size() - 2] + (has(4) ? context.dimsOf(node.input(4))[2] : 0);
  const std::int64_t rows = query[query.size() - 2];
  if (elementCount(query).value_or(0) == 0 || elementCount(result).value_or(0) == 0 || keys == 0) return false;
  if (limitsPlaces(node) && rows > kMostPlaces / keys) return false;
  if (!has(3)) return true;
  const DataType mask = context.typeOf(node.input(3));
  return (mask == DataType::F32 || mask == DataType::Bool) && !context.dimsOf(node.input(3)).empty() &&
         context.dimsOf(node.input(3)).back() == keys;
}

// Concatenates the past keys or values and the new ones. The result is also the present state that the node outputs.
Result<Ref> withPast(Context& context, const Node& node, std::size_t input, std::int64_t heads) {
  const ValueId past = node.input(input + 3);
  const ValueId present = node.outputs.size() > input ? node.outputs[input] : ValueId();
  const bool wanted = present.valid() && context.request().values.contains(present);
  const DataType stored = wanted ? context.storedType(present) : context.seenType(node.input(input));
  const bool isNarrowed =
      context.seenType(node.input(input)) == stored && (!past.valid() || context.seenType(past) == stored);
  const auto read = [&](ValueId value) { return isNarrowed ? context.seen(value) : context.ref(value); };
  const Ref fresh = withHeads(TRY(context.strided(TRY(read(node.input(input))))), heads, heads);
  if (!past.valid() && !wanted) return fresh;
  const std::int64_t before = past.valid() ? context.dimsOf(past)[2] : 0;
  const Dims dims{fresh.dims[0], heads, before + fresh.dims[3], fresh.dims[4]};
  const DataType type = isNarrowed ? stored : DataType::F32;
  const Ref all = wanted ? context.allocate(present, {}, type) : context.allocateScratch(type, dims);
  if (wanted) context.define(present, all);
  Ref target = withHeads(all, heads, heads);
  target.dims[3] = before;
  if (past.valid() && before > 0)
    context.copyStrided(withHeads(TRY(context.strided(TRY(read(past)))), heads, heads), target);
  target.offset += before * target.strides[3];
  target.dims[3] = fresh.dims[3];
  context.copyStrided(fresh, target);
  return withHeads(all, heads, heads);
}

Result<bool> emitAttentionNode(Context& context, const Node& node) {
  if (!node.is("Attention") || !canRun(context, node)) return false;
  const Dims queryDims = context.dimsOf(node.input(0));
  const bool packed = queryDims.size() == 3;
  const std::int64_t heads = packed ? node.intAttribute("q_num_heads", 1) : queryDims[1];
  const std::int64_t groups = packed ? node.intAttribute("kv_num_heads", 1) : context.dimsOf(node.input(1))[1];
  const auto shared = [&](Ref ref) {  // broadcasts to the query heads of a group
    ref.dims[2] = heads / groups;
    ref.strides[2] = 0;
    return ref;
  };
  Ref query = TRY(context.strided(TRY(context.seen(node.input(0)))));
  if (query.strides.back() != 1) query = TRY(context.plain(query));
  AttentionCall call;
  if (node.input(3).valid() || limitsPlaces(node)) call.guard = 0.0f;
  call.query = withHeads(query, heads, groups);
  call.key = transposed(shared(TRY(withPast(context, node, 1, groups))));
  call.value = shared(TRY(withPast(context, node, 2, groups)));
  const std::int64_t rows = call.query.dims[3], depth = call.query.dims[4], keys = call.key.dims[4];
  const Dims scores{call.query.dims[0], groups, heads / groups, rows, keys};
  std::vector<BufferIndex> reads = {call.query.buffer, call.key.buffer, call.value.buffer};

  const float scale = node.hasAttribute("scale") ? node.floatAttribute("scale", 0)
                                                 : static_cast<float>(1 / std::sqrt(static_cast<double>(depth)));
  call.terms.push_back({.kind = ScoreTerm::Kind::Multiply, .number = scale});
  if (const float cap = node.floatAttribute("softcap", 0); cap != 0)
    call.terms.push_back({.kind = ScoreTerm::Kind::SoftCap, .number = cap});
  if (limitsPlaces(node)) {
    Ref mask{.dtype = DataType::F32, .dims = {rows, keys}, .strides = {keys, 1}};
    mask.buffer = context.program().addTable(
        placeMask(node, rows, keys, node.input(4).valid() ? context.dimsOf(node.input(4))[2] : 0));
    call.terms.push_back({.kind = ScoreTerm::Kind::Add, .operand = maskOf(mask, scores)});
  }
  if (node.input(3).valid()) {
    const Ref mask = TRY(context.strided(TRY(context.ref(node.input(3)))));
    reads.push_back(mask.buffer);
    const Ref read = maskOf(mask, scores);
    call.terms.push_back(mask.dtype == DataType::Bool
                             ? ScoreTerm{.kind = ScoreTerm::Kind::WhereFalse, .condition = read, .number = -INFINITY}
                             : ScoreTerm{.kind = ScoreTerm::Kind::Add, .operand = read});
  }
  const Ref result = context.allocate(node.outputs[0], {}, context.storedType(node.outputs[0]));
  context.define(node.outputs[0], result);
  call.result = withHeads(result, heads, groups);
  context.chose({.kind = kAttentionKernel});
  context.program().addStep(makeAttentionStep(std::move(call), context.threads()), reads, {result.buffer});
  return true;
}

}  // namespace

extern const Emitter kAttentionNodeEmitter{.name = "attention_node", .emit = emitAttentionNode};

}  // namespace fusescope::native
