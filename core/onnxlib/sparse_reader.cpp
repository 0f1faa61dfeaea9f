// Converts sparse tensors to dense ones.
#include <cstring>

#include "onnxlib/bad_tensor.h"
#include "onnxlib/tensor_reader.h"

namespace fusescope::onnxlib {
namespace {

// Size of the dense tensor; a few bytes of a file could ask for any size.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

std::int64_t indexAt(const FileTensor& indices, std::int64_t i) {
  std::int64_t index = 0;
  std::memcpy(&index, indices.data + i * std::int64_t{sizeof index}, sizeof index);
  return index;
}

/// Returns the position of entry `i` in the dense tensor. Its index is linear over all elements, or has one number per
/// axis.
Result<std::int64_t> placeOf(const FileTensor& indices, const std::vector<std::int64_t>& dims, std::int64_t count,
                             std::int64_t i) {
  std::int64_t place = 0;
  if (indices.dims.size() == 1) {
    place = indexAt(indices, i);
    if (place < 0 || place >= count)
      return badTensor("an index of the sparse tensor is out of range: " + std::to_string(place) + " of " +
                       std::to_string(count));
    return place;
  }
  const auto rank = static_cast<std::int64_t>(dims.size());
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    const std::int64_t index = indexAt(indices, i * rank + axis), extent = dims[static_cast<std::size_t>(axis)];
    if (index < 0 || index >= extent)
      return badTensor("an index of the sparse tensor is out of range: " + std::to_string(index) + " of " +
                       std::to_string(extent));
    place = place * extent + index;
  }
  return place;
}

Status checkParts(const FileTensor& values, const FileTensor& indices, std::size_t rank) {
  if (values.dims.size() != 1) return badTensor("the values of a sparse tensor must be one-dimensional");
  if (values.dtype == DataType::String || byteSize(values.dtype, 2) % 2 != 0)
    return badTensor("sparse tensors of this element type are not supported", "Store the tensor densely.");
  if (indices.dtype != DataType::I64) return badTensor("the indices of a sparse tensor must be int64");
  const auto entries = values.dims[0], axes = static_cast<std::int64_t>(rank);
  const bool counted = indices.dims == std::vector<std::int64_t>{entries};
  if (!counted && indices.dims != std::vector<std::int64_t>{entries, axes})
    return badTensor("the indices of a sparse tensor must be [entries] or [entries, rank]");
  if (entries > 0 && (values.data == nullptr || indices.data == nullptr))
    return badTensor("a sparse tensor contains no data", "Store its values and indices in the file.");
  return Done{};
}

}  // namespace

Result<FileTensor> TensorReader::readSparse(const onnx::SparseTensorProto& proto) {
  FileTensor dense;
  dense.name = proto.values().name();
  const auto located = [&](Diagnostic error) {
    error.where.value = dense.name;
    return error;
  };
  const FileTensor values = TRY(read(proto.values()));
  const FileTensor indices = TRY(read(proto.indices()));
  dense.dtype = values.dtype;
  dense.dims.assign(proto.dims().begin(), proto.dims().end());
  if (const Status parts = checkParts(values, indices, dense.dims.size()); !parts.ok()) return located(parts.error());
  const std::size_t size = byteSize(dense.dtype, 1);
  std::int64_t count = 1;
  for (const std::int64_t extent : dense.dims)
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count) ||
        static_cast<std::size_t>(count) > kMostBytes / size)
      return located(badTensor("is a sparse tensor that would exceed the limit of 1 GiB if it were dense",
                               "Store it as external data, or keep it sparse outside the model."));
  const std::shared_ptr<std::byte[]> memory(
      new std::byte[std::max<std::size_t>(static_cast<std::size_t>(count) * size, 1)]());
  for (std::int64_t i = 0; i < values.dims[0]; ++i) {
    const auto place = placeOf(indices, dense.dims, count, i);
    if (!place.ok()) return located(place.error());
    std::memcpy(memory.get() + static_cast<std::size_t>(place.value()) * size,
                values.data + static_cast<std::size_t>(i) * size, size);
  }
  dense.owner = memory;
  dense.data = memory.get();
  dense.hasData = true;
  return dense;
}

}  // namespace fusescope::onnxlib
