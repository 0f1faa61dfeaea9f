#include "compilers/tensorrt/layer_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/graph.h"
#include "planning/kinds.h"

namespace fusescope {
namespace {

bool isConvolution(const ListedLayer& layer) {
  return layer.type == "correlation" || layer.type == "deconv" || layer.parameter == "Convolution" ||
         layer.parameter == "Deconvolution" || layer.type.find("Conv") != std::string::npos;
}

bool isProduct(const ListedLayer& layer) {
  return isConvolution(layer) || layer.type == "gemm" || layer.type.find("Gemm") != std::string::npos ||
         layer.type.find("MatrixMultiply") != std::string::npos;
}

bool isCalculatedIn(DataType type) {
  return isFloat(type) || type == DataType::I8 || type == DataType::I4;
}

bool holds(const std::vector<std::pair<NodeId, Certainty>>& nodes, const Graph& graph, std::string_view op) {
  return std::ranges::any_of(nodes, [&](const auto& held) { return graph.node(held.first).is(op); });
}

/// Returns the kind of a layer of products, which may contain any product of the network.
std::string_view productKind(const ListedLayer& layer, const std::vector<std::pair<NodeId, Certainty>>& nodes,
                             const Graph& graph) {
  if (holds(nodes, graph, "Conv") || holds(nodes, graph, "ConvTranspose")) return kinds::kConv;
  if (holds(nodes, graph, "Gemm")) return kinds::kGemm;
  if (holds(nodes, graph, "MatMul")) return kinds::kMatMul;
  return isConvolution(layer) ? kinds::kConv : kinds::kMatMul;
}

}  // namespace

DataType computeOf(const ListedLayer& layer) {
  if (isProduct(layer) && !layer.inputs.empty()) {
    const DataType type = listedType(layer.inputs.front().type);
    return isCalculatedIn(type) ? type : DataType::Undefined;
  }
  std::set<DataType> floats;
  for (const auto* tensors : {&layer.inputs, &layer.outputs})
    for (const ListedTensor& tensor : *tensors)
      if (const DataType type = listedType(tensor.type); isFloat(type)) floats.insert(type);
  return floats.size() == 1 ? *floats.begin() : DataType::Undefined;
}

std::string formatOf(const ListedTensor& tensor) {
  const std::size_t end = tensor.format.find(')');
  if (!tensor.format.starts_with('(') || end == std::string::npos) return layoutIn(tensor.format);
  const std::string word = tensor.format.substr(1, end - 1);
  return word == "Arbitrary" || word == "Transposed" ? fmt::format("{} {}", word, toText(tensor.strideOrder)) : word;
}

std::string kindOf(const ListedLayer& layer, const std::vector<std::pair<NodeId, Certainty>>& nodes,
                   const Graph& graph) {
  const auto isOf = [&](std::string_view word) { return layer.type.find(word) != std::string::npos; };
  if (layer.origin == "QDQ") return std::string(kinds::kQuantize);
  if (isProduct(layer)) return std::string(productKind(layer, nodes, graph));
  if (layer.type == "maxpool" || layer.type == "avgpool" || isOf("Pooling")) return std::string(kinds::kPool);
  if (isOf("SoftMax")) return std::string(kinds::kSoftmax);
  if (layer.type == "PointWise" || isOf("PointWiseV")) return std::string(kinds::kPointwise);
  return layer.type;
}

bool onlySynchronises(const ListedLayer& layer) {
  constexpr std::string_view kTypes[] = {
      "signal", "wait", "shape_call", "memset", "ShapeHostToDevice", "DeviceToShapeHost", "jmp", "TrainStation"};
  return std::ranges::find(kTypes, layer.type) != std::end(kTypes) || layer.name.starts_with("[trainStation");
}

bool onlyMoves(const ListedLayer& layer) {
  return onlySynchronises(layer) || layer.type == "NoOp" || layer.type == "copy" || layer.type == "Constant" ||
         (layer.type == "Reformat" && layer.origin != "QDQ");
}

std::string_view regionNumber(std::string_view layer) {
  constexpr std::string_view kMark = "_myl";
  const std::size_t start = layer.rfind(kMark);
  if (start == std::string_view::npos) return {};
  const std::string_view number = layer.substr(start + kMark.size());
  return number.substr(0, number.find('_'));
}

std::optional<ReadBackConversion> conversionBy(const ListedLayer& layer, ValueId read, ValueId written,
                                               const std::string& kernel) {
  if (layer.inputs.size() != 1 || layer.outputs.size() != 1) return std::nullopt;
  const ListedTensor& from = layer.inputs.front();
  const ListedTensor& to = layer.outputs.front();
  const DataType typeFrom = listedType(from.type), typeTo = listedType(to.type);
  const bool isCast = typeFrom != typeTo;
  if (!isCast && formatOf(from) == formatOf(to)) return std::nullopt;
  return ReadBackConversion{.value = read.valid() ? read : written,
                            .from = isCast ? toText(typeFrom) : formatOf(from),
                            .to = isCast ? toText(typeTo) : formatOf(to),
                            .isCast = isCast,
                            .kernel = kernel};
}

}  // namespace fusescope
