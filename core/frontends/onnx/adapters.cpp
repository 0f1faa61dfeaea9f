#include "frontends/onnx/adapters.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "frontends/onnx/adapters/adapters_by_family.h"

namespace fusescope {
namespace {

using onnxlib::FileNode;
using Nodes = std::vector<FileNode>;

/// Whether nodes of a newer opset are adapted too, because exporters still write the old form, or it is still allowed.
enum class Newer { AsTheyAre, Adapted };

struct AdapterRow {
  std::string_view op;
  std::int64_t before;  ///< nodes written at an older opset are adapted
  Result<Nodes> (*adapt)(FileNode, AdaptContext&);
  Newer newer = Newer::AsTheyAre;
};

/// The differences between opset 7 and the newest that are more than a longer list of types or an attribute whose
/// default is the older behaviour. The rows of one operator are ordered by age, the oldest first.
constexpr std::array kAdapters{
    AdapterRow{"BatchNormalization", 9, adapting::batchNormPerElement},
    AdapterRow{"BatchNormalization", 14, adapting::batchNormTraining},
    AdapterRow{"Clip", 11, adapting::clipBounds},
    AdapterRow{"DFT", 20, adapting::dftAxis},
    AdapterRow{"Dropout", 10, adapting::dropoutMask},
    AdapterRow{"Dropout", 12, adapting::dropoutRatio},
    AdapterRow{"GridSample", 20, adapting::gridSampleModes},
    AdapterRow{"GroupNormalization", 21, adapting::groupNormChannels},
    AdapterRow{"Hardmax", 13, adapting::softmaxOfMatrix},
    AdapterRow{"LogSoftmax", 13, adapting::softmaxOfMatrix},
    AdapterRow{"OneHot", 11, adapting::oneHotNegatives},
    AdapterRow{"Pad", 11, adapting::padAmounts},
    AdapterRow{"ReduceL1", 18, adapting::reduceAxes},
    AdapterRow{"ReduceL2", 18, adapting::reduceAxes},
    AdapterRow{"ReduceLogSum", 18, adapting::reduceAxes},
    AdapterRow{"ReduceLogSumExp", 18, adapting::reduceAxes},
    AdapterRow{"ReduceMax", 18, adapting::reduceAxes},
    AdapterRow{"ReduceMean", 18, adapting::reduceAxes},
    AdapterRow{"ReduceMin", 18, adapting::reduceAxes},
    AdapterRow{"ReduceProd", 18, adapting::reduceAxes},
    AdapterRow{"ReduceSum", 13, adapting::reduceAxes},
    AdapterRow{"ReduceSumSquare", 18, adapting::reduceAxes},
    AdapterRow{"Resize", 11, adapting::resizeSlots},
    AdapterRow{"Resize", 13, adapting::resizeHalfPixelForNearest, Newer::Adapted},
    AdapterRow{"Resize", 13, adapting::emptyInputsAbsent, Newer::Adapted},
    AdapterRow{"RoiAlign", 16, adapting::roiAlignCoordinates},
    AdapterRow{"Scan", 9, adapting::scanBatch},
    AdapterRow{"Scatter", 11, adapting::scatterToScatterElements, Newer::Adapted},
    AdapterRow{"Slice", 10, adapting::sliceBounds},
    AdapterRow{"Softmax", 13, adapting::softmaxOfMatrix},
    AdapterRow{"Split", 13, adapting::splitSizes},
    AdapterRow{"Split", 18, adapting::splitCount},
    AdapterRow{"Squeeze", 13, adapting::reduceAxes},
    AdapterRow{"TopK", 10, adapting::topKCount},
    AdapterRow{"Unsqueeze", 13, adapting::reduceAxes},
    AdapterRow{"Upsample", 9, adapting::upsampleScales},
    AdapterRow{"Upsample", 10, adapting::upsampleToResize, Newer::Adapted},
};

/// Applies the rows for which `applies` is true, one after another.
template <class Applies>
Result<Nodes> adapted(FileNode node, AdaptContext& context, const Applies& applies) {
  const std::string name = node.name;
  Nodes nodes;
  nodes.push_back(std::move(node));
  for (const AdapterRow& row : kAdapters) {
    const auto found = std::ranges::find_if(
        nodes, [&](const FileNode& part) { return part.name == name && part.op == row.op && !part.newest; });
    if (found == nodes.end() || !applies(row)) continue;
    FileNode part = std::move(*found);
    const auto place = nodes.erase(found);
    Nodes made = TRY(row.adapt(std::move(part), context));
    nodes.insert(place, std::move_iterator(made.begin()), std::move_iterator(made.end()));
  }
  return nodes;
}

auto toCanonicalFrom(std::int64_t opset) {
  return [opset](const AdapterRow& row) { return opset < row.before || row.newer == Newer::Adapted; };
}

auto between(std::int64_t from, std::int64_t to) {
  return [from, to](const AdapterRow& row) { return from < row.before && row.before <= to; };
}

bool needs(const FileNode& node, const auto& applies) {
  return node.domain.empty() && !node.newest &&
         std::ranges::any_of(kAdapters, [&](const AdapterRow& row) { return row.op == node.op && applies(row); });
}

}  // namespace

bool needsAdapting(const FileNode& node, std::int64_t opset) {
  return needs(node, toCanonicalFrom(opset));
}

Result<Nodes> adaptNode(FileNode node, std::int64_t opset, AdaptContext& context) {
  return adapted(std::move(node), context, toCanonicalFrom(opset));
}

bool needsRaising(const FileNode& node, std::int64_t from, std::int64_t to) {
  return needs(node, between(from, to));
}

Result<Nodes> raiseNode(FileNode node, std::int64_t from, std::int64_t to, AdaptContext& context) {
  return adapted(std::move(node), context, between(from, to));
}

}  // namespace fusescope
