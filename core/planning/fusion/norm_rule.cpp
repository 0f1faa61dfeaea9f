#include "planning/fusion/norm_match.h"
#include "planning/fusion/rules.h"
#include "planning/kinds.h"

namespace fusescope {

namespace {

/// Returns whether a weight or bias runs along the last `axes` of `value` only.
bool alongLastAxes(const Graph& graph, ValueId constant, ValueId value, std::size_t axes) {
  const Shape& shape = graph.value(constant).type.shape;
  if (!shape.ranked || shape.rank() == 0 || !broadcastsTo(graph, constant, value)) return false;
  for (std::size_t i = 0; i + axes < shape.rank(); ++i)
    if (shape.dims[i].size != 1) return false;
  return true;
}

/// Returns whether weights that are applied before x run along the normalised axes; if not, this is recorded.
bool weightsFit(RegionBuilder& state, const NormCore& core, std::string_view kind) {
  const Graph& graph = state.graph();
  for (const Binding& weight : {core.scale, core.bias}) {
    if (!weight.value.valid() || alongLastAxes(graph, weight.value, core.result, core.axes)) continue;
    const std::string what = graph.value(weight.value).name + " does not run along the axes that are normalised alone";
    state.refuse("fuse.pattern_incomplete", kind, core.root, weight.node,
                 {{"kind", std::string(kind)}, {"what", what}});
    return false;
  }
  return true;
}

void fuseNorms(RegionBuilder& state, bool centred, std::string_view kind) {
  const Graph& graph = state.graph();
  const NormMatcher matcher(graph);
  for (const NodeId id : state.scope()) {
    if (!state.alone(id)) continue;
    std::string obstacle;
    std::optional<NormCore> core = matcher.match(graph.node(id), obstacle);
    // The last of the two rules records the obstacle.
    if (!obstacle.empty() && !centred)
      state.refuse("fuse.pattern_incomplete", kind, id, id, {{"kind", std::string(kind)}, {"what", obstacle}});
    if (!core || core->centred != centred || !weightsFit(state, *core, kind)) continue;
    if (!state.tryMerge({.nodes = std::move(core->nodes), .root = id, .kind = kind, .rules = {kind}})) continue;
    state.bind(id, {{roles::kInput, core->input, {}}, {roles::kEpsilon, core->epsilon, {}}});
    for (const Binding& weight : {core->scale, core->bias})
      if (weight.value.valid()) state.bind(id, {weight});
    takeAffine(state, id, kind, core->result, centred, alongLastAxes, core->axes);
  }
}

/// A norm that uses the sum of squares instead of their mean is not supported. This records it where a product looks
/// like one.
void explainSumOfSquares(RegionBuilder& state) {
  const Graph& graph = state.graph();
  for (const NodeId id : state.scope()) {
    const Node& node = graph.node(id);
    if (!(node.is("ReduceL2") || node.is("ReduceSumSquare")) || !state.alone(id)) continue;
    const Node* reader = onlyConsumer(graph, node.outputs.front());
    if (reader == nullptr || !(reader->is("Div") || reader->is("Sqrt") || reader->is("Add"))) continue;
    state.refuse("fuse.pattern_incomplete", "rms_norm", id, id,
                 {{"kind", "rms_norm"}, {"what", node.name + " sums the squares and takes no mean"}});
  }
}

//   (x - mean(x)) / sqrt(mean((x - mean(x))^2) + eps) [· w] [+ b]
void fuseLayerNorm(RegionBuilder& state) {
  fuseNorms(state, true, kinds::kLayerNorm);
}

//   x / sqrt(mean(x^2) + eps) [· w]
void fuseRmsNorm(RegionBuilder& state) {
  fuseNorms(state, false, kinds::kRmsNorm);
  explainSumOfSquares(state);
}

}  // namespace

extern const FusionRule kLayerNormRule{.name = "layer_norm",
                                       .picture = "(x - mean(x)) / sqrt(mean((x - mean(x))^2) + eps) * w + b",
                                       .apply = fuseLayerNorm};

extern const FusionRule kRmsNormRule{
    .name = "rms_norm", .picture = "x / sqrt(mean(x^2) + eps) * w", .apply = fuseRmsNorm};

}  // namespace fusescope
