#include "planning/cut_products.h"

#include "passes/body_input_specs.h"
#include "planning/fusion/match.h"
#include "planning/structure.h"

namespace fusescope {

namespace {

/// The weights of a product: codes that a DequantizeLinear scales, each column by a number of its own.
struct ColumnCodes {
  const Node* dequantize = nullptr;
  std::int64_t columns = 0;
};

std::optional<ColumnCodes> columnCodes(const Graph& graph, const Node& product) {
  if (!product.is("MatMul") && !product.is("Gemm")) return std::nullopt;
  const Node* dequantize = producerIf(graph, product.input(1), "DequantizeLinear");
  if (dequantize == nullptr || !graph.isConstant(dequantize->input(0)) || !graph.isConstant(dequantize->input(1)))
    return std::nullopt;
  const auto codes = graph.value(dequantize->input(0)).type.shape.fixed();
  const auto scale = graph.value(dequantize->input(1)).type.shape.fixed();
  if (!codes || codes->size() != 2 || !scale || scale->size() != 1) return std::nullopt;
  const std::int64_t outputAxis = product.intAttribute("transB", 0) != 0 ? 0 : 1;
  const std::int64_t axis = dequantize->intAttribute("axis", 1),
                     columns = (*codes)[static_cast<std::size_t>(outputAxis)];
  const bool perColumn = (axis < 0 ? axis + 2 : axis) == outputAxis && scale->front() == columns && columns > 1;
  return perColumn ? std::optional(ColumnCodes{dequantize, columns}) : std::nullopt;
}

/// The Split that cuts the columns of what `product` makes, behind nothing but Reshapes that keep them and Adds of
/// constants; null if there is none.
const Node* splitOfColumns(const Graph& graph, const Node& product, std::int64_t columns) {
  const auto keepsColumns = [&](ValueId value) {
    const Shape& shape = graph.value(value).type.shape;
    return shape.ranked && shape.rank() > 0 && shape.dims.back().size == columns;
  };
  for (ValueId value = product.outputs.front(); keepsColumns(value);) {
    const Node* reader = onlyConsumer(graph, value);
    if (reader == nullptr) return nullptr;
    if (reader->is("Split")) {
      const bool cuts = isLastAxis(graph, *reader, reader->intAttribute("axis", 0));
      return cuts && reader->outputs.size() > 1 ? reader : nullptr;
    }
    const bool passes = reader->is("Reshape") || (reader->is("Add") && graph.isConstant(otherOperand(*reader, value)));
    if (!passes) return nullptr;
    value = reader->outputs.front();
  }
  return nullptr;
}

}  // namespace

std::vector<CutProduct> cutProducts(const Plan& plan) {
  std::vector<CutProduct> found;
  if (plan.target.acceleratedBackend != "tensorrt") return found;
  const Graph &graph = plan.graph(), &file = *unquantized(plan.model)->graph;
  for (const NodeId id : graph.order()) {
    const Node& product = graph.node(id);
    if (plan.calculates[id.index] != DataType::I8) continue;
    const auto codes = columnCodes(graph, product);
    if (!codes || !file.has(codes->dequantize->id)) continue;
    if (const Node* split = splitOfColumns(graph, product, codes->columns)) found.push_back({id, split->id});
  }
  return found;
}

std::vector<Decision> splitWarnings(const Plan& plan) {
  std::vector<Decision> warnings;
  const char* instead = isOfBody(*plan.model) ? "one product for each part avoids it"
                                              : "export --to onnx writes one product for each part, which avoids it";
  for (const CutProduct& cut : cutProducts(plan))
    warnings.push_back(decide("precision.split_product", {Subject::node(plan.graph().node(cut.product).name)},
                              "precision",
                              {{"type", std::string(name(DataType::I8))},
                               {"split", plan.graph().node(cut.split).name},
                               {"instead", instead}}));
  return warnings;
}

}  // namespace fusescope
