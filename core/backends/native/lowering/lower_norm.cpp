#include <algorithm>
#include <array>

#include "backends/native/lowering/emitter.h"
#include "backends/native/steps/group_norm_step.h"
#include "backends/native/steps/norm_step.h"
#include "planning/kernel_bindings.h"
#include "planning/kinds.h"

namespace fusescope::native {
namespace {

/// Calculates (x - mean) / sqrt(variance + epsilon) · scale + bias. The norm is one node, or the bindings of a fused
/// node describe it.
struct NormPattern {
  ValueId input, scale, bias;    ///< without a scale it is 1; without a bias it is 0
  std::vector<ValueId> results;  ///< the norm, and mean and 1 / deviation if they are needed
  std::string_view name;
  float epsilon = 0;
  bool centred = true;        ///< false for a root mean square norm
  std::int64_t count = 1;     ///< the number of contiguous elements that are normalised together
  std::int64_t weighted = 1;  ///< the number of elements after which scale and bias repeat
  // The number of groups of channels, in which case `weighted` is the size of an image; 0 if rows are normalised.
  std::int64_t groups = 0;
  DataType rounded = DataType::Undefined;  ///< the type to which the result is rounded before scale and bias
};

/// Returns whether the extents of `weights` are those of `dims` for the axes from `first` up to `last` and 1 for the
/// others.
bool runAlong(const Dims& weights, const Dims& dims, std::size_t first, std::size_t last) {
  if (weights.size() > dims.size() || weights.size() < dims.size() - first) return false;
  const std::size_t lead = dims.size() - weights.size();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::size_t axis = lead + i;
    if (weights[i] != (axis >= first && axis < last ? dims[axis] : 1)) return false;
  }
  return true;
}
Status emitGroupNorm(Context& context, const NormPattern& pattern, const Ref& from) {
  GroupNormCall call{.from = from, .groups = pattern.groups, .epsilon = pattern.epsilon};
  std::vector<BufferIndex> reads = {from.buffer};
  for (const auto& [value, target] : {std::pair(pattern.scale, &call.scale), std::pair(pattern.bias, &call.bias)}) {
    if (!value.valid()) continue;
    *target = TRY(context.plain(TRY(context.ref(value))));
    reads.push_back((*target)->buffer);
  }
  const ValueId result = pattern.results.front();
  call.to = context.allocate(result, from.format, context.storedType(result));
  context.define(result, call.to);
  context.chose({.kind = {.name = pattern.name}});
  const BufferIndex written = call.to.buffer;
  context.program().addStep(makeGroupNormStep(std::move(call), context.threads()), reads, {written});
  return Done{};
}

Status emitNormPattern(Context& context, const NormPattern& pattern) {
  const Ref from = TRY(context.seen(pattern.input));
  const bool isOneResult = std::ranges::count_if(pattern.results, &ValueId::valid) == 1;
  const bool rounds = pattern.rounded != DataType::Undefined;
  if (pattern.groups > 0 && isOneResult && !rounds && hasInnerChannels(from))
    return emitGroupNorm(context, pattern, from);
  NormCall call{.from = TRY(context.plain(from)),
                .count = pattern.count,
                .epsilon = pattern.epsilon,
                .centred = pattern.centred,
                .rounded = pattern.rounded,
                .run = 1,
                .weights = pattern.count};
  std::vector<BufferIndex> reads = {call.from.buffer}, writes;
  for (const auto& [value, target] : {std::pair(pattern.scale, &call.scale), std::pair(pattern.bias, &call.bias)}) {
    if (!value.valid()) continue;
    *target = TRY(context.plain(TRY(context.ref(value))));
    call.weights = (*target)->count();
    call.run = pattern.weighted / call.weights;
    reads.push_back((*target)->buffer);
  }
  for (std::size_t i = 0; i < pattern.results.size(); ++i) {
    const ValueId result = pattern.results[i];
    if (!result.valid() || (i > 0 && !context.request().values.contains(result))) continue;
    const Ref to = context.allocate(result, {}, i == 0 ? context.storedType(result) : DataType::F32);
    context.define(result, to);
    writes.push_back(to.buffer);
    if (i == 0) call.to = to;
    if (i == 1) call.mean = to;
    if (i == 2) call.inverse = to;
  }
  context.chose({.kind = {.name = pattern.name}});
  context.program().addStep(makeNormStep(std::move(call), context.threads()), reads, writes);
  return Done{};
}

Result<bool> emitNorm(Context& context, const Node& node) {
  const bool groups = node.is("InstanceNormalization") || node.is("GroupNormalization");
  const bool rows = node.is("LayerNormalization") || node.is("RMSNormalization");
  const Dims dims = context.dimsOf(node.input(0));
  if (!(groups || rows) || context.typeOf(node.input(0)) != DataType::F32 || dims.empty()) return false;
  const std::size_t axis = rows ? positiveAxis(node.intAttribute("axis", -1), dims.size()) : 1;
  NormPattern pattern{.input = node.input(0),
                      .scale = node.input(1),
                      .bias = node.input(2),
                      .results = node.outputs,
                      .name = node.is("RMSNormalization")     ? kinds::kRmsNorm
                              : rows                          ? kinds::kLayerNorm
                              : node.is("GroupNormalization") ? kinds::kGroupNorm
                                                              : "instance_norm",
                      .epsilon = node.floatAttribute("epsilon", 1e-5f),
                      .centred = !node.is("RMSNormalization")};
  const std::int64_t channels = dims.size() > 1 ? dims[1] : 0;
  const std::int64_t parts = node.is("GroupNormalization") ? node.intAttribute("num_groups", 1) : channels;
  if (groups && productOf(dims, 1) <= 0) return false;
  pattern.weighted = productOf(dims, axis);
  pattern.groups = rows ? 0 : parts;
  pattern.count = rows ? pattern.weighted : pattern.weighted / parts;
  for (const ValueId value : {pattern.scale, pattern.bias}) {
    if (!value.valid()) continue;
    const std::int64_t weights = elementCount(context.dimsOf(value)).value_or(0);
    if (!(rows ? weights == pattern.count : weights == channels || weights == parts)) return false;
  }
  TRY(emitNormPattern(context, pattern));
  return true;
}

/// Finds the type to which normalised values are rounded before they are multiplied by their weights (a norm in f32
/// whose weights are f16). Returns false if anything else inside the norm has to be rounded, which the kernel cannot
/// do.
bool takeRounding(const Context& context, const NormBinding& bound, NormPattern& pattern) {
  std::set<DataType> types;
  for (const NodeId id : bound.nodes)
    for (const ValueId value : context.node(id).outputs) {
      const DataType type =
          value.valid() && value != pattern.results[0] ? context.rounding().rounds(value) : DataType::Undefined;
      if (type == DataType::Undefined) continue;
      if (std::ranges::find(bound.unweighted, value) == bound.unweighted.end()) return false;
      types.insert(type);
    }
  if (types.empty()) return true;
  pattern.rounded = *types.begin();
  return types.size() == 1 && context.dimsOf(bound.unweighted.back()) == context.dimsOf(pattern.input);
}

/// Finds how many elements of a group are normalised together. Returns false if the extents do not fit.
bool takeGroups(const Context& context, const NormBinding& bound, const Dims& dims, NormPattern& pattern) {
  const Dims seen = context.dimsOf(bound.groups);
  if (dims.size() < 2 || seen.size() < 2 || seen[0] != dims[0] || seen[1] <= 0) return false;
  pattern.groups = seen[1];
  pattern.weighted = productOf(dims, 1);
  pattern.count = pattern.weighted / pattern.groups;
  return true;
}

/// Finds how many elements are normalised together: those of the last axes, or those of a group.
bool takeExtents(const Context& context, const NormBinding& bound, NormPattern& pattern) {
  const Dims dims = context.dimsOf(bound.input);
  if (elementCount(dims).value_or(0) <= 0 || context.dimsOf(bound.result) != dims) return false;
  std::size_t first = 1, last = 2;
  if (bound.groups.valid()) {
    if (!takeGroups(context, bound, dims, pattern)) return false;
  } else {
    if (bound.axes > dims.size()) return false;
    for (const ValueId axes : bound.axesConstants) context.constant(axes);  // the code depends on their numbers
    first = dims.size() - bound.axes;
    last = dims.size();
    pattern.count = pattern.weighted = productOf(dims, first);
  }
  return std::ranges::all_of(std::array{bound.scale, bound.bias}, [&](ValueId weights) {
    return !weights.valid() || runAlong(context.dimsOf(weights), dims, first, last);
  });
}

/// Returns the norm that the plan binds; nothing if there is none, or if the kernel cannot run it.
std::optional<NormPattern> boundNorm(const Context& context) {
  const NormBinding& bound = kernelBindings(context.fused()).norm;
  if (bound.nodes.empty() || context.typeOf(bound.input) != DataType::F32) return std::nullopt;
  const auto epsilon =
      bound.epsilon.valid() ? context.constantNumber(bound.epsilon) : std::optional<float>(bound.ownEpsilon);
  if (!epsilon) return std::nullopt;
  NormPattern pattern{.input = bound.input,
                      .scale = bound.scale,
                      .bias = bound.bias,
                      .results = {bound.result},
                      .name = context.fused().kind,
                      .epsilon = *epsilon,
                      .centred = bound.centred};
  const bool runs = takeExtents(context, bound, pattern) && takeRounding(context, bound, pattern);
  return runs ? std::optional(pattern) : std::nullopt;
}

void claimNorm(Context& context, Units& units) {
  const auto pattern = boundNorm(context);
  if (!pattern) return;
  const auto emit = [pattern = *pattern](Context& at) -> Status {
    TRY(at.flush());
    return emitNormPattern(at, pattern);
  };
  const std::vector<NodeId>& nodes = kernelBindings(context.fused()).norm.nodes;
  units.add(nodes.back(), emit, {nodes.begin(), nodes.end()});
}

}  // namespace

extern const Emitter kNormEmitter{.name = "norm", .claim = claimNorm, .emit = emitNorm};

}  // namespace fusescope::native
