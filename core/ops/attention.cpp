// Scaled dot product attention, with key and value caches.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/families.h"
#include "ops/support/extent_arithmetic.h"
#include "ops/support/infer_support.h"
#include "ops/support/kernel_support.h"
#include "ops/support/strided.h"
#include "ops/support/work.h"

namespace fusescope::ops {
namespace {

constexpr std::size_t kQuery = 0, kKey = 1, kValue = 2, kMask = 3, kPastKey = 4, kPastValue = 5, kValidKeys = 6;

/// A query, key or value as [batch, heads, sequence, depth]; the input has four axes or, if it is packed, three.
struct HeadExtents {
  Dim batch, heads, sequence, depth;
};

Result<std::int64_t> headCount(const Node& node, const std::string& attribute) {
  const std::int64_t heads = node.intAttribute(attribute, 0);
  if (heads < 1) return attributeProblem(attribute, "must be given and positive if the inputs have three axes");
  return heads;
}

Result<HeadExtents> headExtents(const Node& node, const Shape& shape, const std::string& attribute, std::size_t input) {
  if (!shape.ranked) return HeadExtents();
  if (shape.rank() == 4) return HeadExtents{shape.dims[0], shape.dims[1], shape.dims[2], shape.dims[3]};
  if (shape.rank() != 3) return problem(fmt::format("input {} has rank {}, expected 3 or 4", input, shape.rank()));
  const std::int64_t heads = TRY(headCount(node, attribute));
  const Dim& hidden = shape.dims[2];
  if (hidden.known() && hidden.size % heads != 0)
    return attributeProblem(attribute,
                            fmt::format("{} does not divide the {} elements of input {}", heads, hidden.size, input));
  return HeadExtents{shape.dims[0], Dim(heads), shape.dims[1], hidden.known() ? Dim(hidden.size / heads) : Dim()};
}

/// All extents, which are checked against each other.
struct AttentionExtents {
  HeadExtents query, key, value;
  Dim past{0};          ///< keys of the cache
  Dim total;            ///< keys in all
  bool packed = false;  ///< three axes
};

Status checkPast(const InferContext& context, std::size_t input, const HeadExtents& current, Dim& past) {
  TRY(requireRank(context, input, 4));
  const Shape& shape = context.input(input).shape;
  if (!shape.ranked) {
    past = Dim();
    return Done{};
  }
  const std::string what = fmt::format("the extents of input {} and those of the new keys and values", input);
  TRY(unified(context, shape.dims[0], current.batch, what));
  TRY(unified(context, shape.dims[1], current.heads, what));
  TRY(unified(context, shape.dims[3], current.depth, what));
  past = shape.dims[2];
  return Done{};
}

Result<AttentionExtents> attentionExtents(const InferContext& context) {
  const Node& node = context.node();
  AttentionExtents e;
  e.query = TRY(headExtents(node, context.input(kQuery).shape, "q_num_heads", kQuery));
  e.key = TRY(headExtents(node, context.input(kKey).shape, "kv_num_heads", kKey));
  e.value = TRY(headExtents(node, context.input(kValue).shape, "kv_num_heads", kValue));
  e.packed = context.input(kQuery).shape.rank() == 3;
  for (const std::size_t i : {kKey, kValue})
    if (context.input(i).shape.ranked && context.input(kQuery).shape.ranked &&
        context.input(i).shape.rank() != context.input(kQuery).shape.rank())
      return problem("query, key and value must have equally many axes");
  const Dim batch = TRY(unified(context, e.query.batch, e.key.batch, "the batches of query and key"));
  TRY(unified(context, batch, e.value.batch, "the batches of query and value"));
  TRY(unified(context, e.query.depth, e.key.depth, "the head sizes of query and key"));
  const Dim heads = TRY(unified(context, e.key.heads, e.value.heads, "the heads of key and value"));
  TRY(unified(context, e.key.sequence, e.value.sequence, "the sequence lengths of key and value"));
  if (e.query.heads.known() && heads.known() && (heads.size == 0 || e.query.heads.size % heads.size != 0))
    return problem(fmt::format("the query has {} heads, which is not a multiple of the {} heads of the key",
                               e.query.heads.size, heads.size));
  if (context.hasInput(kPastKey) != context.hasInput(kPastValue))
    return problem("past_key and past_value must be given together");
  if (context.hasInput(kPastKey)) {
    if (context.hasInput(kValidKeys)) return problem("nonpad_kv_seqlen cannot be given together with past_key");
    TRY(checkPast(context, kPastKey, e.key, e.past));
    Dim pastValues;
    TRY(checkPast(context, kPastValue, e.value, pastValues));
    TRY(unified(context, e.past, pastValues, "the lengths of past_key and past_value"));
  }
  e.total = sumOf(e.past, e.key.sequence);
  if (context.hasInput(kPastKey) && e.past.known() && e.past.size == 0) e.total = e.key.sequence;
  if (!context.hasInput(kPastKey)) e.total = e.key.sequence;
  return e;
}

/// A mask broadcasts to [batch, heads, queries, keys]; its last extent may be shorter.
Status checkMask(const InferContext& context, const AttentionExtents& e) {
  if (!context.hasInput(kMask) || !context.input(kMask).shape.ranked) return Done{};
  const Shape& mask = context.input(kMask).shape;
  const Dim all[] = {e.query.batch, e.query.heads, e.query.sequence, e.total};
  if (mask.rank() > 4 || mask.rank() == 0)
    return problem(fmt::format("the mask has rank {}, expected 1 to 4", mask.rank()));
  for (std::size_t i = 0; i < mask.rank(); ++i) {
    const Dim &own = mask.dims[mask.rank() - 1 - i], &wanted = all[3 - i];
    if (!own.known() || !wanted.known() || own.size == wanted.size) continue;
    const bool fits = i == 0 ? own.size < wanted.size : own.size == 1;
    if (!fits)
      return problem(fmt::format("the mask {} cannot be broadcast to the attention scores {}",
                                 context.input(kMask).text(),
                                 TensorType{DataType::F32, Shape::of({all[0], all[1], all[2], all[3]})}.text()));
  }
  return Done{};
}

Status checkAttributes(const Node& node) {
  for (const char* window : {"left_window_size", "right_window_size"})
    if (node.intAttribute(window, -1) < -1) return attributeProblem(window, "must be -1 or more");
  const std::int64_t mode = node.intAttribute("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3)
    return attributeProblem("qk_matmul_output_mode", fmt::format("is {}, expected 0 to 3", mode));
  const DataType precision = TRY(typeAttribute(node, "softmax_precision", DataType::F32));
  if (!kWideFloatTypes.contains(precision))
    return attributeProblem("softmax_precision",
                            fmt::format("{} is not a float type of 16 bits or more", name(precision)));
  return Done{};
}

Result<Types> inferAttention(const InferContext& context) {
  TRY(checkAttributes(context.node()));
  const AttentionExtents e = TRY(attentionExtents(context));
  TRY(checkMask(context, e));
  if (context.hasInput(kValidKeys)) TRY(requireRank(context, kValidKeys, 1));
  const DataType type = context.input(kQuery).dtype, valueType = context.input(kValue).dtype;
  Shape result = Shape::unknown();
  if (e.packed) {
    Dim hidden;
    if (e.query.heads.known() && e.value.depth.known())
      if (const auto count = elementCount({e.query.heads.size, e.value.depth.size})) hidden = Dim(*count);
    result = Shape::of({e.query.batch, e.query.sequence, hidden});
  } else if (context.input(kQuery).shape.ranked) {
    result = Shape::of({e.query.batch, e.query.heads, e.query.sequence, e.value.depth});
  }
  return Types{{type, result},
               {type, Shape::of({e.key.batch, e.key.heads, e.total, e.key.depth})},
               {valueType, Shape::of({e.value.batch, e.value.heads, e.total, e.value.depth})},
               {type, Shape::of({e.query.batch, e.query.heads, e.query.sequence, e.total})}};
}

/// Returns `x` as [batch, heads, sequence, depth], after the contents of `past` along the sequence.
template <class T>
Result<Tensor> withHeads(const Tensor& x, const Tensor* past, std::int64_t heads, DataType type) {
  const bool packed = x.dims().size() == 3;
  const std::int64_t batch = x.dims()[0], sequence = x.dims()[packed ? 1 : 2];
  const std::int64_t depth = packed ? x.dims()[2] / heads : x.dims()[3];
  const std::int64_t before = past == nullptr ? 0 : past->dims()[2];
  const Tensor from = x.converted(type);
  Tensor result = TRY(allocate(type, {batch, heads, before + sequence, depth}));
  const Dims target = denseStrides(result.dims());
  T* to = result.mutableData<T>().data();
  if (past != nullptr)
    copyStrided(past->dims(), past->converted(type).data<T>().data(), denseStrides(past->dims()), to, target);
  const Dims dims{batch, heads, sequence, depth};
  const Dims packedStrides{sequence * heads * depth, depth, heads * depth, 1};
  copyStrided(dims, from.data<T>().data(), packed ? packedStrides : denseStrides(dims), to + before * depth, target);
  return result;
}

/// What is added to the scores: the mask, and minus infinity for keys that must not be visible.
class Bias {
 public:
  Bias(const KernelContext& context, const Dims& scores, std::int64_t past)
      : m_context(context),
        m_scores(scores),
        m_causal(context.node().intAttribute("is_causal", 0) != 0),
        m_left(context.node().intAttribute("left_window_size", -1)),
        m_right(context.node().intAttribute("right_window_size", -1)),
        m_past(past) {
    if (!context.hasInput(kMask)) return;
    Dims dims(4 - context.input(kMask).dims().size(), 1);
    dims.insert(dims.end(), context.input(kMask).dims().begin(), context.input(kMask).dims().end());
    m_maskKeys = dims[3];
    m_maskStrides = denseStrides(dims);
    for (std::size_t i = 0; i < 3; ++i)
      if (dims[i] == 1) m_maskStrides[i] = 0;
  }

  double at(std::int64_t b, std::int64_t h, std::int64_t query, std::int64_t key) const {
    const std::int64_t position = offset(b) + query;
    const bool hidden = (m_causal && key > position) || (m_left >= 0 && key < position - m_left) ||
                        (m_right >= 0 && key > position + m_right) || key >= validKeys(b);
    if (hidden) return -INFINITY;
    if (!m_context.hasInput(kMask)) return 0;
    if (key >= m_maskKeys) return -INFINITY;
    const Tensor& mask = m_context.input(kMask);
    const std::int64_t i = b * m_maskStrides[0] + h * m_maskStrides[1] + query * m_maskStrides[2] + key;
    if (mask.type() == DataType::Bool) return mask.asInt64(i) != 0 ? 0 : -INFINITY;
    return mask.asDouble(i);
  }

 private:
  std::int64_t validKeys(std::int64_t b) const {
    return m_context.hasInput(kValidKeys) ? m_context.input(kValidKeys).asInt64(b) : m_scores[3];
  }
  /// Returns how many keys precede the queries.
  std::int64_t offset(std::int64_t b) const {
    return m_context.hasInput(kValidKeys) ? validKeys(b) - m_scores[2] : m_past;
  }

  const KernelContext& m_context;
  const Dims& m_scores;
  bool m_causal;
  std::int64_t m_left, m_right, m_past;
  std::int64_t m_maskKeys = 0;
  Dims m_maskStrides;
};

/// Converts one row of scores to probabilities. `stage` is called with the row after the product (0), the soft cap (1),
/// the bias (2) and the softmax (3).
template <class T, class Stage>
void finishRow(std::vector<T>& row, const std::vector<double>& bias, T softcap, Stage stage) {
  stage(0);
  if (softcap != 0)
    for (T& score : row) score = softcap * std::tanh(score / softcap);
  stage(1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] += static_cast<T>(bias[j]);
  stage(2);
  const bool sees = std::ranges::any_of(bias, [](double value) { return value != -INFINITY; });
  T most = -INFINITY, sum = 0;
  for (const T score : row) most = std::max(most, score);
  for (T& score : row) sum += score = std::exp(score - most);
  for (T& score : row) score = sees ? score / sum : T(0);  // if a query sees no key, the result is zeros
  stage(3);
}

/// The operands as [batch, heads, sequence, depth], including the contents of the caches.
struct AttentionOperands {
  Tensor query, key, value;
  std::int64_t past = 0;
  bool packed = false;
  std::int64_t batch() const { return query.dims()[0]; }
  std::int64_t heads() const { return query.dims()[1]; }
  std::int64_t keyHeads() const { return key.dims()[1]; }
  std::int64_t rows() const { return query.dims()[2]; }
  std::int64_t depth() const { return query.dims()[3]; }
  std::int64_t keys() const { return key.dims()[2]; }
  std::int64_t width() const { return value.dims()[3]; }
};

template <class T>
Result<AttentionOperands> operandsOf(const KernelContext& context, DataType type) {
  const Node& node = context.node();
  const bool packed = context.input(kQuery).dims().size() == 3;
  const std::int64_t heads = packed ? node.intAttribute("q_num_heads", 1) : context.input(kQuery).dims()[1];
  const std::int64_t keyHeads = packed ? node.intAttribute("kv_num_heads", 1) : context.input(kKey).dims()[1];
  const Tensor* pastKey = context.hasInput(kPastKey) ? &context.input(kPastKey) : nullptr;
  const Tensor* pastValue = context.hasInput(kPastValue) ? &context.input(kPastValue) : nullptr;
  AttentionOperands operands{.past = pastKey == nullptr ? 0 : pastKey->dims()[2], .packed = packed};
  operands.query = TRY(withHeads<T>(context.input(kQuery), nullptr, heads, type));
  operands.key = TRY(withHeads<T>(context.input(kKey), pastKey, keyHeads, type));
  operands.value = TRY(withHeads<T>(context.input(kValue), pastValue, keyHeads, type));
  if (context.hasInput(kValidKeys) && context.input(kValidKeys).count() != operands.batch())
    return problem(fmt::format("nonpad_kv_seqlen has {} elements, but the batch size is {}",
                               context.input(kValidKeys).count(), operands.batch()));
  return operands;
}

/// Y = softmax(Q · Kᵀ * scale + bias) · V, head by head; each head of the key is used by equally many heads of the
/// query. `scores` gets what qk_matmul_output_mode selects, if it has elements.
template <class T>
void attend(const KernelContext& context, const AttentionOperands& o, Tensor& result, Tensor& scores) {
  const Node& node = context.node();
  const double usual = 1.0 / std::sqrt(static_cast<double>(std::max<std::int64_t>(o.depth(), 1)));
  const auto scale = static_cast<T>(node.hasAttribute("scale") ? node.floatAttribute("scale", 0) : usual);
  const auto softcap = static_cast<T>(node.floatAttribute("softcap", 0));
  const std::int64_t mode = node.intAttribute("qk_matmul_output_mode", 0);
  const Dims scoreDims{o.batch(), o.heads(), o.rows(), o.keys()};
  const Bias biases(context, scoreDims, o.past);
  std::vector<T> row(static_cast<std::size_t>(o.keys()));
  std::vector<double> bias(row.size());
  const std::int64_t items = result.count() == 0 && scores.count() == 0 ? 0 : o.batch() * o.heads() * o.rows();
  for (std::int64_t item = 0; item < items; ++item) {
    const std::int64_t i = item % o.rows(), h = item / o.rows() % o.heads(), b = item / o.rows() / o.heads();
    const std::int64_t keyHead = b * o.keyHeads() + h / (o.heads() / o.keyHeads());
    const T* from = o.query.data<T>().data() + item * o.depth();
    for (std::int64_t j = 0; j < o.keys(); ++j) {
      const T* against = o.key.data<T>().data() + (keyHead * o.keys() + j) * o.depth();
      T sum = 0;
      for (std::int64_t d = 0; d < o.depth(); ++d) sum += from[d] * against[d];
      row[static_cast<std::size_t>(j)] = sum * scale;
      bias[static_cast<std::size_t>(j)] = biases.at(b, h, i, j);
    }
    finishRow(row, bias, softcap, [&](std::int64_t stage) {
      if (scores.count() > 0 && stage == mode)
        std::ranges::copy(row, scores.mutableData<T>().begin() + item * o.keys());
    });
    T* to = result.mutableData<T>().data() +
            (o.packed ? (b * o.rows() + i) * o.heads() + h : item) * o.width();  // packed: the heads are in the rows
    for (std::int64_t j = 0; j < o.keys(); ++j) {
      const T* of = o.value.data<T>().data() + (keyHead * o.keys() + j) * o.width();
      for (std::int64_t d = 0; d < o.width(); ++d) to[d] += row[static_cast<std::size_t>(j)] * of[d];
    }
  }
}

template <class T>
Result<Tensors> attentionAs(const KernelContext& context, DataType type) {
  const AttentionOperands o = TRY(operandsOf<T>(context, type));
  const bool wantsScores = context.outputCount() > 3;
  Tensor scores = TRY(allocate(type, wantsScores ? Dims{o.batch(), o.heads(), o.rows(), o.keys()} : Dims{0}));
  Tensor result = TRY(allocate(type, o.packed ? Dims{o.batch(), o.rows(), o.heads() * o.width()}
                                              : Dims{o.batch(), o.heads(), o.rows(), o.width()}));
  attend<T>(context, o, result, scores);
  Tensors results{std::move(result), o.key, o.value, std::move(scores)};
  results.resize(context.outputCount());
  for (std::size_t i = 0; i < results.size(); ++i) results[i] = results[i].converted(context.outputType(i));
  return results;
}

Result<Tensors> attention(const KernelContext& context) {
  bool isDouble = false;
  for (const std::size_t i : {kQuery, kKey, kValue}) isDouble = isDouble || context.input(i).type() == DataType::F64;
  return isDouble ? attentionAs<double>(context, DataType::F64) : attentionAs<float>(context, DataType::F32);
}

/// Counts two products of [queries, keys] with the head size, and the softmax.
std::int64_t attentionFlops(const Node&, std::span<const Dims> inputs, std::span<const Dims> outputs) {
  if (inputs.size() < 3 || outputs.empty() || inputs[kKey].size() < 3 || outputs[0].empty()) return 0;
  const std::int64_t keys = inputs[kKey][inputs[kKey].size() - 2];
  const std::int64_t past = inputs.size() > kPastKey && inputs[kPastKey].size() == 4 ? inputs[kPastKey][2] : 0;
  return workOf({2, addedWork(workOf(inputs[kQuery]), workOf(outputs[0])), addedWork(keys, past)});
}

}  // namespace

void registerAttention(OpRegistry& registry) {
  registry.add({.op = "Attention",
                .kind = OpKind::MatMul,
                .minInputs = 3,
                .maxInputs = 7,
                .infer = inferAttention,
                .kernel = attention,
                .flops = attentionFlops,
                .maxOutputs = 4,
                .signature = {"QQVMQVI",
                              {{'Q', kWideFloatTypes},
                               {'V', kWideFloatTypes},
                               {'M', kWideFloatTypes | kIntegerTypes | kBoolType},
                               {'I', kInt64Type}}}});
}

}  // namespace fusescope::ops
