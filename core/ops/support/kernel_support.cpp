#include "ops/support/kernel_support.h"

#include <fmt/format.h>

#include "base/process_memory.h"

namespace fusescope::ops {
namespace {

DataType widerFloat(DataType type) {
  return kFloatTypes.contains(type) && type != DataType::F64 ? DataType::F32 : type;
}

/// Returns a type of one byte that represents every element of a packed type exactly, including the sign of zero.
DataType wholeByte(DataType type) {
  if (!isPacked(type)) return type;
  if (isFloat(type)) return DataType::F8E4M3;
  return type == DataType::I4 || type == DataType::I2 ? DataType::I8 : DataType::U8;
}

/// Runs `kernel` on inputs that are converted with `inner`, and converts its results to the inferred types.
Result<Tensors> runConverted(const KernelFunction& kernel, const KernelContext& context, DataType (*inner)(DataType)) {
  Tensors held(context.inputCount());
  std::vector<const Tensor*> inputs(context.inputCount(), nullptr);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!context.hasInput(i)) continue;
    held[i] = context.input(i).converted(inner(context.input(i).type()));
    inputs[i] = &held[i];
  }
  std::vector<TensorType> outputs;
  for (std::size_t i = 0; i < context.outputCount(); ++i) outputs.push_back(context.output(i));
  for (TensorType& output : outputs) output.dtype = inner(output.dtype);
  Tensors results = TRY(kernel(KernelContext(context.node(), inputs, outputs)));
  for (std::size_t i = 0; i < results.size() && i < context.outputCount(); ++i)
    if (inner(context.outputType(i)) != context.outputType(i)) results[i] = results[i].converted(context.outputType(i));
  return results;
}

bool anyChanges(const KernelContext& context, DataType (*inner)(DataType)) {
  for (std::size_t i = 0; i < context.inputCount(); ++i)
    if (context.hasInput(i) && inner(context.input(i).type()) != context.input(i).type()) return true;
  for (std::size_t i = 0; i < context.outputCount(); ++i)
    if (inner(context.outputType(i)) != context.outputType(i)) return true;
  return false;
}

KernelFunction converting(KernelFunction kernel, DataType (*inner)(DataType)) {
  return [kernel = std::move(kernel), inner](const KernelContext& context) -> Result<Tensors> {
    return anyChanges(context, inner) ? runConverted(kernel, context, inner) : kernel(context);
  };
}

}  // namespace

Result<Tensor> allocate(DataType type, const Dims& dims) {
  const auto count = elementCount(dims);
  if (!count || byteSize(type, *count) > mostMemory())
    return problem(fmt::format("a tensor of extents {} is too large for the memory", toText(dims)));
  return Tensor::zeros(type, dims);
}

KernelFunction widened(KernelFunction kernel) {
  return converting(std::move(kernel), widerFloat);
}
KernelFunction unpacked(KernelFunction kernel) {
  return converting(std::move(kernel), wholeByte);
}

Result<std::int64_t> checkedIndex(std::int64_t index, std::int64_t extent) {
  if (index < -extent || index >= extent)
    return problem(fmt::format("index {} is outside an axis of extent {}", index, extent));
  return index < 0 ? index + extent : index;
}

AxisSplit splitAt(const Dims& dims, std::size_t axis) {
  AxisSplit split;
  for (std::size_t i = 0; i < dims.size(); ++i)
    (i < axis ? split.outer : i == axis ? split.extent : split.inner) *= dims[i];
  return split;
}

}  // namespace fusescope::ops
