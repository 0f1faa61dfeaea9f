#include <optional>

#include "target/node_request.h"
#include "target/restriction_list.h"

namespace fusescope {
namespace {

/// Attention(Q, K, V, attn_mask, …): Q, K and V are [batch, heads, length, width] or [batch, length, heads * width].
struct AttentionShape {
  std::size_t rank = 0;
  Dim queryHeads, keyHeads, queries, width;
};

/// Returns nothing if the ranks are unknown or not allowed by ONNX.
std::optional<AttentionShape> shapeOf(const NodeRequest& request) {
  const TensorType *q = request.input(0), *k = request.input(1);
  if (q == nullptr || k == nullptr || !q->shape.ranked || !k->shape.ranked) return std::nullopt;
  const std::vector<Dim>&query = q->shape.dims, &key = k->shape.dims;
  if (query.size() != key.size()) return std::nullopt;
  if (query.size() == 4) return AttentionShape{4, query[1], key[1], query[2], query[3]};
  if (query.size() != 3) return std::nullopt;
  AttentionShape shape{3, Dim(request.node.intAttribute("q_num_heads", 0)),
                       Dim(request.node.intAttribute("kv_num_heads", 0)), query[1], Dim()};
  if (query[2].known() && shape.queryHeads.size > 0) shape.width = Dim(query[2].size / shape.queryHeads.size);
  return shape;
}

bool isMasked(const NodeRequest& request) {
  return request.input(3) != nullptr;
}

bool isCausal(const NodeRequest& request) {
  return request.node.intAttribute("is_causal", 0) != 0;
}

// The range in which kernels of TensorRT for RTX were seen: heads of 12 to 256 numbers, but not of 8 and fewer or of
// 512.
Holds widthOfFusedKernels(const Dim& width) {
  if (!width.known()) return Holds::Unknown;
  if (width.size >= 12 && width.size <= 256) return Holds::Yes;
  return width.size <= 8 || width.size >= 512 ? Holds::No : Holds::Unknown;
}

Holds fusedAttention(const NodeRequest& request) {
  if (request.node.intAttribute("TRT_decomposable", 0) != 0) return Holds::Yes;
  const TensorType* q = request.input(0);
  const auto shape = shapeOf(request);
  if (!shape) return Holds::Unknown;
  if (!isMasked(request)) {
    if (shape->queries.known() && shape->queries.size == 1) return Holds::Yes;
    if (shape->rank == 3 && !isCausal(request) && shape->queryHeads == shape->keyHeads) return Holds::Yes;
  }
  if (q->dtype == DataType::F16 || q->dtype == DataType::BF16) return widthOfFusedKernels(shape->width);
  return isMasked(request) || shape->queries.known() ? Holds::No : Holds::Unknown;
}

Holds maskOrCausal(const NodeRequest& request) {
  return isMasked(request) && isCausal(request) ? Holds::No : Holds::Yes;
}

Holds equalKeysAndValues(const NodeRequest& request) {
  const TensorType *k = request.input(1), *v = request.input(2);
  if (k == nullptr || v == nullptr || !k->shape.ranked || !v->shape.ranked) return Holds::Unknown;
  if (k->shape.rank() != v->shape.rank()) return Holds::No;
  Holds holds = Holds::Yes;
  for (std::size_t i = 0; i < k->shape.rank(); ++i) {
    const Dim &a = k->shape.dims[i], &b = v->shape.dims[i];
    if (a == b && (a.known() || !a.symbol.empty())) continue;
    if (a.known() && b.known()) return Holds::No;
    holds = Holds::Unknown;
  }
  return holds;
}

}  // namespace

extern const NamedRestriction kFusedAttention{
    "fusedAttention",
    "one fused kernel can run it, which needs f16 or bf16, heads of 12 to 256 numbers, and either a single query "
    "without a mask, or inputs of rank 3 without a mask, not causal, and with as many heads of keys as of queries",
    fusedAttention};
extern const NamedRestriction kMaskOrCausal{"maskOrCausal", "it has a mask or is causal, and not both", maskOrCausal};
extern const NamedRestriction kEqualKeysAndValues{"equalKeysAndValues", "keys and values have the same extents",
                                                  equalKeysAndValues};

}  // namespace fusescope
