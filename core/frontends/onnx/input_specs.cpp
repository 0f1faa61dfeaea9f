#include "frontends/onnx/input_specs.h"

namespace fusescope {
namespace {

/// What an extent that the file leaves open is assumed to be unless the network asks for another.
struct AssumedRange {
  std::int64_t opt;
  std::int64_t max;
};

AssumedRange assumedRange(const Dim& dim, std::size_t axis, std::size_t rank) {
  constexpr AssumedRange kBatch{1, 64};
  constexpr AssumedRange kImage{224, 1024};
  constexpr AssumedRange kSequence{128, 1024};
  if (dim.symbol.find("batch") != std::string::npos || axis == 0) return kBatch;
  return rank >= 4 && axis >= 2 ? kImage : kSequence;
}

InputSpec specOf(const Value& input) {
  InputSpec spec{.name = input.name, .dtype = input.type.dtype, .min = {}, .opt = {}, .max = {}, .source = "file"};
  const Shape& shape = input.type.shape;
  if (input.type.container != Container::None) return spec;  // the extents of its elements are nobody's to choose
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    const Dim& dim = shape.dims[axis];
    const AssumedRange range = dim.known() ? AssumedRange{dim.size, dim.size} : assumedRange(dim, axis, shape.rank());
    spec.min.push_back(dim.known() ? dim.size : 1);
    spec.opt.push_back(range.opt);
    spec.max.push_back(range.max);
  }
  if (shape.fixed()) return spec;
  spec.source = "assumed";
  return spec;
}

}  // namespace

std::vector<InputSpec> specsOf(const Graph& graph) {
  std::vector<InputSpec> specs;
  for (const ValueId id : graph.inputs()) specs.push_back(specOf(graph.value(id)));
  return specs;
}

}  // namespace fusescope
